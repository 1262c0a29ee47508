//! Writes a conversation as text for a model: block by block, each under the name of its speaker.

use std::borrow::Cow;
use std::fmt::Write;

use crate::transcript::conversation::{BlockKind, Origin};

/// A block, or a part of a block.
#[derive(Debug, Clone)]
pub struct Utterance<'a> {
    pub kind: BlockKind,
    pub origin: Origin,
    /// Name of the tool, for tool_use and tool_result; else empty.
    pub tool: &'a str,
    pub is_error: bool,
    pub text: Cow<'a, str>,
}

/// Returns the utterances as text, one below the other.
pub fn dialogue<'a>(utterances: impl Iterator<Item = Utterance<'a>>) -> String {
    let mut dialogue = String::new();
    for Utterance { kind, origin, tool, is_error, text } in utterances {
        let _ = match kind {
            BlockKind::ToolUse(_) => writeln!(dialogue, "[agent calls {tool}]"),
            BlockKind::ToolResult(_) if is_error => writeln!(dialogue, "[error of {tool}]"),
            BlockKind::ToolResult(_) => writeln!(dialogue, "[result of {tool}]"),
            BlockKind::Thinking => writeln!(dialogue, "[agent thinks]"),
            _ => writeln!(dialogue, "[{}]", speaker(origin)),
        };
        dialogue.push_str(text.trim_end());
        dialogue.push_str("\n\n");
    }
    dialogue.truncate(dialogue.trim_end().len());
    dialogue
}

fn speaker(origin: Origin) -> &'static str {
    match origin {
        Origin::Agent => "agent",
        Origin::User => "user",
        _ => "harness",
    }
}
