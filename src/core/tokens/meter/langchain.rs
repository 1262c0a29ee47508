//! LangChain's `count_tokens_approximately`: a quarter of the characters of each message, rounded up, and 3 for the message.
//!
//! Source: langchain-core 1.8.2 `messages/utils.py:2262`. A message's characters are those of its text, of its role, of the id that a
//! tool message answers, and of Python's `repr` of the list of its tool calls. An image counts 85 tokens.

use serde_json::json;

use super::model_text::chars;
use super::rules::UnitRules;
use super::{media, python};
use crate::transcript::conversation::{Block, BlockKind, Role};

/// Characters for one token.
const CHARS_PER_TOKEN: u64 = 4;
/// Tokens that a message adds to those of its characters.
const TOKENS_PER_MESSAGE: u64 = 3;
/// Tokens of an image, whatever its size.
const TOKENS_PER_IMAGE: u64 = 85;

/// LangChain's estimate.
pub struct LangChain;

impl UnitRules for LangChain {
    fn counts_tokens(&self) -> bool {
        true
    }

    fn adds_up(&self) -> bool {
        false
    }

    fn text(&self, text: &str) -> u64 {
        chars(text)
    }

    fn block(&self, block: &Block, _plain: bool) -> u64 {
        block_chars(block)
    }

    fn message(&self, role: Role, _plain: bool, _blocks: usize, sum: u64) -> u64 {
        message_tokens(role, sum)
    }

    fn list(&self, _messages: usize, sum: u64) -> u64 {
        sum
    }
}

/// Returns the characters of a block that count in its message.
fn block_chars(block: &Block) -> u64 {
    let field = |name: &str| block.wire.get(name).cloned().unwrap_or_default();
    let images = media::parts(block).count() as u64 * TOKENS_PER_IMAGE * CHARS_PER_TOKEN;
    images
        + match block.kind {
            BlockKind::Thinking => 0,
            BlockKind::ToolResult(_) => chars(&block.text()) + field("tool_use_id").as_str().map_or(0, chars),
            BlockKind::ToolUse(_) => {
                let call = json!({"name": field("name"), "args": field("input"), "id": field("id"), "type": "tool_call"});
                // In the list, each call takes two characters more: the first the brackets, each other one a comma and a space.
                python::repr_len(&call) + 2
            }
            BlockKind::Media => 0,
            BlockKind::Text | BlockKind::Other => chars(&block.text()),
        }
}

/// Returns the tokens of a message whose blocks have these characters. The names of the roles of users and tools are equally long.
fn message_tokens(role: Role, chars: u64) -> u64 {
    (chars + role.as_str().len() as u64).div_ceil(CHARS_PER_TOKEN) + TOKENS_PER_MESSAGE
}
