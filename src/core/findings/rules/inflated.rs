//! `inflated`: a step that should make the context smaller makes it larger.
//!
//! What it means: after a layer ran there were more tokens than before. Its summary, with what is put back after it, is
//! longer than the messages it replaced, or its placeholders are longer than the results they replace. Why it hurts:
//! something is lost and nothing is gained, and a layer with a threshold tries again at the next call. What to change:
//! leave small results alone (`min_chars`, `clear_at_least`), summarise only what is worth it (`span.min`, `min_gain`,
//! a higher `threshold`), shorten `placeholder` or `marker`, put less back (`max_tokens`).
//!
//! Each layer is reported once, at the first such step. It is a note if the layer's other steps free more than a
//! hundred times as much, or if no step grew as a whole and only single placeholders are longer than what they
//! replaced. Layers that restore make the context larger on purpose; their tokens count towards the summary before
//! them.
//!
//! Evidence: gemini-cli #15225 and PR #7047 (which refuses a summary that is longer), codex #40619, Roo #3911.
//!
//! Precision: of 19 findings in 7 recordings under four policies that clear, we opened 5, and 5 are right, all of them
//! small: "No files found" is shorter than "Old environment output omitted".

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::context::{Cause, ChangeKind};
use crate::engine::journal::EventKind;
use crate::findings::Level;
use crate::findings::timeline::folds::folds;
use crate::findings::timeline::{Detection, ReplayView};

/// Growth is only a note if the layer's other steps free more than this many times as many tokens.
const NEGLIGIBLE: u64 = 100;

/// Growth over the steps or the edits of a layer.
#[derive(Default)]
struct Growth {
    /// Number of steps or edits.
    all: usize,
    /// Number of those after which the context was larger.
    grew: usize,
    /// Tokens that the growing ones added.
    tokens: u64,
    /// Tokens that the others freed.
    freed: u64,
    /// Index of the first call before which the context grew.
    call: usize,
}

impl Growth {
    fn add(&mut self, call: usize, before: u64, after: u64) {
        self.all += 1;
        if after > before {
            self.call = if self.grew == 0 { call } else { self.call };
            self.grew += 1;
            self.tokens += after - before;
        }
        self.freed += before.saturating_sub(after);
    }
}

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let (steps, edits) = (steps(replay), edits(replay));
    let steps_grew = |layer: &usize| steps.get(layer).is_some_and(|growth| growth.grew > 0);
    let of_steps = steps.iter().filter(|(_, growth)| growth.grew > 0).map(|(layer, growth)| {
        let Growth { all, grew, tokens, freed, call } = growth;
        let message = format!("{} makes the context larger in {grew} of {all} steps, by {tokens} tokens", replay.who(*layer));
        let level = if tokens * NEGLIGIBLE < *freed { Level::Note } else { Level::Warning };
        detection(replay, level, *layer, *call, message).with("steps", *grew).with("tokens", *tokens)
    });
    let only_edits = edits.iter().filter(|(layer, growth)| growth.grew > 0 && !steps_grew(layer));
    let of_edits = only_edits.map(|(layer, growth)| {
        let Growth { all, grew, tokens, call, .. } = growth;
        let longer = if *grew == 1 { "is longer than what it replaced" } else { "are longer than what they replaced" };
        let message = format!("{grew} of the {all} texts that {} inserts {longer}, by {tokens} tokens", replay.who(*layer));
        detection(replay, Level::Note, *layer, *call, message).with("edits", *grew).with("tokens", *tokens)
    });
    of_steps.chain(of_edits).collect()
}

fn detection(replay: &ReplayView, level: Level, layer: usize, call: usize, message: String) -> Detection {
    Detection::at_call(replay, level, call, message).with("layer", replay.layer(layer))
}

/// Growth over all steps of each layer, by layer.
fn steps(replay: &ReplayView) -> BTreeMap<usize, Growth> {
    let mut steps: BTreeMap<usize, Growth> = BTreeMap::new();
    let mut summarised = BTreeSet::new();
    for fold in folds(replay) {
        steps.entry(fold.layer).or_default().add(fold.call, fold.before, fold.after);
        summarised.insert((fold.call, fold.layer));
    }
    for event in &replay.journal.events {
        let restores = replay.traits(event.layer).restores;
        let is_fold = summarised.contains(&(event.call, event.layer));
        if let EventKind::Fired { before, after, .. } = event.kind
            && !restores
            && !is_fold
        {
            steps.entry(event.layer).or_default().add(event.call, before, after);
        }
    }
    steps
}

/// Growth over all texts that replaced a block, by layer. Each text counts once, even if a view that is rebuilt for every request
/// repeats it.
fn edits(replay: &ReplayView) -> BTreeMap<usize, Growth> {
    let mut edits: BTreeMap<usize, Growth> = BTreeMap::new();
    let mut known = BTreeSet::new();
    for request in &replay.journal.requests {
        let changes = request.edits().filter(|change| change.kind == ChangeKind::Rewrite);
        for change in changes {
            let (Cause::Layer(layer), [old], [new]) = (change.cause, &change.removed[..], &change.added[..]) else { continue };
            if known.insert((layer, replay.journal.recorded_block(replay.conversation, *new))) {
                edits.entry(layer).or_default().add(request.call, (replay.tokens)(*old), (replay.tokens)(*new));
            }
        }
    }
    edits
}
