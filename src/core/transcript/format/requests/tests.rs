//! Invented logs, and what they hold as lines ([`shape`](super::super::shape)).

mod bodies;
mod chat;
mod edits;
mod files;

use serde_json::{Value, json};

use super::FORMAT;
use crate::transcript::conversation::Conversation;
use crate::transcript::format::shape::{lines, may_be};
use crate::transcript::format::{ReadOptions, Reading};

fn read(bytes: &[u8]) -> Reading {
    (FORMAT.read)(bytes, &ReadOptions::default())
}

fn read_json(value: &Value) -> Reading {
    read(value.to_string().as_bytes())
}

fn read_lines(records: &[Value]) -> Reading {
    read(records.iter().map(Value::to_string).collect::<Vec<_>>().join("\n").as_bytes())
}

/// Returns the only conversation of a log as lines, and the notes with their lines.
#[track_caller]
fn read_one(records: &[Value]) -> (Vec<String>, Vec<String>) {
    let reading = read_lines(records);
    let [conversation] = reading.conversations.as_slice() else { panic!("one conversation: {reading:?}") };
    let notes = reading.notes.iter().map(|note| format!("{}: {}", note.line.unwrap_or(0), note.what));
    (lines(conversation), notes.collect())
}

fn names(reading: &Reading) -> Vec<&str> {
    reading.conversations.iter().map(|conversation| conversation.name.as_str()).collect()
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

/// A response that calls the tool `run` with its id.
fn call(id: &str) -> Value {
    let function = json!({"name": "run", "arguments": format!("{{\"of\":\"{id}\"}}")});
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]})
}

fn tool(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

/// A bare body of the agent.
fn body(messages: &[Value]) -> Value {
    let messages = [vec![json!({"role": "system", "content": "Be brief."})], messages.to_vec()].concat();
    json!({"model": "m-1", "messages": messages, "tools": [{"type": "function", "function": {"name": "run"}}], "stream": true})
}

fn inputs(conversation: &Conversation) -> Vec<u64> {
    conversation.calls.iter().map(|call| call.usage.map_or(0, |usage| usage.input)).collect()
}

#[test]
fn a_log_is_recognised_and_other_files_are_not() {
    let two = |record: Value| format!("{record}\n{record}").into_bytes();
    let logs = [
        body(&[user("go")]),
        json!({"body": {"messages": [user("go")]}}),
        json!({"messages": [user("go")], "response": {"choices": []}}),
        json!({"proxy_server_request": {"body": {"messages": [user("go")]}}}),
        json!({"type": "GENERATION", "traceId": "t", "input": {"messages": [user("go")]}}),
        json!({"attributes": {"gen_ai.input.messages": "[]"}}),
        json!({"model": "m-1", "instructions": "Be brief.", "input": [user("go")]}),
    ];
    for log in logs {
        assert!(may_be(&FORMAT, &two(log.clone())), "{log}");
    }
    let others = [
        json!({"messages": [user("go"), assistant("yes")]}),
        json!({"messages": [user("go"), assistant("yes")], "tools": [{"type": "function"}]}),
        json!({"name": "a", "version": "1", "request": {"url": "u"}, "response": {"status": 200}}),
        json!({"body": "text", "input": [1, 2], "response": "ok"}),
        json!({"messages": {"ok": "Yes"}, "response": "no"}),
        json!({"input": "a", "output": "b", "model": "m"}),
    ];
    for other in others {
        assert!(!may_be(&FORMAT, &two(other.clone())), "{other}");
    }
    let alone = body(&[user("go")]).to_string();
    assert!(!may_be(&FORMAT, alone.as_bytes()), "one body alone is a conversation that was saved so");
}
