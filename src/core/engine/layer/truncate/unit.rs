//! In what a cut counts: characters, or lines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tokens::meter::SizeUnit;
use crate::util::text;

/// In what the lengths of a cut count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutUnit {
    /// Unicode code points, as Python's `len` counts them.
    #[default]
    Chars,
    /// Lines; the marker is a line of its own.
    Lines,
}

impl CutUnit {
    /// Returns the length of a text.
    pub fn length(self, text: &str) -> usize {
        match self {
            Self::Chars => SizeUnit::Chars.text(text) as usize,
            Self::Lines => text.split_inclusive('\n').count(),
        }
    }

    /// Returns the beginning of a text that has this length, or the whole text if it is shorter.
    pub fn head(self, text: &str, length: usize) -> &str {
        match self {
            Self::Chars => text::head(text, length),
            Self::Lines => {
                let lines = text.split_inclusive('\n').take(length);
                &text[..lines.map(str::len).sum()]
            }
        }
    }

    /// Returns the end of a text that has this length, or the whole text if it is shorter.
    pub fn tail(self, text: &str, length: usize) -> &str {
        match self {
            Self::Chars => text::tail(text, length),
            Self::Lines => {
                let lines = text.split_inclusive('\n').rev().take(length);
                &text[text.len() - lines.map(str::len).sum::<usize>()..]
            }
        }
    }

    /// Returns what follows a marker, in front of the tail.
    pub fn behind_marker(self) -> &'static str {
        match self {
            Self::Chars => "",
            Self::Lines => "\n",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_characters_are_counted_from_both_ends() {
        let cut = |unit: CutUnit, text, length| (unit.length(text), unit.head(text, length), unit.tail(text, length));
        assert_eq!(cut(CutUnit::Lines, "a\nb\n\nd", 2), (4, "a\nb\n", "\nd"));
        assert_eq!(cut(CutUnit::Lines, "a\nb\n", 1), (2, "a\n", "b\n"));
        assert_eq!(cut(CutUnit::Lines, "a\nb", 5), (2, "a\nb", "a\nb"));
        assert_eq!(cut(CutUnit::Lines, "", 3), (0, "", ""));
        assert_eq!(cut(CutUnit::Chars, "año\n", 2), (4, "añ", "o\n"));
        assert_eq!(cut(CutUnit::Lines, "a\nb", 0), (2, "", ""));
    }
}
