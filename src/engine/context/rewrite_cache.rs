//! Blocks that layers write, and what depends on nothing but their content. Policies put the same texts in place of the same
//! recorded blocks, so each such block is written once for all replays of a conversation.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::{Map, Value};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128_with_seed};

use super::{Cause, Change, ChangeKind, Context};
use crate::tokens::block_sizes::Sizes;
use crate::tokens::meter::SizeUnit;
use crate::transcript::conversation::{Block, BlockId, Conversation, Kind};

/// A block that a layer wrote.
#[derive(Debug)]
pub struct RewrittenBlock {
    pub block: Block,
    /// By each measure of the context's sizes.
    pub(super) sizes: Box<[u64]>,
    key: OnceLock<u64>,
}

impl RewrittenBlock {
    pub(super) fn new(block: Block, plain: bool, sizes: &Sizes) -> Self {
        let sizes = sizes.measures().iter().map(|measure| measure.block(&block, plain)).collect();
        Self { block, sizes, key: OnceLock::new() }
    }

    /// The same for the same wire form.
    pub fn key(&self) -> u64 {
        *self.key.get_or_init(|| {
            let mut wire = Vec::new();
            // A value of JSON can be written into memory: there is no error to tell.
            _ = serde_json::to_writer(&mut wire, &self.block.wire);
            xxh3_64(&wire)
        })
    }
}

/// What was written in place of each recorded block, by one conversation's replays. Two texts with one hash of 128 bits are taken
/// for the same.
#[derive(Debug)]
pub struct RewriteCache(Box<[OfBlock]>);

/// What stands for a block, by the hash of its text.
type OfBlock = Mutex<Vec<(u128, Arc<RewrittenBlock>)>>;

/// So many texts are remembered in place of one block: a policy has a placeholder or two, and a sweep a few.
const MOST: usize = 8;

impl RewriteCache {
    pub fn new(conversation: &Conversation) -> Self {
        Self(conversation.blocks.iter().map(|_| Mutex::default()).collect())
    }

    /// What stands in place of a block when a text stands in one of its fields; `write` makes it where it is not known.
    pub(super) fn get(
        &self,
        old: BlockId,
        field: &str,
        text: String,
        plain: bool,
        write: impl FnOnce(String) -> RewrittenBlock,
    ) -> Arc<RewrittenBlock> {
        let Some(known) = self.0.get(old.index()) else { return Arc::new(write(text)) };
        let seed = xxh3_64(field.as_bytes()).wrapping_add(u64::from(plain));
        let key = xxh3_128_with_seed(text.as_bytes(), seed);
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, written)) = known.iter().find(|(other, _)| *other == key) {
            return written.clone();
        }
        let written = Arc::new(write(text));
        if known.len() < MOST {
            known.push((key, written.clone()));
        }
        written
    }
}

impl Context<'_> {
    /// What a block becomes with another value of one field.
    pub fn rewritten(&self, id: BlockId, field: &str, value: Value, plain: bool) -> Arc<RewrittenBlock> {
        let old = self.block(id);
        let write = |value| {
            let Block { kind, origin, line, .. } = *old;
            let block = Block { kind, origin, line, recorded_tokens: None, wire: with_field(old, field, value) };
            RewrittenBlock::new(block, plain, self.sizes)
        };
        match value {
            Value::String(text) => self.rewrites.get(id, field, text, plain, |text| write(Value::String(text))),
            value => Arc::new(write(value)),
        }
    }

    /// The size of a block that is written, or would be; 0 by a measure this context does not keep.
    pub fn written_size(&self, written: &RewrittenBlock, measure: SizeUnit) -> u64 {
        self.slot(measure).map_or(0, |slot| written.sizes[slot])
    }

    pub(super) fn rewrite(&mut self, message: usize, block: usize, field: &str, value: Value, cause: Cause) {
        let old = self.messages[message].blocks[block];
        let kind = self.block(old).kind;
        let written = self.rewritten(old, field, value, self.messages[message].plain);
        let new = self.add_made(written, Some(old));
        if kind == Kind::Text && self.block(old).text().is_empty() != self.block(new).text().is_empty() {
            self.faults.touched_from(message);
        }
        self.faults.rewritten(message, old, new);
        let before = self.sizes_of_message(&self.messages[message]);
        self.messages[message].blocks[block] = new;
        let after = self.sizes_of_message(&self.messages[message]);
        for (total, (before, after)) in self.totals.iter_mut().zip(before.into_iter().zip(after)) {
            *total = *total - before + after;
        }
        self.changes.push(Change { kind: ChangeKind::Rewrite, cause, at: message, removed: vec![old], added: vec![new] });
    }
}

/// A block's wire form with another value of one field, in the field's place. The old value, often long, is not copied.
fn with_field(block: &Block, field: &str, value: Value) -> Value {
    let others = block.wire.as_object().into_iter().flatten();
    let mut wire: Map<_, _> = others.map(|(k, v)| (k.clone(), if k == field { Value::Null } else { v.clone() })).collect();
    wire.insert(field.to_owned(), value);
    Value::Object(wire)
}
