//! Which transcripts are in the results, and which are not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::util::text::{are, plural, were};

/// How many of the transcripts that a command found are in its results.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Number of transcripts found.
    pub found: usize,
    /// Those that are not in the results, in the order in which they were found.
    pub left_out: Vec<LeftOut>,
}

/// A transcript that is not in the results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{path}: {why}")]
pub struct LeftOut {
    pub path: String,
    pub why: String,
    /// Whether it was read, and a policy or a summarizer gave no answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unanswered: bool,
    /// Whether it is a file of something else, found in a folder. Then it is not counted among the transcripts found.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
}

impl Coverage {
    /// Whether no transcript was left out.
    pub fn is_complete(&self) -> bool {
        self.transcripts().next().is_none()
    }

    /// The transcripts that were left out, without the files of something else.
    pub fn transcripts(&self) -> impl Iterator<Item = &LeftOut> {
        self.left_out.iter().filter(|left_out| !left_out.foreign)
    }

    /// Returns how many transcripts are in the results: `47 of 60 transcripts`.
    pub fn line(&self) -> String {
        format!("{} of {}", self.included(), plural(self.found, "transcript"))
    }

    /// The same with a verb: `47 of 60 transcripts are`, `1 of 60 transcripts is`.
    pub fn line_are(&self) -> String {
        format!("{} {}", self.line(), are(self.subjects()))
    }

    /// The same with a verb: `47 of 60 transcripts were`, `1 of 60 transcripts was`.
    pub fn line_were(&self) -> String {
        format!("{} {}", self.line(), were(self.subjects()))
    }

    fn included(&self) -> usize {
        self.found.saturating_sub(self.transcripts().count())
    }

    /// The count that the verb follows: none of a single transcript is still one.
    fn subjects(&self) -> usize {
        if self.found == 1 { 1 } else { self.included() }
    }

    /// Adds what was left out before: `read` is the coverage of reading, and this one that of the transcripts that could be read.
    pub fn of_all_found(self, read: Coverage) -> Self {
        Self { found: read.found, left_out: read.left_out.into_iter().chain(self.left_out).collect() }
    }

    /// Number of transcripts that are left out because a policy or a summarizer gave no answer.
    pub fn unanswered(&self) -> usize {
        self.left_out.iter().filter(|left_out| left_out.unanswered).count()
    }

    /// Leaves out another transcript.
    pub fn leave_out(&mut self, path: &str, why: impl Into<String>) {
        self.left_out.push(LeftOut { path: path.to_owned(), why: why.into(), unanswered: false, foreign: false });
    }

    /// Leaves out a file that was found as if it were a transcript, and is something else.
    pub fn leave_out_foreign(&mut self, path: &str, why: impl Into<String>) {
        self.found -= 1;
        self.left_out.push(LeftOut { path: path.to_owned(), why: why.into(), unanswered: false, foreign: true });
    }
}

#[cfg(test)]
mod tests {
    use super::Coverage;

    #[test]
    fn verb_follows_the_count() {
        let coverage = |found: usize, left_out: usize| {
            let mut coverage = Coverage { found, left_out: Vec::new() };
            (0..left_out).for_each(|n| coverage.leave_out(&n.to_string(), "empty"));
            coverage
        };
        let lines = [(1, 1), (60, 60), (60, 59), (60, 13)].map(|(found, left_out)| coverage(found, left_out).line_were());
        let expected =
            ["0 of 1 transcript was", "0 of 60 transcripts were", "1 of 60 transcripts was", "47 of 60 transcripts were"];
        assert_eq!(lines, expected);
        assert_eq!(coverage(1, 1).line_are(), "0 of 1 transcript is");
    }

    #[test]
    fn files_of_something_else_are_no_transcripts() {
        let mut coverage = Coverage { found: 4, left_out: Vec::new() };
        ["package.json", "tsconfig.json"].into_iter().for_each(|path| coverage.leave_out_foreign(path, "no transcript"));
        assert!(coverage.is_complete());
        assert_eq!((coverage.line(), coverage.left_out.len()), ("2 of 2 transcripts".to_owned(), 2));
        coverage.leave_out("a.jsonl", "empty");
        assert!(!coverage.is_complete());
        assert_eq!(coverage.line(), "1 of 2 transcripts");
    }
}
