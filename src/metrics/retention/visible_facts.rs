//! Which facts are in sight: in how many blocks of the present request each stands.

use rustc_hash::FxHashMap;

use crate::engine::context::{Cause, Change, ChangeKind};
use crate::engine::journal::{Journal, Request};
use crate::engine::layer::FileKind;
use crate::facts::extract;
use crate::facts::references::{FactId, References};
use crate::transcript::conversation::{BlockId, Conversation, Origin};

use super::archives::Archives;
use super::counts::{Counts, Moved, Place};

pub(super) struct VisibleFacts<'a> {
    conversation: &'a Conversation,
    references: &'a References,
    journal: &'a Journal,
    /// Messages of the conversation that have entered.
    read: usize,
    counts: Counts,
    /// The facts in each block that a layer wrote, once they are known, and whether it is a summary.
    made: Vec<Option<Box<[FactId]>>>,
    summaries: Vec<bool>,
    lost: Vec<Option<(usize, u32)>>,
    rules_given: usize,
    /// Rules in what the folds before the present request replaced, and how many there were in all, and in the summaries.
    replaced_rules: Vec<FactId>,
    folded_rules: (u64, u64),
    /// How many summaries have replaced a part of the history, and how many when each fact went into one.
    folds: usize,
    folded: Vec<Option<usize>>,
    /// Paths that only this policy names: files it wrote, numbered behind everything that is followed.
    paths: FxHashMap<u64, FactId>,
    /// The files that results were moved to.
    moved_to: FxHashMap<BlockId, Vec<FactId>>,
    archives: Archives,
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
            match (file.kind, file.of) {
                (FileKind::Archive, _) => archives.push(handles.last().copied()),
                (FileKind::Persisted, Some(block)) => {
                    let of = journal.recorded_block(conversation, block).unwrap_or(block);
                    moved_to.entry(of).or_default().extend(handles);
                }
                (FileKind::Persisted, None) => {}
            }
        }
        let followed = references.tracked() + paths.len();
        Self {
            conversation,
            references,
            journal,
            read: 0,
            counts: Counts::new(followed, references.facts.len()..references.tracked()),
            made: vec![None; journal.made.len()],
            summaries: vec![false; journal.made.len()],
            lost: vec![None; followed],
            rules_given: 0,
            replaced_rules: Vec::new(),
            folded_rules: (0, 0),
            folds: 0,
            folded: vec![None; followed],
            paths,
            moved_to,
            archives: Archives::new(journal, archives, followed),
        }
    }

    /// Goes on to the next request.
    pub fn advance(&mut self, request: &Request) {
        let response = self.conversation.calls[request.call].response;
        self.archives.until(request.call);
        for message in self.read..response {
            for block in &self.conversation.messages[message].blocks {
                for seen in self.references.in_block(*block) {
                    self.add(seen.tracked, 1, Place::TEXT);
                }
            }
        }
        self.read = response;
        if request.view_rebuilt {
            for (fact, moved) in self.counts.forget_view() {
                self.moved(fact, moved);
            }
        }
        for change in &request.changes {
            self.change(change, request.call, false);
        }
        for change in &request.view {
            self.change(change, request.call, true);
        }
        for rule in std::mem::take(&mut self.replaced_rules) {
            let is_held = self.counts.hit(rule);
            self.folded_rules.0 += u64::from(is_held == Some(true));
            self.folded_rules.1 += u64::from(is_held != Some(false));
        }
    }

    /// Whether the request holds a fact; then, whether only in a summary.
    pub fn hit(&self, fact: FactId) -> Option<bool> {
        self.counts.hit(fact)
    }

    /// How many summaries have been made since a fact went into one; 0 where it stands in the history itself, or was lost
    /// otherwise.
    pub fn generation(&self, fact: FactId) -> usize {
        self.folded[fact as usize].map_or(0, |at| self.folds - at)
    }

    /// The layer that took a fact out of sight, and the call before which it did.
    pub fn lost(&self, fact: FactId) -> Option<(usize, u32)> {
        self.lost[fact as usize]
    }

    /// The archives, and how many have been written.
    pub fn archives(&self) -> &Archives {
        &self.archives
    }

    /// The path of an archive that holds a fact.
    pub fn archive_of(&self, fact: FactId) -> Option<FactId> {
        self.archives.of_fact(fact)
    }

    /// The paths of the files that a result was moved to.
    pub fn moved_to(&self, block: BlockId) -> &[FactId] {
        self.moved_to.get(&block).map_or(&[], Vec::as_slice)
    }

    /// How many of the users' rules stand in the request, and how many there are.
    pub fn rules(&mut self, call: usize) -> (u64, u64) {
        while self.references.rules.get(self.rules_given).is_some_and(|rule| rule.from as usize <= call) {
            self.rules_given += 1;
        }
        (self.counts.rules_held() as u64, self.rules_given as u64)
    }

    /// How many rules that stood in what a summary replaced, and nowhere else in the request after it, stood in the summary; and
    /// how many there were.
    pub fn folded_rules(&self) -> (u64, u64) {
        self.folded_rules
    }

    fn change(&mut self, change: &Change, call: usize, of_view: bool) {
        self.archives.before(call, change.cause);
        self.folds += usize::from(change.kind == ChangeKind::Replace && !of_view);
        for block in &change.added {
            self.know(*block, change.kind);
            self.count(*block, 1, of_view);
        }
        for block in &change.removed {
            self.count(*block, -1, of_view);
        }
        for block in &change.removed {
            self.note_losses(*block, change, call, of_view);
        }
        if change.kind == ChangeKind::Replace && !of_view {
            self.note_rules(change);
        }
    }

    /// Remembers the rules in what a summary replaced, each once.
    fn note_rules(&mut self, change: &Change) {
        let before = self.replaced_rules.len();
        let rules = self.references.facts.len() as FactId..self.references.tracked() as FactId;
        for block in &change.removed {
            self.each_fact(*block, |sight, fact, _| {
                if rules.contains(&fact) && !sight.replaced_rules[before..].contains(&fact) {
                    sight.replaced_rules.push(fact);
                }
            });
        }
    }

    /// Finds the facts of a block that a layer wrote.
    fn know(&mut self, block: BlockId, kind: ChangeKind) {
        let Some(made) = block.index().checked_sub(self.conversation.blocks.len()) else { return };
        if self.made[made].is_none() {
            let block = &self.journal.made[made].written.block;
            self.summaries[made] = kind == ChangeKind::Replace;
            self.made[made] = Some(self.references.in_made(block, self.summaries[made], &self.paths).into());
        }
    }

    /// Does something with every fact of a block, and whether the block is a summary.
    fn each_fact(&mut self, block: BlockId, one: impl Fn(&mut Self, FactId, bool)) {
        match block.index().checked_sub(self.conversation.blocks.len()) {
            Some(at) => {
                let (facts, is_summary) = (self.made[at].take(), self.summaries[at]);
                facts.iter().flatten().for_each(|fact| one(self, *fact, is_summary));
                self.made[at] = facts;
            }
            None => {
                let is_summary = self.conversation.block(block).origin == Origin::Compaction;
                self.references.in_block(block).iter().for_each(|seen| one(self, seen.tracked, is_summary));
            }
        }
    }

    fn count(&mut self, block: BlockId, by: i32, of_view: bool) {
        self.each_fact(block, |sight, fact, is_summary| sight.add(fact, by, Place { of_view, is_summary }));
    }

    /// One block more, or less, holds a fact.
    fn add(&mut self, fact: FactId, by: i32, place: Place) {
        if by > 0 && place == Place::TEXT {
            self.folded[fact as usize] = None;
        }
        if let Some(moved) = self.counts.add(fact, by, place) {
            self.moved(fact, moved);
        }
    }

    /// What comes into sight is not lost, and may go into the next archive; what leaves is in the last.
    fn moved(&mut self, fact: FactId, moved: Moved) {
        match moved {
            Moved::In => {
                self.lost[fact as usize] = None;
                self.archives.appears(fact);
            }
            Moved::Out => self.archives.disappears(fact),
        }
    }

    /// Remembers who took the last copy of a fact away, and which summary it went into.
    fn note_losses(&mut self, block: BlockId, change: &Change, call: usize, of_view: bool) {
        self.each_fact(block, |sight, fact, _| {
            let at = fact as usize;
            if change.kind == ChangeKind::Replace && !of_view && !sight.counts.is_in_text(fact) {
                sight.folded[at].get_or_insert(sight.folds - 1);
            }
            if let (None, Cause::Layer(layer)) = (sight.hit(fact), change.cause) {
                sight.lost[at].get_or_insert((layer, call as u32));
            }
        });
    }
}
