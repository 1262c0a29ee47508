//! Joins the events of a streamed response to the body that the provider would have sent in one piece.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Returns the body of a response, from its server-sent events; `None` if none of them is of an API that is known. A stream that ended
/// early gives what came.
pub(super) fn body(events: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(events);
    let mut stream = Stream::default();
    let mut data = String::new();
    // An event ends with an empty line; one that was cut may still be whole.
    for line in text.lines().chain([""]) {
        match line.strip_prefix("data:") {
            Some(rest) => data.push_str(rest.strip_prefix(' ').unwrap_or(rest)),
            None if line.is_empty() => {
                if let Ok(event) = serde_json::from_str(&std::mem::take(&mut data)) {
                    stream.add(event);
                }
            }
            None => {}
        }
    }
    stream.finish()
}

#[derive(Default)]
struct Stream {
    body: Value,
    /// The arguments of tool calls of Messages, as text, by the index of their block.
    arguments: BTreeMap<usize, String>,
    /// The finished items of Responses.
    items: Vec<Value>,
}

impl Stream {
    fn add(&mut self, mut event: Value) {
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        match kind.as_str() {
            "message_start" => self.body = event["message"].take(),
            "content_block_start" => {
                let block = event["content_block"].take();
                if let Some(Value::Array(content)) = self.body.get_mut("content") {
                    content.push(block);
                }
            }
            "content_block_delta" => self.add_to_block(&mut event),
            "message_delta" if self.body.is_object() => {
                for (part, into) in [("delta", ""), ("usage", "/usage")] {
                    if let (Some(into), Value::Object(from)) = (self.body.pointer_mut(into), event[part].take()) {
                        set(into, from);
                    }
                }
            }
            "response.output_item.done" => self.items.push(event["item"].take()),
            kind if kind.starts_with("response.") && event["response"].is_object() => self.body = event["response"].take(),
            "error" if self.body.is_object() => self.body["error"] = event["error"].take(),
            "error" => self.body = event,
            _ if event["choices"].is_array() => self.add_chunk(event),
            _ => {}
        }
    }

    fn add_to_block(&mut self, event: &mut Value) {
        let Some(index) = event["index"].as_u64().and_then(|index| usize::try_from(index).ok()) else { return };
        let Some(block) = block(&mut self.body, index) else { return };
        let delta = &mut event["delta"];
        for key in ["text", "thinking", "signature"] {
            if let Some(more) = delta[key].as_str() {
                add_text(&mut block[key], more);
            }
        }
        if let Some(more) = delta["partial_json"].as_str() {
            self.arguments.entry(index).or_default().push_str(more);
        }
        if let (Some(Value::Array(citations)), Some(citation)) = (block.get_mut("citations"), delta.get_mut("citation")) {
            citations.push(citation.take());
        }
    }

    /// Adds a chunk of Chat Completions.
    fn add_chunk(&mut self, mut chunk: Value) {
        if !self.body.is_object() {
            self.body = json!({"object": "chat.completion", "choices": []});
        }
        let Value::Array(choices) = chunk["choices"].take() else { return };
        if let Value::Object(mut others) = chunk {
            others.retain(|key, value| key != "choices" && key != "object" && !value.is_null());
            set(&mut self.body, others);
        }
        for mut choice in choices {
            let delta = choice["delta"].take();
            let Some(into) = self.body["choices"].as_array_mut().and_then(|list| of_index(list, &choice["index"])) else {
                continue;
            };
            if let Value::Object(mut fields) = choice {
                fields.retain(|key, value| key != "delta" && !value.is_null());
                set(into, fields);
            }
            merge(&mut into["message"], delta);
        }
    }

    fn finish(mut self) -> Option<Value> {
        for (index, arguments) in &self.arguments {
            if let Some(block) = block(&mut self.body, *index) {
                block["input"] = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.as_str().into());
            }
        }
        if !self.items.is_empty() && self.body.is_object() && self.body["output"].as_array().is_none_or(Vec::is_empty) {
            self.body["output"] = self.items.into();
        }
        Some(self.body).filter(Value::is_object)
    }
}

/// Returns a block of a body of Messages.
fn block(body: &mut Value, index: usize) -> Option<&mut Value> {
    body.get_mut("content")?.get_mut(index)
}

/// Sets fields of an object.
fn set(into: &mut Value, fields: Map<String, Value>) {
    for (key, value) in fields {
        into[key.as_str()] = value;
    }
}

/// Returns the element of a list with this `index`, and appends it if it is the next one.
fn of_index<'v>(list: &'v mut Vec<Value>, index: &Value) -> Option<&'v mut Value> {
    let index = usize::try_from(index.as_u64().unwrap_or(0)).ok()?;
    if index == list.len() {
        list.push(json!({}));
    }
    list.get_mut(index)
}

/// Adds what a delta of Chat Completions says to a message: texts become longer, elements of lists have an index.
fn merge(into: &mut Value, delta: Value) {
    match delta {
        Value::Object(fields) => {
            if !into.is_object() {
                *into = json!({});
            }
            for (key, value) in fields {
                match key.as_str() {
                    "index" => {}
                    // They come whole, and some servers repeat them.
                    "role" | "type" | "id" | "name" if value.is_string() => into[key.as_str()] = value,
                    _ => merge(&mut into[key.as_str()], value),
                }
            }
        }
        Value::Array(elements) => {
            if !into.is_array() {
                *into = json!([]);
            }
            for element in elements {
                let index = element["index"].clone();
                if let Some(own) = into.as_array_mut().and_then(|list| of_index(list, &index)) {
                    merge(own, element);
                }
            }
        }
        Value::String(more) => add_text(into, &more),
        Value::Null => {}
        other => *into = other,
    }
}

fn add_text(into: &mut Value, more: &str) {
    match into {
        Value::String(text) => text.push_str(more),
        other => *other = more.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(events: &[Value]) -> Option<Value> {
        let lines: String = events.iter().map(|event| format!("event: x\r\ndata: {event}\r\n\r\n")).collect();
        body(format!(": ping\n\n{lines}data: [DONE]\n\n").as_bytes())
    }

    #[test]
    fn messages_are_joined() {
        let events = [
            json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": {"input_tokens": 9, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Let me"}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig"}}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "t", "name": "Read", "input": {}}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"path\":"}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "\"a\"}"}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}}),
            json!({"type": "message_stop"}),
        ];
        let whole = json!({"id": "m", "role": "assistant", "content": [
            {"type": "thinking", "thinking": "Let me", "signature": "sig"},
            {"type": "tool_use", "id": "t", "name": "Read", "input": {"path": "a"}},
        ], "usage": {"input_tokens": 9, "output_tokens": 7}, "stop_reason": "tool_use"});
        assert_eq!(joined(&events), Some(whole));
        let cut = joined(&events[..6]).expect("what came");
        assert_eq!(cut["content"][1]["input"], json!("{\"path\":"));
    }

    #[test]
    fn chunks_of_chat_are_joined() {
        let chunk = |delta: Value| json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
        let call = |fields: Value| chunk(json!({"tool_calls": [fields]}));
        let events = [
            chunk(json!({"role": "assistant", "content": null})),
            chunk(json!({"content": "I "})),
            chunk(json!({"content": "read."})),
            call(json!({"index": 0, "id": "t", "type": "function", "function": {"name": "read", "arguments": ""}})),
            call(json!({"index": 0, "function": {"arguments": "{\"p"}})),
            call(json!({"index": 0, "function": {"arguments": "\":1}"}})),
            call(json!({"index": 1, "id": "u", "type": "function", "function": {"name": "ls", "arguments": "{}"}})),
            json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
            json!({"id": "c", "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 6}}),
        ];
        let whole = json!({"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "I read.", "tool_calls": [
            {"id": "t", "type": "function", "function": {"name": "read", "arguments": "{\"p\":1}"}},
            {"id": "u", "type": "function", "function": {"name": "ls", "arguments": "{}"}},
        ]}, "finish_reason": "tool_calls"}], "id": "c", "usage": {"prompt_tokens": 5, "completion_tokens": 6}});
        assert_eq!(joined(&events), Some(whole));
    }

    #[test]
    fn responses_are_whole_in_their_last_event_or_joined_from_items() {
        let item = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]});
        let begun = json!({"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}});
        let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
        let completed = json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [item], "usage": {"input_tokens": 3}}});
        assert_eq!(joined(&[begun.clone(), done.clone(), completed.clone()]), Some(completed["response"].clone()));
        assert_eq!(joined(&[begun, done]), Some(json!({"id": "r", "status": "in_progress", "output": [item]})));
    }

    #[test]
    fn hostile_streams_give_no_body_or_what_came() {
        assert_eq!(body(b"data: nonsense\n\ndata: {\"a\":1}\n\n"), None);
        let far = json!({"choices": [{"index": 4_000_000_000_u64, "delta": {"tool_calls": [{"index": u64::MAX}]}}]});
        assert_eq!(joined(&[far]), Some(json!({"object": "chat.completion", "choices": []})));
        assert_eq!(joined(&[json!({"type": "content_block_delta", "index": 7, "delta": {"text": "x"}})]), None);
        let error = json!({"type": "error", "error": {"type": "overloaded_error"}});
        assert_eq!(joined(std::slice::from_ref(&error)), Some(error));
    }
}
