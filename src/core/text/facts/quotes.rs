//! Detects the lines an agent quotes, which it must have had in its context verbatim.
//!
//! These are the text an edit searches for, lines that a patch keeps or removes, and fenced or quoted lines of an answer.

use memchr::memmem;

/// Keys of tool inputs, in several harnesses, whose text must already be in the file.
const SEARCH_KEYS: [&str; 6] = ["old_string", "old_str", "oldText", "old_text", "search", "old"];

/// Characters of a quoted string that is a fact.
const QUOTED_CHARS: std::ops::RangeInclusive<usize> = 8..=100;

/// Whether a text of one line is a fact if it is quoted.
pub fn is_quotation(text: &str) -> bool {
    let may_be = text.len() >= *QUOTED_CHARS.start() && text.len() <= 4 * QUOTED_CHARS.end();
    may_be && text.contains(' ') && QUOTED_CHARS.contains(&text.chars().count())
}

/// Decides which lines of one text are quoted; the text is read line by line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuoteDetector {
    None,
    /// No line is quoted; a short text is a quotation as a whole, for it has no quotation marks: a command.
    Input,
    All,
    /// Lines that a patch keeps or removes are quoted; its headers are not.
    Patch {
        in_hunk: bool,
    },
    /// Lines in a fence or after `> ` in an agent's answer are quoted.
    Answer {
        in_fence: bool,
    },
}

impl QuoteDetector {
    /// An answer of an agent, outside of a fence.
    pub const ANSWER: Self = Self::Answer { in_fence: false };

    /// Returns the detector for a string of a tool's input, by its key.
    pub fn for_input(key: &str, text: &str) -> Self {
        let bytes = text.as_bytes();
        if SEARCH_KEYS.contains(&key) {
            Self::All
        } else if text.starts_with("@@ ")
            || memmem::find(bytes, b"\n@@ ").is_some()
            || memmem::find(bytes, b"*** Begin Patch").is_some()
        {
            Self::Patch { in_hunk: false }
        } else {
            Self::Input
        }
    }

    /// Returns whether quoted lines must be in the file that the tool writes.
    pub fn quotes_a_file(&self) -> bool {
        matches!(self, Self::All | Self::Patch { .. })
    }

    /// Returns the next line without its `> `, and whether it is quoted.
    pub fn next_line<'l>(&mut self, line: &'l str) -> (&'l str, bool) {
        match self {
            Self::None | Self::Input => (line, false),
            Self::All => (line, true),
            Self::Patch { in_hunk } => {
                if line.starts_with("@@") || line.starts_with("*** Update File:") {
                    *in_hunk = true;
                } else if line.starts_with("*** ") || line.starts_with("diff ") {
                    *in_hunk = false;
                }
                let was_there = line.starts_with(' ') || line.starts_with('-') && !line.starts_with("---");
                (line, *in_hunk && was_there)
            }
            Self::Answer { in_fence } => {
                if line.trim_start().starts_with("```") {
                    *in_fence = !*in_fence;
                    return (line, false);
                }
                match line.trim_start().strip_prefix("> ") {
                    Some(quoted) if !*in_fence => (quoted, true),
                    _ => (line, *in_fence),
                }
            }
        }
    }
}
