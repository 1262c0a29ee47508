//! A cache of the blocks that layers write in place of recorded blocks.
//!
//! Policies replace the same recorded blocks by the same texts, so the replays of a conversation share these blocks, their sizes
//! and their hashes.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::{Map, Value};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128_with_seed};

use super::totals::exchange;
use super::{Cause, Change, ChangeKind, Context};
use crate::tokens::block_sizes::BlockSizes;
use crate::tokens::meter::SizeUnit;
use crate::transcript::conversation::{Block, BlockId, BlockKind, Conversation};

/// A block that a layer wrote.
#[derive(Debug)]
pub struct RewrittenBlock {
    pub block: Block,
    is_string_content: bool,
    /// Size in each unit of the conversation's [`BlockSizes`]. Policies need different units, so each is measured on first use.
    sizes: Box<[OnceLock<u64>]>,
    key: OnceLock<u64>,
}

impl RewrittenBlock {
    pub(super) fn new(block: Block, is_string_content: bool, sizes: &BlockSizes) -> Self {
        let sizes = sizes.units().iter().map(|_| OnceLock::new()).collect();
        Self { block, is_string_content, sizes, key: OnceLock::new() }
    }

    /// Size in one of the units of the sizes with which it was made.
    pub(super) fn size(&self, sizes: &BlockSizes, slot: usize) -> u64 {
        *self.sizes[slot].get_or_init(|| sizes.units()[slot].block(&self.block, self.is_string_content))
    }

    /// Hash of the wire form: equal wire forms have equal keys.
    pub fn key(&self) -> u64 {
        *self.key.get_or_init(|| {
            let mut wire = Vec::new();
            // Writing JSON into memory does not fail.
            _ = serde_json::to_writer(&mut wire, &self.block.wire);
            xxh3_64(&wire)
        })
    }
}

/// The replacements of each recorded block, shared by the replays of one conversation. Texts with the same 128-bit hash count
/// as equal.
#[derive(Debug)]
pub struct RewriteCache(Box<[BlockRewrites]>);

/// Replacements of one block, by the hash of their text.
type BlockRewrites = Mutex<Vec<(u128, Arc<RewrittenBlock>)>>;

/// Maximum cached replacement texts per block. A policy uses one or two, a sweep a few.
const MAX_TEXTS_PER_BLOCK: usize = 8;

impl RewriteCache {
    /// Builds an empty cache for the blocks of a conversation.
    pub fn new(conversation: &Conversation) -> Self {
        Self(conversation.blocks.iter().map(|_| Mutex::default()).collect())
    }

    /// Returns the replacement of block `old` with `text` in field `field`; calls `write` if it is not in the cache.
    pub(super) fn get_or_write(
        &self,
        old: BlockId,
        field: &str,
        text: String,
        is_string_content: bool,
        write: impl FnOnce(String) -> RewrittenBlock,
    ) -> Arc<RewrittenBlock> {
        let Some(rewrites) = self.0.get(old.index()) else { return Arc::new(write(text)) };
        let seed = xxh3_64(field.as_bytes()).wrapping_add(u64::from(is_string_content));
        let key = xxh3_128_with_seed(text.as_bytes(), seed);
        let mut rewrites = rewrites.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, rewritten)) = rewrites.iter().find(|(other, _)| *other == key) {
            return rewritten.clone();
        }
        let rewritten = Arc::new(write(text));
        if rewrites.len() < MAX_TEXTS_PER_BLOCK {
            rewrites.push((key, rewritten.clone()));
        }
        rewritten
    }
}

impl Context<'_> {
    /// Returns a block with another value in one field.
    pub fn rewritten(&self, id: BlockId, field: &str, value: Value, is_string_content: bool) -> Arc<RewrittenBlock> {
        let old = self.block(id);
        let write = |value| {
            let Block { kind, origin, line, says_failed, .. } = *old;
            let block = Block { kind, origin, line, recorded_tokens: None, says_failed, wire: with_field(old, field, value) };
            RewrittenBlock::new(block, is_string_content, self.sizes)
        };
        match value {
            Value::String(text) => {
                self.rewrites.get_or_write(id, field, text, is_string_content, |text| write(Value::String(text)))
            }
            value => Arc::new(write(value)),
        }
    }

    /// Size of a rewritten block, whether it is in the context or not; 0 in a unit that this context does not track.
    pub fn rewritten_size(&self, rewritten: &RewrittenBlock, unit: SizeUnit) -> u64 {
        self.slot(unit).map_or(0, |slot| rewritten.size(self.sizes, slot))
    }

    pub(super) fn rewrite(&mut self, message: usize, block: usize, field: &str, value: Value, cause: Cause) {
        let old = self.messages[message].blocks[block];
        let kind = self.block(old).kind;
        let rewritten = self.rewritten(old, field, value, self.messages[message].is_string_content);
        let new = self.add_synthetic(rewritten, Some(old));
        if kind == BlockKind::Text && self.block(old).text().is_empty() != self.block(new).text().is_empty() {
            self.faults.invalidate_from(message);
        }
        self.faults.replace_block(message, old, new);
        if self.units().all(|(_, unit)| unit.adds_up()) {
            self.messages[message].blocks[block] = new;
            // What a message adds to the sizes of its blocks depends on their number only.
            let (before, after) = (self.sizes_of(old), self.sizes_of(new));
            exchange(&mut self.totals, &before, &after);
        } else {
            // A layer may rewrite many blocks of one message: to add up all blocks for each would cost the square of their number.
            let known = self.rewritten_last.take().filter(|(at, _)| *at == message);
            let mut sums = known.map_or_else(|| self.sums_of_blocks(&self.messages[message]), |(_, sums)| sums);
            let before = self.with_frame(&self.messages[message], sums);
            self.messages[message].blocks[block] = new;
            let (old, new) = (self.sizes_of(old), self.sizes_of(new));
            exchange(&mut sums, &old, &new);
            let after = self.with_frame(&self.messages[message], sums);
            exchange(&mut self.totals, &before, &after);
            self.rewritten_last = Some((message, sums));
        }
        self.log(Change { kind: ChangeKind::Rewrite, cause, at: message, removed: vec![old], added: vec![new] });
    }
}

/// Returns a block's wire form with another value in one field; the order of fields stays. Does not copy the old value, which is
/// often long.
fn with_field(block: &Block, field: &str, value: Value) -> Value {
    let others = block.wire.as_object().into_iter().flatten();
    let mut wire: Map<_, _> = others.map(|(k, v)| (k.clone(), if k == field { Value::Null } else { v.clone() })).collect();
    wire.insert(field.to_owned(), value);
    Value::Object(wire)
}
