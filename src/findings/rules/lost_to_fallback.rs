//! `lost_to_fallback`: a fixed text replaced part of the history, and no summarizer had read it.
//!
//! What it means: a layer that summarises replaced messages, but asked no summarizer, because its rules for the input
//! (`input_tokens`, `input_start`) left nothing to read; what went into the context is the text of `unread`. Why it hurts: it looks like a
//! summary, the tokens fall as planned, and all that the messages said is gone. In an agent's run the last message that a
//! user typed is often far back, so a summarizer that reads from a typed message on, and only a few thousand tokens, finds
//! none. What to change: let it read more (`input_tokens`), or from any message on (`input_start = "anywhere"`), or give up
//! (no `unread`), so that the messages stay.
//!
//! If a layer does it more than five times, one finding reports it, at the largest loss. The rule does not run on the recorded
//! session: a record does not show what its summarizer read. Evidence: LangChain's `SummarizationMiddleware` with its defaults.
//!
//! Precision: of 89 findings of the preset `langchain-summarize` we looked at 12: the request of each begins with the fixed text.

use crate::engine::context::{Cause, Change, ChangeKind};
use crate::engine::journal::Journal;
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::util::text::plural;

/// Most losses of one layer that are reported one by one.
const MOST: usize = 5;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let mut losses: Vec<Loss> = Vec::new();
    for request in &replay.journal.requests {
        for change in request.changes.iter().filter(|change| change.kind == ChangeKind::Replace) {
            let Cause::Layer(layer) = change.cause else { continue };
            let traits = replay.traits(layer);
            let asks = traits.summarizer.is_some() && traits.program.is_none();
            if asks && !was_summarised(replay.journal, request.call, layer) {
                losses.push(Loss { call: request.call, layer, tokens: tokens(replay, change), blocks: change.gone().count() });
            }
        }
    }
    let of_layer = |layer: usize| losses.iter().filter(|loss| loss.layer == layer).copied().collect::<Vec<_>>();
    (0..replay.policy.layers.len()).flat_map(|layer| detections(replay, &of_layer(layer))).collect()
}

#[derive(Clone, Copy)]
struct Loss {
    call: usize,
    layer: usize,
    tokens: u64,
    blocks: usize,
}

fn was_summarised(journal: &Journal, call: usize, layer: usize) -> bool {
    journal.summaries.iter().any(|summary| (summary.call, summary.layer) == (call, layer) && !summary.attempt.failed)
}

fn tokens(replay: &ReplayView, change: &Change) -> u64 {
    change.gone().map(replay.tokens).sum()
}

/// One finding for each loss of a layer, or one for all if there are many.
fn detections(replay: &ReplayView, losses: &[Loss]) -> Vec<Detection> {
    let worst = losses.iter().max_by_key(|loss| loss.tokens);
    match worst {
        Some(worst) if losses.len() > MOST => {
            let detection = detection(replay, worst);
            let message = format!("{}; it did so {} times", detection.message, losses.len());
            vec![Detection { message, ..detection }.with("folds", losses.len())]
        }
        _ => losses.iter().map(|loss| detection(replay, loss)).collect(),
    }
}

fn detection(replay: &ReplayView, loss: &Loss) -> Detection {
    let Loss { call, layer, tokens, blocks } = *loss;
    let who = replay.who(layer);
    let message =
        format!("{who} replaces {} of {tokens} tokens by a fixed text: no summarizer read them", plural(blocks, "block"));
    Detection::at_call(replay, Level::Warning, call, message).with("layer", replay.layer(layer)).with("tokens", tokens)
}
