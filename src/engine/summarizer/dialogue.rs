//! A conversation written down for a model to read: block by block, each under the name of who said it.

use std::borrow::Cow;
use std::fmt::Write;

use crate::transcript::conversation::{Kind, Origin};

/// A block, or a part of one.
#[derive(Debug, Clone)]
pub struct Utterance<'a> {
    pub kind: Kind,
    pub origin: Origin,
    /// Name of the tool, of tool_use and tool_result.
    pub tool: &'a str,
    pub is_error: bool,
    pub text: Cow<'a, str>,
}

/// What was said, one under the other.
pub fn dialogue<'a>(said: impl Iterator<Item = Utterance<'a>>) -> String {
    let mut written = String::new();
    for Utterance { kind, origin, tool, is_error, text } in said {
        let _ = match kind {
            Kind::ToolUse(_) => writeln!(written, "[agent calls {tool}]"),
            Kind::ToolResult(_) if is_error => writeln!(written, "[error of {tool}]"),
            Kind::ToolResult(_) => writeln!(written, "[result of {tool}]"),
            Kind::Thinking => writeln!(written, "[agent thinks]"),
            _ => writeln!(written, "[{}]", speaker(origin)),
        };
        written.push_str(text.trim_end());
        written.push_str("\n\n");
    }
    written.truncate(written.trim_end().len());
    written
}

fn speaker(origin: Origin) -> &'static str {
    match origin {
        Origin::Agent => "agent",
        Origin::User => "user",
        _ => "harness",
    }
}
