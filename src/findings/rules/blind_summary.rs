//! `blind_summary`: a summary is made of placeholders: earlier layers had taken most of the results away.
//!
//! What it means: of the tool results that entered since the last summary, by their tokens as recorded, half or more had been
//! masked, moved to disk or dropped before the summarizer read them. Why it hurts: it is paid for a summary of what is no longer
//! there, what it says of the results is from the agent's own words at best, and after it nobody has them. What to change: let
//! the clearing layers wait (`keep_recent`, `clear_at_least`), clear for the request only (`scope = "request"`) so that the
//! summarizer reads the history itself, or have the summary made before they run. Evidence: learn-claude-code #62, PR #27
//! (clearing before a summary starves it).
//!
//! Spans of fewer than 2,000 tokens of results are left out, and so are summaries of summaries; a layer that does it more than
//! five times is told once, at the fold that had most. Of the record it tells the results its harness had cleared before it
//! compacted.
//!
//! Precision: 14 opened of 128, held against the results that stood in the request before: 14 right.

use std::collections::BTreeMap;

use crate::engine::context::{Cause, Change, ChangeKind};
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::transcript::conversation::{BlockId, Kind};
use crate::util::text::plural;

/// The share of the results' tokens from which a summary is blind: ours.
const BLIND: f64 = 0.5;
/// Of fewer tokens of results there is little to know: ours.
const LEAST_TOKENS: u64 = 2_000;
/// So many folds of one layer are told one by one.
const MOST: usize = 5;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let mut masks: BTreeMap<BlockId, usize> = BTreeMap::new();
    let mut dropped = Seen::default();
    let mut blind: BTreeMap<usize, Vec<Fold>> = BTreeMap::new();
    for request in &replay.journal.requests {
        for change in &request.changes {
            let Cause::Layer(layer) = change.cause else { continue };
            match change.kind {
                ChangeKind::Rewrite => masks.extend(change.added.iter().map(|id| (*id, layer))),
                ChangeKind::Drop => change.removed.iter().for_each(|id| dropped.gone(replay, *id, layer)),
                ChangeKind::Replace => {
                    let seen = std::mem::take(&mut dropped).with(replay, change, &masks);
                    if seen.tokens >= LEAST_TOKENS && seen.share() >= BLIND {
                        blind.entry(layer).or_default().push(Fold { call: request.call, layer, seen });
                    }
                }
                ChangeKind::Insert => {}
            }
        }
    }
    blind.into_values().flat_map(|folds| told(replay, &folds)).collect()
}

struct Fold {
    call: usize,
    layer: usize,
    seen: Seen,
}

/// Tool results before a summary.
#[derive(Default)]
struct Seen {
    results: usize,
    /// As recorded.
    tokens: u64,
    /// What was gone of them, by the layer that took it.
    gone: BTreeMap<usize, u64>,
}

impl Seen {
    /// With the results that a fold takes away.
    fn with(mut self, replay: &ReplayView, fold: &Change, masks: &BTreeMap<BlockId, usize>) -> Self {
        for id in fold.removed.iter().filter(|id| !fold.added.contains(id)) {
            let Some(recorded) = result(replay, *id) else { continue };
            let whole = (replay.tokens)(recorded);
            self.results += 1;
            self.tokens += whole;
            if let Some(layer) = masks.get(id) {
                *self.gone.entry(*layer).or_default() += whole.saturating_sub((replay.tokens)(*id));
            }
        }
        self
    }

    /// With a result that a layer dropped, whatever stood of it.
    fn gone(&mut self, replay: &ReplayView, id: BlockId, layer: usize) {
        let Some(recorded) = result(replay, id) else { return };
        let whole = (replay.tokens)(recorded);
        self.results += 1;
        self.tokens += whole;
        *self.gone.entry(layer).or_default() += whole;
    }

    fn masked(&self) -> u64 {
        self.gone.values().sum()
    }

    fn share(&self) -> f64 {
        self.masked() as f64 / self.tokens as f64
    }

    /// The layer that took most.
    fn by(&self) -> Option<usize> {
        self.gone.iter().max_by_key(|(_, tokens)| **tokens).map(|(layer, _)| *layer)
    }
}

/// The recorded tool result that a block is, or stands in place of.
fn result(replay: &ReplayView, id: BlockId) -> Option<BlockId> {
    let recorded = replay.journal.recorded_block(replay.conversation, id)?;
    matches!(replay.conversation.block(recorded).kind, Kind::ToolResult(_)).then_some(recorded)
}

fn told(replay: &ReplayView, folds: &[Fold]) -> Vec<Detection> {
    let most = folds.iter().max_by_key(|fold| fold.seen.masked());
    match most {
        Some(worst) if folds.len() > MOST => {
            let found = one(replay, worst);
            let message = format!("{}; so at {} in all", found.message, plural(folds.len(), "fold"));
            vec![Detection { message, ..found }.with("folds", folds.len())]
        }
        _ => folds.iter().map(|fold| one(replay, fold)).collect(),
    }
}

fn one(replay: &ReplayView, fold: &Fold) -> Detection {
    let Fold { call, layer, seen } = fold;
    let by = seen.by();
    let (tokens, masked, percent) = (seen.tokens, seen.masked(), seen.share() * 100.0);
    let message = format!(
        "{} summarises {} of {tokens} tokens of which {masked} ({percent:.0} %) were gone before, most by {}",
        replay.who(*layer),
        plural(seen.results, "tool result"),
        by.map_or("a layer", |by| replay.who(by))
    );
    let found = Detection::at_call(replay, Level::Warning, *call, message).with("layer", replay.layer(*layer));
    let found = found.with("by", by.map_or("a layer", |by| replay.layer(by)));
    found.with("results", seen.results).with("tokens", tokens).with("masked_tokens", masked).with("share", seen.share())
}
