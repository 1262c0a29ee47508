//! How much of each typed message is left in a request.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::inserted::{InsertedTexts, normalise_spaces};
use super::{TypedMessage, positions};
use crate::findings::timeline::visible::{Form, VisibleBlocks};
use crate::transcript::conversation::BlockId;

/// How much of a typed message a request still has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Survival {
    Absent,
    /// Its beginning is there, or a part of it.
    Shortened,
    /// Word for word in a text that a compaction wrote.
    InSummary,
    Verbatim,
}

/// The typed messages that have entered, with what is left of each.
pub(super) struct SurvivalTracker<'r> {
    typed: &'r [TypedMessage],
    /// The different texts of all messages, with normalised white space, and for each message the position of its text.
    texts: Vec<String>,
    text_of: Vec<usize>,
    /// How much is left of each message that has entered.
    survival: Vec<Survival>,
    /// Number of messages that are present, whole or in part.
    present: usize,
    /// The messages that are in the request as blocks and may have lost some. A cut looks at these and at `in_texts`; nothing changed
    /// for the others.
    open: BTreeSet<usize>,
    /// The messages that have no block in the request, but whose text, or its beginning, is in a summary. By the position of their text.
    in_texts: FxHashMap<usize, OnlyInTexts>,
    messages_of: FxHashMap<BlockId, Vec<usize>>,
}

/// Messages with one text. The same is left of each, so a cut looks for it once: some users type `go on` a thousand times.
struct OnlyInTexts {
    survival: Survival,
    messages: BTreeSet<usize>,
}

impl<'r> SurvivalTracker<'r> {
    pub fn new(typed: &'r [TypedMessage]) -> Self {
        let mut positions_of_texts: FxHashMap<String, usize> = FxHashMap::default();
        let mut position_of = |typed: &TypedMessage| {
            let next = positions_of_texts.len();
            *positions_of_texts.entry(normalise_spaces(&typed.text)).or_insert(next)
        };
        let text_of = typed.iter().map(&mut position_of).collect();
        let mut texts = vec![String::new(); positions_of_texts.len()];
        positions_of_texts.into_iter().for_each(|(text, position)| texts[position] = text);
        Self {
            typed,
            texts,
            text_of,
            survival: Vec::new(),
            present: 0,
            open: BTreeSet::new(),
            in_texts: FxHashMap::default(),
            messages_of: positions(typed.iter().map(|typed| typed.blocks.as_slice())),
        }
    }

    /// Number of messages that are present, whole or in part.
    pub fn present(&self) -> usize {
        self.present
    }

    /// Number of messages that have entered.
    pub fn entered(&self) -> usize {
        self.survival.len()
    }

    /// Index of the newest message that is present word for word.
    pub fn newest_verbatim(&self) -> Option<usize> {
        self.survival.iter().rposition(|survival| *survival == Survival::Verbatim)
    }

    /// Adds the messages in front of a response.
    pub fn enter(&mut self, response: usize) {
        while self.typed.get(self.survival.len()).is_some_and(|typed| typed.message < response) {
            self.open.insert(self.survival.len());
            self.survival.push(Survival::Verbatim);
            self.present += 1;
        }
    }

    /// Follows a recorded block, or its replacement, that entered or left the request, so that the next cut looks at its messages.
    pub fn open(&mut self, recorded: BlockId) {
        for at in self.messages_of.get(&recorded).into_iter().flatten().copied() {
            if self.open.contains(&at) || self.survival.get(at).is_none_or(|survival| *survival == Survival::Absent) {
                continue;
            }
            if let Some(only) = self.in_texts.get_mut(&self.text_of[at]) {
                only.messages.remove(&at);
            }
            self.open.insert(at);
        }
    }

    /// Returns the messages that lost words since the last cut, in order.
    pub fn look(&mut self, visible: &VisibleBlocks, inserted: &InsertedTexts) -> Vec<(usize, Survival)> {
        let typed = self.typed;
        let is_whole = |at: &usize| typed[*at].blocks.iter().all(|id| visible.contains(*id));
        let (whole, parts): (Vec<usize>, Vec<usize>) = self.open.iter().copied().partition(is_whole);
        for at in whole {
            self.survival[at] = Survival::Verbatim;
            self.open.remove(&at);
        }
        let searched = parts.iter().map(|at| self.text_of[*at]).chain(self.in_texts.keys().copied());
        let found = inserted.find(searched.map(|text| self.texts[text].as_str()));
        let mut fewer = Vec::new();
        for (text, only) in &mut self.in_texts {
            let now = found.survival(&self.texts[*text]);
            let was = std::mem::replace(&mut only.survival, now);
            for at in only.messages.iter().copied().filter(|_| now != was) {
                self.survival[at] = now;
                fewer.extend((now < was).then_some((at, now)));
            }
        }
        for at in parts {
            let text = self.text_of[at];
            let forms = || typed[at].blocks.iter().map(|id| visible.form(*id));
            let is_gone = forms().all(|form| form == Form::Gone);
            let now = found.survival(&self.texts[text]).max(if is_gone { Survival::Absent } else { Survival::Shortened });
            let was = std::mem::replace(&mut self.survival[at], now);
            if now < was {
                fewer.push((at, now));
            }
            if is_gone {
                self.open.remove(&at);
                let only = self.in_texts.entry(text).or_insert(OnlyInTexts { survival: now, messages: BTreeSet::new() });
                only.messages.insert(at);
            }
        }
        for (_, absent) in self.in_texts.extract_if(|_, only| only.survival == Survival::Absent) {
            self.present -= absent.messages.len();
        }
        self.in_texts.retain(|_, only| !only.messages.is_empty());
        fewer.sort_unstable_by_key(|(at, _)| *at);
        fewer
    }
}
