//! How Microsoft's agent-framework estimates: a quarter of the characters of each message as JSON with all its keys, rounded down. A call
//! has its arguments as a JSON text inside of the JSON, so that their quotes are escaped.
//!
//! Source: agent-framework-core 1.23.0 `_compaction.py`: `CharacterEstimatorTokenizer`, `_serialize_message`. The id of each message is one
//! of seven characters here, as the framework numbers the messages from the hundredth to the thousandth.

use super::model_text::chars;
use super::python;
use super::rules::UnitRules;
use crate::transcript::conversation::{Block, BlockKind, Role};

/// Characters for one token.
const CHARS_PER_TOKEN: u64 = 4;

/// A message without its contents and the name of its role. The names of the roles of users and tools are equally long.
const MESSAGE: &str = r#"{"contents": [], "message_id": "msg_100", "role": ""}"#;
const TEXT: &str = r#"{"additional_properties": {}, "text": , "type": "text"}"#;
const THINKING: &str = r#"{"additional_properties": {}, "text": , "type": "text_reasoning"}"#;
const CALL: &str =
    r#"{"additional_properties": {}, "arguments": , "call_id": , "hosted": false, "name": , "type": "function_call"}"#;
const RESULT: &str = r#"{"additional_properties": {}, "call_id": , "result": , "type": "function_result"}"#;

/// The estimate of Microsoft's agent-framework.
pub struct AgentFramework;

impl UnitRules for AgentFramework {
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

    fn message(&self, role: Role, _plain: bool, blocks: usize, sum: u64) -> u64 {
        message_tokens(role, blocks, sum)
    }

    fn list(&self, _messages: usize, sum: u64) -> u64 {
        sum
    }
}

/// Returns the characters of a block as a content of its message.
fn block_chars(block: &Block) -> u64 {
    let string = |text: &str| (python::DUMPS.string)(text);
    let field = |name: &str| block.wire.get(name).and_then(|value| value.as_str()).map_or(0, string);
    let content = |frame: &str| frame.len() as u64 + string(&block.text());
    match block.kind {
        BlockKind::Text => content(TEXT),
        BlockKind::Thinking => content(THINKING),
        BlockKind::ToolUse(_) => content(CALL) + field("id") + field("name"),
        BlockKind::ToolResult(_) => content(RESULT) + field("tool_use_id"),
        BlockKind::Media | BlockKind::Other => python::dumps_len(&block.wire, false),
    }
}

/// Returns the tokens of a message of `blocks` contents that have these characters together.
fn message_tokens(role: Role, blocks: usize, chars: u64) -> u64 {
    let separators = (blocks as u64).saturating_sub(1) * ", ".len() as u64;
    (MESSAGE.len() as u64 + role.as_str().len() as u64 + separators + chars) / CHARS_PER_TOKEN
}
