//! The folds of a replay: where a layer put a summary in place of messages, or a recorded compaction did.

use crate::engine::context::ChangeKind;
use crate::engine::journal::{Event, EventKind, ThresholdCheck};
use crate::engine::layer::{LayerSpec, When};
use crate::findings::timeline::ReplayView;

/// One fold.
#[derive(Debug, Clone, Copy)]
pub(in crate::findings) struct Fold {
    pub call: usize,
    pub layer: usize,
    /// Tokens of the messages before, and after it and what was put back behind it.
    pub before: u64,
    pub after: u64,
    /// What was left, and what the layer folds at, by its own meter; where it has no threshold, the whole request and the window.
    pub left: u64,
    pub limit: u64,
    /// The limit is a threshold of the layer's own.
    pub own: bool,
}

/// The folds of a replay, in the order in which they were made.
pub(in crate::findings) fn folds(replay: &ReplayView) -> Vec<Fold> {
    let mut found: Vec<Fold> = Vec::new();
    for event in &replay.journal.events {
        let EventKind::Fired { before, after, .. } = event.what else { continue };
        let restores = found.last().is_some_and(|fold| fold.call == event.call && follows(replay, event.layer, fold.layer));
        if let Some(fold) = found.last_mut().filter(|_| restores) {
            fold.after = after;
        } else if is_fold(replay, event) {
            found.push(Fold { call: event.call, layer: event.layer, before, after, left: 0, limit: 0, own: false });
        }
    }
    for fold in &mut found {
        (fold.left, fold.limit, fold.own) = left(replay, fold);
    }
    found
}

fn left(replay: &ReplayView, fold: &Fold) -> (u64, u64, bool) {
    let whole = fold.after + replay.journal.overhead;
    let of_fold = |weighed: &&ThresholdCheck| (weighed.call, weighed.layer) == (fold.call, fold.layer);
    match replay.journal.threshold_checks.iter().filter(of_fold).find_map(|weighed| Some((weighed.after?, weighed.limit))) {
        Some((after, limit)) => (after, limit, true),
        None => (whole, replay.window, false),
    }
}

/// Whether a layer waits for another one to have acted.
fn follows(replay: &ReplayView, layer: usize, other: usize) -> bool {
    matches!(&replay.policy.layers[layer].when, When::After(ids) if ids.iter().any(|id| id == replay.layer(other)))
}

/// A recorded compaction may have cleared results instead.
fn is_fold(replay: &ReplayView, event: &Event) -> bool {
    match &replay.policy.layers[event.layer].spec {
        LayerSpec::Summarize(_) => true,
        LayerSpec::Recorded(_) => replay
            .journal
            .request(event.call)
            .is_some_and(|request| request.changes.iter().any(|change| change.kind == ChangeKind::Replace)),
        _ => false,
    }
}
