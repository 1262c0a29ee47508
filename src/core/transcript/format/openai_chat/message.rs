//! A message of the chat API, and its conversion to blocks of Anthropic's API.
//!
//! Every field is read for itself: one with a value that it cannot have is left out with a note, and the message stays.

use serde_json::{Map, Value, json};

use super::super::notes::Notes;
use super::super::{Note, messages, openai_wire};
use super::reasoning;
use crate::transcript::conversation::{Role, text_wire};

/// A message whose fields can be read one by one.
pub struct ChatMessage {
    pub role: String,
    fields: Map<String, Value>,
    line: u32,
}

/// A call of a tool.
pub struct ToolCall {
    pub id: Option<String>,
    name: String,
    input: Input,
    /// Fields of Anthropic's API that a gateway passes on.
    kept: Vec<(&'static str, Value)>,
}

/// Fields of a tool_use beside its content.
const KEPT: [&str; 2] = ["caller", "cache_control"];

/// What the model wrote as input of a tool.
enum Input {
    /// Arguments of a function: the text of a JSON object.
    Arguments(String),
    /// The input of a custom tool: any text.
    Text(String),
}

impl ToolCall {
    pub fn tool_use(self, id: &str) -> Value {
        let mut wire = match self.input {
            Input::Arguments(text) => openai_wire::tool_use(id, &self.name, text),
            Input::Text(text) => json!({"type": "tool_use", "id": id, "name": self.name, "input": {"input": text}}),
        };
        self.kept.into_iter().for_each(|(key, value)| wire[key] = value);
        wire
    }
}

impl ChatMessage {
    /// Takes a message apart; returns the reason if it has no role.
    pub fn new(value: Value, line: u32) -> Result<Self, &'static str> {
        let Value::Object(fields) = value else { return Err("expected a message: an object with \"role\"; it was skipped") };
        match fields.get("role") {
            Some(Value::String(role)) => Ok(Self { role: role.clone(), fields, line }),
            Some(_) => Err("the message has a \"role\" that is no text; it was skipped"),
            None => Err("the object has no \"role\", so it is not a message; it was skipped"),
        }
    }

    /// Returns whether the content is one text.
    pub fn is_string(&self) -> bool {
        self.fields.get("content").is_some_and(Value::is_string)
    }

    /// Returns whether there is no content.
    pub fn is_null(&self) -> bool {
        self.fields.get("content").is_none_or(Value::is_null)
    }

    /// Returns the content as one text, if it is only text.
    pub fn text(&self) -> Option<String> {
        text(self.fields.get("content")?)
    }

    /// Takes the blocks of the content. There are none if it is null or empty.
    pub fn blocks(&mut self, notes: &mut Notes) -> Vec<Value> {
        match self.fields.remove("content").unwrap_or_default() {
            Value::String(text) if text.is_empty() => Vec::new(),
            Value::String(text) => vec![text_wire(text)],
            Value::Array(parts) => parts.into_iter().filter_map(|part| block(part, self.line, notes)).collect(),
            part @ Value::Object(_) => block(part, self.line, notes).into_iter().collect(),
            Value::Null => Vec::new(),
            odd => {
                notes.odd_field(self.line, "content", &odd);
                Vec::new()
            }
        }
    }

    /// Takes the content as the content of a tool_result.
    pub fn result_content(&mut self, notes: &mut Notes) -> Value {
        match self.fields.get("content") {
            Some(Value::Array(_)) => Value::Array(self.blocks(notes)),
            None | Some(Value::Null) => json!(""),
            Some(Value::String(text)) => json!(text),
            Some(other) => Value::String(other.to_string()),
        }
    }

    /// Takes what an assistant wrote: reasoning, text, a refusal, the words of an audio answer.
    pub fn response_blocks(&mut self, notes: &mut Notes) -> Vec<Value> {
        let mut wires = reasoning::blocks(&mut self.fields, self.line, notes);
        wires.extend(self.blocks(notes));
        wires.extend(self.text_field("refusal", notes).filter(|text| !text.is_empty()).map(text_wire));
        wires.extend(self.audio(notes));
        wires
    }

    /// Returns the words of an audio answer. Later requests name it only by its id, so the sound itself has no tokens here.
    fn audio(&mut self, notes: &mut Notes) -> Option<Value> {
        let audio = self.fields.remove("audio").filter(|audio| !audio.is_null())?;
        match (audio.get("transcript").and_then(Value::as_str), audio.get("id").and_then(Value::as_str)) {
            (Some(text), _) if !text.is_empty() => Some(text_wire(text)),
            (_, Some(id)) => {
                let what = "an audio answer has no transcript here; its words do not count";
                notes.kind(Note::info(self.line, what));
                Some(json!({"type": "audio", "id": id}))
            }
            _ => {
                notes.odd_field(self.line, "audio", &audio);
                None
            }
        }
    }

    /// Takes the calls of tools, those of `function_call` included.
    pub fn calls(&mut self, notes: &mut Notes) -> Vec<ToolCall> {
        let listed = match self.fields.remove("tool_calls").unwrap_or_default() {
            Value::Array(calls) => calls,
            Value::Null => Vec::new(),
            call @ Value::Object(_) => vec![call],
            odd => {
                notes.odd_field(self.line, "tool_calls", &odd);
                Vec::new()
            }
        };
        let legacy = self.fields.remove("function_call").filter(|call| !call.is_null());
        let legacy = legacy.map(|function| json!({ "function": function }));
        listed.into_iter().chain(legacy).filter_map(|call| self.call(&call, notes)).collect()
    }

    /// Reads a call: `{"function": {"name", "arguments"}}`, `{"custom": {"name", "input"}}`, or its name and arguments directly.
    fn call(&self, call: &Value, notes: &mut Notes) -> Option<ToolCall> {
        let custom = call.get("custom").filter(|custom| custom.is_object());
        let body = custom.or_else(|| call.get("function").filter(|function| function.is_object())).unwrap_or(call);
        if !body.is_object() {
            notes.odd_field(self.line, "tool_calls", call);
            return None;
        }
        let name = match body.get("name") {
            Some(Value::String(name)) => name.clone(),
            odd => {
                notes.odd_field(self.line, "tool_calls.name", odd.unwrap_or(&Value::Null));
                "unknown".to_owned()
            }
        };
        let written = ["arguments", "args", "input", "parameters"].iter().find_map(|key| body.get(*key)).unwrap_or(&Value::Null);
        let input = match written {
            Value::String(text) if custom.is_some() => Input::Text(text.clone()),
            Value::String(text) => Input::Arguments(text.clone()),
            Value::Null => Input::Arguments("{}".to_owned()),
            // Some recorders save parsed arguments.
            parsed => Input::Arguments(parsed.to_string()),
        };
        let kept = KEPT.into_iter().filter_map(|key| Some((key, call.get(key).filter(|value| value.is_object())?.clone())));
        let id = call.get("id").and_then(|id| self.id(id, "tool_calls.id", notes));
        Some(ToolCall { id, name, input, kept: kept.collect() })
    }

    /// Takes the id of the call that this result answers. If it is the result of several calls, the first call gets its content.
    pub fn answered(&mut self, notes: &mut Notes) -> Option<String> {
        let one = self.fields.remove("tool_call_id").unwrap_or_default();
        let several = self.fields.remove("tool_call_ids").unwrap_or_default();
        let first = several.get(0).cloned().unwrap_or_default();
        self.id(&one, "tool_call_id", notes).or_else(|| self.id(&first, "tool_call_ids", notes))
    }

    /// Reads an id. A number is as good as a text, as long as call and result have the same.
    fn id(&self, id: &Value, field: &str, notes: &mut Notes) -> Option<String> {
        match id {
            Value::String(id) if !id.is_empty() => Some(id.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::String(_) => None,
            odd => {
                notes.odd_field(self.line, field, odd);
                None
            }
        }
    }

    /// Takes a field that is a text.
    pub fn text_field(&mut self, field: &str, notes: &mut Notes) -> Option<String> {
        match self.fields.remove(field)? {
            Value::String(text) => Some(text),
            Value::Null => None,
            odd => {
                notes.odd_field(self.line, field, &odd);
                None
            }
        }
    }

    /// Returns whether there is a field of this name.
    pub fn has(&self, field: &str) -> bool {
        self.fields.contains_key(field)
    }

    /// Takes a field, null if there is none.
    pub fn field(&mut self, field: &str) -> Value {
        self.fields.remove(field).unwrap_or_default()
    }
}

/// Converts a message as it was sent to the role and the blocks that it has in Anthropic's API; `None` if it is no message.
pub fn sent(value: Value, line: u32, notes: &mut Notes) -> Option<(Role, Vec<Value>)> {
    let mut message = ChatMessage::new(value, line).ok()?;
    match message.role.as_str() {
        "assistant" => {
            let mut wires = message.response_blocks(notes);
            for call in message.calls(notes) {
                let id = call.id.clone().unwrap_or_default();
                wires.push(call.tool_use(&id));
            }
            Some((Role::Assistant, wires))
        }
        "tool" => {
            let content = message.result_content(notes);
            let id = message.answered(notes).unwrap_or_default();
            Some((Role::User, vec![json!({"type": "tool_result", "tool_use_id": id, "content": content})]))
        }
        _ => Some((Role::User, message.blocks(notes))),
    }
}

/// Returns a content as one text; `None` if it is not only text.
pub fn text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Option<Vec<&str>> = parts.iter().map(|part| part.get("text").and_then(Value::as_str)).collect();
            texts.map(|texts| texts.join("\n"))
        }
        _ => None,
    }
}

/// Converts a part of a content list: `text`, `input_text`, `output_text`, `refusal`, `image_url`. A block of Anthropic's API, which
/// gateways pass on, stays as it is.
fn block(part: Value, line: u32, notes: &mut Notes) -> Option<Value> {
    if let Value::String(text) = part {
        return Some(text_wire(text));
    }
    let text = ["text", "refusal"].iter().find_map(|key| part.get(*key).and_then(Value::as_str));
    let image = part.get("image_url").and_then(|image| image.get("url").unwrap_or(image).as_str());
    match (text, image) {
        (Some(text), _) => Some(text_wire(text)),
        (None, Some(url)) => Some(openai_wire::image(url)),
        (None, None) => {
            let kind = part.get("type").and_then(Value::as_str).unwrap_or("unknown");
            if messages::is_anthropic_type(kind) {
                return Some(part);
            }
            let kind = crate::util::text::head(kind, 40);
            notes.kind(Note::info(line, format!("a part of type `{kind}` is neither text nor image; it was left out")));
            None
        }
    }
}
