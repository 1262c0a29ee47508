//! Writes traces in the transcript formats, as input for the parsers.

pub mod claude_code;
mod codex;
mod messages;
mod openai_chat;

use crate::trace::Trace;

/// A writer of traces in one format.
pub struct Writer {
    pub name: &'static str,
    /// The format that parses its output.
    pub format: &'static str,
    pub write: fn(&Trace) -> String,
}

pub const WRITERS: &[Writer] = &[
    Writer { name: "claude-code", format: "claude-code", write: |trace| claude_code::write(trace, 0) },
    Writer { name: "codex", format: "codex", write: codex::write },
    Writer { name: "openai-chat", format: "openai-chat", write: openai_chat::write },
    Writer { name: "messages-blocks", format: "messages", write: messages::blocks },
    Writer { name: "messages-sdkrepr", format: "messages", write: messages::sdkrepr },
];
