//! Writes a rollout of Codex: one item per line, and the usage after the outputs of each response's calls.

use serde_json::{Value, json};

use crate::trace::Trace;

pub fn write(trace: &Trace) -> String {
    let mut lines = String::new();
    let mut line = |kind: &str, payload: Value| {
        lines.push_str(&json!({"timestamp": "2026-03-01T00:00:00.000Z", "type": kind, "payload": payload}).to_string());
        lines.push('\n');
    };
    line("session_meta", json!({"id": "5e55", "cwd": "/home/dev/project", "base_instructions": {"text": "You are an agent."}}));
    line("turn_context", json!({"model": "gpt-5", "cwd": "/home/dev/project"}));
    let mut total = 0;
    for response in &trace.responses {
        if let Some(request) = &response.request {
            line("response_item", message("user", "input_text", request));
            line("event_msg", json!({"type": "user_message", "message": request}));
        }
        if response.thinking.is_some() {
            line("response_item", json!({"type": "reasoning", "summary": [], "encrypted_content": "REDACTED"}));
        }
        if let Some(text) = &response.text {
            line("response_item", message("assistant", "output_text", text));
            line("event_msg", json!({"type": "agent_message", "message": text}));
        }
        for call in &response.calls {
            let arguments = call.input.to_string();
            let item = json!({"type": "function_call", "name": call.name, "arguments": arguments, "call_id": call.id});
            line("response_item", item);
        }
        for call in &response.calls {
            line("response_item", json!({"type": "function_call_output", "call_id": call.id, "output": call.result}));
        }
        total += 20_000;
        let last = json!({"input_tokens": 19_750, "cached_input_tokens": 18_000, "output_tokens": 250,
            "reasoning_output_tokens": 100, "total_tokens": 20_000});
        let info =
            json!({"total_token_usage": {"total_tokens": total}, "last_token_usage": last, "model_context_window": 258_400});
        line("event_msg", json!({"type": "token_count", "info": info}));
    }
    lines
}

fn message(role: &str, kind: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}
