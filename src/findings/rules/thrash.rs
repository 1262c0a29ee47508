//! `thrash`: folding again and again, or for next to nothing.
//!
//! What it means: a layer that summarises made three folds or more within ten calls, or one that left at least 0.8 of its trigger,
//! or one that freed less than a tenth of the messages. Why it hurts: each fold is a call of the summarizer, writes the prompt's
//! cache anew and makes a summary of a summary; when the fixed part (system prompt, tools, what is put back) is near the trigger,
//! the next result is enough for another. What to change: a higher `threshold`, one counted in the unit that was meant (`meter`);
//! a smaller tail (`keep_recent`, `keep`); less put back (`max_tokens` of the layer that restores); a summary that must be worth it
//! (`min_gain`) and a limit of failures (`breaker`).
//!
//! One finding tells one stretch: the folds of a layer that are not further than ten calls apart. A layer without a threshold, which
//! mends an overflow, is held against the window; of the record the window is known, and of what its compactions went by nothing
//! else, so there it is the same.
//!
//! Evidence: opencode #27924 (100k of fixed overhead, 9.5k after a fold, which fires again), claude-code #24179 (211 compactions),
//! codex #31351 (3 hours, 30 % of a quota), OpenHands #8630.
//!
//! Precision: of 21 findings in 31 recordings 16 were opened, and 15 are right. The wrong one is the transcript of a summarizer's own
//! call, whose first request is taken for system prompt and tools.

use crate::findings::Level;
use crate::findings::timeline::folds::{Fold, folds};
use crate::findings::timeline::{Detection, ReplayView};

/// So many folds …
const MANY: usize = 3;
/// … within so many calls are too many, and folds as near to one another are told together.
const WITHIN: usize = 10;
/// What is left may be this share of the trigger.
const LEFT: f64 = 0.8;
/// What is freed should be this share of the messages.
const GAIN: f64 = 0.1;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let all = folds(replay);
    let mut layers: Vec<usize> = all.iter().map(|fold| fold.layer).collect();
    layers.sort_unstable();
    layers.dedup();
    let of_layer = |layer: usize| all.iter().filter(|fold| fold.layer == layer).copied().collect::<Vec<_>>();
    layers.into_iter().flat_map(|layer| stretches(replay, &of_layer(layer))).collect()
}

/// What is wrong with the folds of one layer, stretch by stretch.
fn stretches(replay: &ReplayView, folds: &[Fold]) -> Vec<Detection> {
    let crowded = |at: usize| {
        let from = (at + 1).saturating_sub(MANY);
        (from..=at).any(|from| folds.get(from + MANY - 1).is_some_and(|last| last.call - folds[from].call < WITHIN))
    };
    let bad = |at: usize| crowded(at) || left(&folds[at]) >= LEFT || gain(&folds[at]) < GAIN;
    let mut found: Vec<&[Fold]> = Vec::new();
    let mut begin = None;
    for at in (0..folds.len()).filter(|at| bad(*at)) {
        let goes_on = begin.is_some_and(|_| at > 0 && bad(at - 1) && folds[at].call - folds[at - 1].call < WITHIN);
        if !goes_on {
            begin = Some(at);
            found.push(&folds[at..=at]);
        } else if let (Some(last), Some(begin)) = (found.last_mut(), begin) {
            *last = &folds[begin..=at];
        }
    }
    found.into_iter().filter_map(|stretch| tell(replay, stretch)).collect()
}

fn tell(replay: &ReplayView, stretch: &[Fold]) -> Option<Detection> {
    let (first, last) = (stretch.first()?, stretch.last()?);
    let calls = last.call - first.call + 1;
    let fullest = stretch.iter().max_by(|a, b| left(a).total_cmp(&left(b)))?;
    let poorest = stretch.iter().min_by(|a, b| gain(a).total_cmp(&gain(b)))?;
    let (share, Fold { left: size, limit, .. }) = (left(fullest), *fullest);
    let times = if stretch.len() == 1 { "once".to_owned() } else { format!("{} times within {calls} calls", stretch.len()) };
    let mut message = format!("{} folds {times}", replay.who(first.layer));
    if share >= LEFT {
        let of = if fullest.own { "what it folds at" } else { "the window" };
        message += &format!(", and leaves {:.0} % of {of} ({size} of {limit})", share * 100.0);
    }
    if gain(poorest) < GAIN {
        let Fold { before, after, .. } = poorest;
        message += &format!(", and frees next to nothing: {before} tokens become {after}");
    }
    let found = Detection::at_call(replay, Level::Warning, first.call, message).with("layer", replay.layer(first.layer));
    let found = found.with("folds", stretch.len()).with("calls", calls).with("overhead", replay.journal.overhead);
    let found = found.with("left", (share * 1000.0).round() / 1000.0).with("left_size", size).with("limit", limit);
    Some(found.with("least_gain", (gain(poorest) * 1000.0).round() / 1000.0))
}

/// What a fold left, as a share of what it folds at.
fn left(fold: &Fold) -> f64 {
    fold.left as f64 / fold.limit.max(1) as f64
}

/// The share of the messages' tokens that a fold freed; below 0 where they grew.
fn gain(fold: &Fold) -> f64 {
    (fold.before as f64 - fold.after as f64) / fold.before.max(1) as f64
}
