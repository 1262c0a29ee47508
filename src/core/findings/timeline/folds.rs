//! The summaries of a replay: where a layer, or a recorded compaction, replaced messages with a summary.

use crate::engine::context::ChangeKind;
use crate::engine::journal::{Event, EventKind, Request, Summary, ThresholdCheck};
use crate::engine::layer::When;
use crate::findings::timeline::ReplayView;

/// One replacement of messages by a summary.
#[derive(Debug, Clone, Copy)]
pub(in crate::findings) struct Fold {
    pub call: usize,
    pub layer: usize,
    /// Tokens of the messages before it.
    pub before: u64,
    /// Tokens of the messages after it, including what was put back behind the summary.
    pub after: u64,
    /// Size after it, by the layer's own meter; without a threshold, the tokens of the whole request.
    pub left: u64,
    /// The layer's threshold by its own meter; without a threshold, the window in tokens.
    pub limit: u64,
    /// Whether `limit` is the layer's threshold, not the window.
    pub limit_is_threshold: bool,
}

/// Returns the summaries of a replay, in their order.
pub(in crate::findings) fn folds(replay: &ReplayView) -> Vec<Fold> {
    let mut folds: Vec<Fold> = Vec::new();
    for event in &replay.journal.events {
        let EventKind::Fired { before, after, .. } = event.kind else { continue };
        let restores = folds.last().is_some_and(|fold| fold.call == event.call && runs_after(replay, event.layer, fold.layer));
        if let Some(fold) = folds.last_mut().filter(|_| restores) {
            fold.after = after;
        } else if is_fold(replay, event) {
            let (call, layer) = (event.call, event.layer);
            folds.push(Fold { call, layer, before, after, left: 0, limit: 0, limit_is_threshold: false });
        }
    }
    for fold in &mut folds {
        (fold.left, fold.limit, fold.limit_is_threshold) = size_and_limit(replay, fold);
    }
    folds
}

/// Returns `left`, `limit` and `limit_is_threshold` of a fold.
fn size_and_limit(replay: &ReplayView, fold: &Fold) -> (u64, u64, bool) {
    let request_tokens = fold.after + replay.journal.overhead;
    let of_fold = |check: &&ThresholdCheck| (check.call, check.layer) == (fold.call, fold.layer);
    match replay.journal.threshold_checks.iter().filter(of_fold).find_map(|check| Some((check.after?, check.limit))) {
        Some((after, limit)) => (after, limit, true),
        None => (request_tokens, replay.window, false),
    }
}

/// Whether a layer runs only after another one has acted.
fn runs_after(replay: &ReplayView, layer: usize, other: usize) -> bool {
    matches!(&replay.policy.layers[layer].when, When::After(ids) if ids.iter().any(|id| id == replay.layer(other)))
}

/// Whether the event is a summary. A recorded compaction may have cleared results instead.
fn is_fold(replay: &ReplayView, event: &Event) -> bool {
    let traits = replay.traits(event.layer);
    let replaces = |request: &Request| request.changes.iter().any(|change| change.kind == ChangeKind::Replace);
    // A program may ask for summaries, and does other things too.
    let is_of_event = |summary: &Summary| (summary.call, summary.layer) == (event.call, event.layer);
    let summarizes = traits.program.is_none() || replay.journal.summaries.iter().any(is_of_event);
    let repeats = || traits.repeats_record && replay.journal.request(event.call).is_some_and(replaces);
    traits.summarizer.is_some() && summarizes || repeats()
}
