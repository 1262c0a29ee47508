//! Which harness compacted what is in a transcript: by the texts that harnesses leave in place of what they took away.
//!
//! A marker counts only where its harness puts it: as the beginning of a result, of a text that no model wrote, or as a line of
//! one. An agent that reads the sources of a harness, or speaks of them, has the same words elsewhere.
//!
//! Over 108 recorded transcripts this finds four markers of two systems, 139 times, each in transcripts of that system's own or in
//! copies of them; none is a mere mention. Most markers of the table are in none of those recordings: they are held to their sources only.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};
use serde::Serialize;

use crate::transcript::conversation::{Block, Conversation, Kind, Origin};

/// Where a marker stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// A tool's result begins with it.
    Result,
    /// It is all of a tool's result.
    WholeResult,
    /// It is a line of a tool's result, or what a line of it begins with.
    ResultLine,
    /// It stands anywhere in a tool's result.
    InResult,
    /// A text begins with it that is neither the model's nor a tool's.
    Text,
    /// A text that is neither the model's nor a tool's is all of it.
    WholeText,
    /// A text of the model begins with it.
    Answer,
    /// A string in the arguments of a tool call ends with it.
    Argument,
}

/// A text that a harness leaves, as it stands in the harness's sources.
pub struct Marker {
    pub system: &'static str,
    pub at: At,
    /// `{n}` is a number, `{}` any text within the line; all else stands for itself.
    pub text: &'static str,
}

/// Every marker that is known. The texts are quoted from the sources of the systems, in the versions that the policies are from; a
/// system may use another's.
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

/// How often a marker stands in a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mark {
    pub system: &'static str,
    pub marker: &'static str,
    pub times: usize,
    /// Line of the transcript at which it stands first.
    pub line: u32,
}

/// The markers of the conversations of a transcript, in the order of the table.
pub fn marks<'a>(conversations: impl IntoIterator<Item = &'a Conversation>) -> Vec<Mark> {
    let mut found: BTreeMap<usize, (usize, u32)> = BTreeMap::new();
    for block in conversations.into_iter().flat_map(|conversation| &conversation.blocks) {
        for marker in in_block(block) {
            let (times, line) = found.entry(marker).or_insert((0, block.line));
            *times += 1;
            *line = (*line).min(block.line);
        }
    }
    let mark = |(marker, (times, line)): (usize, (usize, u32))| {
        let Marker { system, text, .. } = MARKERS[marker];
        Mark { system, marker: text, times, line }
    };
    found.into_iter().map(mark).collect()
}

/// The indices of the markers that stand in a block.
fn in_block(block: &Block) -> Vec<usize> {
    static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
        RegexSet::new(MARKERS.iter().map(|marker| pattern(marker.at, marker.text))).expect("the table holds patterns")
    });
    let fits = |at: At| match (block.kind, block.origin) {
        (Kind::ToolResult(_), _) => matches!(at, At::Result | At::WholeResult | At::ResultLine | At::InResult),
        (Kind::ToolUse(_), _) => at == At::Argument,
        (Kind::Text, Origin::Agent) => at == At::Answer,
        (Kind::Text, _) => matches!(at, At::Text | At::WholeText),
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

/// The regular expression of a text at the beginning of a block, its holes caught.
pub fn holes(text: &str) -> Regex {
    let pattern = regex::escape(text).replace(r"\{n\}", "([0-9]+)").replace(r"\{\}", "([^\n]+)");
    Regex::new(&format!("^{pattern}")).expect("a text with holes is a pattern")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::conversation::{Builder, Thinking, text_wire};

    fn systems(wire: serde_json::Value, origin: Origin) -> Vec<&'static str> {
        let mut builder = Builder::new("main", "messages", Thinking::All);
        builder.block(wire, origin, 7);
        marks([&builder.finish()]).iter().map(|mark| mark.system).collect()
    }

    #[test]
    fn a_marker_counts_where_its_harness_puts_it() {
        let result = |text: &str| serde_json::json!({"type": "tool_result", "tool_use_id": "a", "content": text});
        let told = |text: &str| systems(result(text), Origin::Tool);
        assert_eq!(told("[Previous: used bash]"), ["learn-claude-code s06"]);
        assert_eq!(told("[Old tool result content cleared]\n"), ["Claude Code"]);
        assert_eq!(told("<persisted-output>\nFull output: a\nPreview:\n"), ["learn-claude-code s08"]);
        assert_eq!(told("cut …53 tokens truncated… here"), ["Codex"]);
        let typed = |text: &str| systems(text_wire(text), Origin::User);
        assert_eq!(typed("[12 messages archived at .transcripts/a.jsonl]"), ["learn-claude-code s08"]);
        assert_eq!(typed("[snipped 12 messages]"), ["learn-claude-code s08"]);
        // What is only spoken of.
        assert!(told("98: marker = f\"[Previous: used {tool}]\"").is_empty());
        assert!(told("PLACEHOLDER = \"[Old tool result content cleared]\"").is_empty());
        assert!(told("format!(\"…{removed} tokens truncated…\")").is_empty());
        assert!(typed("Why does [Compacted] stand there?").is_empty());
        assert!(systems(text_wire("[Compacted]\n\nas it writes"), Origin::Agent).is_empty());
    }
}
