//! Which facts are in sight: in how many blocks of the present request each stands.

use rustc_hash::FxHashMap;

use crate::context::{Cause, Change, ChangeKind};
use crate::conversation::{BlockId, Conversation, Origin};
use crate::facts::{self, FactKind};
use crate::journal::{FileKind, Journal, Request};
use crate::references::{References, Tracked};

use super::archives::Archives;
use super::counts::{Counts, Moved, Place};

pub(super) struct Sight<'a> {
    conversation: &'a Conversation,
    references: &'a References,
    journal: &'a Journal,
    /// Messages of the conversation that have entered.
    read: usize,
    counts: Counts,
    /// The facts in each block that a layer wrote, once they are known, and whether it is a summary.
    made: Vec<Option<Box<[Tracked]>>>,
    summaries: Vec<bool>,
    lost: Vec<Option<(usize, u32)>>,
    rules_given: usize,
    /// How many summaries have replaced a part of the history, and how many when each fact went into one.
    folds: usize,
    folded: Vec<Option<usize>>,
    /// Paths that only this policy names: files it wrote, numbered behind everything that is followed.
    paths: FxHashMap<u64, Tracked>,
    archives: Archives,
}

impl<'a> Sight<'a> {
    pub fn new(conversation: &'a Conversation, references: &'a References, journal: &'a Journal) -> Self {
        let mut paths = FxHashMap::default();
        let mut archives = Vec::new();
        for file in &journal.files {
            let mut handle = None;
            facts::in_text(&file.path, &mut |sighting| {
                if sighting.said && matches!(sighting.kind, FactKind::Path | FactKind::File) {
                    let next = (references.tracked() + paths.len()) as Tracked;
                    handle = Some(references.known(sighting.key).unwrap_or_else(|| *paths.entry(sighting.key).or_insert(next)));
                }
            });
            if file.kind == FileKind::Archive {
                archives.push(handle);
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
            folds: 0,
            folded: vec![None; followed],
            paths,
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
        if request.view_anew {
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
    }

    /// Whether the request holds a fact; then, whether only in a summary.
    pub fn hit(&self, fact: Tracked) -> Option<bool> {
        self.counts.hit(fact)
    }

    /// How many summaries have been made since a fact went into one; 0 where it stands in the history itself, or was lost
    /// otherwise.
    pub fn generation(&self, fact: Tracked) -> usize {
        self.folded[fact as usize].map_or(0, |at| self.folds - at)
    }

    /// The layer that took a fact out of sight, and the call before which it did.
    pub fn lost(&self, fact: Tracked) -> Option<(usize, u32)> {
        self.lost[fact as usize]
    }

    /// The path of an archive that holds a fact.
    pub fn archive_of(&self, fact: Tracked) -> Option<Tracked> {
        self.archives.of_fact(fact)
    }

    /// The path of a file that the policy wrote.
    pub fn path(&self, key: u64) -> Option<Tracked> {
        self.references.known(key).or_else(|| self.paths.get(&key).copied())
    }

    /// How many of the users' rules stand in the request, and how many there are.
    pub fn rules(&mut self, call: usize) -> (u64, u64) {
        while self.references.rules.get(self.rules_given).is_some_and(|rule| rule.from as usize <= call) {
            self.rules_given += 1;
        }
        (self.counts.rules_held() as u64, self.rules_given as u64)
    }

    fn change(&mut self, change: &Change, call: usize, of_view: bool) {
        self.archives.before(call, change.cause);
        self.folds += usize::from(change.kind == ChangeKind::Fold && !of_view);
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
    }

    /// Finds the facts of a block that a layer wrote.
    fn know(&mut self, block: BlockId, kind: ChangeKind) {
        let Some(made) = block.index().checked_sub(self.conversation.blocks.len()) else { return };
        if self.made[made].is_none() {
            let block = &self.journal.made[made].block;
            self.summaries[made] = kind == ChangeKind::Fold;
            self.made[made] = Some(self.references.in_made(block, self.summaries[made], &self.paths).into());
        }
    }

    fn count(&mut self, block: BlockId, by: i32, of_view: bool) {
        let (conversation, references) = (self.conversation, self.references);
        match block.index().checked_sub(conversation.blocks.len()) {
            Some(at) => {
                let facts = self.made[at].take();
                facts.iter().flatten().for_each(|fact| self.add(*fact, by, Place { of_view, is_summary: self.summaries[at] }));
                self.made[at] = facts;
            }
            None => {
                let is_summary = conversation.block(block).origin == Origin::Compaction;
                references.in_block(block).iter().for_each(|seen| self.add(seen.tracked, by, Place { of_view, is_summary }));
            }
        }
    }

    /// One block more, or less, holds a fact.
    fn add(&mut self, fact: Tracked, by: i32, place: Place) {
        if by > 0 && place == Place::TEXT {
            self.folded[fact as usize] = None;
        }
        if let Some(moved) = self.counts.add(fact, by, place) {
            self.moved(fact, moved);
        }
    }

    /// What comes into sight is not lost, and may go into the next archive; what leaves is in the last.
    fn moved(&mut self, fact: Tracked, moved: Moved) {
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
        let lose = |sight: &mut Self, fact: Tracked| {
            let at = fact as usize;
            if change.kind == ChangeKind::Fold && !of_view && !sight.counts.is_in_text(fact) {
                sight.folded[at].get_or_insert(sight.folds - 1);
            }
            if let (None, Cause::Layer(layer)) = (sight.hit(fact), change.cause) {
                sight.lost[at].get_or_insert((layer, call as u32));
            }
        };
        match block.index().checked_sub(self.conversation.blocks.len()) {
            Some(at) => {
                let facts = self.made[at].take();
                facts.iter().flatten().for_each(|fact| lose(self, *fact));
                self.made[at] = facts;
            }
            None => self.references.in_block(block).iter().for_each(|seen| lose(self, seen.tracked)),
        }
    }
}
