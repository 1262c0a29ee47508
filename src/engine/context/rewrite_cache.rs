//! A cache of the blocks that layers write in place of recorded blocks.
//!
//! Policies replace the same recorded blocks by the same texts, so the replays of a conversation share these blocks, their sizes
//! and their hashes.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::{Map, Value};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128_with_seed};

use super::{Cause, Change, ChangeKind, Context, MessageSizes, sizes_of};
use crate::tokens::block_sizes::BlockSizes;
use crate::tokens::meter::SizeUnit;
use crate::transcript::conversation::{Block, BlockId, BlockKind, Conversation};

/// A block that a layer wrote.
#[derive(Debug)]
pub struct RewrittenBlock {
    pub block: Block,
    /// Sizes in each unit of the context's [`BlockSizes`].
    pub(super) sizes: Box<[u64]>,
    key: OnceLock<u64>,
}

impl RewrittenBlock {
    pub(super) fn new(block: Block, is_string_content: bool, sizes: &BlockSizes) -> Self {
        let sizes = sizes.units().iter().map(|unit| unit.block(&block, is_string_content)).collect();
        Self { block, sizes, key: OnceLock::new() }
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
            let Block { kind, origin, line, .. } = *old;
            let block = Block { kind, origin, line, recorded_tokens: None, wire: with_field(old, field, value) };
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
        self.unit_index(unit).map_or(0, |index| rewritten.sizes[index])
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
        if self.sizes.units().iter().all(|unit| unit.adds_up()) {
            self.messages[message].blocks[block] = new;
            // What a message adds to the sizes of its blocks depends on their number only.
            let sizes_of = |id| sizes_of(self.conversation, self.sizes, &self.synthetic, id);
            exchange(&mut self.totals, sizes_of(old), sizes_of(new));
        } else {
            // A layer may rewrite many blocks of one message: to add up all blocks for each would cost the square of their number.
            let known = self.rewritten_last.take().filter(|(at, _)| *at == message);
            let mut sums = known.map_or_else(|| self.sums_of_blocks(&self.messages[message]), |(_, sums)| sums);
            let before = self.with_frame(&self.messages[message], sums);
            self.messages[message].blocks[block] = new;
            exchange(&mut sums, self.sizes_of(old), self.sizes_of(new));
            let after = self.with_frame(&self.messages[message], sums);
            exchange(&mut self.totals, &before, &after);
            self.rewritten_last = Some((message, sums));
        }
        self.changes.push(Change { kind: ChangeKind::Rewrite, cause, at: message, removed: vec![old], added: vec![new] });
    }
}

/// Replaces one summand of each sum.
fn exchange(sums: &mut MessageSizes, before: &[u64], after: &[u64]) {
    for (sum, (before, after)) in sums.iter_mut().zip(before.iter().zip(after)) {
        *sum = *sum - before + after;
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
