//! Tracks which facts are visible: in how many blocks of the current request each fact occurs.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::engine::context::{Cause, Change, ChangeKind};
use crate::engine::journal::{Journal, Request, SentCopy};
use crate::engine::layer::FileKind;
use crate::facts::extract;
use crate::facts::references::{FactId, References};
use crate::transcript::conversation::{BlockId, BlockKind, Conversation, Origin};

use super::archives::Archives;
use super::counts::{BlockPlace, FactCounts, VisibilityChange};

pub(super) struct VisibleFacts<'a> {
    conversation: &'a Conversation,
    references: &'a References,
    journal: &'a Journal,
    /// Messages of the conversation that have entered.
    messages_read: usize,
    counts: FactCounts,
    /// Facts of each block that a layer wrote, once it is indexed; and whether the block is a summary.
    facts_of_made: Vec<Option<Box<[FactId]>>>,
    is_summary: Vec<bool>,
    /// Blocks that recorded compactions wrote.
    recorded_summaries: FxHashSet<BlockId>,
    lost: Vec<Option<(usize, u32)>>,
    /// Facts that left between the previous request and the current one.
    disappeared: Vec<FactId>,
    rules_given: usize,
    /// Rules in what the summaries before the current request replaced; and `(held, total)` over all summaries so far.
    replaced_rules: Vec<FactId>,
    summarised_rules: (u64, u64),
    /// Rules in the texts that layers rewrote before the current request; and those that the request after such an edit lacked.
    rewritten_rules: Vec<FactId>,
    cut_rules: FxHashSet<FactId>,
    /// Number of summaries that replaced a part of the history; and that number when each fact went into a summary.
    summary_count: usize,
    summarised_at: Vec<Option<usize>>,
    /// Paths that only this policy names: the files it wrote. Their ids follow all other tracked facts.
    paths: FxHashMap<u64, FactId>,
    /// Paths of the files to which results were moved.
    moved_to: FxHashMap<BlockId, Vec<FactId>>,
    archives: Archives,
}

/// Returns the blocks that recorded compactions wrote. The summary that a session begins with is a message like any other: its
/// compaction was in an earlier session.
fn recorded_summaries(conversation: &Conversation) -> FxHashSet<BlockId> {
    let written = conversation.compactions.iter().flat_map(|compaction| compaction.edit.messages());
    let blocks = written.flat_map(|message| &message.blocks).copied();
    let mut summaries: FxHashSet<_> = blocks.filter(|id| conversation.block(*id).origin == Origin::Compaction).collect();
    if !summaries.is_empty() {
        for id in conversation.messages.iter().flat_map(|message| &message.blocks) {
            summaries.remove(id);
        }
    }
    summaries
}

impl<'a> VisibleFacts<'a> {
    pub fn new(conversation: &'a Conversation, references: &'a References, journal: &'a Journal) -> Self {
        let mut paths = FxHashMap::default();
        let (mut archives, mut moved_to) = (Vec::new(), FxHashMap::<BlockId, Vec<FactId>>::default());
        for file in &journal.files {
            let mut handles = Vec::new();
            extract::in_name(&file.path, &mut |sighting| {
                let next = (references.tracked() + paths.len()) as FactId;
                handles.push(references.known(sighting.key).unwrap_or_else(|| *paths.entry(sighting.key).or_insert(next)));
            });
            match (file.kind, file.block) {
                (FileKind::Archive, _) => archives.push(handles.last().copied()),
                (FileKind::Persisted, Some(block)) => {
                    let of = journal.recorded_block(conversation, block).unwrap_or(block);
                    moved_to.entry(of).or_default().extend(handles);
                }
                (FileKind::Persisted, None) => {}
            }
        }
        let fact_count = references.tracked() + paths.len();
        Self {
            conversation,
            references,
            journal,
            messages_read: 0,
            counts: FactCounts::new(fact_count, references.facts.len()..references.tracked()),
            facts_of_made: vec![None; journal.synthetic_blocks.len()],
            is_summary: vec![false; journal.synthetic_blocks.len()],
            recorded_summaries: recorded_summaries(conversation),
            lost: vec![None; fact_count],
            disappeared: Vec::new(),
            rules_given: 0,
            replaced_rules: Vec::new(),
            summarised_rules: (0, 0),
            rewritten_rules: Vec::new(),
            cut_rules: FxHashSet::default(),
            summary_count: 0,
            summarised_at: vec![None; fact_count],
            paths,
            moved_to,
            archives: Archives::new(journal, archives, fact_count),
        }
    }

    /// Advances to the next request.
    pub fn advance(&mut self, request: &Request) {
        let response = self.conversation.calls[request.call].response;
        self.archives.advance_to_call(request.call);
        self.disappeared.clear();
        for message in self.messages_read..response {
            for block in &self.conversation.messages[message].blocks {
                if self.journal.without_thinking && self.conversation.block(*block).kind == BlockKind::Thinking {
                    continue;
                }
                for seen in self.references.in_block(*block) {
                    self.add(seen.tracked, 1, BlockPlace::TEXT);
                }
            }
        }
        self.messages_read = response;
        if request.sent == SentCopy::SameView {
            self.follow_record(request);
        } else {
            for (fact, change) in self.counts.reset_view() {
                self.apply_visibility(fact, change);
            }
        }
        for (change, of_view) in request.edits_by_copy() {
            if request.sent != SentCopy::SameView || change.is_of_layer() {
                self.change(change, request.call, of_view);
            }
        }
        for rule in std::mem::take(&mut self.replaced_rules) {
            let is_held = self.counts.hit(rule);
            self.summarised_rules.0 += u64::from(is_held == Some(true));
            self.summarised_rules.1 += u64::from(is_held != Some(false));
        }
        let Self { rewritten_rules, cut_rules, counts, .. } = self;
        cut_rules.extend(rewritten_rules.drain(..).filter(|rule| counts.hit(*rule).is_none()));
    }

    /// Returns `None` if the request does not contain the fact, else whether only a summary contains it.
    pub fn hit(&self, fact: FactId) -> Option<bool> {
        self.counts.hit(fact)
    }

    /// Returns whether all blocks that contained the fact were removed, moved or summarised; a layer may have left it in what it wrote.
    pub fn is_at_risk(&self, fact: FactId) -> bool {
        !self.counts.is_untouched(fact)
    }

    /// Returns the number of summaries since a fact went into one; 0 if the history itself contains it or it was lost
    /// otherwise.
    pub fn generation(&self, fact: FactId) -> usize {
        self.summarised_at[fact as usize].map_or(0, |at| self.summary_count - at)
    }

    /// Returns the layer that removed a fact from the context, and the call before which it did.
    pub fn lost(&self, fact: FactId) -> Option<(usize, u32)> {
        self.lost[fact as usize]
    }

    /// Returns the facts that left since the previous request; some of them may be back.
    pub fn disappeared(&self) -> &[FactId] {
        &self.disappeared
    }

    /// Returns the archives written so far.
    pub fn archives(&self) -> &Archives {
        &self.archives
    }

    /// Returns the path of an archive that contains a fact.
    pub fn archive_of(&self, fact: FactId) -> Option<FactId> {
        self.archives.newest_of(fact)
    }

    /// Returns the paths of the files to which a result was moved.
    pub fn moved_to(&self, block: BlockId) -> &[FactId] {
        self.moved_to.get(&block).map_or(&[], Vec::as_slice)
    }

    /// Returns `(held, total)`: users' rules that the request contains, and all given so far.
    pub fn rules(&mut self, call: usize) -> (u64, u64) {
        while self.references.rules.get(self.rules_given).is_some_and(|rule| rule.from as usize <= call) {
            self.rules_given += 1;
        }
        (self.counts.rules_held() as u64, self.rules_given as u64)
    }

    /// Returns `(held, total)` over rules that a summary replaced and that are nowhere else in the request after it: those in
    /// the summary, and all.
    pub fn summarised_rules(&self) -> (u64, u64) {
        self.summarised_rules
    }

    /// Returns the number of rules that layers cut out of texts.
    pub fn cut_rules(&self) -> u64 {
        self.cut_rules.len() as u64
    }

    /// Takes in the thinking that left the history and the view. The view may have lacked it, or had a part of it.
    fn follow_record(&mut self, request: &Request) {
        let of_record = |changes: &[Change]| -> Vec<BlockId> {
            changes.iter().filter(|change| !change.is_of_layer()).flat_map(|change| change.removed.iter().copied()).collect()
        };
        let (of_history, of_view) = (of_record(&request.changes), of_record(&request.view));
        let [in_history, in_view] = [&of_history, &of_view].map(|blocks| blocks.iter().copied().collect::<FxHashSet<_>>());
        for block in of_history {
            if in_view.contains(&block) {
                self.count(block, -1, false);
            } else {
                let place = self.place_of(block, false);
                self.for_each_fact(block, |this, fact, is_summary| this.counts.leave_history(fact, place(is_summary)));
            }
        }
        of_view.into_iter().filter(|block| !in_history.contains(block)).for_each(|block| self.count(block, -1, true));
    }

    fn change(&mut self, change: &Change, call: usize, of_view: bool) {
        self.archives.advance_to_change(call, change.cause);
        self.summary_count += usize::from(change.kind == ChangeKind::Replace && !of_view);
        for block in &change.added {
            self.index_made_block(*block, change.kind);
            self.count(*block, 1, of_view);
        }
        for block in &change.removed {
            self.count(*block, -1, of_view);
        }
        for block in &change.removed {
            self.record_losses(*block, change, call, of_view);
        }
        match change.kind {
            ChangeKind::Replace if !of_view => {
                let replaced = self.rules_in(&change.removed);
                self.replaced_rules.extend(replaced);
            }
            ChangeKind::Rewrite => {
                let texts: Vec<BlockId> = change.removed.iter().copied().filter(|id| self.is_text(*id)).collect();
                let rewritten = self.rules_in(&texts);
                self.rewritten_rules.extend(rewritten);
            }
            _ => {}
        }
    }

    fn is_text(&self, id: BlockId) -> bool {
        let block = match id.index().checked_sub(self.conversation.blocks.len()) {
            Some(made) => &self.journal.synthetic_blocks[made].rewritten.block,
            None => self.conversation.block(id),
        };
        block.kind == BlockKind::Text
    }

    /// Returns the rules in some blocks, each once.
    fn rules_in(&mut self, blocks: &[BlockId]) -> Vec<FactId> {
        let rules = self.references.facts.len() as FactId..self.references.tracked() as FactId;
        let mut found = Vec::new();
        for block in blocks {
            self.for_each_fact(*block, |_, fact, _| {
                if rules.contains(&fact) {
                    found.push(fact);
                }
            });
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Finds the facts of a block that a layer wrote.
    fn index_made_block(&mut self, block: BlockId, kind: ChangeKind) {
        let Some(made) = block.index().checked_sub(self.conversation.blocks.len()) else { return };
        if self.facts_of_made[made].is_none() {
            let block = &self.journal.synthetic_blocks[made].rewritten.block;
            self.is_summary[made] = kind == ChangeKind::Replace;
            self.facts_of_made[made] = Some(self.references.in_made(block, self.is_summary[made], &self.paths).into());
        }
    }

    /// Calls `visit` for every fact of a block, with whether the block is a summary.
    fn for_each_fact(&mut self, block: BlockId, mut visit: impl FnMut(&mut Self, FactId, bool)) {
        match block.index().checked_sub(self.conversation.blocks.len()) {
            Some(at) => {
                let (facts, is_summary) = (self.facts_of_made[at].take(), self.is_summary[at]);
                facts.iter().flatten().for_each(|fact| visit(self, *fact, is_summary));
                self.facts_of_made[at] = facts;
            }
            None => {
                let is_summary = self.recorded_summaries.contains(&block);
                self.references.in_block(block).iter().for_each(|seen| visit(self, seen.tracked, is_summary));
            }
        }
    }

    fn count(&mut self, block: BlockId, by: i32, of_view: bool) {
        let place = self.place_of(block, of_view);
        self.for_each_fact(block, |this, fact, is_summary| this.add(fact, by, place(is_summary)));
    }

    /// Returns the place of a block, by whether it is a summary.
    fn place_of(&self, block: BlockId, of_view: bool) -> impl Fn(bool) -> BlockPlace + use<> {
        let is_recorded = block.index() < self.conversation.blocks.len();
        move |is_summary| BlockPlace { of_view, is_summary, is_untouched: is_recorded && !is_summary }
    }

    /// Adds `by` (1 or −1) blocks that contain a fact.
    fn add(&mut self, fact: FactId, by: i32, place: BlockPlace) {
        if by > 0 && place == BlockPlace::TEXT {
            self.summarised_at[fact as usize] = None;
        }
        if let Some(change) = self.counts.add(fact, by, place) {
            self.apply_visibility(fact, change);
        }
    }

    /// A visible fact is not lost, and the next archive contains it; a fact that leaves is in the last archive.
    fn apply_visibility(&mut self, fact: FactId, change: VisibilityChange) {
        match change {
            VisibilityChange::Appeared => {
                self.lost[fact as usize] = None;
                self.archives.appears(fact);
            }
            VisibilityChange::Disappeared => {
                self.disappeared.push(fact);
                self.archives.disappears(fact);
            }
        }
    }

    /// Records which layer removed the last copy of a fact, and which summary the fact went into.
    fn record_losses(&mut self, block: BlockId, change: &Change, call: usize, of_view: bool) {
        self.for_each_fact(block, |this, fact, _| {
            let at = fact as usize;
            if change.kind == ChangeKind::Replace && !of_view && !this.counts.is_in_text(fact) {
                this.summarised_at[at].get_or_insert(this.summary_count - 1);
            }
            if let (None, Cause::Layer(layer)) = (this.hit(fact), change.cause) {
                this.lost[at].get_or_insert((layer, call as u32));
            }
        });
    }
}
