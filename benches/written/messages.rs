//! Writes Anthropic messages, one per line, with blocks as objects or as the Python text of `json.dumps(…, default=str)`.

use recompact::tokens::meter::python_text::repr;
use serde_json::{Value, json};

use crate::trace::{ToolCall, Trace};

pub fn blocks(trace: &Trace) -> String {
    write(trace, |kind, fields| {
        let mut block = json!({"type": kind.tag});
        fields.iter().for_each(|(key, value)| block[*key] = value.clone());
        block
    })
}

pub fn sdkrepr(trace: &Trace) -> String {
    write(trace, |kind, fields| {
        let fields: String = fields.iter().map(|(key, value)| format!("{key}={}, ", repr(value))).collect();
        format!("{}({fields}type='{}')", kind.class, kind.tag).into()
    })
}

/// The type of a block in the API, and its class in the SDK.
struct BlockType {
    tag: &'static str,
    class: &'static str,
}

const THINKING: BlockType = BlockType { tag: "thinking", class: "ThinkingBlock" };
const TEXT: BlockType = BlockType { tag: "text", class: "TextBlock" };
const TOOL_USE: BlockType = BlockType { tag: "tool_use", class: "ToolUseBlock" };

fn write(trace: &Trace, block: impl Fn(&BlockType, &[(&str, Value)]) -> Value) -> String {
    let mut lines = String::new();
    let mut line = |role: &str, content: Value| lines.push_str(&(json!({"role": role, "content": content}).to_string() + "\n"));
    for response in &trace.responses {
        if let Some(request) = &response.request {
            line("user", request.as_str().into());
        }
        let thinking =
            response.thinking.as_deref().map(|text| block(&THINKING, &[("signature", "c2ln".into()), ("thinking", text.into())]));
        let text = response.text.as_deref().map(|text| block(&TEXT, &[("text", text.into())]));
        let uses = response.calls.iter().map(|call| {
            block(&TOOL_USE, &[("id", call.id.as_str().into()), ("input", call.input.clone()), ("name", call.name.into())])
        });
        line("assistant", thinking.into_iter().chain(text).chain(uses).collect());
        if !response.calls.is_empty() {
            line("user", response.calls.iter().map(result).collect());
        }
    }
    lines
}

fn result(call: &ToolCall) -> Value {
    json!({"type": "tool_result", "tool_use_id": call.id, "content": call.result})
}
