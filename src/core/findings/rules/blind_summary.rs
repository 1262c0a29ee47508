//! `blind_summary`: a summary is made from placeholders, because earlier layers had removed most of the results.
//!
//! What it means: the rule takes the tool results that entered since the last summary, and their tokens as recorded.
//! Half of these tokens or more had been masked, moved to disk or dropped before the summarizer read them. Why it
//! hurts: you pay for a summary of what is no longer there. At best it repeats what the agent's own words say about the
//! results, and after it the results are gone. What to change: let the clearing layers wait (`keep_recent_results`,
//! `clear_at_least`), clear for the request only (`scope = "request"`) so that the summarizer reads the history itself,
//! or make the summary before they run. Evidence: learn-claude-code #62, PR #27 (clearing before a summary starves it).
//!
//! The rule leaves out spans of fewer than 2,000 tokens of results and summaries of summaries. If a layer does it more
//! than five times, one finding reports it, at the summary that lost most. For the recorded session it reports the
//! results that the harness had cleared before it compacted.
//!
//! Precision: of 128 findings we opened 14 and compared them with the results in the request before: 14 are right.

use std::collections::BTreeMap;

use crate::engine::context::{Cause, Change, ChangeKind};
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::transcript::conversation::{BlockId, BlockKind};
use crate::util::text::plural;

/// Share of the results' tokens that makes a summary blind once it is gone. We chose the number.
const BLIND: f64 = 0.5;
/// Spans with fewer tokens of results are left out: a summary cannot lose much there. We chose the number.
const LEAST_TOKENS: u64 = 2_000;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let mut masks: BTreeMap<BlockId, usize> = BTreeMap::new();
    let mut dropped = SummarisedResults::default();
    let mut blind: BTreeMap<usize, Vec<BlindSummary>> = BTreeMap::new();
    for request in &replay.journal.requests {
        for change in &request.changes {
            let Cause::Layer(layer) = change.cause else { continue };
            match change.kind {
                ChangeKind::Rewrite => masks.extend(change.added.iter().map(|id| (*id, layer))),
                ChangeKind::Drop => change.removed.iter().for_each(|id| dropped.add_dropped(replay, *id, layer)),
                ChangeKind::Replace => {
                    let results = std::mem::take(&mut dropped).with_replaced(replay, change, &masks);
                    if results.tokens >= LEAST_TOKENS && results.removed_share() >= BLIND {
                        blind.entry(layer).or_default().push(BlindSummary { call: request.call, layer, results });
                    }
                }
                ChangeKind::Insert => {}
            }
        }
    }
    let removed = |summary: &BlindSummary| summary.results.removed_tokens();
    let many = |count| format!("{count} summaries are like this");
    let of_layer = |summaries: Vec<BlindSummary>| Detection::of_edits(&summaries, removed, |one| detection(replay, one), many);
    blind.into_values().flat_map(of_layer).collect()
}

struct BlindSummary {
    call: usize,
    layer: usize,
    results: SummarisedResults,
}

/// The tool results that a summary covers.
#[derive(Default)]
struct SummarisedResults {
    count: usize,
    /// Tokens as recorded.
    tokens: u64,
    /// Tokens that were removed before, by the layer that removed them.
    removed: BTreeMap<usize, u64>,
}

impl SummarisedResults {
    /// Adds the results that a summary replaces.
    fn with_replaced(mut self, replay: &ReplayView, change: &Change, masks: &BTreeMap<BlockId, usize>) -> Self {
        for id in change.gone() {
            let Some(recorded) = recorded_result(replay, id) else { continue };
            let whole = (replay.tokens)(recorded);
            self.count += 1;
            self.tokens += whole;
            if let Some(layer) = masks.get(&id) {
                *self.removed.entry(*layer).or_default() += whole.saturating_sub((replay.tokens)(id));
            }
        }
        self
    }

    /// Adds a result that a layer dropped, with all tokens of the recorded result, even if another layer had shortened it.
    fn add_dropped(&mut self, replay: &ReplayView, id: BlockId, layer: usize) {
        let Some(recorded) = recorded_result(replay, id) else { return };
        let whole = (replay.tokens)(recorded);
        self.count += 1;
        self.tokens += whole;
        *self.removed.entry(layer).or_default() += whole;
    }

    fn removed_tokens(&self) -> u64 {
        self.removed.values().sum()
    }

    fn removed_share(&self) -> f64 {
        self.removed_tokens() as f64 / self.tokens as f64
    }

    /// The layer that removed most.
    fn main_remover(&self) -> Option<usize> {
        self.removed.iter().max_by_key(|(_, tokens)| **tokens).map(|(layer, _)| *layer)
    }
}

/// The recorded tool result that a block is or replaces.
fn recorded_result(replay: &ReplayView, id: BlockId) -> Option<BlockId> {
    let recorded = replay.journal.recorded_block(replay.conversation, id)?;
    matches!(replay.conversation.block(recorded).kind, BlockKind::ToolResult(_)).then_some(recorded)
}

fn detection(replay: &ReplayView, summary: &BlindSummary) -> Detection {
    let BlindSummary { call, layer, results } = summary;
    let remover = results.main_remover();
    let (tokens, removed, percent) = (results.tokens, results.removed_tokens(), results.removed_share() * 100.0);
    let message = format!(
        "{} summarises {} of {tokens} tokens, but {removed} ({percent:.0} %) had been removed before, most by {}",
        replay.who(*layer),
        plural(results.count, "tool result"),
        remover.map_or("a layer", |remover| replay.who(remover))
    );
    let detection = Detection::at_call(replay, Level::Warning, *call, message).with("layer", replay.layer(*layer));
    let detection = detection.with("by", remover.map_or("a layer", |remover| replay.layer(remover)));
    let detection = detection.with("results", results.count).with("tokens", tokens);
    detection.with("masked_tokens", removed).with("share", results.removed_share())
}
