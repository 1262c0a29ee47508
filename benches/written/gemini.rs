//! Writes sessions of Qwen Code and of Gemini CLI, whose messages are contents of the Gemini API.

use serde_json::{Value, json};

use super::TIME;
use crate::trace::{ToolCall, Trace};

/// Writes a session of Qwen Code: a record a line.
pub fn qwen_code(trace: &Trace) -> String {
    let (mut lines, mut parent) = (String::new(), Value::Null);
    let mut line = |kind: &str, role: &str, parts: Vec<Value>, more: Value| {
        let uuid = json!(format!("{:08x}", lines.len()));
        let mut record = json!({"uuid": uuid, "parentUuid": parent.take(), "sessionId": "5e55", "timestamp": TIME, "type": kind,
            "cwd": "/home/dev/project", "version": "0.24.4", "message": {"role": role, "parts": parts}});
        record.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        lines.push_str(&(record.to_string() + "\n"));
        parent = uuid;
    };
    for response in &trace.responses {
        if let Some(request) = &response.request {
            line("user", "user", vec![json!({"text": request})], json!({"provenance": "real_user"}));
        }
        let thought = response.thinking.iter().map(|text| json!({"text": text, "thought": true}));
        let text = response.text.iter().map(|text| json!({"text": text}));
        let calls =
            response.calls.iter().map(|call| json!({"functionCall": {"id": call.id, "name": call.name, "args": call.input}}));
        let usage = json!({"promptTokenCount": 19_750, "candidatesTokenCount": 250, "cachedContentTokenCount": 18_000});
        let more = json!({"model": "qwen3-coder-plus", "usageMetadata": usage, "contextWindowSize": 131_072});
        line("assistant", "model", thought.chain(text).chain(calls).collect(), more);
        for call in &response.calls {
            line("tool_result", "user", vec![answer(call)], json!({"provenance": "tool_result"}));
        }
    }
    lines
}

/// Writes a chat of Gemini CLI: one document, whose calls hold their results.
pub fn gemini_cli(trace: &Trace) -> String {
    let mut messages = Vec::new();
    for (at, response) in trace.responses.iter().enumerate() {
        if let Some(request) = &response.request {
            messages.push(json!({"id": format!("u{at}"), "timestamp": TIME, "type": "user", "content": request}));
        }
        let call = |call: &ToolCall| {
            json!({"id": call.id, "name": call.name, "args": call.input, "status": "success", "timestamp": TIME,
            "result": [answer(call)]})
        };
        let calls: Vec<Value> = response.calls.iter().map(call).collect();
        let tokens =
            json!({"input": 19_750 + at, "output": 250, "cached": 18_000, "thoughts": 0, "tool": 0, "total": 20_000 + at});
        messages.push(json!({"id": format!("g{at}"), "timestamp": TIME, "type": "gemini", "model": "gemini-3-pro",
            "content": response.text.as_deref().unwrap_or_default(), "tokens": tokens, "toolCalls": calls}));
    }
    let document = json!({"sessionId": "5e55", "projectHash": "4be1", "startTime": TIME, "messages": messages});
    serde_json::to_string_pretty(&document).expect("JSON")
}

fn answer(call: &ToolCall) -> Value {
    json!({"functionResponse": {"id": call.id, "name": call.name, "response": {"output": call.result}}})
}
