//! Recognises which harnesses compacted a transcript, by the texts that they leave in place of what they removed.
//!
//! A marker counts only where its harness puts it: at the beginning of a result, at the beginning of a text that no
//! model wrote, or as a line of a result. If an agent reads or mentions the source code of a harness, the same words
//! appear elsewhere.
//!
//! Over 108 recorded transcripts this finds four markers of two systems, 139 times, each in transcripts of that system
//! or in copies of them; none is a mere mention. Most markers of the table occur in none of those recordings: they are
//! checked only against the source code of their systems.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};
use serde::Serialize;

use crate::transcript::conversation::{Block, BlockKind, Conversation, Origin};

/// The position of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// At the beginning of a tool result.
    Result,
    /// The whole tool result.
    WholeResult,
    /// At the beginning of a line of a tool result.
    ResultLine,
    /// Anywhere in a tool result.
    InResult,
    /// At the beginning of a text of neither the model nor a tool.
    Text,
    /// The whole text of neither the model nor a tool.
    WholeText,
    /// At the beginning of a text of the model.
    Answer,
    /// At the end of a string in the arguments of a tool call.
    Argument,
}

/// A text that a harness leaves, quoted from its source code.
pub struct Marker {
    pub system: &'static str,
    pub at: At,
    /// `{n}` matches a number, `{}` any text within the line; everything else matches itself.
    pub text: &'static str,
}

/// Every known marker. The texts are quoted from the source code of the systems, in the versions that the policies come from. Several
/// systems may use the same marker.
pub const MARKERS: &[Marker] = &[
    Marker { system: "learn-claude-code s06", at: At::WholeResult, text: "[Previous: used {}]" },
    Marker { system: "learn-claude-code s06", at: At::Text, text: "[Conversation compressed. Transcript: " },
    Marker { system: "learn-claude-code s08", at: At::Text, text: "[snipped {n} messages" },
    Marker { system: "learn-claude-code s08", at: At::WholeText, text: "[{n} messages archived at {}]" },
    Marker { system: "learn-claude-code s08", at: At::Text, text: "[Compacted]" },
    Marker { system: "learn-claude-code s08", at: At::Text, text: "[Reactive compact]" },
    Marker { system: "learn-claude-code s08", at: At::WholeResult, text: "[Earlier tool result {}]" },
    Marker { system: "learn-claude-code s08", at: At::Result, text: "<persisted-output>\nFull output: " },
    Marker { system: "Claude Code", at: At::Result, text: "<persisted-output>\nOutput too large (" },
    Marker { system: "Claude Code", at: At::WholeResult, text: "[Old tool result content cleared]" },
    Marker { system: "Claude Code", at: At::Text, text: "This session is being continued from a previous conversation" },
    Marker { system: "Codex", at: At::Text, text: "Another language model started to solve this problem" },
    Marker { system: "Codex", at: At::InResult, text: "…{n} tokens truncated…" },
    Marker { system: "Codex", at: At::ResultLine, text: "Total output lines: {n}" },
    Marker { system: "gemini-cli", at: At::Text, text: "<state_snapshot>" },
    Marker { system: "gemini-cli", at: At::Answer, text: "Got it. Thanks for the additional context!" },
    Marker { system: "gemini-cli", at: At::Result, text: "Output too large. Showing first {n} and last {n} characters" },
    Marker { system: "gemini-cli", at: At::Result, text: "<tool_output_masked>" },
    Marker { system: "OpenHands", at: At::WholeResult, text: "<MASKED>" },
    Marker { system: "OpenHands", at: At::ResultLine, text: "[... Observation truncated due to length ...]" },
    Marker { system: "SWE-agent", at: At::Result, text: "Old environment output: ({n} lines omitted)" },
    Marker { system: "SWE-agent", at: At::Text, text: "Old environment output: ({n} lines omitted)" },
    Marker { system: "SWE-agent", at: At::ResultLine, text: "Outdated window with {n} lines omitted..." },
    Marker { system: "mini-swe-agent", at: At::ResultLine, text: "<elided_chars>" },
    Marker { system: "LangChain", at: At::Text, text: "Here is a summary of the conversation to date:" },
    Marker { system: "LangChain", at: At::WholeResult, text: "[cleared]" },
    Marker { system: "deepagents", at: At::Text, text: "You are in the middle of a conversation that has been summarized." },
    Marker { system: "deepagents", at: At::Argument, text: "...(argument truncated)" },
    Marker {
        system: "pi",
        at: At::Text,
        text: "The conversation history before this point was compacted into the following summary",
    },
    Marker { system: "Cline", at: At::Answer, text: "[NOTE] Some previous conversation history" },
    Marker { system: "Cline", at: At::Result, text: "[[NOTE] This file read has been removed" },
    Marker { system: "Roo", at: At::Text, text: "## Conversation Summary" },
    Marker { system: "Roo", at: At::Text, text: "[Sliding window truncation: " },
    Marker { system: "Roo", at: At::Result, text: "Context condensation triggered." },
    Marker { system: "aider", at: At::Text, text: "I spoke to you previously about a number of things." },
    Marker { system: "kimi-cli", at: At::Text, text: "Previous context has been compacted." },
    Marker { system: "crush", at: At::Text, text: "The previous session was interrupted because it got too long" },
    Marker { system: "Letta", at: At::Text, text: "{\"type\": \"system_alert\", \"message\": \"Note: prior messages" },
];

/// The number of times a transcript has a marker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mark {
    pub system: &'static str,
    pub marker: &'static str,
    pub times: usize,
    /// Line of the transcript with the first one.
    pub line: u32,
}

/// Returns the markers in the conversations of a transcript, in the order of [`MARKERS`].
pub fn marks<'a>(conversations: impl IntoIterator<Item = &'a Conversation>) -> Vec<Mark> {
    let mut counts: BTreeMap<usize, (usize, u32)> = BTreeMap::new();
    for block in conversations.into_iter().flat_map(|conversation| &conversation.blocks) {
        for marker in in_block(block) {
            let (times, line) = counts.entry(marker).or_insert((0, block.line));
            *times += 1;
            *line = (*line).min(block.line);
        }
    }
    let mark = |(marker, (times, line)): (usize, (usize, u32))| {
        let Marker { system, text, .. } = MARKERS[marker];
        Mark { system, marker: text, times, line }
    };
    counts.into_iter().map(mark).collect()
}

/// Returns the indices of the markers in a block.
fn in_block(block: &Block) -> Vec<usize> {
    static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
        RegexSet::new(MARKERS.iter().map(|marker| pattern(marker.at, marker.text))).expect("the table holds patterns")
    });
    let fits = |at: At| match (block.kind, block.origin) {
        (BlockKind::ToolResult(_), _) => matches!(at, At::Result | At::WholeResult | At::ResultLine | At::InResult),
        (BlockKind::ToolUse(_), _) => at == At::Argument,
        (BlockKind::Text, Origin::Agent) => at == At::Answer,
        (BlockKind::Text, _) => matches!(at, At::Text | At::WholeText),
        _ => false,
    };
    let text = block.text();
    PATTERNS.matches(text.trim_ascii()).iter().filter(|marker| fits(MARKERS[*marker].at)).collect()
}

fn pattern(at: At, text: &str) -> String {
    let text = regex::escape(text).replace(r"\{n\}", "[0-9]+").replace(r"\{\}", "[^\n]+");
    match at {
        At::Result | At::Text | At::Answer => format!("^{text}"),
        At::WholeResult | At::WholeText => format!("^{text}$"),
        At::ResultLine => format!("(?m)^{text}"),
        At::InResult => text,
        At::Argument => format!("{text}\""),
    }
}

/// Compiles a text with placeholders to a regular expression for the beginning of a block, which captures the placeholders.
pub fn pattern_of(text: &str) -> Regex {
    let pattern = regex::escape(text).replace(r"\{n\}", "([0-9]+)").replace(r"\{\}", "([^\n]+)");
    Regex::new(&format!("^{pattern}")).expect("a text with placeholders is a pattern")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::conversation::{ConversationBuilder, Thinking, text_wire};

    fn systems(wire: serde_json::Value, origin: Origin) -> Vec<&'static str> {
        let mut builder = ConversationBuilder::new("main", "messages", Thinking::All);
        builder.block(wire, origin, 7);
        marks([&builder.finish()]).iter().map(|mark| mark.system).collect()
    }

    #[test]
    fn markers_count_only_where_a_harness_puts_them() {
        let result = |text: &str| serde_json::json!({"type": "tool_result", "tool_use_id": "a", "content": text});
        let in_result = |text: &str| systems(result(text), Origin::Tool);
        assert_eq!(in_result("[Previous: used bash]"), ["learn-claude-code s06"]);
        assert_eq!(in_result("[Old tool result content cleared]\n"), ["Claude Code"]);
        assert_eq!(in_result("<persisted-output>\nFull output: a\nPreview:\n"), ["learn-claude-code s08"]);
        assert_eq!(in_result("cut …53 tokens truncated… here"), ["Codex"]);
        let in_typed = |text: &str| systems(text_wire(text), Origin::User);
        assert_eq!(in_typed("[12 messages archived at .transcripts/a.jsonl]"), ["learn-claude-code s08"]);
        assert_eq!(in_typed("[snipped 12 messages]"), ["learn-claude-code s08"]);
        // Texts that only mention a marker.
        assert!(in_result("98: marker = f\"[Previous: used {tool}]\"").is_empty());
        assert!(in_result("PLACEHOLDER = \"[Old tool result content cleared]\"").is_empty());
        assert!(in_result("format!(\"…{removed} tokens truncated…\")").is_empty());
        assert!(in_typed("Why does [Compacted] stand there?").is_empty());
        assert!(systems(text_wire("[Compacted]\n\nas it writes"), Origin::Agent).is_empty());
    }
}
