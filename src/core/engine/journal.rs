//! The result of a replay, as plain data: the request of each call, the edits, and the layers that made them.

mod fault_tally;
mod request_cursor;

use crate::engine::context::{Change, Fault, SyntheticBlock, block_of, recorded_block};
use crate::engine::layer::{Attempt, FileKind, RepeatedCompaction, RestoredSummary};
use crate::transcript::conversation::{Block, BlockId, Conversation, Role};

pub use fault_tally::FaultTally;
pub use request_cursor::RequestCursor;

/// The request sent for one recorded call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Index of the call in the conversation.
    pub call: usize,
    /// Tokens by the report's counter, including the overhead.
    pub tokens: u64,
    /// The policy's own size estimate, in the unit of its meter; equals `tokens` if the policy has no meter.
    pub estimate: u64,
    /// Number of messages.
    pub messages: usize,
    /// The blocks, encoded as the difference from the previous request.
    pub delta: RequestDelta,
    /// The request was larger than the window before the overflow layers ran.
    pub overflowed: bool,
    /// The request was larger than the window after the overflow layers ran.
    pub failed: bool,
    /// What an API would refuse, encoded as the difference from the previous request.
    pub faults: FaultDelta,
    /// Edits of the stored history since the previous request.
    pub changes: Vec<Change>,
    /// Edits of the view, a copy of the history that is made for requests only.
    pub view: Vec<Change>,
    pub sent: SentCopy,
}

/// Which copy of the conversation is sent with a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SentCopy {
    /// The stored history.
    #[default]
    History,
    /// A new view: `view` holds all its edits.
    NewView,
    /// The view of the previous request, with what is new: `view` holds only the further edits. The thinking that left the history left
    /// this view, too, as far as it was there.
    SameView,
}

impl Request {
    /// Iterates over the edits since the previous request: first those of the stored history, then those of the view.
    pub fn edits(&self) -> impl Iterator<Item = &Change> + Clone {
        self.changes.iter().chain(&self.view)
    }

    /// Like [`Self::edits`], each with whether it edited the view.
    pub fn edits_by_copy(&self) -> impl Iterator<Item = (&Change, bool)> {
        self.changes.iter().map(|change| (change, false)).chain(self.view.iter().map(|change| (change, true)))
    }
}

/// The faults of a request, encoded as the difference from the previous one: its first `shared_prefix` faults, then `appended`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultDelta {
    pub shared_prefix: usize,
    pub appended: Vec<Fault>,
}

impl FaultDelta {
    /// Returns the number of faults of the request.
    pub fn count(&self) -> usize {
        self.shared_prefix + self.appended.len()
    }
}

/// The blocks of a request, encoded as the difference from the previous one: its first `shared_prefix` blocks, then `appended`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestDelta {
    pub shared_prefix: usize,
    pub appended: Vec<SentBlock>,
}

/// A block at its position in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentBlock {
    pub block: BlockId,
    /// Role of the message, if this is the first block of a message; `None` for the other blocks.
    pub opens: Option<Role>,
}

/// One action of a layer at one call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    pub call: usize,
    pub layer: usize,
    pub kind: EventKind,
}

/// What a layer did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// The layer edited the context. `before` and `after`: tokens of the context by the report's counter, without overhead.
    Fired { edits: usize, before: u64, after: u64 },
    /// The layer wrote the transcript to disk.
    Wrote,
    /// The layer tried to act and gave up.
    Failed { why: String },
    /// The trigger of the layer cannot be evaluated on this recording.
    Skipped { why: &'static str },
}

/// A file that the policy would have written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct File {
    pub kind: FileKind,
    pub call: usize,
    pub layer: usize,
    /// The tool_result moved to this file; `None` for an archive.
    pub block: Option<BlockId>,
    /// Path as the harness would write it. Not safe to open: it may contain any text of a transcript id.
    pub path: String,
    pub bytes: u64,
    /// The policy wrote the same path before.
    pub again: bool,
}

/// One call of the summarizer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    pub call: usize,
    pub layer: usize,
    pub attempt: Attempt,
}

/// A summary of the recording that was put back, with its call and layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedSummary {
    pub call: usize,
    pub layer: usize,
    pub restored: RestoredSummary,
}

/// The call that wrote a summary of the recording, at the call before which it was repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedCompaction {
    pub call: usize,
    pub repeated: RepeatedCompaction,
}

/// A summarizer gave no answer: the journal is meaningless from this call on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    pub call: usize,
    pub layer: usize,
    pub why: String,
}

/// One comparison of the context size with a layer's threshold, by the layer's own meter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThresholdCheck {
    pub call: usize,
    pub layer: usize,
    pub size: u64,
    pub limit: u64,
    /// `true`: the layer acts if `size` exceeds `limit`. `false`: the layer waits for a turn, or for a smaller context (`rearm`), so its
    /// threshold is checked, but it does not act.
    pub due: bool,
    /// Size after the layer acted.
    pub after: Option<u64>,
}

/// The result of one replay, from its first request to its last.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    pub requests: Vec<Request>,
    pub events: Vec<Event>,
    pub files: Vec<File>,
    pub summaries: Vec<Summary>,
    /// How often the `when` of each layer came, by layer.
    pub times_due: Vec<usize>,
    /// Threshold checks of all layers, in time order.
    pub threshold_checks: Vec<ThresholdCheck>,
    pub recorded: Vec<RecordedSummary>,
    /// The calls that wrote the repeated summaries of the recording.
    pub compactions: Vec<RecordedCompaction>,
    /// The first unanswered summary request.
    pub unanswered: Option<Unanswered>,
    /// Blocks that layers wrote; their ids continue those of the conversation.
    pub synthetic_blocks: Vec<SyntheticBlock>,
    /// Tokens of system prompt and tools, included in every request.
    pub overhead: u64,
    /// No request had thinking.
    pub without_thinking: bool,
}

impl Journal {
    /// Returns a block of the replayed conversation, or one that a layer wrote.
    pub fn block<'a>(&'a self, conversation: &'a Conversation, id: BlockId) -> &'a Block {
        block_of(conversation, &self.synthetic_blocks, id)
    }

    /// Returns the tokens of each request by the report's counter, overhead included.
    pub fn request_tokens(&self) -> Vec<u64> {
        self.requests.iter().map(|request| request.tokens).collect()
    }

    /// Returns the request of a call; `None` if nothing was sent.
    pub fn request(&self, call: usize) -> Option<&Request> {
        self.requests.binary_search_by_key(&call, |request| request.call).ok().map(|at| &self.requests[at])
    }

    /// Returns the events of a call, in order. Events are logged in time order, so those of a call are adjacent.
    pub fn events_at(&self, call: usize) -> &[Event] {
        let from = self.events.partition_point(|event| event.call < call);
        let until = self.events.partition_point(|event| event.call <= call);
        &self.events[from..until]
    }

    /// Returns the recorded block that a block is, or that it replaces; `None` for blocks that layers added.
    pub fn recorded_block(&self, conversation: &Conversation, id: BlockId) -> Option<BlockId> {
        recorded_block(conversation, &self.synthetic_blocks, id)
    }
}
