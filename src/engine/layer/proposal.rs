//! What a layer wants done: edits, files, and the summaries it asked for.

use crate::engine::context::Edit;
use crate::engine::summarizer::{AnswerCost, HiddenInput, NameCounts};
use crate::transcript::conversation::BlockId;

/// What a layer wants done.
#[derive(Debug, Default)]
pub struct Proposal {
    /// Applied in order; none: the layer has nothing to do.
    pub edits: Vec<Edit>,
    pub files: Vec<NewFile>,
    pub asked: Vec<Attempt>,
    /// Summaries of the record that are put back.
    pub restored: Vec<RestoredSummary>,
    /// It tried and gave up.
    pub failed: Option<String>,
    /// A summarizer had no answer: what follows would tell nothing.
    pub unanswered: Option<String>,
}

impl Proposal {
    /// Whether the layer did, or tried to do, something.
    pub fn acts(&self) -> bool {
        !self.edits.is_empty() || !self.asked.is_empty()
    }
}

/// A file a layer wants written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    pub kind: FileKind,
    /// The result that is moved there; none for an archive.
    pub of: Option<BlockId>,
    pub path: String,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A tool result moved to disk.
    Persisted,
    /// A copy of the transcript, written before something was lost.
    Archive,
}

/// One attempt to get a summary.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Tokens of the input that the summarizer was given.
    pub tokens_in: u64,
    /// Tokens of the prompt that stands beside it.
    pub prompt: u64,
    /// What of the span's messages the layer's limit on the input left out; none where it left out nothing.
    pub unshown: Option<HiddenInput>,
    /// Tokens of its answer; 0 where it failed.
    pub tokens_out: u64,
    /// The most it might have.
    pub max_tokens: u64,
    pub failed: bool,
    /// What it says, as it went into the context, that its input does not; none where it failed.
    pub names: NameCounts,
    /// What the answer took, where a model gave it.
    pub paid: Option<AnswerCost>,
}

/// A summary of the record that was put back where it stood. No layer asked for it, so it is not paid for here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestoredSummary {
    /// Index among the conversation's compactions.
    pub compaction: usize,
    pub tokens: u64,
    /// What it says that the span in whose place it stands does not.
    pub names: NameCounts,
}
