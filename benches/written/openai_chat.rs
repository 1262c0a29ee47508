//! Writes messages of OpenAI's Chat Completions API: one a line, as a trajectory of SWE-agent, and as a log of the requests.

use serde_json::{Value, json};

use crate::trace::{ToolCall, Trace};

pub fn write(trace: &Trace) -> String {
    messages(trace).iter().map(|message| message.to_string() + "\n").collect()
}

/// Writes a trajectory of SWE-agent.
pub fn swe_agent(trace: &Trace) -> String {
    let mut messages = messages(trace);
    messages.iter_mut().for_each(|message| message["agent"] = "main".into());
    let document = json!({"environment": "main", "trajectory": [], "history": messages});
    serde_json::to_string_pretty(&document).expect("JSON")
}

/// Writes the first requests, a line each. Every one repeats all messages before it.
pub fn requests(trace: &Trace) -> String {
    let messages = messages(trace);
    let responses = messages.iter().enumerate().filter(|(_, message)| message["role"] == "assistant");
    let line = |(at, message): (usize, &Value)| {
        let tools = json!([{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]);
        let body = json!({"model": "glm-4.6", "messages": messages[..at], "tools": tools});
        let usage = json!({"prompt_tokens": 19_750, "completion_tokens": 250});
        let response = json!({"id": at.to_string(), "choices": [{"index": 0, "message": message}], "usage": usage});
        json!({"request": body, "response": response}).to_string() + "\n"
    };
    responses.take(REQUESTS).map(line).collect()
}

/// Requests of a log: some 10 MB.
const REQUESTS: usize = 100;

fn messages(trace: &Trace) -> Vec<Value> {
    let mut messages = vec![json!({"role": "system", "content": "You are an agent."})];
    for response in &trace.responses {
        if let Some(request) = &response.request {
            messages.push(json!({"role": "user", "content": request}));
        }
        let calls: Vec<_> = response.calls.iter().map(tool_call).collect();
        let calls = if calls.is_empty() { Value::Null } else { calls.into() };
        messages.push(json!({"role": "assistant", "content": response.text, "tool_calls": calls}));
        for call in &response.calls {
            messages.push(json!({"role": "tool", "tool_call_id": call.id, "content": call.result}));
        }
    }
    messages
}

fn tool_call(call: &ToolCall) -> Value {
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.input.to_string()}})
}
