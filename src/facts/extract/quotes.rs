//! Which lines an agent quotes: those it must have had before it word for word. The text an edit looks for, what a patch keeps
//! and removes, fences and quotations of an answer.

use memchr::memmem;

/// Keys of tool inputs, by several harnesses, whose text must be in the file already.
const LOOKED_FOR: [&str; 6] = ["old_string", "old_str", "oldText", "old_text", "search", "old"];

/// How to tell the quoted lines of one text, and how far it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quotes {
    None,
    All,
    /// Lines a patch keeps or removes. Where its header is, nothing is quoted.
    Patch {
        in_hunk: bool,
    },
    /// An agent's answer.
    Answer {
        in_fence: bool,
    },
}

impl Quotes {
    pub const ANSWER: Self = Self::Answer { in_fence: false };

    /// Those of a string of a tool's input, by the key it stands under.
    pub fn of_input(key: &str, text: &str) -> Self {
        let bytes = text.as_bytes();
        if LOOKED_FOR.contains(&key) {
            Self::All
        } else if text.starts_with("@@ ")
            || memmem::find(bytes, b"\n@@ ").is_some()
            || memmem::find(bytes, b"*** Begin Patch").is_some()
        {
            Self::Patch { in_hunk: false }
        } else {
            Self::None
        }
    }

    /// The next line without its mark of quotation, and whether it is quoted.
    pub fn next<'l>(&mut self, line: &'l str) -> (&'l str, bool) {
        match self {
            Self::None => (line, false),
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
