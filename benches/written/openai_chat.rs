//! Writes messages of OpenAI's Chat Completions API, one per line.

use serde_json::{Value, json};

use crate::trace::{ToolCall, Trace};

pub fn write(trace: &Trace) -> String {
    let mut lines = json!({"role": "system", "content": "You are an agent."}).to_string() + "\n";
    let mut line = |message: Value| lines.push_str(&(message.to_string() + "\n"));
    for response in &trace.responses {
        if let Some(request) = &response.request {
            line(json!({"role": "user", "content": request}));
        }
        let calls: Vec<_> = response.calls.iter().map(tool_call).collect();
        let calls = if calls.is_empty() { Value::Null } else { calls.into() };
        line(json!({"role": "assistant", "content": response.text, "tool_calls": calls}));
        for call in &response.calls {
            line(json!({"role": "tool", "tool_call_id": call.id, "content": call.result}));
        }
    }
    lines
}

fn tool_call(call: &ToolCall) -> Value {
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.input.to_string()}})
}
