//! How Gemini CLI estimates, in quarters of a token: a character of ASCII is one, any other UTF-16 unit six. A text of more than 100,000
//! units, and calls and results as `JSON.stringify` writes them, have one for each unit. An image is 3,000 tokens, a document 25,800.
//!
//! The original also counts the name of the tool in a result, which is not part of a result here.
//!
//! Source: @google/gemini-cli-core 0.61.0 `utils/tokenCalculation.js`: `estimateTokenCountSync`.

use serde_json::Value;

use super::model_text::utf16_units;
use super::rules::UnitRules;
use super::{javascript, media};
use crate::transcript::conversation::{Block, BlockKind, Role};

/// Quarters of a token.
const PER_TOKEN: u64 = 4;
/// Quarters of a UTF-16 unit outside ASCII: 1.5 tokens.
const PER_UNIT_OUTSIDE_ASCII: u64 = 6;
/// UTF-16 units above which every one counts as ASCII.
const MAX_UNITS_LOOKED_AT: u64 = 100_000;
const TOKENS_PER_IMAGE: u64 = 3_000;
const TOKENS_PER_DOCUMENT: u64 = 25_800;
/// What a call has besides its id, its name and its arguments.
const CALL_FRAME: &str = r#"{"functionCall":{"id":,"name":,"args":}}"#;
/// What a result has besides its text.
const RESULT_FRAME: &str = r#"{"output":}"#;
/// What a failed result has besides its text.
const ERROR_FRAME: &str = r#"{"error":}"#;

/// Gemini CLI's estimate.
pub struct Gemini;

impl UnitRules for Gemini {
    fn counts_tokens(&self) -> bool {
        false
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn text(&self, text: &str) -> u64 {
        text_quarters(text)
    }

    fn block(&self, block: &Block, _plain: bool) -> u64 {
        block_quarters(block)
    }

    fn message(&self, _role: Role, _plain: bool, _blocks: usize, sum: u64) -> u64 {
        sum
    }

    fn list(&self, _messages: usize, sum: u64) -> u64 {
        sum
    }
}

/// Returns the quarters of a token of a block.
fn block_quarters(block: &Block) -> u64 {
    let media: u64 = media::parts(block).map(part_tokens).sum();
    media * PER_TOKEN
        + match block.kind {
            BlockKind::ToolUse(_) => {
                let length = |field| javascript::stringify_len(block.wire.get(field).unwrap_or(&Value::Null));
                CALL_FRAME.len() as u64 + length("id") + length("name") + length("input")
            }
            BlockKind::ToolResult(_) => {
                let frame = if block.is_error() { ERROR_FRAME } else { RESULT_FRAME };
                frame.len() as u64 + (javascript::STRINGIFY.string)(&block.text())
            }
            BlockKind::Media => 0,
            BlockKind::Text | BlockKind::Thinking | BlockKind::Other => text_quarters(&block.text()),
        }
}

/// Returns the quarters of a token of a text.
fn text_quarters(text: &str) -> u64 {
    let units = utf16_units(text);
    if units > MAX_UNITS_LOOKED_AT {
        return units;
    }
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    ascii + (units - ascii) * PER_UNIT_OUTSIDE_ASCII
}

fn part_tokens(part: &Value) -> u64 {
    let is_document = part.get("type").and_then(Value::as_str) == Some("document");
    if is_document { TOKENS_PER_DOCUMENT } else { TOKENS_PER_IMAGE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::conversation::{ConversationBuilder, Origin, Thinking};
    use serde_json::json;

    fn quarters(wire: Value) -> u64 {
        let mut builder = ConversationBuilder::new("main", "test", Thinking::All);
        let id = builder.block(wire, Origin::Agent, 1);
        block_quarters(builder.so_far().block(id))
    }

    #[test]
    fn characters_outside_ascii_count_six_times_in_texts() {
        assert_eq!([text_quarters("abcd"), text_quarters("aé"), text_quarters("😀")], [4, 7, 12]);
        assert_eq!([text_quarters(&"é".repeat(100_000)), text_quarters(&"é".repeat(100_001))], [600_000, 100_001]);
    }

    #[test]
    fn calls_and_results_count_as_json() {
        let call = json!({"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}});
        let written = r#"{"functionCall":{"id":"t1","name":"bash","args":{"command":"ls"}}}"#;
        assert_eq!(quarters(call), written.len() as u64);
        let result = json!({"type": "tool_result", "tool_use_id": "t1", "content": "a\né"});
        assert_eq!(quarters(result), r#"{"output":"a\né"}"#.encode_utf16().count() as u64);
        let failed = json!({"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "no"});
        assert_eq!(quarters(failed), r#"{"error":"no"}"#.len() as u64);
    }

    #[test]
    fn images_and_documents_have_fixed_sizes() {
        assert_eq!(quarters(json!({"type": "image", "source": {"type": "file", "file_id": "f"}})), 12_000);
        assert_eq!(quarters(json!({"type": "document", "source": {"type": "file", "file_id": "f"}})), 103_200);
    }
}
