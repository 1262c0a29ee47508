//! What the provider cleared by itself: each request is cleared anew, so a response counts the results that were cleared before again.

use std::collections::HashSet;

use crate::transcript::conversation::{BlockKind, Conversation, PairId, RecordedEdit};

/// The results of a conversation that grows, oldest first, and which of them were cleared.
#[derive(Default)]
pub struct AppliedEdits {
    /// The results since the last fold.
    results: Vec<PairId>,
    /// How many of them the provider cleared.
    applied: usize,
    cleared: HashSet<PairId>,
    /// How many messages and compactions of the conversation are in here.
    messages: usize,
    compactions: usize,
}

impl AppliedEdits {
    /// Clears the `uses` oldest results of the context, and returns those of them that were not cleared before.
    pub fn clear(&mut self, so_far: &Conversation, uses: usize) -> Vec<PairId> {
        self.read_on(so_far);
        let oldest = self.results.iter().take(uses).skip(self.applied);
        let pairs: Vec<PairId> = oldest.filter(|pair| self.cleared.insert(**pair)).copied().collect();
        self.applied = self.applied.max(uses);
        pairs
    }

    fn read_on(&mut self, so_far: &Conversation) {
        for compaction in &so_far.compactions[self.compactions..] {
            match &compaction.edit {
                RecordedEdit::Fold { .. } => {
                    (self.results, self.applied) = (Vec::new(), 0);
                    self.messages = self.messages.max(compaction.message_index);
                }
                RecordedEdit::Clear { pairs } => self.cleared.extend(pairs),
            }
        }
        self.compactions = so_far.compactions.len();
        let blocks = so_far.messages[self.messages..].iter().flat_map(|message| &message.blocks).map(|id| so_far.block(*id).kind);
        self.results.extend(blocks.filter_map(|kind| if let BlockKind::ToolResult(pair) = kind { Some(pair) } else { None }));
        self.messages = so_far.messages.len();
    }
}
