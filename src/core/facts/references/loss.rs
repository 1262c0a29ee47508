//! The loss of a recorded compaction, judged by what the agent did next (a natural experiment).
//!
//! A fact is *needed* if it was seen before the compaction and used between it and the next one. Its first use shows where the
//! agent had it from: the summary, a repeated tool call, its own or the user's text, or nothing visible in the context. The last
//! case is chance, or knowledge that the transcript does not show; it is the share of references that mean nothing.

use crate::transcript::conversation::{BlockId, BlockKind, Conversation};

use super::{FactId, Provenance, References};

/// The loss of one recorded compaction. Each fact is counted once, at its first use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Loss {
    /// Index into the conversation's compactions.
    pub compaction: usize,
    /// Number of responses before the compaction.
    pub after: u32,
    /// Number of needed facts.
    pub needed: usize,
    /// Number of needed facts by the source at their first use, in the order of [`Provenance::ALL`].
    pub had_from: [usize; 4],
    /// Weight of needed facts that the kept messages lacked and a newer block in the context contained.
    pub needed_weight: f64,
    /// The part of `needed_weight` that the summary contained.
    pub held_weight: f64,
    /// Needed facts that were nowhere in the context at their first use.
    pub nowhere: Vec<Nowhere>,
    /// Tokens of the tool calls that brought needed facts back.
    pub refetched_tokens: u64,
    /// Tokens of the cheapest tool calls that could bring back facts that were not kept: the predicted cost of recoverable misses.
    pub predicted_tokens: u64,
    /// Tokens of all tool results between this compaction and the next.
    pub result_tokens: u64,
    /// Tool results that brought needed facts back.
    refetched: Vec<BlockId>,
    /// Cheapest blocks to fetch again.
    predicted: Vec<BlockId>,
}

/// A fact that was used although nothing in the context contained it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nowhere {
    pub fact: FactId,
    pub call: u32,
}

impl Loss {
    pub(super) fn new(compaction: usize, after: u32) -> Self {
        Self { compaction, after, ..Self::default() }
    }

    /// Returns the needed facts that were nowhere in the context, heaviest first.
    pub fn heaviest_nowhere(&self, references: &References) -> Vec<&Nowhere> {
        let mut nowhere: Vec<_> = self.nowhere.iter().collect();
        let weight = |nowhere: &Nowhere| references.facts[nowhere.fact as usize].weight;
        nowhere.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.call.cmp(&b.call)).then(a.fact.cmp(&b.fact)));
        nowhere
    }

    /// Returns the facts that were nowhere in the context.
    pub(super) fn facts(&self) -> impl Iterator<Item = &FactId> {
        self.nowhere.iter().map(|nowhere| &nowhere.fact)
    }

    pub(super) fn renumber(&mut self, new: impl Fn(FactId) -> FactId) {
        for nowhere in &mut self.nowhere {
            nowhere.fact = new(nowhere.fact);
        }
    }

    /// Counts a needed fact at its first use. `from` is the first visible block with the fact; `cheapest` is the cheapest block that
    /// could bring it back, if it was not kept.
    pub(super) fn count_fact(&mut self, from: Option<(BlockId, Provenance)>, cheapest: Option<BlockId>, nowhere: Nowhere) {
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

    /// Adds the weight of a needed fact. `from` is the source that brought it into the context after the compaction; `None` if the
    /// kept messages contained it or nothing did.
    pub(super) fn add_weight(&mut self, weight: f64, from: Option<Provenance>) {
        self.needed_weight += if from.is_some() { weight } else { 0.0 };
        self.held_weight += if from == Some(Provenance::Summary) { weight } else { 0.0 };
    }

    /// Sums up the tokens; each tool call counts once.
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

/// Returns the tokens to fetch a tool result again: the result and its tool_use. For other blocks, returns their own tokens.
pub fn cost_to_fetch(conversation: &Conversation, block: BlockId, tokens: &dyn Fn(BlockId) -> u64) -> u64 {
    let tool_use = match conversation.block(block).kind {
        BlockKind::ToolResult(pair) => conversation.pair(pair).tool_use,
        _ => None,
    };
    tokens(block) + tool_use.map_or(0, tokens)
}
