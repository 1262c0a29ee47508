//! The output of a layer: edits, files, and the summaries it requested.

use super::Scope;
use crate::engine::context::Edit;
use crate::engine::summarizer::{AnswerCost, HiddenInput, NameCounts};
use crate::transcript::conversation::BlockId;

/// The output of a layer: what it wants to change.
#[derive(Debug, Default, PartialEq)]
pub struct Proposal {
    /// Edits, to be applied in order; empty if the layer has nothing to do.
    pub edits: Vec<Edit>,
    /// [`Scope::Request`]: the edits are for this request, whatever the scope of the layer.
    pub scope: Scope,
    /// With [`Scope::Request`]: the edits are of the view of the request before, which new messages extend, and not of a new one.
    pub extends_view: bool,
    pub files: Vec<NewFile>,
    /// Attempts to get a summary, in order.
    pub attempts: Vec<Attempt>,
    /// Summaries of the recording that are put back.
    pub restored: Vec<RestoredSummary>,
    /// The calls that wrote the recording's summaries, readable or not.
    pub repeated: Vec<RepeatedCompaction>,
    /// Why the layer gave up; `None` if it did not fail.
    pub failed: Option<String>,
    /// Why a summarizer gave no answer. The rest of the replay is then meaningless.
    pub unanswered: Option<String>,
}

impl Proposal {
    /// Returns whether the layer did something or tried to.
    pub fn acts(&self) -> bool {
        let does = !self.edits.is_empty() || !self.files.is_empty() || self.extends_view;
        does || !self.attempts.is_empty() || self.unanswered.is_some()
    }
}

/// A file that a layer wants to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    pub kind: FileKind,
    /// The tool_result that is moved to this file; `None` for an archive.
    pub block: Option<BlockId>,
    pub path: String,
    pub text: String,
}

/// What a file that a policy writes holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A tool result moved to disk.
    Persisted,
    /// A copy of the transcript, written before content is lost.
    Archive,
}

/// One attempt to get a summary.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Tokens of the summarizer's input.
    pub tokens_in: u64,
    /// Tokens of the prompt, sent in addition to the input.
    pub prompt: u64,
    /// The part of the messages that the layer's input limit left out; `None` if it left out nothing.
    pub hidden_input: Option<HiddenInput>,
    /// Tokens of the answer; 0 if it failed.
    pub tokens_out: u64,
    /// Maximum tokens of the answer.
    pub max_tokens: u64,
    pub failed: bool,
    /// Names in the summary as it went into the context, and how many of them are not in the input; 0 if it failed.
    pub names: NameCounts,
    /// Cost of the answer; `None` if no model was asked.
    pub cost: Option<AnswerCost>,
}

/// A summary of the recording that was put back at its original position. No layer requested it: what it cost is in
/// [`RepeatedCompaction`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestoredSummary {
    /// Index in the conversation's compactions.
    pub compaction: usize,
    /// Tokens of the summary.
    pub tokens: u64,
    /// Names in the summary, and how many of them are not in the span that it replaces.
    pub names: NameCounts,
}

/// The call that wrote a summary of the recording, as its harness would have made it: it read the whole context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepeatedCompaction {
    /// Index in the conversation's compactions.
    pub compaction: usize,
    /// Tokens of the context that it replaced, without system prompt and tools.
    pub tokens_in: u64,
    /// Tokens of the summary; of its placeholder if only the provider can read it.
    pub tokens_out: u64,
}
