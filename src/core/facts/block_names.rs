//! The names in the blocks of a conversation. Finding them takes a scan of every text, and the search for references makes one anyway.

use crate::facts::extract::{FactKind, FactMatch};
use crate::transcript::conversation::BlockId;

/// Keys of the names in each block that was scanned, as often as the block has them.
#[derive(Debug, Clone, Default)]
pub struct BlockNames {
    keys: Vec<u64>,
    /// The scanned blocks, and where the keys of each end in `keys`.
    ends: Vec<(BlockId, u32)>,
}

impl BlockNames {
    /// Whether facts of a kind are names here: paths, file names and identifiers.
    pub fn is_name(kind: FactKind) -> bool {
        matches!(kind, FactKind::Path | FactKind::File | FactKind::Identifier)
    }

    /// Adds a fact of the next block if it is a name.
    pub(super) fn add(&mut self, fact: &FactMatch) {
        if Self::is_name(fact.kind) {
            self.keys.push(fact.key);
        }
    }

    /// Ends a block: all facts since the previous end are its own.
    pub(super) fn end(&mut self, block: BlockId) {
        self.ends.push((block, self.keys.len() as u32));
    }

    /// Returns the scanned blocks and the keys of their names.
    pub fn iter(&self) -> impl Iterator<Item = (BlockId, &[u64])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        starts.zip(&self.ends).map(|(start, (block, end))| (*block, &self.keys[start as usize..*end as usize]))
    }
}
