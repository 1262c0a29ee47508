//! Writes traces in the transcript formats, as input for the parsers.

mod atif;
pub mod claude_code;
mod cline;
mod codex;
mod events;
mod gemini;
mod messages;
mod openai_chat;
mod opencode;
mod pi;

use crate::trace::Trace;

/// A writer of traces in one format.
pub struct Writer {
    pub name: &'static str,
    /// The format that parses its output.
    pub format: &'static str,
    pub write: fn(&Trace) -> String,
}

/// The time of every record.
const TIME: &str = "2026-03-01T00:00:00.000Z";

/// A writer for each format whose sessions are JSON, in the order of the table of formats.
pub const WRITERS: &[Writer] = &[
    Writer { name: "qwen-code", format: "qwen-code", write: gemini::qwen_code },
    Writer { name: "claude-code", format: "claude-code", write: |trace| claude_code::write(trace, 0) },
    Writer { name: "codex", format: "codex", write: codex::write },
    Writer { name: "pi", format: "pi", write: pi::write },
    Writer { name: "opencode", format: "opencode", write: opencode::write },
    Writer { name: "copilot-cli", format: "copilot-cli", write: events::copilot_cli },
    Writer { name: "gemini-cli", format: "gemini-cli", write: gemini::gemini_cli },
    Writer { name: "atif", format: "atif", write: atif::write },
    Writer { name: "swe-agent", format: "swe-agent", write: openai_chat::swe_agent },
    Writer { name: "cline", format: "cline", write: cline::session },
    Writer { name: "cline-task", format: "cline-task", write: cline::task },
    Writer { name: "openhands", format: "openhands", write: events::openhands },
    Writer { name: "requests", format: "requests", write: openai_chat::requests },
    Writer { name: "openai-chat", format: "openai-chat", write: openai_chat::write },
    Writer { name: "messages-blocks", format: "messages", write: messages::blocks },
    Writer { name: "messages-sdkrepr", format: "messages", write: messages::sdkrepr },
];
