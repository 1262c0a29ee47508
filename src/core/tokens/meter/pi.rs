//! How pi estimates: a quarter of the UTF-16 units of each message, rounded up. A call counts its tool's name and its arguments as
//! `JSON.stringify` writes them, and an image 4,800 units, whatever its size.
//!
//! Source: pi-coding-agent 0.87.1 `core/compaction/compaction.js`: `estimateTokens`.

use super::model_text::utf16_units;
use super::rules::UnitRules;
use super::{javascript, media};
use crate::transcript::conversation::{Block, BlockKind, Role};

/// Units for one token.
const UNITS_PER_TOKEN: u64 = 4;
/// Units of an image.
const UNITS_PER_IMAGE: u64 = 4_800;

/// pi's estimate.
pub struct Pi;

impl UnitRules for Pi {
    fn counts_tokens(&self) -> bool {
        true
    }

    fn adds_up(&self) -> bool {
        false
    }

    fn text(&self, text: &str) -> u64 {
        utf16_units(text)
    }

    fn block(&self, block: &Block, _plain: bool) -> u64 {
        block_units(block)
    }

    fn message(&self, _role: Role, _plain: bool, _blocks: usize, sum: u64) -> u64 {
        sum.div_ceil(UNITS_PER_TOKEN)
    }

    fn list(&self, _messages: usize, sum: u64) -> u64 {
        sum
    }
}

/// Returns the units of a block that count in its message.
fn block_units(block: &Block) -> u64 {
    let images = media::parts(block).count() as u64 * UNITS_PER_IMAGE;
    images
        + match block.kind {
            BlockKind::ToolUse(_) => {
                let field = |name: &str| block.wire.get(name).cloned().unwrap_or_default();
                utf16_units(field("name").as_str().unwrap_or_default()) + javascript::stringify_len(&field("input"))
            }
            BlockKind::Media => 0,
            BlockKind::Text | BlockKind::Thinking | BlockKind::ToolResult(_) | BlockKind::Other => utf16_units(&block.text()),
        }
}
