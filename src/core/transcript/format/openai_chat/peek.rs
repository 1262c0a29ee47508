//! Detects chat messages by the first few messages of a file.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::super::jsonl;
use super::MESSAGE_KEYS;

/// Number of messages or conversations to look at.
const SNIFFED: usize = 8;

const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

/// Block types that exist only in Anthropic's API.
const ANTHROPIC_TYPES: [&str; 7] =
    ["tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "image", "document"];

/// Keys that exist only in the chat API; their value may be null.
const CHAT_KEYS: [&str; 4] = ["tool_calls", "function_call", "tool_call_id", "tool_call_ids"];

/// Returns whether the file contains chat messages. Lines of messages without anything specific to the chat API do not count, because
/// they could also be messages of Anthropic's API.
pub fn is_chat(bytes: &[u8]) -> bool {
    let listed = first_messages(bytes);
    if !listed.is_empty() {
        return listed.iter().all(is_message);
    }
    let lines = jsonl::lines(bytes).take(SNIFFED).filter_map(|(_, line)| serde_json::from_slice(line).ok());
    let lines: Vec<Value> = lines.collect();
    !lines.is_empty() && lines.iter().all(is_message) && lines.iter().any(is_chat_only)
}

fn is_message(value: &Value) -> bool {
    let role = value.get("role").and_then(Value::as_str).unwrap_or_default();
    ROLES.contains(&role) && !parts(value).iter().any(is_anthropic)
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

/// Returns the first messages of the first list of messages: of the file itself, of its first line, or of its first elements.
fn first_messages(bytes: &[u8]) -> Vec<Value> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut first = Vec::new();
    // The visitor stops with an error as soon as it has enough elements, so the result does not matter.
    let _ = FirstElements(&mut first).deserialize(&mut serde_json::Deserializer::from_slice(bytes));
    let inner = first.iter().flat_map(|value| MESSAGE_KEYS.iter().find_map(|key| value.get(*key)?.as_array()));
    let inner: Vec<Value> = inner.flatten().take(SNIFFED).cloned().collect();
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
