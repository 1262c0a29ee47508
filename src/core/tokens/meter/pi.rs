//! How pi estimates: a quarter of the UTF-16 units of each message, rounded up. A call counts its tool's name and its arguments as
//! `JSON.stringify` writes them, and an image 4,800 units, whatever its size.
//!
//! Source: pi-coding-agent 0.87.1 `core/compaction/compaction.js`: `estimateTokens`.

use super::{SizeUnit, javascript, media};
use crate::transcript::conversation::{Block, BlockKind};

/// Units for one token.
const UNITS_PER_TOKEN: u64 = 4;
/// Units of an image.
const UNITS_PER_IMAGE: u64 = 4_800;

/// Returns the units of a block that count in its message.
pub fn block_units(block: &Block) -> u64 {
    let images = media::parts(block).count() as u64 * UNITS_PER_IMAGE;
    images
        + match block.kind {
            BlockKind::ToolUse(_) => {
                let field = |name: &str| block.wire.get(name).cloned().unwrap_or_default();
                SizeUnit::Utf16.text(field("name").as_str().unwrap_or_default()) + javascript::stringify_len(&field("input"))
            }
            BlockKind::Media => 0,
            BlockKind::Text | BlockKind::Thinking | BlockKind::ToolResult(_) | BlockKind::Other => {
                SizeUnit::Utf16.text(&block.text())
            }
        }
}

/// Returns the tokens of a message whose blocks have these units.
pub fn message_tokens(units: u64) -> u64 {
    units.div_ceil(UNITS_PER_TOKEN)
}
