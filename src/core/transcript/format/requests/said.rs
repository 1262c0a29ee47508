//! Messages of requests, whichever API they are of: Chat Completions, Messages, Responses, or the parts of OpenTelemetry.
//!
//! Each message is read by its own form, because gateways mix them. What two requests say alike has equal hashes: gateways move the marks
//! of the prompt cache, and write a text as a list of parts.

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use super::super::notes::Notes;
use super::super::openai_chat::message::{self, ChatMessage};
use super::super::{Note, openai_wire};
use crate::transcript::conversation::text_wire;

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    User,
    Assistant,
    /// A later message of the system or of the developer.
    Harness,
}

/// What a message holds.
#[derive(Debug, Clone)]
pub enum Item {
    /// A block of Anthropic's API that is no result.
    Block(Value),
    Result {
        id: String,
        content: Value,
        failed: Option<bool>,
    },
}

impl Item {
    /// Returns the block of Anthropic's API.
    pub fn wire(&self) -> Value {
        match self {
            Self::Block(wire) => wire.clone(),
            Self::Result { id, content, .. } => json!({"type": "tool_result", "tool_use_id": id, "content": content}),
        }
    }

    fn is_call(&self) -> bool {
        matches!(self, Self::Block(wire) if wire["type"] == "tool_use")
    }

    fn text(&self) -> Option<&str> {
        if let Self::Block(wire) = self { wire["text"].as_str() } else { None }
    }
}

/// A message of a request.
#[derive(Debug, Clone)]
pub struct Said {
    pub who: Who,
    pub items: Vec<Item>,
    /// A hash of all of it.
    pub hash: u64,
}

/// Bytes of a text that another conversation does not repeat by chance.
const TELLING: usize = 40;

impl Said {
    fn new(who: Who, items: Vec<Item>) -> Self {
        let wires: Vec<Value> = items.iter().map(Item::wire).collect();
        let hash = xxh3_64(format!("{who:?}{}", Value::Array(wires)).as_bytes());
        Self { who, items, hash }
    }

    /// Returns whether only one conversation says this: it has a call, a result or a long text.
    pub fn is_telling(&self) -> bool {
        let is_telling = |item: &Item| match item {
            Item::Result { .. } => true,
            item => item.is_call() || item.text().is_some_and(|text| text.len() >= TELLING),
        };
        self.who == Who::Assistant && self.items.iter().any(is_telling) || self.has_results()
    }

    pub fn has_calls(&self) -> bool {
        self.items.iter().any(Item::is_call)
    }

    pub fn has_results(&self) -> bool {
        self.items.iter().any(|item| matches!(item, Item::Result { .. }))
    }

    /// Returns the texts, a line each.
    pub fn text(&self) -> String {
        self.items.iter().filter_map(Item::text).collect::<Vec<_>>().join("\n")
    }

    /// Returns a hash of the texts and of the ids of the calls: gateways add other fields to a response.
    pub fn gist(&self) -> u64 {
        let id = |item: &Item| if let Item::Block(wire) = item { wire["id"].as_str().map(str::to_owned) } else { None };
        let ids: Vec<String> = self.items.iter().filter(|item| item.is_call()).filter_map(id).collect();
        xxh3_64(format!("{}\0{}", self.text().trim(), ids.join("\0")).as_bytes())
    }
}

/// The messages of a request.
#[derive(Debug, Default)]
pub struct Messages {
    pub system: Vec<String>,
    pub said: Vec<Said>,
    /// Calls and results without an id so far.
    unnamed: [usize; 2],
    /// The items of a response that come one by one, as in the Responses API.
    open: Vec<Item>,
}

impl Messages {
    /// Adds a list of messages, or one text of the user.
    pub fn add(&mut self, list: Value, line: u32, notes: &mut Notes) {
        match list {
            Value::Array(messages) => messages.into_iter().for_each(|message| self.message(message, line, notes)),
            Value::String(text) => self.push(Who::User, vec![Item::Block(text_wire(text))]),
            message @ Value::Object(_) => self.message(message, line, notes),
            _ => {}
        }
        self.close();
    }

    fn message(&mut self, value: Value, line: u32, notes: &mut Notes) {
        let kind = value["type"].as_str().unwrap_or_default();
        if value.get("role").is_none() && !kind.is_empty() {
            return self.item(&value, line, notes);
        }
        if let Some(parts) = value["parts"].as_array() {
            let items = parts.iter().filter_map(|part| telemetry(part, line, notes)).collect();
            return self.of_role(value["role"].as_str().unwrap_or_default(), items, line, notes);
        }
        if value["content"].as_array().is_some_and(|parts| parts.iter().any(is_anthropic)) {
            let parts = value["content"].as_array().into_iter().flatten();
            return self.of_role(value["role"].as_str().unwrap_or_default(), parts.filter_map(anthropic).collect(), line, notes);
        }
        let is_output = matches!(kind, "message") && value["content"].is_array();
        let mut message = match ChatMessage::new(value, line) {
            Ok(message) => message,
            Err(why) => return notes.kind(Note::skipped(line, why)),
        };
        let role = message.role.clone();
        let items = match role.as_str() {
            "tool" | "function" => {
                let content = message.result_content(notes);
                let id = message.answered(notes).unwrap_or_else(|| self.generate_id(1));
                vec![Item::Result { id, content, failed: None }]
            }
            "assistant" => {
                let mut items: Vec<Item> = message.response_blocks(notes).into_iter().map(Item::Block).collect();
                for call in message.calls(notes) {
                    let id = call.id.clone().unwrap_or_else(|| self.generate_id(0));
                    items.push(Item::Block(call.tool_use(&id)));
                }
                items
            }
            _ => message.blocks(notes).into_iter().map(Item::Block).collect(),
        };
        if is_output && role == "assistant" {
            return self.open.extend(items);
        }
        self.of_role(&role, items, line, notes);
    }

    /// Reads an item of the Responses API that is no message. Those of one response come one after the other.
    fn item(&mut self, item: &Value, line: u32, notes: &mut Notes) {
        let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        match item["type"].as_str().unwrap_or_default() {
            "function_call" => {
                self.open.push(Item::Block(openai_wire::tool_use(&text("call_id"), &text("name"), text("arguments"))));
            }
            "custom_tool_call" => {
                let input = json!({"input": text("input")});
                self.open
                    .push(Item::Block(json!({"type": "tool_use", "id": text("call_id"), "name": text("name"), "input": input})));
            }
            "reasoning" => {
                let parts = if item["content"].as_array().is_some_and(|parts| !parts.is_empty()) { "content" } else { "summary" };
                let words = message::text(&item[parts]).unwrap_or_default();
                if words.is_empty() {
                    notes.kind(Note::info(line, "reasoning is encrypted here; its words do not count"));
                } else {
                    self.open.push(Item::Block(json!({"type": "thinking", "thinking": words})));
                }
            }
            "function_call_output" | "custom_tool_call_output" => {
                let content = match &item["output"] {
                    list @ Value::Array(_) => message::text(list).unwrap_or_else(|| list.to_string()).into(),
                    Value::String(text) => text.clone().into(),
                    other => Value::String(other.to_string()),
                };
                self.push(Who::User, vec![Item::Result { id: text("call_id"), content, failed: None }]);
            }
            other => {
                let other = crate::util::text::head(other, 40);
                notes.kind(Note::info(line, format!("items of the type `{other}` are not read")));
            }
        }
    }

    fn of_role(&mut self, role: &str, items: Vec<Item>, line: u32, notes: &mut Notes) {
        match role {
            // Codex begins with its instructions, and says more as the developer, which it moves when it compacts.
            "developer" if !self.system.is_empty() => self.push(Who::Harness, items),
            "system" | "developer" if self.said.is_empty() => {
                self.system.extend(items.iter().filter_map(Item::text).map(str::to_owned));
            }
            "system" | "developer" => self.push(Who::Harness, items),
            "user" | "tool" | "function" => self.push(Who::User, items),
            "assistant" => self.push(Who::Assistant, items),
            other => {
                let other = crate::util::text::head(other, 40);
                notes.kind(Note::skipped(line, format!("the APIs have no role `{other}`; the message was skipped")));
            }
        }
    }

    fn push(&mut self, who: Who, items: Vec<Item>) {
        self.close();
        if !items.is_empty() {
            self.said.push(Said::new(who, items));
        }
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.said.push(Said::new(Who::Assistant, std::mem::take(&mut self.open)));
        }
    }

    /// Returns the id of the next call or result without one: both are counted.
    fn generate_id(&mut self, of: usize) -> String {
        self.unnamed[of] += 1;
        format!("call_{}", self.unnamed[of])
    }
}

/// Types of blocks that only Anthropic's API has.
const ANTHROPIC: [&str; 7] = ["tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "image", "document"];

fn is_anthropic(part: &Value) -> bool {
    part["type"].as_str().is_some_and(|kind| ANTHROPIC.contains(&kind) || kind.ends_with("_tool_result"))
}

/// Reads a block of Anthropic's API, without its mark of the prompt cache.
fn anthropic(part: &Value) -> Option<Item> {
    let mut wire = if let Value::String(text) = part { text_wire(text.clone()) } else { part.clone() };
    wire.as_object_mut()?.shift_remove("cache_control");
    if wire["type"] == "tool_result" {
        let content = match wire["content"].take() {
            Value::Null => json!(""),
            content => content,
        };
        let id = wire["tool_use_id"].as_str().unwrap_or_default().to_owned();
        return Some(Item::Result { id, content, failed: Some(wire["is_error"].as_bool().unwrap_or(false)) });
    }
    (wire["text"] != "").then_some(Item::Block(wire))
}

/// Reads a part of a message of OpenTelemetry's conventions.
fn telemetry(part: &Value, line: u32, notes: &mut Notes) -> Option<Item> {
    let text = |key: &str| part[key].as_str().unwrap_or_default().to_owned();
    match part["type"].as_str().unwrap_or_default() {
        "text" => Some(Item::Block(text_wire(text("content")))),
        "reasoning" => Some(Item::Block(json!({"type": "thinking", "thinking": text("content")}))),
        "tool_call" => {
            let arguments = part["arguments"].as_str().map_or_else(|| part["arguments"].to_string(), str::to_owned);
            Some(Item::Block(openai_wire::tool_use(&text("id"), &text("name"), arguments)))
        }
        "tool_call_response" => {
            let content = part.get("response").or_else(|| part.get("result")).cloned().unwrap_or_default();
            let content = if content.is_string() { content } else { Value::String(content.to_string()) };
            Some(Item::Result { id: text("id"), content, failed: None })
        }
        other => {
            let other = crate::util::text::head(other, 40);
            notes.kind(Note::info(line, format!("parts of the type `{other}` are not read")));
            None
        }
    }
}
