//! What can be put back, by name: a run of the layer looks only at the messages since the run before.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::Restore;
use crate::engine::context::Context;
use crate::transcript::conversation::BlockId;

/// The newest block of each file and of each tool whose input is put back.
#[derive(Debug, Default)]
pub struct Sources {
    /// Number of messages of the conversation that were looked at.
    read: usize,
    /// Number of blocks that could be put back so far.
    seen: usize,
    /// The newest block of each name, by how many were seen before it.
    by_age: BTreeMap<usize, BlockId>,
    ages: FxHashMap<String, usize>,
}

impl Sources {
    /// Takes in the messages up to this number.
    pub fn read(&mut self, restore: &Restore, context: &Context, messages: usize) {
        let conversation = context.conversation();
        let unread = conversation.messages.get(self.read..messages).unwrap_or_default();
        for id in unread.iter().flat_map(|message| &message.blocks) {
            let Some((name, _)) = restore.source(context, conversation.block(*id)) else { continue };
            if let Some(older) = self.ages.insert(name.to_owned(), self.seen) {
                self.by_age.remove(&older);
            }
            self.by_age.insert(self.seen, *id);
            self.seen += 1;
        }
        self.read = self.read.max(messages);
    }

    /// Yields the blocks, the newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = BlockId> {
        self.by_age.values().rev().copied()
    }
}
