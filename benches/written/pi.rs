//! Writes a session of pi, version 3: an entry a line, each with its parent.

use serde_json::{Value, json};

use super::TIME;
use crate::trace::Trace;

pub fn write(trace: &Trace) -> String {
    let mut lines =
        json!({"type": "session", "version": 3, "id": "5e55", "timestamp": TIME, "cwd": "/home/dev/project"}).to_string() + "\n";
    let mut parent = Value::Null;
    let mut line = |message: Value| {
        let id = json!(format!("{:08x}", lines.len()));
        let entry = json!({"type": "message", "id": id, "parentId": parent.take(), "timestamp": TIME, "message": message});
        lines.push_str(&(entry.to_string() + "\n"));
        parent = id;
    };
    for response in &trace.responses {
        if let Some(request) = &response.request {
            line(json!({"role": "user", "content": [{"type": "text", "text": request}]}));
        }
        let thinking = response.thinking.iter().map(|text| json!({"type": "thinking", "thinking": text}));
        let text = response.text.iter().map(|text| json!({"type": "text", "text": text}));
        let calls = response
            .calls
            .iter()
            .map(|call| json!({"type": "toolCall", "id": call.id, "name": call.name, "arguments": call.input}));
        let content: Vec<Value> = thinking.chain(text).chain(calls).collect();
        let usage = json!({"input": 1_750, "output": 250, "cacheRead": 18_000, "cacheWrite": 0, "totalTokens": 20_000});
        line(json!({"role": "assistant", "content": content, "api": "openai-completions", "provider": "openrouter",
            "model": "glm-4.6", "usage": usage, "stopReason": "toolUse"}));
        for call in &response.calls {
            let content = json!([{"type": "text", "text": call.result}]);
            line(
                json!({"role": "toolResult", "toolCallId": call.id, "toolName": call.name, "content": content, "isError": false}),
            );
        }
    }
    lines
}
