//! `lost_to_fallback`: a fixed text replaced part of the history, and no summarizer had read it.
//!
//! What it means: a layer that summarises replaced messages, but asked no summarizer, because its rules for the input
//! (`input.tokens`, `input.start`) left nothing to read; what went into the context is the text of `input.unread`. Why it
//! hurts: it looks like a summary, the tokens fall as planned, and all that the messages said is gone. In an agent's run
//! the last message that a user typed is often far back, so a summarizer that reads from a typed message on, and only a
//! few thousand tokens, finds none. What to change: let it read more (`input.tokens`), or from any message on
//! (`input.start = "anywhere"`), or give up (no `input.unread`), so that the messages stay.
//!
//! If a layer does it more than five times, one finding reports it, at the largest loss. The rule does not run on the recorded
//! session: a record does not show what its summarizer read. Evidence: LangChain's `SummarizationMiddleware` with its defaults.
//!
//! Precision: of 89 findings of the preset `langchain-summarize` we looked at 12: the request of each begins with the fixed text.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::context::{Cause, ChangeKind};
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::util::text::plural;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let answers = replay.journal.summaries.iter().filter(|summary| !summary.attempt.failed);
    let summarised: BTreeSet<_> = answers.map(|summary| (summary.call, summary.layer)).collect();
    let mut losses: BTreeMap<usize, Vec<Loss>> = BTreeMap::new();
    for request in &replay.journal.requests {
        for change in request.changes.iter().filter(|change| change.kind == ChangeKind::Replace) {
            let Cause::Layer(layer) = change.cause else { continue };
            let traits = replay.traits(layer);
            let asks = traits.summarizer.is_some() && traits.program.is_none();
            if asks && !summarised.contains(&(request.call, layer)) {
                let (tokens, blocks) = (change.gone().map(replay.tokens).sum(), change.gone().count());
                losses.entry(layer).or_default().push(Loss { call: request.call, layer, tokens, blocks });
            }
        }
    }
    let many = |count| format!("it did so {count} times");
    let of_layer = |losses: Vec<Loss>| Detection::of_edits(&losses, |loss| loss.tokens, |loss| detection(replay, loss), many);
    losses.into_values().flat_map(of_layer).collect()
}

struct Loss {
    call: usize,
    layer: usize,
    tokens: u64,
    blocks: usize,
}

fn detection(replay: &ReplayView, loss: &Loss) -> Detection {
    let Loss { call, layer, tokens, blocks } = *loss;
    let who = replay.who(layer);
    let message =
        format!("{who} replaces {} of {tokens} tokens by a fixed text: no summarizer read them", plural(blocks, "block"));
    Detection::at_call(replay, Level::Warning, call, message).with("layer", replay.layer(layer)).with("tokens", tokens)
}
