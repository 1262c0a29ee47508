//! Remembers which blocks of a conversation say a fact in other words. The requests of one policy hardly differ from call to call,
//! and those of all policies have the same blocks, so each block is searched once for a fact.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::facts::extract;
use crate::text::facts::reworded::{self, Part};
use crate::transcript::conversation::{Block, BlockId, BlockKind};

use super::{Fact, FactId};

/// Maximum bytes of remembered answers of one conversation: two bits for each fact that a request lacked and each block. Without
/// room a block is searched again.
const MAX_BYTES: usize = 32 << 20;

/// The parts of each fact, and the blocks that have them. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Wordings(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The parts of each fact, once it was looked up.
    facts: Vec<Mutex<Option<Parts>>>,
    /// Bytes of remembered answers.
    bytes: AtomicUsize,
}

type Parts = Vec<KnownPart>;

/// A part, and the answers for the blocks that were searched for it.
#[derive(Debug)]
struct KnownPart {
    part: Part,
    /// A bit for each block: whether it was searched; and whether it has the part.
    searched: Vec<u64>,
    has: Vec<u64>,
}

impl Wordings {
    pub fn new(facts: usize) -> Self {
        Self(Arc::new(Shared { facts: (0..facts).map(|_| Mutex::default()).collect(), bytes: AtomicUsize::new(0) }))
    }

    /// Whether some blocks say a fact in other words: its parts may be in several of them. Blocks from `recorded` are not remembered,
    /// because each policy has its own.
    pub fn say<'b>(
        &self,
        (id, fact): (FactId, &Fact),
        blocks: impl Iterator<Item = BlockId> + Clone,
        block: impl Fn(BlockId) -> &'b Block,
        recorded: usize,
    ) -> bool {
        let mut parts = self.0.facts[id as usize].lock().unwrap_or_else(PoisonError::into_inner);
        let parts = parts.get_or_insert_with(|| {
            let parts = reworded::parts(fact.kind, &fact.text).into_iter();
            parts.map(|part| KnownPart { part, searched: Vec::new(), has: Vec::new() }).collect()
        });
        let has_block = |part: &mut KnownPart, id: BlockId| match part.known(id) {
            Some(has) => has,
            None => {
                let has = is_in(&part.part, block(id));
                if id.index() < recorded {
                    part.remember(id, has, &self.0.bytes);
                }
                has
            }
        };
        !parts.is_empty() && parts.iter_mut().all(|part| blocks.clone().any(|id| has_block(part, id)))
    }
}

impl KnownPart {
    fn known(&self, id: BlockId) -> Option<bool> {
        let (word, bit) = (id.index() / 64, 1 << (id.index() % 64));
        (self.searched.get(word)? & bit != 0).then(|| self.has[word] & bit != 0)
    }

    fn remember(&mut self, id: BlockId, has: bool, bytes: &AtomicUsize) {
        let (word, bit) = (id.index() / 64, 1 << (id.index() % 64));
        if word >= self.searched.len() {
            let more = 2 * size_of::<u64>() * (word + 1 - self.searched.len());
            if bytes.fetch_add(more, Ordering::Relaxed) + more > MAX_BYTES {
                bytes.fetch_sub(more, Ordering::Relaxed);
                return;
            }
            self.searched.resize(word + 1, 0);
            self.has.resize(word + 1, 0);
        }
        self.searched[word] |= bit;
        self.has[word] |= if has { bit } else { 0 };
    }
}

/// Whether a text of a block has a part.
fn is_in(part: &Part, block: &Block) -> bool {
    if block.kind == BlockKind::Thinking {
        return part.is_in(&block.text());
    }
    let mut is_in = false;
    extract::texts(block, &mut |text| is_in = is_in || part.is_in(text));
    is_in
}
