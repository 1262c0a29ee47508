//! Writes a session as `opencode export` does: one document on many lines, whose `tool` parts hold call and result.

use serde_json::{Value, json};

use crate::trace::{Response, Trace};

/// Milliseconds of 2026-03-01.
const TIME: u64 = 1_772_323_200_000;

pub fn write(trace: &Trace) -> String {
    let mut messages = Vec::new();
    for response in &trace.responses {
        if let Some(request) = &response.request {
            let info = json!({"id": id(&messages), "sessionID": "ses_1", "role": "user", "time": {"created": TIME}});
            messages.push(json!({"info": info, "parts": [{"type": "text", "text": request}]}));
        }
        let tokens = json!({"input": 1_750, "output": 250, "reasoning": 0, "cache": {"read": 18_000, "write": 0}});
        let info = json!({"id": id(&messages), "sessionID": "ses_1", "role": "assistant", "tokens": tokens, "modelID": "glm-4.6",
            "time": {"created": TIME, "completed": TIME}, "finish": "tool-calls"});
        messages.push(json!({"info": info, "parts": parts(response)}));
    }
    let info = json!({"id": "ses_1", "directory": "/home/dev/project", "version": "1.18.33", "time": {"created": TIME}});
    serde_json::to_string_pretty(&json!({"info": info, "messages": messages})).expect("JSON")
}

fn id(messages: &[Value]) -> String {
    format!("msg_{:06}", messages.len())
}

fn parts(response: &Response) -> Vec<Value> {
    let text = |kind: &'static str| move |text: &String| json!({"type": kind, "text": text});
    let mut parts = vec![json!({"type": "step-start"})];
    parts.extend(response.thinking.iter().map(text("reasoning")));
    parts.extend(response.text.iter().map(text("text")));
    for call in &response.calls {
        let state = json!({"status": "completed", "input": call.input, "output": call.result, "title": call.name,
            "metadata": {"exit": 0}, "time": {"start": TIME, "end": TIME}});
        parts.push(json!({"type": "tool", "callID": call.id, "tool": call.name, "state": state}));
    }
    parts.push(json!({"type": "step-finish", "reason": "tool-calls", "cost": 0.01}));
    parts
}
