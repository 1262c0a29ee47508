//! Writes sessions of Cline CLI, and tasks of Roo Code in an editor: documents of Anthropic's messages.

use serde_json::{Value, json};

use crate::trace::{Response, ToolCall, Trace};

/// Writes a session of Cline CLI.
pub fn session(trace: &Trace) -> String {
    let metrics = json!({"inputTokens": 19_750, "outputTokens": 250, "cacheReadTokens": 18_000, "cacheWriteTokens": 0});
    let messages = messages(trace, &json!({"modelInfo": {"id": "glm-4.6"}, "metrics": metrics}));
    let document = json!({"version": 1, "updated_at": super::TIME, "agent": "lead", "sessionId": "5e55", "messages": messages});
    serde_json::to_string_pretty(&document).expect("JSON")
}

/// Writes the messages of a task, without the files beside them.
pub fn task(trace: &Trace) -> String {
    json!(messages(trace, &json!({"modelInfo": {"modelId": "glm-4.6"}}))).to_string()
}

/// The messages; those of the model have these fields, too.
fn messages(trace: &Trace, fields: &Value) -> Vec<Value> {
    let mut messages = Vec::new();
    for (at, response) in trace.responses.iter().enumerate() {
        let ts = 1_772_323_200_000 + 1_000 * at;
        if let Some(request) = &response.request {
            messages.push(json!({"role": "user", "content": [{"type": "text", "text": request}], "ts": ts}));
        }
        let mut said = json!({"role": "assistant", "content": said(response), "ts": ts});
        said.as_object_mut().expect("an object").extend(fields.as_object().cloned().unwrap_or_default());
        messages.push(said);
        if !response.calls.is_empty() {
            let results: Vec<Value> = response.calls.iter().map(result).collect();
            messages.push(json!({"role": "user", "content": results, "ts": ts}));
        }
    }
    messages
}

fn said(response: &Response) -> Vec<Value> {
    let text = response.text.iter().map(|text| json!({"type": "text", "text": text}));
    let calls = response.calls.iter();
    let calls = calls.map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}));
    text.chain(calls).collect()
}

fn result(call: &ToolCall) -> Value {
    json!({"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": call.result}]})
}
