//! What a recorded compaction lost, by what the agent did next: the natural experiment.
//!
//! A fact is *needed* if it was seen before the compaction and used after it, before the next. Its first use tells whence the
//! agent had it: the summary, a tool asked again, its own or the user's words, or nothing that was in sight. The last is
//! chance, or memory of what the record does not show; it is the share of references that mean nothing.

use crate::transcript::conversation::{BlockId, BlockKind, Conversation};

use super::{FactId, Provenance, References};

/// One recorded compaction. Counts are of facts, each at its first use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Loss {
    /// Index among the conversation's compactions.
    pub compaction: usize,
    /// How many responses came before it.
    pub after: u32,
    /// Facts from before it that were used after it.
    pub needed: usize,
    /// By where the first use could have had them from, in the order of [`Provenance::ALL`].
    pub had_from: [usize; 4],
    /// What those weigh that the kept tail did not hold, but something the agent could see by then; and those the summary held.
    pub needed_weight: f64,
    pub held_weight: f64,
    /// Facts whose first use had nothing in sight to have them from.
    pub nowhere: Vec<Nowhere>,
    /// Tokens of the tool calls that brought needed facts back.
    pub refetched_tokens: u64,
    /// Tokens of the cheapest tool calls that could bring back what was not kept: what soft misses are predicted to cost.
    pub predicted_tokens: u64,
    /// Tokens of all tool results between it and the next.
    pub result_tokens: u64,
    refetched: Vec<BlockId>,
    predicted: Vec<BlockId>,
}

/// A fact that was used though nothing in sight held it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nowhere {
    pub fact: FactId,
    pub call: u32,
}

impl Loss {
    pub(super) fn new(compaction: usize, after: u32) -> Self {
        Self { compaction, after, ..Self::default() }
    }

    /// The facts that nothing in sight held, the heaviest first.
    pub fn heaviest_nowhere(&self, references: &References) -> Vec<&Nowhere> {
        let mut nowhere: Vec<_> = self.nowhere.iter().collect();
        let weight = |nowhere: &Nowhere| references.facts[nowhere.fact as usize].weight;
        nowhere.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.call.cmp(&b.call)).then(a.fact.cmp(&b.fact)));
        nowhere
    }

    /// The facts it names.
    pub(super) fn facts(&self) -> impl Iterator<Item = &FactId> {
        self.nowhere.iter().map(|nowhere| &nowhere.fact)
    }

    pub(super) fn renumber(&mut self, new: impl Fn(FactId) -> FactId) {
        for nowhere in &mut self.nowhere {
            nowhere.fact = new(nowhere.fact);
        }
    }

    /// Counts a needed fact at its first use; `from` is the first block that held it since, `cheapest` what could have brought
    /// it back, where it was not kept.
    pub(super) fn count(&mut self, from: Option<(BlockId, Provenance)>, cheapest: Option<BlockId>, nowhere: Nowhere) {
        self.needed += 1;
        match from {
            Some((block, provenance)) => {
                self.had_from[provenance as usize] += 1;
                if provenance == Provenance::Tool {
                    self.refetched.push(block);
                }
            }
            None => self.nowhere.push(nowhere),
        }
        self.predicted.extend(cheapest);
    }

    /// Weighs a needed fact that the kept tail did not hold; `from` is who had brought it into sight since, if anyone.
    pub(super) fn weigh(&mut self, weight: f64, from: Option<Provenance>) {
        self.needed_weight += if from.is_some() { weight } else { 0.0 };
        self.held_weight += if from == Some(Provenance::Summary) { weight } else { 0.0 };
    }

    /// Adds up the tokens, each tool call once.
    pub(super) fn finish(&mut self, cost: impl Fn(BlockId) -> u64) {
        for (blocks, tokens) in
            [(&mut self.refetched, &mut self.refetched_tokens), (&mut self.predicted, &mut self.predicted_tokens)]
        {
            blocks.sort_unstable();
            blocks.dedup();
            *tokens = blocks.iter().map(|block| cost(*block)).sum();
        }
    }
}

/// What it costs to fetch a tool result again: the result and the call that asks for it. Other blocks cost what they hold.
pub fn cost_to_fetch(conversation: &Conversation, block: BlockId, tokens: &dyn Fn(BlockId) -> u64) -> u64 {
    let asking = match conversation.block(block).kind {
        BlockKind::ToolResult(pair) => conversation.pair(pair).used,
        _ => None,
    };
    tokens(block) + asking.map_or(0, tokens)
}
