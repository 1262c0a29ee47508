//! Finds references: compares each use of a fact with what the recorded agent could see at that call.

use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::extract;
use crate::transcript::conversation::{BlockId, BlockKind, Conversation, RecordedEdit};

use super::accesses::{Accesses, Writes};
use super::lines::LineCache;
use super::loss::{Loss, Nowhere, cost_to_fetch};
use super::own_names;
use super::refetch::{self, Holder, Refetch};
use super::rules::RuleIndex;
use super::steps::HistoryStep;
use super::vocabulary::{CandidateUse, FactOccurrences, Vocabulary};
use super::wordings::Wordings;
use super::{Fact, FactId, Occurrence, Placebo, Provenance, References, Use};
use crate::util::csr::Rows;

/// A fact in more than this share of the blocks is common, so its last occurrence means nothing. For a table over many sessions
/// 2 % would be enough; in one session it would exclude the facts that the session is about. On recorded sessions 5 % instead of
/// 2 % gives 40 % more uses and ranks policies the same; chance finds 0.7 % of them instead of 0.5 %.
const MAX_BLOCK_SHARE: f64 = 0.05;
/// Bounds of the maximum number of blocks. The lower bound is for short conversations; the upper bound limits the cost of a lookup
/// in long ones.
const MAX_BLOCKS: std::ops::RangeInclusive<usize> = 5..=50;
/// Minimum calls since the fact was last seen: every policy keeps what was added one call ago.
const MIN_GAP: u32 = 2;
/// No value: a block that has not entered yet or cannot be seen, or a fact that was not used or is not tracked.
const UNSET: u32 = u32::MAX;

/// Walks through a recorded conversation and collects references and losses. An epoch is the time between two recorded
/// compactions that replaced the history.
pub(super) struct ReferenceFinder<'a> {
    conversation: &'a Conversation,
    tokens: &'a dyn Fn(BlockId) -> u64,
    vocabulary: Vocabulary,
    rules: RuleIndex,
    occurrences: FactOccurrences,
    /// Blocks that contain each fact, including those of recorded compactions, in order of entry.
    holders: Rows<BlockId>,
    accesses: Accesses,
    handles: Rows<FactId>,
    writes: Writes,
    /// Number of responses before each block.
    after: Vec<u32>,
    /// Epoch in which each block can be seen.
    epoch: Vec<u32>,
    current_epoch: u32,
    /// Responses before the end of each epoch; and before each block was cleared, if it was.
    epoch_ends: Vec<u32>,
    cleared_at: FxHashMap<BlockId, u32>,
    /// Epoch in which each fact was last used.
    last_used_epoch: Vec<u32>,
    is_in_system: Vec<bool>,
    /// Whether each block is part of the unrolled history, on which policies work.
    is_in_history: Vec<bool>,
    uses: Vec<Use>,
    refetches: Vec<Refetch>,
    /// Index of each result in them.
    refetch_of: FxHashMap<BlockId, usize>,
    /// The needs at calls that fetched again: each fact once for a call.
    refetched: FxHashSet<(u32, FactId)>,
    losses: Vec<Loss>,
}

impl<'a> ReferenceFinder<'a> {
    pub fn new(
        conversation: &'a Conversation,
        tokens: &'a dyn Fn(BlockId) -> u64,
        vocabulary: Vocabulary,
        accesses: Accesses,
        rules: RuleIndex,
        occurrences: FactOccurrences,
    ) -> Self {
        let (blocks, facts) = (conversation.blocks.len(), vocabulary.facts.len());
        let is_source = |block: u32| conversation.block(BlockId(block)).kind != BlockKind::Thinking;
        let holders = occurrences.by_block.iter().filter(|(block, _)| is_source(*block));
        let holders: Vec<_> = holders.map(|(block, seen)| (seen.tracked, BlockId(*block))).collect();
        let mut is_in_system = vec![false; facts];
        extract::in_text(conversation.system.as_deref().unwrap_or_default(), &mut |fact_match| {
            if let Some(fact) = vocabulary.known.get(&fact_match.key) {
                is_in_system[*fact as usize] = true;
            }
        });
        let mut is_in_history = vec![false; blocks];
        for id in conversation.messages.iter().flat_map(|message| &message.blocks) {
            is_in_history[id.index()] = true;
        }
        Self {
            is_in_history,
            holders: Rows::new(facts + rules.rules.len(), &holders),
            handles: Rows::new(blocks, &accesses.handles),
            writes: Writes::new(facts, &accesses.writes, first_command(&accesses, facts), &accesses.changes),
            after: vec![UNSET; blocks],
            epoch: vec![UNSET; blocks],
            current_epoch: 0,
            epoch_ends: Vec::new(),
            cleared_at: FxHashMap::default(),
            last_used_epoch: vec![UNSET; facts],
            is_in_system,
            uses: Vec::new(),
            refetches: Vec::new(),
            refetch_of: FxHashMap::default(),
            refetched: FxHashSet::default(),
            losses: Vec::new(),
            conversation,
            tokens,
            vocabulary,
            rules,
            occurrences,
            accesses,
        }
    }

    pub fn walk(mut self, steps: &[HistoryStep], used: &[Vec<CandidateUse>]) -> References {
        for step in steps {
            match step {
                HistoryStep::Enter(message, after) => message.blocks.iter().for_each(|id| self.enter(*id, *after)),
                HistoryStep::Compact(index, after) => self.compact(*index, *after),
                HistoryStep::Call(call) => self.call(*call, &used[*call as usize]),
            }
        }
        for loss in &mut self.losses {
            loss.finish(|block| cost_to_fetch(self.conversation, block, self.tokens));
        }
        self.finish()
    }

    fn enter(&mut self, id: BlockId, after: u32) {
        (self.after[id.index()], self.epoch[id.index()]) = (after, self.current_epoch);
        if let (Some(loss), BlockKind::ToolResult(_)) = (self.losses.last_mut(), self.conversation.block(id).kind) {
            loss.result_tokens += (self.tokens)(id);
        }
    }

    /// Applies a recorded compaction to what the agent can see.
    fn compact(&mut self, index: usize, after: u32) {
        match &self.conversation.compactions[index].edit {
            RecordedEdit::Clear { pairs } => {
                for result in pairs.iter().filter_map(|pair| self.conversation.pair(*pair).tool_result) {
                    self.epoch[result.index()] = UNSET;
                    self.cleared_at.insert(result, after);
                }
            }
            RecordedEdit::Fold { into } => {
                self.current_epoch += 1;
                self.epoch_ends.push(after);
                for id in into.iter().flat_map(|message| &message.blocks) {
                    self.epoch[id.index()] = self.current_epoch;
                    if self.after[id.index()] == UNSET {
                        self.after[id.index()] = after;
                    }
                }
                self.losses.push(Loss::new(index, after));
            }
        }
    }

    fn call(&mut self, call: u32, used: &[CandidateUse]) {
        let mut last_fact = UNSET;
        let counts = |candidate: &&CandidateUse| self.is_informative(candidate) && !self.is_own(candidate.fact);
        for candidate in used.iter().filter(counts).collect::<Vec<_>>() {
            if std::mem::replace(&mut last_fact, candidate.fact) == candidate.fact {
                continue;
            }
            self.uses.extend(self.reference(call, candidate));
            self.refetch(candidate.fact);
            self.count_needed(call, candidate.fact);
            self.last_used_epoch[candidate.fact as usize] = self.current_epoch;
        }
    }

    /// Whether the fact is rare, a request can lack it, and it is near one of its anchors if its kind needs one.
    fn is_informative(&self, candidate: &CandidateUse) -> bool {
        let fact = &self.vocabulary.facts[candidate.fact as usize];
        let share = (self.occurrences.blocks as f64 * MAX_BLOCK_SHARE) as usize;
        let max_blocks = share.clamp(*MAX_BLOCKS.start(), *MAX_BLOCKS.end());
        self.occurrences.block_counts[candidate.fact as usize] as usize <= max_blocks
            && !self.is_in_system[candidate.fact as usize]
            && (!fact.kind.needs_anchor() || fact.shares_anchor(&candidate.anchors))
    }

    /// Whether the agent made a name up.
    fn is_own(&self, fact: FactId) -> bool {
        let holders: Vec<BlockId> = self.entered_holders(fact).collect();
        own_names::is_own(self.conversation, &self.accesses, &self.vocabulary.facts[fact as usize], &holders)
    }

    /// Returns the blocks that contain a fact and have entered, in order.
    fn entered_holders(&self, fact: FactId) -> impl Iterator<Item = BlockId> {
        self.holders.row(fact as usize).iter().copied().filter(|id| self.after[id.index()] != UNSET)
    }

    fn is_visible(&self, id: BlockId) -> bool {
        self.epoch[id.index()] == self.current_epoch
    }

    /// Returns the use if the agent could see the fact. The gap is counted from the history, on which policies work, and not from
    /// the agent's summary: otherwise the first call after a compaction would need nothing from before it.
    fn reference(&self, call: u32, candidate: &CandidateUse) -> Option<Use> {
        let CandidateUse { fact, in_file, .. } = *candidate;
        let origin = self.entered_holders(fact).find(|id| self.is_visible(*id))?;
        let in_history = self.entered_holders(fact).filter(|id| self.is_in_history[id.index()]);
        let gap = call + 1 - in_history.map(|id| self.after[id.index()]).max()?;
        let provenance = Provenance::of_block(self.conversation.block(origin));
        (gap >= MIN_GAP).then_some(Use { call, fact, gap, origin, provenance, in_file, refetch: None })
    }

    /// Adds the need for a used fact at the call that fetched it again.
    fn refetch(&mut self, fact: FactId) {
        let Some(result) = self.entered_holders(fact).find(|id| self.is_visible(*id)) else { return };
        let after = |id: BlockId| self.after[id.index()];
        let Some(call) =
            refetch::fetched_by(self.conversation, result, after).filter(|call| !self.refetched.contains(&(*call, fact)))
        else {
            return;
        };
        let earlier: Vec<Holder> =
            self.entered_holders(fact).filter(|id| after(*id) <= call).map(|block| self.holder(block)).collect();
        let is_same_source = |block: BlockId| self.is_same_source(block, result);
        let Some(need) = refetch::need(self.conversation, (call, fact), &earlier, is_same_source) else { return };
        self.refetched.insert((call, fact));
        let files = self.handles.row(result.index());
        let is_unchanged = files.is_empty() || files.iter().any(|file| !self.writes.has_in(*file, after(need.origin)..call));
        let next = self.refetches.len();
        let index = *self.refetch_of.entry(result).or_insert(next);
        if index == next {
            self.refetches.push(Refetch { call, result, is_unchanged: true });
        }
        self.refetches[index].is_unchanged &= is_unchanged;
        self.uses.extend((need.gap >= MIN_GAP).then_some(Use { refetch: Some(index as u32), ..need }));
    }

    /// Says when the recorded agent could see a block that entered.
    fn holder(&self, block: BlockId) -> Holder {
        let until = match self.epoch[block.index()] {
            UNSET => self.cleared_at.get(&block).copied(),
            epoch => self.epoch_ends.get(epoch as usize).copied(),
        };
        Holder { block, from: self.after[block.index()], until, is_in_history: self.is_in_history[block.index()] }
    }

    fn is_same_source(&self, first: BlockId, second: BlockId) -> bool {
        let handles = self.handles.row(second.index());
        self.handles.row(first.index()).iter().any(|handle| handles.contains(handle))
            || refetch::is_same_call(self.conversation, first, second)
    }

    /// Counts a fact that was known before the last compaction and is used for the first time since.
    fn count_needed(&mut self, call: u32, fact: FactId) {
        let Some(since) = self.losses.last().map(|loss| loss.after) else { return };
        let is_known = |id: &BlockId| self.after[id.index()] <= since && self.is_in_history[id.index()];
        if self.last_used_epoch[fact as usize] == self.current_epoch || !self.entered_holders(fact).any(|id| is_known(&id)) {
            return;
        }
        // A block that the harness kept in full counts like a summary.
        let provenance = |id| if is_known(&id) { Provenance::Summary } else { Provenance::of_block(self.conversation.block(id)) };
        let from = self.entered_holders(fact).find(|id| self.is_visible(*id)).map(|id| (id, provenance(id)));
        let was_kept = from.is_some_and(|(_, provenance)| provenance == Provenance::Summary);
        let new_source = from.filter(|(id, _)| !is_known(id)).map(|(_, provenance)| provenance);
        let weight = self.vocabulary.facts[fact as usize].weight;
        let lost = self.entered_holders(fact).filter(|id| is_known(id) && !was_kept && self.is_refetchable(*id, call));
        let cheapest = lost.min_by_key(|id| cost_to_fetch(self.conversation, *id, self.tokens));
        if let Some(loss) = self.losses.last_mut() {
            loss.count_fact(from, cheapest, Nowhere { fact, call });
            loss.add_weight(weight, new_source);
        }
    }

    /// Whether the agent could see a path or URL from which the content of a block can be fetched again, unchanged since.
    fn is_refetchable(&self, id: BlockId, call: u32) -> bool {
        self.handles.row(id.index()).iter().any(|handle| {
            self.entered_holders(*handle).any(|holder| self.is_visible(holder))
                && !self.writes.has_in(*handle, self.after[id.index()]..call)
        })
    }

    /// Drops the facts that are not tracked, and renumbers the others.
    fn finish(mut self) -> References {
        self.uses.sort_by_key(|used| (used.call, used.fact));
        let rarities: Vec<f64> = (0..).take(self.vocabulary.facts.len()).map(|fact| self.occurrences.rarity(fact)).collect();
        let FactOccurrences { by_block, bytes, sample, names, .. } = self.occurrences;
        let Vocabulary { mut known, facts: all_facts } = self.vocabulary;
        let mut is_tracked = vec![false; all_facts.len()];
        let accessed =
            self.accesses.handles.iter().map(|(_, fact)| fact).chain(self.accesses.writes.iter().map(|(fact, _)| fact));
        for fact in accessed.chain(self.uses.iter().map(|used| &used.fact)).chain(self.losses.iter().flat_map(Loss::facts)) {
            is_tracked[*fact as usize] = true;
        }
        let mut facts: Vec<Fact> = Vec::new();
        let mut new_ids = vec![UNSET; all_facts.len() + self.rules.rules.len()];
        for (old, fact) in all_facts.into_iter().enumerate().filter(|(old, _)| is_tracked[*old]) {
            new_ids[old] = facts.len() as FactId;
            facts.push(Fact { rarity: rarities[old], ..fact });
        }
        for (rule, id) in new_ids[is_tracked.len()..].iter_mut().zip(facts.len() as FactId..) {
            *rule = id;
        }
        let new_id = |old: FactId| new_ids[old as usize];
        known.retain(|_, fact| {
            *fact = new_id(*fact);
            *fact != UNSET
        });
        let occurrences: Vec<_> =
            by_block.into_iter().map(|(block, seen)| (block, Occurrence { tracked: new_id(seen.tracked), ..seen })).collect();
        let occurrences: Vec<_> = occurrences.into_iter().filter(|(_, seen)| seen.tracked != UNSET).collect();
        let is_in_history = |(block, _): &&(u32, Occurrence)| self.is_in_history[*block as usize];
        let sources: Vec<_> =
            occurrences.iter().filter(is_in_history).map(|(block, seen)| (seen.tracked, BlockId(*block))).collect();
        let handles: Vec<_> = self.accesses.handles.iter().map(|(block, fact)| (*block, new_id(*fact))).collect();
        let writes: Vec<_> = self.accesses.writes.iter().map(|(fact, call)| (new_id(*fact), *call)).collect();
        // Commands are tracked and come last, so they stay together.
        let first_command = match first_command(&self.accesses, is_tracked.len()) {
            first if (first as usize) < is_tracked.len() => new_id(first),
            _ => facts.len() as FactId,
        };
        let mut losses = self.losses;
        losses.iter_mut().for_each(|loss| loss.renumber(new_id));
        let uses: Vec<_> = self.uses.into_iter().map(|used| Use { fact: new_id(used.fact), ..used }).collect();
        References {
            lines: LineCache::default(),
            wordings: Wordings::new(facts.len()),
            rules_are_lines: self.rules.rules.iter().all(|rule| !rule.text.contains('\n')),
            placebo: Placebo::new(&facts, &uses, sample.finish()),
            uses,
            refetches: self.refetches,
            losses,
            bytes,
            names: Arc::new(names),
            occurrences: Rows::new(self.conversation.blocks.len(), &occurrences),
            sources: Rows::new(facts.len() + self.rules.rules.len(), &sources),
            after: self.after,
            handles: Rows::new(self.conversation.blocks.len(), &handles),
            writes: Writes::new(facts.len(), &writes, first_command, &self.accesses.changes),
            rule_matcher: OnceLock::new(),
            rules: self.rules.rules,
            known,
            facts,
        }
    }
}

/// Returns the first fact that is a command.
fn first_command(accesses: &Accesses, facts: usize) -> FactId {
    accesses.commands.values().min().map_or(facts as FactId, |first| *first)
}
