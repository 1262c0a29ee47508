//! What happened in a replay, as plain data: what was sent at each call, what was edited, by which layer.

use crate::engine::context::{Change, Fault, SyntheticBlock, block_of};
use crate::engine::layer::{Attempt, FileKind, RestoredSummary};
use crate::transcript::conversation::{Block, BlockId, Conversation, Role};

/// What was sent for one recorded call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Index of the call in the conversation.
    pub call: usize,
    /// Tokens by the report's own counter, overhead included.
    pub tokens: u64,
    /// The policy's own estimate of its messages; the report's where it has none.
    pub estimate: u64,
    pub messages: usize,
    /// Its blocks, as what differs from the request before.
    pub delta: RequestDelta,
    /// It was over the window before the overflow layers ran.
    pub overflowed: bool,
    /// It was over the window after them.
    pub failed: bool,
    pub faults: Vec<Fault>,
    /// Edits since the request before: of the stored history, then of the view made for this request only.
    pub changes: Vec<Change>,
    pub view: Vec<Change>,
    /// The view was made anew from the history, and `view` is all that was done to it; else it is the view of the request
    /// before, grown and edited further.
    pub view_rebuilt: bool,
}

impl Request {
    /// All that was done since the request before: to the stored history, then to the view made for this request only.
    pub fn edits(&self) -> impl Iterator<Item = &Change> + Clone {
        self.changes.iter().chain(&self.view)
    }
}

/// The blocks of a request, told by the request before it: so many of its first blocks stay, and these follow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestDelta {
    pub shared_prefix: usize,
    pub appended: Vec<SentBlock>,
}

/// A block in its place in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentBlock {
    pub block: BlockId,
    /// The role of the message that begins with it; `None` within a message.
    pub opens: Option<Role>,
}

/// What one layer did at one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub call: usize,
    pub layer: usize,
    pub what: EventKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// It edited the context, which had and has these tokens (report's counter, overhead not included).
    Fired { edits: usize, before: u64, after: u64 },
    /// It wrote the transcript to disk.
    Wrote,
    /// It tried and gave up.
    Failed { why: String },
    /// Its trigger could not be evaluated on this record.
    Skipped { why: &'static str },
}

/// A file the policy would have written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    pub kind: FileKind,
    pub call: usize,
    pub layer: usize,
    /// The result that was moved there; none for an archive.
    pub of: Option<BlockId>,
    /// The path as the harness would name it; it may hold anything an id of the transcript holds.
    pub path: String,
    pub bytes: u64,
    /// The same path was written before.
    pub again: bool,
}

/// One call of the summarizer.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub call: usize,
    pub layer: usize,
    pub attempt: Attempt,
}

/// When that was, and which layer did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedSummary {
    pub call: usize,
    pub layer: usize,
    pub restored: RestoredSummary,
}

/// A summarizer had no answer: what the journal tells from there on is worth nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    pub call: usize,
    pub layer: usize,
    pub why: String,
}

/// How large the context was, by a layer's own meter, when its threshold was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThresholdCheck {
    pub call: usize,
    pub layer: usize,
    pub size: u64,
    pub limit: u64,
    /// Over the limit it acts; a layer that waits for the end of a turn is weighed at every call, and does not.
    pub due: bool,
    /// The size after it acted.
    pub after: Option<u64>,
}

/// A replay from its first request to its last.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    pub requests: Vec<Request>,
    pub events: Vec<Event>,
    pub files: Vec<File>,
    pub summaries: Vec<Summary>,
    /// Of the layers that have a threshold, in the order in which they were weighed.
    pub threshold_checks: Vec<ThresholdCheck>,
    pub recorded: Vec<RecordedSummary>,
    /// The first.
    pub unanswered: Option<Unanswered>,
    /// The blocks that layers wrote; their ids continue those of the conversation.
    pub made: Vec<SyntheticBlock>,
    /// Tokens of system prompt and tools, counted into every request.
    pub overhead: u64,
}

impl Journal {
    /// A block of the replayed conversation, or one that a layer wrote.
    pub fn block<'a>(&'a self, conversation: &'a Conversation, id: BlockId) -> &'a Block {
        block_of(conversation, &self.made, id)
    }

    /// What was sent for a call; none where nothing was.
    pub fn request(&self, call: usize) -> Option<&Request> {
        self.requests.binary_search_by_key(&call, |request| request.call).ok().map(|at| &self.requests[at])
    }

    /// What happened before a call, in order. Events are written down as they happen, so those of a call stand together.
    pub fn events_at(&self, call: usize) -> &[Event] {
        let from = self.events.partition_point(|event| event.call < call);
        let until = self.events.partition_point(|event| event.call <= call);
        &self.events[from..until]
    }

    /// The block of the conversation that a block stands in place of, or is; none for what layers added.
    pub fn recorded_block(&self, conversation: &Conversation, mut id: BlockId) -> Option<BlockId> {
        while let Some(made) = id.index().checked_sub(conversation.blocks.len()) {
            id = self.made[made].instead_of?;
        }
        Some(id)
    }
}
