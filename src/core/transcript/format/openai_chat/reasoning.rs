//! Reasoning of a message. The chat API has no field for it, so every provider and every gateway has its own.

use serde_json::{Map, Value, json};

use super::super::Note;
use super::super::notes::Notes;

/// Fields with the reasoning as one text: DeepSeek and Kimi; OpenRouter and vLLM; Copilot; Ollama.
const TEXTS: [&str; 4] = ["reasoning_content", "reasoning", "reasoning_text", "thinking"];

/// Takes the reasoning of a message as thinking blocks. Gateways write the same reasoning into several fields, so the first one that
/// has it counts: blocks with their signatures before plain text.
pub fn blocks(fields: &mut Map<String, Value>, line: u32, notes: &mut Notes) -> Vec<Value> {
    let mut found = Vec::new();
    for (field, element) in [("thinking_blocks", thinking_block as fn(&Value) -> Option<Value>), ("reasoning_details", detail)] {
        let value = fields.remove(field).unwrap_or_default();
        match &value {
            Value::Array(elements) => found.push(elements.iter().filter_map(element).collect::<Vec<_>>()),
            Value::Null => {}
            odd => notes.odd_field(line, field, odd),
        }
    }
    let mut texts = Vec::new();
    for field in TEXTS {
        match fields.remove(field).unwrap_or_default() {
            Value::String(text) if text.is_empty() => {}
            Value::String(text) => texts.push(thinking(&text)),
            Value::Null => {}
            odd => notes.odd_field(line, field, &odd),
        }
    }
    texts.truncate(1);
    // Details are often only a part of the text, so the longest reading counts.
    found.push(texts);
    let length = |blocks: &Vec<Value>| blocks.iter().map(|block| words(block).len()).sum::<usize>();
    let longest = found.iter().map(length).max().unwrap_or(0);
    let chosen = found.into_iter().find(|blocks| !blocks.is_empty() && length(blocks) == longest).unwrap_or_default();
    if chosen.iter().any(|block| block["type"] == "redacted_thinking") {
        notes.kind(Note::info(line, "reasoning is encrypted here; its words do not count"));
    }
    chosen
}

fn thinking(text: &str) -> Value {
    json!({"type": "thinking", "thinking": text})
}

fn words(block: &Value) -> &str {
    block.get("thinking").and_then(Value::as_str).unwrap_or_default()
}

/// Returns a block of Anthropic's API, as LiteLLM keeps it.
fn thinking_block(block: &Value) -> Option<Value> {
    let is_thinking = block.get("thinking").is_some_and(Value::is_string) || block.get("data").is_some_and(Value::is_string);
    let is_known = matches!(block.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"));
    (is_thinking && is_known).then(|| block.clone())
}

/// Converts a reasoning detail of OpenRouter.
fn detail(detail: &Value) -> Option<Value> {
    let text = |key: &str| detail.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    match detail.get("type").and_then(Value::as_str)? {
        "reasoning.text" => text("text").map(thinking),
        "reasoning.summary" => text("summary").map(thinking),
        "reasoning.encrypted" => text("data").map(|data| json!({"type": "redacted_thinking", "data": data})),
        _ => None,
    }
}
