//! Keys and origins of all blocks, recorded or written by a layer, for the cache simulation.

use xxhash_rust::xxh3::xxh3_64;

use crate::engine::context::{Cause, Change, ChangeKind};
use crate::engine::journal::{Journal, Request, SentBlock};
use crate::engine::policy::Policy;
use crate::transcript::conversation::{BlockId, Conversation};

use super::CacheSetup;
use super::prefixes::PrefixStep;

pub(super) struct BlockInfo<'a> {
    setup: CacheSetup<'a>,
    keys: Vec<u64>,
    /// Index of the message that each block came with; for a replacement, the message of the block it replaces.
    came_with: Vec<Option<usize>>,
    transparent: Vec<bool>,
}

impl<'a> BlockInfo<'a> {
    pub fn new(setup: &CacheSetup<'a>) -> Self {
        let CacheSetup { conversation, policy, journal, .. } = *setup;
        Self {
            setup: *setup,
            keys: keys(conversation, policy, journal),
            came_with: came_with(conversation, journal),
            transparent: leaves_by_itself(conversation, policy, journal),
        }
    }

    /// Returns the blocks as steps of a prefix. The first block that does not leave by itself opens the message, so that it is the
    /// same message after thinking was dropped.
    pub fn prefix_steps(&self, blocks: &[SentBlock]) -> impl Iterator<Item = PrefixStep> {
        let mut opens = None;
        blocks.iter().map(move |sent| {
            opens = sent.opens.or(opens);
            let transparent = self.transparent[sent.block.index()];
            let opened = if transparent { opens } else { opens.take() };
            PrefixStep {
                key: self.keys[sent.block.index()].rotate_left(8) ^ opened.map_or(0, |role| 1 + role as u64),
                size: (self.setup.size)(sent.block),
                opens_message: sent.opens.is_some(),
                transparent,
            }
        })
    }

    /// Returns the index of the message that a block came with.
    pub fn came_with(&self, block: BlockId) -> Option<usize> {
        self.came_with[block.index()]
    }

    /// Returns whether a block came with this message of the conversation or a later one.
    pub fn came_since(&self, block: BlockId, message: usize) -> bool {
        self.came_with[block.index()].is_some_and(|came_with| came_with >= message)
    }
}

/// Returns the index of the message that each block came with; for a replacement, the message of the block it replaces.
/// `None` for blocks that layers and recorded compactions wrote.
pub fn came_with(conversation: &Conversation, journal: &Journal) -> Vec<Option<usize>> {
    let mut came_with = vec![None; conversation.blocks.len()];
    for (place, message) in conversation.messages.iter().enumerate() {
        for block in &message.blocks {
            came_with[block.index()] = Some(place);
        }
    }
    for made in &journal.synthetic_blocks {
        came_with.push(made.replaces.and_then(|block| came_with[block.index()]));
    }
    came_with
}

/// Returns a key for each block; equal content has equal keys. The key of a recorded block comes from its number; of a block
/// that a layer wrote, and may write again, from its text; of a block written on the provider's side, from the block it
/// replaces.
pub fn keys(conversation: &Conversation, policy: &Policy, journal: &Journal) -> Vec<u64> {
    let recorded = 0..conversation.blocks.len() as u64;
    let made = journal.synthetic_blocks.iter().map(|made| made.rewritten.key());
    let mut keys: Vec<u64> = recorded.map(|id| xxh3_64(&id.to_le_bytes())).chain(made).collect();
    for change in journal.requests.iter().flat_map(Request::edits) {
        let Change { kind: ChangeKind::Rewrite, cause: Cause::Layer(layer), removed, added, .. } = change else { continue };
        if policy.layers[*layer].edits_on_server() {
            for (old, new) in removed.iter().zip(added) {
                keys[new.index()] = keys[old.index()];
            }
        }
    }
    keys
}

/// Returns which blocks change no prefix when they leave: thinking that the provider drops when a turn ends. Thinking that a layer
/// removed or rewrote is not among them: the harness sends other bytes than before.
pub fn leaves_by_itself(conversation: &Conversation, policy: &Policy, journal: &Journal) -> Vec<bool> {
    let mut leaves = vec![false; conversation.blocks.len() + journal.synthetic_blocks.len()];
    let mut edited = leaves.clone();
    for change in journal.requests.iter().flat_map(Request::edits) {
        let marked = match change.cause {
            Cause::Record => &mut leaves,
            Cause::Layer(layer) if policy.layers[layer].edits_on_server() => continue,
            Cause::Layer(_) => &mut edited,
        };
        change.gone().for_each(|block| marked[block.index()] = true);
    }
    // A block of a view leaves with the block of the history that it replaces there.
    for (made, id) in journal.synthetic_blocks.iter().zip(conversation.blocks.len()..) {
        leaves[id] |= made.replaces.is_some_and(|replaced| leaves[replaced.index()]);
    }
    leaves.iter().zip(edited).map(|(leaves, edited)| *leaves && !edited).collect()
}
