//! The folds of a replay: where a layer put a summary in place of messages, or a recorded compaction did.

use super::Replay;
use crate::journal::{Happened, Weighed};
use crate::layer::Act;

/// One fold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fold {
    pub call: usize,
    pub layer: usize,
    /// Tokens of the messages before and after, what was put back behind the summary among them.
    pub before: u64,
    pub after: u64,
    /// By the layer's own meter, where it has a threshold.
    pub weighed: Option<Weighed>,
}

/// The folds of a replay, in the order in which they were made.
pub(super) fn folds(replay: &Replay) -> Vec<Fold> {
    let mut found: Vec<Fold> = Vec::new();
    for event in &replay.journal.events {
        let Happened::Fired { edits, before, after } = event.what else { continue };
        match &replay.policy.layers[event.layer].act {
            Act::Summarize(_) if edits > 0 => found.push(Fold {
                call: event.call,
                layer: event.layer,
                before,
                after,
                weighed: replay
                    .journal
                    .weighed
                    .iter()
                    .find(|weighed| (weighed.call, weighed.layer) == (event.call, event.layer) && weighed.after.is_some())
                    .copied(),
            }),
            _ => {}
        }
    }
    found
}

/// A layer as a message names it.
pub(super) fn who<'a>(replay: &Replay<'a>, layer: usize) -> &'a str {
    if replay.is_record() { "the recorded compaction" } else { replay.layer(layer) }
}
