//! Messages of Anthropic's Messages API (`messages`), as harnesses archive them.
//!
//! Examples are learn-claude-code's `.transcripts/*.jsonl` and request bodies. The file has one `{"role", "content"}` per line, or is one
//! JSON document with all messages. The reader does not merge, reorder or repair messages. Each assistant message is a recorded response;
//! the file has no times; usage, model and id are read where a recorder kept whole responses. Content is a string or a list of blocks. A block may be an SDK object printed by Python
//! (`json.dumps(message, default=str)`); it is read as the original block.

use serde_json::{Map, Value};

use super::head::{self, Fit, Head, are_of};
use super::notes::Notes;
use super::{Certainty, Format, Joins, Note, ReadOptions, Reading, SessionFolder, document, jsonl, sdk, wire_usage};
use crate::transcript::conversation::{BlockId, Call, ConversationBuilder, Message, Origin, Role, Thinking};

pub const FORMAT: Format = Format {
    name: "messages",
    about: "Anthropic messages: one per line, or one JSON document (learn-claude-code's .transcripts)",
    sniff,
    read,
    folders: FOLDERS,
    store: None,
    joins: Joins::Nothing,
};

/// The harnesses of learn-claude-code save the history in the folder of the project before they compact.
const FOLDERS: &[SessionFolder] = &[SessionFolder { variable: None, home: None, sessions: ".transcripts" }];

/// Beginnings of strings that harnesses put in place of compacted messages (learn-claude-code s06 and s08). The latest s08 also
/// writes `[12 messages archived at …]`.
const COMPACTION_MARKERS: [&str; 4] =
    ["[Conversation compressed. Transcript: ", "[Compacted]", "[Reactive compact]", "[snipped "];

/// Number of messages that [`is_like`] looks at.
const SNIFFED: usize = 20;

fn read(bytes: &[u8], _options: &ReadOptions) -> Reading {
    let mut reader = Reader { builder: ConversationBuilder::new("main", FORMAT.name, Thinking::All), notes: Notes::default() };
    match document::read(bytes, "messages", usize::MAX) {
        Some(document) => reader.document(document),
        None => {
            for (line, text) in jsonl::lines(bytes) {
                for value in jsonl::values(line, text, &mut reader.notes.lines) {
                    reader.record(value, line);
                }
            }
        }
    }
    let conversation = reader.builder.finish();
    let conversations = if conversation.messages.is_empty() { Vec::new() } else { vec![conversation] };
    Reading { conversations, notes: reader.notes.finish() }
}

fn sniff(head: &Head) -> Certainty {
    is_like(head.bytes).into()
}

/// Returns whether the first messages are of the Messages API, or plain text without keys of other chat formats.
fn is_like(bytes: &[u8]) -> bool {
    let mut ignored = Vec::new();
    let first: Vec<Value> = match document::read(bytes, "messages", SNIFFED) {
        // Several documents, one a line, are a log of requests: only the first would be read.
        Some(_) if head::is_lines(bytes) && jsonl::lines(bytes).nth(1).is_some() => return false,
        Some(document) => {
            let texts = document.messages.iter().map(|(line, raw)| (*line, raw.get().as_bytes()));
            texts.flat_map(|(line, text)| jsonl::values(line, text, &mut ignored)).collect()
        }
        None => jsonl::lines(bytes).take(SNIFFED).flat_map(|(line, text)| jsonl::values(line, text, &mut ignored)).collect(),
    };
    let fits: Vec<Fit> = first.iter().map(fit).collect();
    let good = first.iter().zip(&fits).find(|(_, fit)| **fit == Fit::Good);
    // A system prompt as a message is of the chat API, unless the blocks after it are not.
    let is_own = |value: &Value| value["role"] != "system" || first.iter().any(has_own_blocks);
    good.is_some_and(|(value, _)| is_own(value)) && are_of(&fits)
}

/// Returns whether a message has a block that the chat API has not.
fn has_own_blocks(message: &Value) -> bool {
    let blocks = message.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    blocks.iter().map(block_type).any(|kind| kind != "text" && is_anthropic_type(kind))
}

/// Keys of messages of other formats: OpenAI's chat API and Claude Code.
const FOREIGN_KEYS: [&str; 4] = ["tool_calls", "tool_call_id", "function_call", "uuid"];

/// Roles of the chat API only.
const FOREIGN_ROLES: [&str; 3] = ["tool", "function", "developer"];

/// Types of parts of the chat API only.
const FOREIGN_TYPES: [&str; 6] = ["image_url", "input_text", "output_text", "input_audio", "input_image", "refusal"];

/// Returns how a record fits this format.
fn fit(record: &Value) -> Fit {
    let role = record.get("role").and_then(Value::as_str).unwrap_or_default();
    let blocks = record.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_foreign = FOREIGN_KEYS.iter().any(|key| record.get(*key).is_some())
        || FOREIGN_ROLES.contains(&role)
        || blocks.iter().any(|block| FOREIGN_TYPES.contains(&block_type(block)));
    let is_content = match record.get("content") {
        Some(Value::String(_)) => true,
        Some(Value::Array(_)) => blocks.iter().all(|block| block.is_string() || is_anthropic_type(block_type(block))),
        _ => false,
    };
    match (is_foreign, role) {
        (true, _) => Fit::Foreign,
        (false, "user" | "assistant" | "system") if is_content => Fit::Good,
        (false, _) => Fit::Odd,
    }
}

/// Returns whether blocks of this type are of the Messages API.
pub fn is_anthropic_type(block_type: &str) -> bool {
    let known = [
        "text",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "image",
        "document",
        "search_result",
        "container_upload",
        "tool_reference",
    ];
    known.contains(&block_type)
        || block_type.ends_with("_tool_use")
        || block_type.ends_with("tool_result")
        || block_type == "compaction"
}

fn block_type(block: &Value) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// Builds the conversation of one file.
struct Reader {
    builder: ConversationBuilder,
    notes: Notes,
}

impl Reader {
    fn document(&mut self, document: document::Document) {
        for system in
            document.field("system").iter().flat_map(|raw| jsonl::values(1, raw.get().as_bytes(), &mut self.notes.lines))
        {
            self.builder.set_system(system_text(&system));
        }
        self.notes.lines.extend(document.note());
        for (line, raw) in document.messages {
            for value in jsonl::values(line, raw.get().as_bytes(), &mut self.notes.lines) {
                self.record(value, line);
            }
        }
    }

    /// Reads one message.
    fn record(&mut self, record: Value, line: u32) {
        let Value::Object(mut record) = record else {
            return self.skip(line, "expected a message: an object with \"role\" and \"content\"; it was skipped");
        };
        let role = match record.get("role") {
            Some(Value::String(role)) => role.clone(),
            _ => return self.skip(line, "the object has no \"role\", so it is not a message; it was skipped"),
        };
        let Some(content) = record.shift_remove("content") else {
            return self.skip(line, "the message has no \"content\"; it was skipped");
        };
        match role.as_str() {
            "user" => self.message(Role::User, content, line, None, Call::default()),
            "assistant" => {
                let call = self.call(&record, line);
                self.message(Role::Assistant, content, line, None, call);
            }
            "system" | "developer" if self.builder.so_far().system.is_none() => {
                self.builder.set_system(system_text(&content));
                self.builder.add_record();
            }
            other => {
                let other = crate::util::text::head(other, 40);
                self.notes.kind(Note::info(line, format!("a message with role \"{other}\" was read as text of the harness")));
                self.message(Role::User, content, line, Some(Origin::Injected), Call::default());
            }
        }
    }

    /// Returns what a recorder kept of the response beside its content.
    fn call(&mut self, record: &Map<String, Value>, line: u32) -> Call {
        let text = |key: &str| record.get(key).and_then(Value::as_str).map(str::to_owned);
        let usage = record.get("usage").and_then(|usage| wire_usage::usage(usage, line, &mut self.notes));
        Call { usage, model: text("model"), message_id: text("id").filter(|id| id.starts_with("msg_")), ..Call::default() }
    }

    fn message(&mut self, role: Role, content: Value, line: u32, origin: Option<Origin>, call: Call) {
        let (is_string_content, blocks) = match content {
            Value::String(text) => {
                let origin = origin.unwrap_or_else(|| string_origin(role, &text));
                (true, vec![self.builder.text(text, origin, line)])
            }
            Value::Array(elements) => (false, self.blocks(role, elements, line, origin)),
            _ => return self.skip(line, "\"content\" is neither a string nor a list of blocks; the message was skipped"),
        };
        if blocks.is_empty() {
            self.notes.kind(Note::info(line, "the message has no blocks and was left out"));
            return;
        }
        let message = Message { role, is_string_content, blocks, time: None, line };
        if role == Role::Assistant && !self.builder.so_far().messages.is_empty() {
            self.builder.response(message, call);
        } else {
            // An assistant message at the beginning has no request, so it is not a call.
            self.builder.message(message);
        }
        self.builder.add_record();
    }

    fn blocks(&mut self, role: Role, elements: Vec<Value>, line: u32, origin: Option<Origin>) -> Vec<BlockId> {
        let wires: Vec<_> = elements.into_iter().filter_map(|element| self.element_wire(element, line)).collect();
        let has_results = wires.iter().any(|wire| block_type(wire) == "tool_result");
        let with_origin =
            wires.into_iter().map(|wire| (origin.unwrap_or(block_origin(role, block_type(&wire), has_results)), wire));
        with_origin.map(|(origin, wire)| self.builder.block(wire, origin, line)).collect()
    }

    /// Converts an element of a content list to the wire form of a block, without changing its text.
    fn element_wire(&mut self, element: Value, line: u32) -> Option<Value> {
        match element {
            Value::Object(_) => Some(element),
            Value::String(text) => Some(sdk::block(&text).unwrap_or_else(|why| {
                let note = format!("a string in a list of blocks is not a printed SDK object ({why}); it was read as text");
                self.notes.kind(Note::info(line, note));
                crate::transcript::conversation::text_wire(text)
            })),
            _ => {
                self.skip(line, "an element of the content is neither a block nor a string; it was skipped");
                None
            }
        }
    }

    fn skip(&mut self, line: u32, what: &str) {
        self.notes.kind(Note::skipped(line, what));
    }
}

/// Returns who wrote a message that is one string. User messages that begin with a bracket are written by harnesses.
///
/// Claude Code's "This session is being continued from a previous conversation …" counts as text of the user. In these files it is the
/// first request of the conversation, and learn-claude-code would repeat it after a compaction, because it treats every string without a
/// bracket as a request of the user.
fn string_origin(role: Role, text: &str) -> Origin {
    match role {
        Role::Assistant => Origin::Agent,
        Role::User if !text.starts_with('[') => Origin::User,
        Role::User if is_compaction(text) => Origin::Compaction,
        Role::User => Origin::Injected,
    }
}

fn is_compaction(text: &str) -> bool {
    let after_number = text.strip_prefix('[').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let is_archived = after_number.is_some_and(|rest| rest.starts_with(" messages archived at"));
    is_archived || COMPACTION_MARKERS.iter().any(|marker| text.starts_with(marker))
}

/// Returns who wrote a block of a message. If the message has tool results, other blocks in it are reminders of the harness.
fn block_origin(role: Role, block_type: &str, has_results: bool) -> Origin {
    match (role, block_type) {
        (_, "tool_result") => Origin::Tool,
        (Role::Assistant, _) => Origin::Agent,
        (Role::User, "text" | "image" | "document") if !has_results => Origin::User,
        (Role::User, _) => Origin::Injected,
    }
}

/// Returns the text of a system prompt: a string, or text blocks.
fn system_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<_> = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
