//! Sizes of requests, computed from the whole text: what a replay adds up from the sizes of blocks.

use recompact::engine::context::{Context, ContextMessage};
use recompact::text::surrogates;
use recompact::tokens::meter::{Rates, SizeUnit, python_text};
use recompact::transcript::conversation::{Block, BlockId, BlockKind, Role};
use serde_json::{Value, json};

/// Returns the size of a request, by writing it as a whole or by its texts.
pub fn slow_size(measure: SizeUnit, context: &Context, wires: &[Value]) -> u64 {
    let all = || Value::Array(wires.to_vec());
    let chars = |text: String| text.chars().count() as u64;
    match measure {
        SizeUnit::PyRepr => chars(python_text::repr(&all())),
        // Python counts half a surrogate pair as one character; written to a file it takes an escape of six.
        SizeUnit::Json => chars(python_text::dumps(&all(), false)) - 5 * halves(&all().to_string()),
        SizeUnit::JsonAscii => chars(python_text::dumps(&all(), true)),
        SizeUnit::Messages => wires.len() as u64,
        SizeUnit::LangChain => context.messages().iter().map(|sent| langchain(context, sent)).sum(),
        SizeUnit::LlamaIndex => context.messages().iter().map(|sent| llama_index(context, sent)).sum(),
        SizeUnit::Pi => context.messages().iter().map(|sent| pi(context, sent)).sum(),
        SizeUnit::Gemini => context.messages().iter().flat_map(|sent| &sent.blocks).map(|id| gemini(context.block(*id))).sum(),
        SizeUnit::LlamaIndexMemory => context.messages().iter().map(|sent| llama_index_memory(context, sent)).sum(),
        SizeUnit::AgentFramework => context.messages().iter().map(|sent| agent_framework(context, sent)).sum(),
        SizeUnit::JsJson => surrogates::restore_escapes(all().to_string()).encode_utf16().count() as u64,
        SizeUnit::Chars | SizeUnit::Bytes | SizeUnit::Utf16 | SizeUnit::O200k | SizeUnit::Cl100k | SizeUnit::Fitted(_) => {
            context.messages().iter().flat_map(|sent| &sent.blocks).map(|id| read(measure, context, *id)).sum()
        }
    }
}

/// Returns LangChain's estimate of one message, from the list of its calls as Python writes it.
fn langchain(context: &Context, sent: &ContextMessage) -> u64 {
    let (mut chars, mut images) = (sent.role.as_str().len(), 0);
    let mut calls = Vec::new();
    for block in sent.blocks.iter().map(|id| context.block(*id)) {
        let wire = block.wire();
        images += recompact::tokens::meter::media::parts(block).count() as u64;
        match block.kind {
            BlockKind::Thinking | BlockKind::Media => {}
            BlockKind::ToolUse(_) => {
                calls.push(json!({"name": wire["name"], "args": wire["input"], "id": wire["id"], "type": "tool_call"}));
            }
            BlockKind::ToolResult(_) => {
                chars += block.text().chars().count() + wire["tool_use_id"].as_str().unwrap_or_default().chars().count();
            }
            BlockKind::Text | BlockKind::Other => chars += block.text().chars().count(),
        }
    }
    if !calls.is_empty() {
        chars += python_text::repr(&Value::Array(calls)).chars().count();
    }
    (chars as u64).div_ceil(4) + 3 + 85 * images
}

/// Returns LlamaIndex's estimate of one message: the tokens of its content.
fn llama_index(context: &Context, sent: &ContextMessage) -> u64 {
    let is_content = |kind| matches!(kind, BlockKind::Text | BlockKind::ToolResult(_) | BlockKind::Other);
    let blocks = sent.blocks.iter().map(|id| context.block(*id)).filter(|block| is_content(block.kind));
    let tokens: u64 = blocks.map(|block| SizeUnit::Cl100k.text(&block.text())).sum();
    tokens + u64::from(sent.role == Role::Assistant && tokens == 0)
}

/// Returns Gemini CLI's estimate of one block, in quarters of a token.
fn gemini(block: &Block) -> u64 {
    let json = |value: Value| surrogates::restore_escapes(value.to_string()).encode_utf16().count() as u64;
    let wire = block.wire();
    let tokens = |part: &Value| if part["type"] == "document" { 25_800 } else { 3_000 };
    let media: u64 = recompact::tokens::meter::media::parts(block).map(tokens).sum();
    4 * media
        + match block.kind {
            BlockKind::Media => 0,
            BlockKind::ToolUse(_) => {
                json(json!({"functionCall": {"name": wire["name"], "args": wire["input"], "id": wire["id"]}}))
            }
            BlockKind::ToolResult(_) if block.is_error() => json(json!({"error": block.text()})),
            BlockKind::ToolResult(_) => json(json!({"output": block.text()})),
            _ if SizeUnit::Utf16.text(&block.text()) > 100_000 => SizeUnit::Utf16.text(&block.text()),
            _ => block.text().chars().map(|c| if c.is_ascii() { 1 } else { 6 * SizeUnit::Utf16.text(&c.to_string()) }).sum(),
        }
}

/// Returns pi's estimate of one message: JavaScript's length of its texts, its tools' names and their arguments as JSON.
fn pi(context: &Context, sent: &ContextMessage) -> u64 {
    let utf16 = |text: &str| surrogates::restore_escapes(text.to_owned()).encode_utf16().count();
    let length = |block: &Block| {
        let images = recompact::tokens::meter::media::parts(block).count() * 4_800;
        images
            + match block.kind {
                BlockKind::Media => 0,
                BlockKind::ToolUse(_) => {
                    let wire = block.wire();
                    wire["name"].as_str().unwrap_or_default().encode_utf16().count() + utf16(&wire["input"].to_string())
                }
                _ => SizeUnit::Utf16.text(&block.text()) as usize,
            }
    };
    let blocks = sent.blocks.iter().map(|id| length(context.block(*id)));
    (blocks.sum::<usize>() as u64).div_ceil(4)
}

/// Returns the estimate of one message by LlamaIndex's `Memory`: its content, and the ids of its results.
fn llama_index_memory(context: &Context, sent: &ContextMessage) -> u64 {
    let results = sent.blocks.iter().map(|id| context.block(*id)).filter(|block| matches!(block.kind, BlockKind::ToolResult(_)));
    let ids =
        results.map(|block| SizeUnit::Cl100k.text(&python_text::repr(&json!({"tool_call_id": block.wire()["tool_use_id"]}))));
    let without_ids = llama_index(context, &ContextMessage { role: Role::User, ..sent.clone() });
    without_ids + ids.sum::<u64>()
}

/// Returns the estimate of one message by Microsoft's agent-framework, from its JSON.
fn agent_framework(context: &Context, sent: &ContextMessage) -> u64 {
    let content = |id: &BlockId| {
        let block = context.block(*id);
        let (wire, text) = (block.wire(), block.text());
        match block.kind {
            BlockKind::Text => json!({"additional_properties": {}, "text": text, "type": "text"}),
            BlockKind::Thinking => json!({"additional_properties": {}, "text": text, "type": "text_reasoning"}),
            BlockKind::ToolUse(_) => {
                json!({"additional_properties": {}, "arguments": text, "call_id": wire["id"], "hosted": false,
                "name": wire["name"], "type": "function_call"})
            }
            BlockKind::ToolResult(_) => json!({"additional_properties": {}, "call_id": wire["tool_use_id"], "result": text,
                "type": "function_result"}),
            BlockKind::Media | BlockKind::Other => wire.clone(),
        }
    };
    let contents: Vec<Value> = sent.blocks.iter().map(content).collect();
    let message = json!({"contents": contents, "message_id": "msg_100", "role": sent.role.as_str()});
    let written = python_text::dumps(&message, false);
    (written.chars().count() as u64 - 5 * halves(&message.to_string())) / 4
}

fn halves(text: &str) -> u64 {
    text.chars().filter(|c| surrogates::lone_surrogate(*c).is_some()).count() as u64
}

fn read(measure: SizeUnit, context: &Context, id: BlockId) -> u64 {
    let block = context.block(id);
    let name = match block.kind {
        BlockKind::ToolUse(_) => block.wire()["name"].as_str().unwrap_or_default(),
        _ => "",
    };
    if let SizeUnit::Fitted(Rates { by_class: [result, tool_use, text, thinking], .. }) = measure {
        let rate = match block.kind {
            BlockKind::ToolResult(_) => result,
            BlockKind::ToolUse(_) => tool_use,
            BlockKind::Thinking => thinking,
            _ => text,
        };
        return (name.chars().count() + block.text().chars().count()) as u64 * u64::from(rate);
    }
    measure.text(name) + measure.text(&block.text())
}
