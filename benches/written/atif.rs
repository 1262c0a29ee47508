//! Writes a trajectory in ATIF: one document on many lines, a step a response with the results of its calls.

use serde_json::{Value, json};

use super::TIME;
use crate::trace::{Response, ToolCall, Trace};

pub fn write(trace: &Trace) -> String {
    let mut steps = vec![json!({"step_id": 1, "source": "system", "message": "You are an agent.", "timestamp": TIME})];
    for response in &trace.responses {
        if let Some(request) = &response.request {
            steps.push(json!({"step_id": steps.len() + 1, "source": "user", "message": request, "timestamp": TIME}));
        }
        steps.push(step(steps.len() + 1, response));
    }
    let agent = json!({"name": "harbor", "version": "0.26", "model_name": "glm-4.6"});
    let document = json!({"schema_version": "ATIF-v1.7", "session_id": "5e55", "agent": agent, "steps": steps});
    serde_json::to_string_pretty(&document).expect("JSON")
}

fn step(id: usize, response: &Response) -> Value {
    let call = |call: &ToolCall| json!({"tool_call_id": call.id, "function_name": call.name, "arguments": call.input});
    let result = |call: &ToolCall| json!({"source_call_id": call.id, "content": call.result});
    let calls: Vec<Value> = response.calls.iter().map(call).collect();
    let results: Vec<Value> = response.calls.iter().map(result).collect();
    json!({"step_id": id, "source": "agent", "message": response.text.as_deref().unwrap_or_default(), "timestamp": TIME,
        "reasoning_content": response.thinking, "tool_calls": calls, "observation": {"results": results},
        "metrics": {"prompt_tokens": 19_750, "cached_tokens": 18_000, "completion_tokens": 250}, "llm_call_count": 1})
}
