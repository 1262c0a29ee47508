//! Writes sessions that are an event a line: Copilot CLI and OpenHands.

use serde_json::{Value, json};

use super::TIME;
use crate::trace::{ToolCall, Trace};

/// Writes a session of Copilot CLI.
pub fn copilot_cli(trace: &Trace) -> String {
    let mut lines = String::new();
    let mut line = |kind: &str, data: Value| {
        let event = json!({"type": kind, "data": data, "id": lines.len().to_string(), "timestamp": TIME, "parentId": null});
        lines.push_str(&(event.to_string() + "\n"));
    };
    line("session.start", json!({"sessionId": "5e55", "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.68"}));
    for (at, response) in trace.responses.iter().enumerate() {
        if let Some(request) = &response.request {
            line("user.message", json!({"content": request, "transformedContent": request, "attachments": []}));
        }
        let call = |call: &ToolCall| json!({"toolCallId": call.id, "name": call.name, "arguments": call.input});
        let calls: Vec<Value> = response.calls.iter().map(call).collect();
        line(
            "assistant.message",
            json!({"messageId": at.to_string(), "model": "gpt-5.4", "content": response.text.as_deref().unwrap_or_default(),
                "toolRequests": calls, "outputTokens": 250, "apiCallId": at.to_string(), "reasoningText": response.thinking}),
        );
        for call in &response.calls {
            let data = json!({"toolCallId": call.id, "success": true, "result": {"content": call.result}});
            line("tool.execution_complete", data);
        }
    }
    lines
}

/// Writes events of OpenHands.
pub fn openhands(trace: &Trace) -> String {
    let mut lines = String::new();
    let mut line = |kind: &str, source: &str, fields: Value| {
        let mut event = json!({"kind": kind, "source": source, "timestamp": TIME, "id": lines.len().to_string()});
        event.as_object_mut().expect("an object").extend(fields.as_object().cloned().unwrap_or_default());
        lines.push_str(&(event.to_string() + "\n"));
    };
    let texts = |text: &str| json!([{"type": "text", "text": text}]);
    for (at, response) in trace.responses.iter().enumerate() {
        if let Some(request) = &response.request {
            line("MessageEvent", "user", json!({"llm_message": {"role": "user", "content": texts(request)}}));
        }
        let text = response.text.as_deref().unwrap_or_default();
        if response.calls.is_empty() {
            line("MessageEvent", "agent", json!({"llm_message": {"role": "assistant", "content": texts(text)}}));
        }
        for (nth, call) in response.calls.iter().enumerate() {
            let tool_call = json!({"id": call.id, "name": call.name, "arguments": call.input.to_string()});
            let thought = if nth == 0 { texts(text) } else { json!([]) };
            let fields =
                json!({"thought": thought, "tool_call": tool_call, "tool_call_id": call.id, "llm_response_id": at.to_string()});
            line("ActionEvent", "agent", fields);
        }
        for call in &response.calls {
            let observation = json!({"content": texts(&call.result), "is_error": false});
            line("ObservationEvent", "environment", json!({"tool_call_id": call.id, "observation": observation}));
        }
    }
    lines
}
