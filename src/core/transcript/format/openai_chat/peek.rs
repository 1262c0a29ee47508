//! Detects chat messages by the first few messages of a file.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::super::head::{Fit, are_of, is_lines};
use super::super::jsonl;
use super::{MESSAGE_KEYS, list_key};

/// Number of messages or conversations to look at.
const SNIFFED: usize = 20;

const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

/// Block types that exist only in Anthropic's API.
const ANTHROPIC_TYPES: [&str; 7] =
    ["tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "image", "document"];

/// Keys that exist only in the chat API; their value may be null.
const CHAT_KEYS: [&str; 4] = ["tool_calls", "function_call", "tool_call_id", "tool_call_ids"];

/// Returns whether the file contains chat messages. Lines of messages without anything specific to the chat API do not count, because
/// they could also be messages of Anthropic's API.
pub fn is_chat(bytes: &[u8]) -> bool {
    let fit = |messages: &[Value]| are_of(&messages.iter().map(fit).collect::<Vec<_>>());
    if !is_lines(bytes) {
        return fit(&first_messages(bytes));
    }
    let read = |(number, line)| jsonl::values::<Value>(number, line, &mut Vec::new());
    let lines: Vec<Value> = jsonl::lines(bytes).take(SNIFFED).flat_map(read).collect();
    let listed = in_lists(&lines);
    if listed.is_empty() { fit(&lines) && lines.iter().any(is_chat_only) } else { fit(&listed) }
}

/// Returns the first messages of the lists of messages in these records.
fn in_lists(records: &[Value]) -> Vec<Value> {
    let listed = records.iter().flat_map(|record| list_key(record).and_then(|key| record.get(key)?.as_array()));
    listed.flatten().take(SNIFFED).cloned().collect()
}

fn fit(value: &Value) -> Fit {
    let role = value.get("role").and_then(Value::as_str).unwrap_or_default();
    // A message that only the chat API has may hold a block that a gateway passes on.
    if parts(value).iter().any(is_anthropic) && !is_chat_only(value) {
        Fit::Foreign
    } else if ROLES.contains(&role) {
        Fit::Good
    } else {
        Fit::Odd
    }
}

fn parts(message: &Value) -> &[Value] {
    message.get("content").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns whether a part is a block of Anthropic's API, or a block printed by Python.
fn is_anthropic(part: &Value) -> bool {
    part.is_string() || part.get("type").and_then(Value::as_str).is_some_and(|kind| ANTHROPIC_TYPES.contains(&kind))
}

fn is_chat_only(message: &Value) -> bool {
    let role = message.get("role").and_then(Value::as_str);
    !matches!(role, Some("user" | "assistant")) || CHAT_KEYS.iter().any(|key| message.get(*key).is_some())
}

/// Returns the first messages of a document: of its list, or of the lists in its first elements.
fn first_messages(bytes: &[u8]) -> Vec<Value> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut first = Vec::new();
    // The visitor stops with an error as soon as it has enough elements, so the result does not matter.
    let _ = FirstElements(&mut first).deserialize(&mut serde_json::Deserializer::from_slice(bytes));
    let inner = in_lists(&first);
    if inner.is_empty() { first } else { inner }
}

/// Visitor that reads the first elements of a list, or of the list of messages in an object, and then stops.
struct FirstElements<'a>(&'a mut Vec<Value>);

impl<'de> DeserializeSeed<'de> for FirstElements<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FirstElements<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while self.0.len() < SNIFFED {
            match seq.next_element()? {
                Some(element) => self.0.push(element),
                None => return Ok(()),
            }
        }
        Err(A::Error::custom("seen enough"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if MESSAGE_KEYS.contains(&key.as_str()) {
                map.next_value_seed(FirstElements(&mut *self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}
