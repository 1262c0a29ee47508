//! Each use of a fact held against what the recorded agent could see when it made the call.

use crate::facts::extract;
use crate::transcript::conversation::{BlockId, BlockKind, Conversation, RecordedEdit};

use super::lines::Lines;
use super::loss::{Loss, Nowhere, cost_to_fetch};
use super::rules::Rules;
use super::steps::Step;
use super::vocabulary::{Accesses, Sightings, Vocabulary, Wanted};
use super::{Fact, FactId, Occurrence, Placebo, Provenance, References, Use};
use crate::util::csr::Rows;

/// A fact in more than this share of the blocks is common: where it was seen last says nothing. Of a table over many sessions
/// 2 % would do; in one session that would take away what it works on. On recorded sessions 5 % instead of 2 % gives 40 % more
/// uses, ranks policies the same, and chance finds 0.7 % of them instead of 0.5 %.
const COMMON: f64 = 0.05;
/// … but not in fewer blocks than this, however short the conversation, and in more blocks than that, however long: to look a
/// fact up must not cost more the longer a session is.
const COMMON_BLOCKS: std::ops::RangeInclusive<usize> = 5..=50;
/// References to what was seen one call ago are left out: every policy keeps what just entered.
const LEAST_GAP: u32 = 2;
/// Not entered yet; or of an epoch that cannot be seen.
const NEVER: u32 = u32::MAX;

pub(super) struct Finder<'a> {
    conversation: &'a Conversation,
    tokens: &'a dyn Fn(BlockId) -> u64,
    vocabulary: Vocabulary,
    rules: Rules,
    sightings: Sightings,
    /// Every block that holds a fact, those of recorded compactions among them, in order of entry.
    holders: Rows<BlockId>,
    accesses: Accesses,
    handles: Rows<FactId>,
    written: Rows<u32>,
    /// How many responses came before each block.
    after: Vec<u32>,
    /// In which epoch each block can be seen.
    epoch: Vec<u32>,
    now: u32,
    /// In which epoch each fact was used last.
    used_in: Vec<u32>,
    in_system: Vec<bool>,
    /// Whether each block is of the unrolled history, the one policies work on.
    in_history: Vec<bool>,
    uses: Vec<Use>,
    losses: Vec<Loss>,
}

impl<'a> Finder<'a> {
    pub fn new(
        conversation: &'a Conversation,
        tokens: &'a dyn Fn(BlockId) -> u64,
        vocabulary: Vocabulary,
        accesses: Accesses,
        rules: Rules,
        sightings: Sightings,
    ) -> Self {
        let (blocks, facts) = (conversation.blocks.len(), vocabulary.facts.len());
        let holders: Vec<_> = sightings.seen.iter().map(|(block, seen)| (seen.tracked, BlockId(*block))).collect();
        let mut in_system = vec![false; facts];
        extract::in_text(conversation.system.as_deref().unwrap_or_default(), &mut |sighting| {
            if let Some(fact) = vocabulary.known.get(&sighting.key) {
                in_system[*fact as usize] = true;
            }
        });
        let mut in_history = vec![false; blocks];
        for id in conversation.messages.iter().flat_map(|message| &message.blocks) {
            in_history[id.index()] = true;
        }
        Self {
            in_history,
            holders: Rows::new(facts + rules.rules.len(), &holders),
            handles: Rows::new(blocks, &accesses.handles),
            written: Rows::new(facts, &accesses.written),
            after: vec![NEVER; blocks],
            epoch: vec![NEVER; blocks],
            now: 0,
            used_in: vec![NEVER; facts],
            in_system,
            uses: Vec::new(),
            losses: Vec::new(),
            conversation,
            tokens,
            vocabulary,
            rules,
            sightings,
            accesses,
        }
    }

    pub fn walk(mut self, steps: &[Step], used: &[Vec<Wanted>]) -> References {
        for step in steps {
            match step {
                Step::Enter(message, after) => message.blocks.iter().for_each(|id| self.enter(*id, *after)),
                Step::Compact(index, after) => self.compact(*index, *after),
                Step::Call(call) => self.call(*call, &used[*call as usize]),
            }
        }
        for loss in &mut self.losses {
            loss.finish(|block| cost_to_fetch(self.conversation, block, self.tokens));
        }
        self.finish()
    }

    fn enter(&mut self, id: BlockId, after: u32) {
        (self.after[id.index()], self.epoch[id.index()]) = (after, self.now);
        if let (Some(loss), BlockKind::ToolResult(_)) = (self.losses.last_mut(), self.conversation.block(id).kind) {
            loss.result_tokens += (self.tokens)(id);
        }
    }

    /// What the recorded agent can see becomes what its harness left it.
    fn compact(&mut self, index: usize, after: u32) {
        match &self.conversation.compactions[index].edit {
            RecordedEdit::Clear { pairs } => {
                for result in pairs.iter().filter_map(|pair| self.conversation.pair(*pair).answered) {
                    self.epoch[result.index()] = NEVER;
                }
            }
            RecordedEdit::Fold { into } => {
                self.now += 1;
                for id in into.iter().flat_map(|message| &message.blocks) {
                    self.epoch[id.index()] = self.now;
                    if self.after[id.index()] == NEVER {
                        self.after[id.index()] = after;
                    }
                }
                self.losses.push(Loss::new(index, after));
            }
        }
    }

    fn call(&mut self, call: u32, used: &[Wanted]) {
        let mut done = NEVER;
        for wanted in used.iter().filter(|wanted| self.says_something(wanted)).collect::<Vec<_>>() {
            if std::mem::replace(&mut done, wanted.fact) == wanted.fact {
                continue;
            }
            self.uses.extend(self.reference(call, wanted.fact));
            self.needed(call, wanted.fact);
            self.used_in[wanted.fact as usize] = self.now;
        }
    }

    /// Whether the fact is rare, some request can lack it and, if it is bound, it stands beside what it stood beside at first.
    fn says_something(&self, wanted: &Wanted) -> bool {
        let fact = &self.vocabulary.facts[wanted.fact as usize];
        let share = (self.sightings.blocks as f64 * COMMON) as usize;
        let most = share.clamp(*COMMON_BLOCKS.start(), *COMMON_BLOCKS.end());
        self.sightings.in_blocks[wanted.fact as usize] as usize <= most
            && !self.in_system[wanted.fact as usize]
            && (!fact.kind.is_bound() || fact.stood_beside(&wanted.anchors))
    }

    /// The blocks that hold a fact and have entered, in order.
    fn entered(&self, fact: FactId) -> impl Iterator<Item = BlockId> {
        self.holders.row(fact as usize).iter().copied().filter(|id| self.after[id.index()] != NEVER)
    }

    fn can_see(&self, id: BlockId) -> bool {
        self.epoch[id.index()] == self.now
    }

    /// The use, if the agent could see the fact. How far back it is counts in the history, which policies work on, and not from
    /// the summary the agent was given: else the first call after a compaction would need nothing from before.
    fn reference(&self, call: u32, fact: FactId) -> Option<Use> {
        let origin = self.entered(fact).find(|id| self.can_see(*id))?;
        let in_history = self.entered(fact).filter(|id| self.in_history[id.index()]);
        let gap = call + 1 - in_history.map(|id| self.after[id.index()]).max()?;
        let provenance = Provenance::of(self.conversation.block(origin));
        (gap >= LEAST_GAP).then_some(Use { call, fact, gap, origin, provenance })
    }

    /// Counts a fact that is used for the first time since the last compaction and was known before it.
    fn needed(&mut self, call: u32, fact: FactId) {
        let Some(since) = self.losses.last().map(|loss| loss.after) else { return };
        let known = |id: &BlockId| self.after[id.index()] <= since && self.in_history[id.index()];
        if self.used_in[fact as usize] == self.now || !self.entered(fact).any(|id| known(&id)) {
            return;
        }
        // What the harness kept in full is as good as a summary that holds it.
        let provenance = |id| if known(&id) { Provenance::Summary } else { Provenance::of(self.conversation.block(id)) };
        let from = self.entered(fact).find(|id| self.can_see(*id)).map(|id| (id, provenance(id)));
        let was_kept = from.is_some_and(|(_, provenance)| provenance == Provenance::Summary);
        let outside = from.filter(|(id, _)| !known(id)).map(|(_, provenance)| provenance);
        let weight = self.sightings.weight(fact);
        let lost = self.entered(fact).filter(|id| known(id) && !was_kept && self.can_be_fetched(*id, call));
        let cheapest = lost.min_by_key(|id| cost_to_fetch(self.conversation, *id, self.tokens));
        if let Some(loss) = self.losses.last_mut() {
            loss.count(from, cheapest, Nowhere { fact, call });
            loss.weigh(weight, outside);
        }
    }

    /// Whether the agent could see a path or URL that gives a block's content again, unchanged since.
    fn can_be_fetched(&self, id: BlockId, call: u32) -> bool {
        self.handles.row(id.index()).iter().any(|handle| {
            self.entered(*handle).any(|holder| self.can_see(holder))
                && !self.written.has_in(*handle as usize, self.after[id.index()]..call)
        })
    }

    /// Forgets the facts that turned out to say nothing.
    fn finish(self) -> References {
        let weights: Vec<f64> = (0..).take(self.vocabulary.facts.len()).map(|fact| self.sightings.weight(fact)).collect();
        let Sightings { seen, bytes, sample, .. } = self.sightings;
        let Vocabulary { mut known, facts: all } = self.vocabulary;
        let mut followed = vec![false; all.len()];
        let named = self.accesses.handles.iter().map(|(_, fact)| fact).chain(self.accesses.written.iter().map(|(fact, _)| fact));
        for fact in named.chain(self.uses.iter().map(|used| &used.fact)).chain(self.losses.iter().flat_map(Loss::facts)) {
            followed[*fact as usize] = true;
        }
        let mut facts: Vec<Fact> = Vec::new();
        let mut number = vec![NEVER; all.len() + self.rules.rules.len()];
        for (old, fact) in all.into_iter().enumerate().filter(|(old, _)| followed[*old]) {
            number[old] = facts.len() as FactId;
            facts.push(Fact { weight: weights[old], ..fact });
        }
        for (rule, new) in number[followed.len()..].iter_mut().zip(facts.len() as FactId..) {
            *rule = new;
        }
        let new = |old: FactId| number[old as usize];
        known.retain(|_, fact| {
            *fact = new(*fact);
            *fact != NEVER
        });
        let seen: Vec<_> =
            seen.into_iter().map(|(block, seen)| (block, Occurrence { tracked: new(seen.tracked), ..seen })).collect();
        let seen: Vec<_> = seen.into_iter().filter(|(_, seen)| seen.tracked != NEVER).collect();
        let in_history = |(block, _): &&(u32, Occurrence)| self.in_history[*block as usize];
        let sources: Vec<_> = seen.iter().filter(in_history).map(|(block, seen)| (seen.tracked, BlockId(*block))).collect();
        let handles: Vec<_> = self.accesses.handles.iter().map(|(block, fact)| (*block, new(*fact))).collect();
        let written: Vec<_> = self.accesses.written.iter().map(|(fact, call)| (new(*fact), *call)).collect();
        let mut losses = self.losses;
        losses.iter_mut().for_each(|loss| loss.renumber(new));
        let uses: Vec<_> = self.uses.into_iter().map(|used| Use { fact: new(used.fact), ..used }).collect();
        References {
            lines: Lines::default(),
            rules_are_lines: self.rules.rules.iter().all(|rule| !rule.text.contains('\n')),
            placebo: Placebo::new(&facts, &uses, sample),
            uses,
            losses,
            bytes,
            seen: Rows::new(self.conversation.blocks.len(), &seen),
            sources: Rows::new(facts.len() + self.rules.rules.len(), &sources),
            after: self.after,
            handles: Rows::new(self.conversation.blocks.len(), &handles),
            written: Rows::new(facts.len(), &written),
            finder: self.rules.finder(),
            rules: self.rules.rules,
            known,
            facts,
        }
    }
}
