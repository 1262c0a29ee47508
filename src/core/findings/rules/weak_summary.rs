//! `weak_summary`: a summary is empty or says next to nothing, or the summarizer failed.
//!
//! What it means: a summary of fewer than 100 tokens, and of less than one hundredth of what the summarizer read,
//! replaced at least 4,000 tokens. Or the layer asked for a summary and got none that it could use. Why it hurts: a
//! model that answers with the empty sections of its template ("Decisions: none. Next steps: none.") has read nothing
//! or refused, and the session goes on without its history; a summarizer that always fails is paid for, and the context
//! stays as large as it was. What to change: give no `empty`, so that an empty answer is a failure and the messages stay;
//! keep the newest messages and the request beside the summary (`keep_recent_messages`, `{request}` in `messages.template`); and
//! carry the summary before this one on.
//!
//! There is one finding for each layer and kind: at the first such summary, with their number. The rule does not look at
//! summaries that only the provider can read. Evidence: openclaw #120663 (77 of 164 summaries were empty headings),
//! docker-agent PR #3470 (an empty answer replaced the history).
//!
//! Precision: 2 of 122 recorded conversations have such a finding; their summaries have 7 and 18 tokens, in place of 29,989
//! and 42,714.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::journal::EventKind;
use crate::engine::layer::Attempt;
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::util::text::plural;

/// A summary of at least as many tokens is not weak. We chose the number.
const FEW_TOKENS: u64 = 100;
/// Nor is one that has at least this part of what it replaces. We chose the number.
const PART: u64 = 100;
/// Fewest tokens that were read. We chose the number.
const LEAST_READ: u64 = 4_000;

/// A summary that says next to nothing.
#[derive(Clone, Copy)]
struct Weak {
    call: usize,
    /// Tokens that it replaces.
    read: u64,
    written: u64,
}

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let mut weak: BTreeMap<usize, Vec<Weak>> = BTreeMap::new();
    let mut all: BTreeMap<usize, usize> = BTreeMap::new();
    for (layer, summary) in summaries(replay) {
        *all.entry(layer).or_default() += 1;
        if summary.read >= LEAST_READ && summary.written < FEW_TOKENS && summary.written * PART < summary.read {
            weak.entry(layer).or_default().push(summary);
        }
    }
    let of_weak =
        weak.iter().filter_map(|(layer, weak)| Some(weak_detection(replay, *layer, weak.first()?, weak.len(), all[layer])));
    of_weak.chain((0..replay.policy.layers.len()).filter_map(|layer| failures(replay, layer))).collect()
}

/// The summaries that went into the context, each with its layer: those that layers asked for, and those of the record.
fn summaries<'r>(replay: &'r ReplayView) -> impl Iterator<Item = (usize, Weak)> + 'r {
    let asked = replay.journal.summaries.iter().filter(|summary| !summary.attempt.failed).map(|summary| {
        let (read, written) = (summary.attempt.tokens_in, summary.attempt.tokens_out);
        (summary.layer, Weak { call: summary.call, read, written })
    });
    let read: BTreeMap<usize, u64> =
        replay.journal.compactions.iter().map(|made| (made.repeated.compaction, made.repeated.tokens_in)).collect();
    let recorded = replay.journal.recorded.iter().filter_map(move |summary| {
        let (index, written) = (summary.restored.compaction, summary.restored.tokens);
        let is_encrypted = replay.conversation.compactions[index].edit.is_encrypted(replay.conversation);
        let read = read.get(&index).copied().filter(|_| !is_encrypted)?;
        Some((summary.layer, Weak { call: summary.call, read, written }))
    });
    asked.chain(recorded)
}

fn weak_detection(replay: &ReplayView, layer: usize, first: &Weak, weak: usize, all: usize) -> Detection {
    let Weak { call, read, written } = *first;
    let says = if written == 0 { "is empty".to_owned() } else { format!("has {}", plural(written as usize, "token")) };
    let number = if all > 1 { format!("; {weak} of {all} summaries are like this") } else { String::new() };
    let message = format!("{}'s summary of {read} tokens {says}{number}", replay.who(layer));
    let detection = Detection::at_call(replay, Level::Warning, call, message).with("layer", replay.layer(layer));
    detection.with("read", read).with("written", written).with("weak", weak).with("summaries", all)
}

/// A layer whose summarizer was asked and gave no summary. An input that does not fit has a finding of its own.
fn failures(replay: &ReplayView, layer: usize) -> Option<Detection> {
    replay.traits(layer).summarizer?;
    let fits = |attempt: &Attempt| attempt.tokens_in + attempt.prompt + attempt.max_tokens <= replay.window;
    let asked = replay.journal.summaries.iter().filter(|summary| summary.layer == layer && fits(&summary.attempt));
    let asked: BTreeSet<usize> = asked.map(|summary| summary.call).collect();
    let events = replay.journal.events.iter().filter(|event| event.layer == layer);
    let mut failed = events.filter_map(|event| match &event.kind {
        EventKind::Failed { why } if asked.contains(&event.call) => Some((event.call, why)),
        _ => None,
    });
    let (call, why) = failed.next()?;
    let times = 1 + failed.count();
    let id = replay.layer(layer);
    let message =
        format!("{id}'s summarizer failed {}: {why}", if times == 1 { "once".to_owned() } else { format!("{times} times") });
    Some(Detection::at_call(replay, Level::Warning, call, message).with("layer", id).with("failed", times))
}
