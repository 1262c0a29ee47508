//! `inflated`: a step that should make the context smaller makes it larger.
//!
//! What it means: after a layer ran there were more tokens than before: its summary, with what is put back behind it, is longer than
//! the messages it replaced, or its placeholders are longer than the results they stand for. Why it hurts: something is lost and
//! nothing is won, and a layer with a threshold tries again at the next call. What to change: leave small things alone (`min_chars`,
//! `clear_at_least`), fold only what is worth it (`min_span`, `min_gain`, a higher `threshold`), shorten `placeholder` or `marker`,
//! put less back (`max_tokens`).
//!
//! Told once a layer, at the first such step. It is a note where the layer's other steps free more than a hundred times as much, and
//! where no step grew as a whole, but single placeholders are longer than what they replaced. Layers that restore grow by purpose and are counted to the fold before them.
//!
//! Evidence: gemini-cli #15225 and PR #7047 (which refuses a summary that is longer), codex #40619, Roo #3911.
//!
//! Precision: of 19 findings in 7 recordings under four policies that clear, 5 were opened and 5 are right, all of them small:
//! "No files found" is shorter than "Old environment output omitted".

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::context::{Cause, ChangeKind};
use crate::engine::journal::EventKind;
use crate::engine::layer::LayerSpec;
use crate::findings::Level;
use crate::findings::timeline::folds::folds;
use crate::findings::timeline::{Detection, ReplayView};

/// What is put in too much is little where the layer's other steps free so many times as much.
const LITTLE: u64 = 100;

/// What a layer did, or a part of its edits.
#[derive(Default)]
struct Grown {
    /// How often it did it, and how often the context grew.
    all: usize,
    grew: usize,
    /// Tokens that were put in too many, and those that the others took out.
    tokens: u64,
    freed: u64,
    /// Index of the first call before which it grew.
    call: usize,
}

impl Grown {
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
    let grew = |of: &BTreeMap<usize, Grown>, layer: &usize| of.get(layer).is_some_and(|grown| grown.grew > 0);
    let of_steps = steps.iter().filter(|(_, grown)| grown.grew > 0).map(|(layer, grown)| {
        let Grown { all, grew, tokens, freed, call } = grown;
        let message = format!("{} makes the context larger at {grew} of {all} steps, by {tokens} tokens", replay.who(*layer));
        let level = if tokens * LITTLE < *freed { Level::Note } else { Level::Warning };
        tell(replay, level, *layer, *call, message).with("steps", *grew).with("tokens", *tokens)
    });
    let only_edits = edits.iter().filter(|(layer, grown)| grown.grew > 0 && !grew(&steps, layer));
    let of_edits = only_edits.map(|(layer, grown)| {
        let Grown { all, grew, tokens, call, .. } = grown;
        let puts = if *grew == 1 { "is longer than what it replaced" } else { "are longer than what they replaced" };
        let message = format!("{grew} of the {all} texts that {} puts in {puts}, by {tokens} tokens", replay.who(*layer));
        tell(replay, Level::Note, *layer, *call, message).with("edits", *grew).with("tokens", *tokens)
    });
    of_steps.chain(of_edits).collect()
}

fn tell(replay: &ReplayView, level: Level, layer: usize, call: usize, message: String) -> Detection {
    Detection::at_call(replay, level, call, message).with("layer", replay.layer(layer))
}

/// Each run of a layer, from before to after.
fn steps(replay: &ReplayView) -> BTreeMap<usize, Grown> {
    let mut steps: BTreeMap<usize, Grown> = BTreeMap::new();
    let mut folded = BTreeSet::new();
    for fold in folds(replay) {
        steps.entry(fold.layer).or_default().add(fold.call, fold.before, fold.after);
        folded.insert((fold.call, fold.layer));
    }
    for event in &replay.journal.events {
        let restores = matches!(replay.policy.layers[event.layer].spec, LayerSpec::Restore(_));
        let is_fold = folded.contains(&(event.call, event.layer));
        if let EventKind::Fired { before, after, .. } = event.what
            && !restores
            && !is_fold
        {
            steps.entry(event.layer).or_default().add(event.call, before, after);
        }
    }
    steps
}

/// Each text that was put in a block's place: once, though a view made anew for every request holds it again.
fn edits(replay: &ReplayView) -> BTreeMap<usize, Grown> {
    let mut edits: BTreeMap<usize, Grown> = BTreeMap::new();
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
