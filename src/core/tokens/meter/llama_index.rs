//! How LlamaIndex's memory buffers count: tokens of the content of messages. Tool calls are no content, so they count nothing, however
//! long their arguments are; the content of a response with calls alone is Python's `None`, which is one token.
//!
//! Source: llama-index-core 0.14.25 `memory/chat_memory_buffer.py`, `memory/chat_summary_memory_buffer.py`:
//! `_token_count_for_messages`; its default tokenizer is that of gpt-3.5-turbo, cl100k_base.
//!
//! `Memory` counts otherwise: a response with calls alone is nothing, and with a result it counts the id of its call, as Python writes the
//! dict that holds it. Source: `memory/memory.py`: `_estimate_token_count`.

use serde_json::json;

use super::python_text;
use super::rules::UnitRules;
use crate::text::tokens::Vocabulary;
use crate::transcript::conversation::{Block, BlockKind, Role};

/// Tokens of `None`.
const NO_CONTENT: u64 = 1;

/// The estimate of LlamaIndex's memory buffers.
pub struct LlamaIndexBuffer;

impl UnitRules for LlamaIndexBuffer {
    fn counts_tokens(&self) -> bool {
        true
    }

    fn adds_up(&self) -> bool {
        false
    }

    fn text(&self, text: &str) -> u64 {
        Vocabulary::Cl100k.count(text)
    }

    fn block(&self, block: &Block, _plain: bool) -> u64 {
        block_tokens(block)
    }

    fn message(&self, role: Role, _plain: bool, _blocks: usize, sum: u64) -> u64 {
        if role == Role::Assistant && sum == 0 { NO_CONTENT } else { sum }
    }

    fn list(&self, _messages: usize, sum: u64) -> u64 {
        sum
    }
}

/// The estimate of LlamaIndex's `Memory`.
pub struct LlamaIndexMemory;

impl UnitRules for LlamaIndexMemory {
    fn counts_tokens(&self) -> bool {
        true
    }

    /// It does add up, but no report can count with a unit to which tool calls are nothing.
    fn adds_up(&self) -> bool {
        false
    }

    fn text(&self, text: &str) -> u64 {
        Vocabulary::Cl100k.count(text)
    }

    fn block(&self, block: &Block, _plain: bool) -> u64 {
        memory_block_tokens(block)
    }

    fn message(&self, _role: Role, _plain: bool, _blocks: usize, sum: u64) -> u64 {
        sum
    }

    fn list(&self, _messages: usize, sum: u64) -> u64 {
        sum
    }
}

/// Returns the tokens of a block that count in its message.
fn block_tokens(block: &Block) -> u64 {
    match block.kind {
        BlockKind::Text | BlockKind::ToolResult(_) | BlockKind::Other => Vocabulary::Cl100k.count(&block.text()),
        BlockKind::ToolUse(_) | BlockKind::Thinking | BlockKind::Media => 0,
    }
}

/// Returns the tokens of a block that count in its message in a `Memory`.
fn memory_block_tokens(block: &Block) -> u64 {
    let id = || json!({ "tool_call_id": block.wire.get("tool_use_id").cloned().unwrap_or_default() });
    let is_result = matches!(block.kind, BlockKind::ToolResult(_));
    block_tokens(block) + if is_result { Vocabulary::Cl100k.count(&python_text::repr(&id())) } else { 0 }
}
