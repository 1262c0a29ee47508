//! Fetching again: a call that asks for what had been in the session and was out of the recorded context.
//!
//! A recorded agent that compacted fetches again what it lost, and what follows uses the second reading. The need itself would then
//! be hidden by the recording. So the call that fetches is a use of the facts that it was for: those that the first reading has, that
//! nothing in the context has at that call, and that a later call uses from the second reading, even the very next one.
//!
//! Both readings are of one source if they have a path or a URL in common, or if the same tool was called with the same input.

use crate::transcript::conversation::{BlockId, BlockKind, Conversation};

use super::{FactId, Provenance, References, Use};

/// A tool result that a call fetched again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refetch {
    /// Index of the call that asked for it.
    pub call: u32,
    pub result: BlockId,
    /// No file that it shows was written since the first reading: an agent that still had that reading would have missed nothing.
    pub is_unchanged: bool,
}

/// A block that has a fact, and when the recorded agent could see it, as numbers of responses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holder {
    pub block: BlockId,
    pub from: u32,
    /// `None`: it still can.
    pub until: Option<u32>,
    /// It is part of the history that policies work on, and not of a recorded summary.
    pub is_in_history: bool,
}

/// Returns the call that fetched a result; `None` if the block is no result or its call is not recorded.
pub(super) fn fetched_by(conversation: &Conversation, result: BlockId, after: impl Fn(BlockId) -> u32) -> Option<u32> {
    let BlockKind::ToolResult(pair) = conversation.block(result).kind else { return None };
    after(conversation.pair(pair).tool_use?).checked_sub(1)
}

/// Returns the need for a fact at a call that fetched it again, with the first reading as its origin. `holders` are all blocks that had
/// the fact before the call; `is_same_source` compares one with the second reading.
pub(super) fn need(
    conversation: &Conversation,
    (call, fact): (u32, FactId),
    holders: &[Holder],
    is_same_source: impl Fn(BlockId) -> bool,
) -> Option<Use> {
    let is_visible = |holder: &Holder| holder.until.is_none_or(|until| until > call);
    if holders.iter().any(is_visible) {
        return None;
    }
    let in_history = || holders.iter().filter(|holder| holder.is_in_history);
    let origin = in_history().rfind(|holder| is_same_source(holder.block))?.block;
    let gap = call + 1 - in_history().map(|holder| holder.from).max()?;
    let provenance = Provenance::of_block(conversation.block(origin));
    Some(Use { call, fact, gap, origin, provenance, in_file: false, refetch: None })
}

/// Returns whether two blocks show the same source: the same tool was called with the same input.
pub(super) fn is_same_call(conversation: &Conversation, one: BlockId, other: BlockId) -> bool {
    let asked = |block: BlockId| {
        let BlockKind::ToolResult(pair) = conversation.block(block).kind else { return None };
        Some((conversation.pair(pair).name.as_str(), conversation.input_of(pair)?))
    };
    asked(one).is_some_and(|asked_first| asked(other) == Some(asked_first))
}

impl References {
    /// Returns the results that were fetched again, by call.
    pub fn refetches(&self) -> &[Refetch] {
        &self.refetches
    }
}
