//! `thrash`: a layer summarises again and again, or for almost no gain.
//!
//! What it means: a layer that summarises made three summaries or more within ten calls, or one that left at least 0.8
//! of its threshold, or one that freed less than a tenth of the messages. Why it hurts: each summary is a call of the
//! summarizer, writes the prompt cache again and summarises an earlier summary. If the fixed part (system prompt,
//! tools, what is put back) is near the threshold, the next result is enough for another summary. What to change: a
//! higher `threshold`, or one in the unit that was meant (`meter`); a smaller tail (`keep_recent_messages`, `keep`); less put
//! back (`max_tokens` of the layer that restores); a summary that must be worth it (`min_gain`) and a limit of failures
//! (`retry.breaker`).
//!
//! One finding covers the summaries of a layer that are less than ten calls apart. A layer without a threshold, which
//! repairs an overflow, is compared with the window. So is the recorded session, because the record shows the window
//! but not what its compactions were based on.
//!
//! Evidence: opencode #27924 (100k of fixed overhead, 9.5k after a fold, which fires again), claude-code #24179 (211
//! compactions), codex #31351 (3 hours, 30 % of a quota), OpenHands #8630.
//!
//! Precision: of 21 findings in 31 recordings we opened 16, and 15 are right. The wrong one is the transcript of a
//! summarizer's own call, whose first request is mistaken for system prompt and tools.

use crate::findings::Level;
use crate::findings::timeline::folds::{Fold, folds};
use crate::findings::timeline::{Detection, ReplayView};

/// Number of summaries within [`WITHIN`] calls that is too many.
const MANY: usize = 3;
/// Calls within which summaries count together, and are reported together.
const WITHIN: usize = 10;
/// Share of the threshold that a summary must not leave.
const LEFT: f64 = 0.8;
/// Share of the messages that a summary should free.
const GAIN: f64 = 0.1;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let all = folds(replay);
    let mut layers: Vec<usize> = all.iter().map(|fold| fold.layer).collect();
    layers.sort_unstable();
    layers.dedup();
    let of_layer = |layer: usize| all.iter().filter(|fold| fold.layer == layer).copied().collect::<Vec<_>>();
    layers.into_iter().flat_map(|layer| stretches(replay, &of_layer(layer))).collect()
}

/// Reports the bad summaries of one layer, with neighbours in one stretch.
fn stretches(replay: &ReplayView, folds: &[Fold]) -> Vec<Detection> {
    let crowded = |at: usize| {
        let from = (at + 1).saturating_sub(MANY);
        (from..=at).any(|from| folds.get(from + MANY - 1).is_some_and(|last| last.call - folds[from].call < WITHIN))
    };
    let bad = |at: usize| crowded(at) || share_left(&folds[at]) >= LEFT || gain(&folds[at]) < GAIN;
    let mut stretches: Vec<&[Fold]> = Vec::new();
    let mut begin = None;
    for at in (0..folds.len()).filter(|at| bad(*at)) {
        let goes_on = begin.is_some_and(|_| at > 0 && bad(at - 1) && folds[at].call - folds[at - 1].call < WITHIN);
        if !goes_on {
            begin = Some(at);
            stretches.push(&folds[at..=at]);
        } else if let (Some(last), Some(begin)) = (stretches.last_mut(), begin) {
            *last = &folds[begin..=at];
        }
    }
    stretches.into_iter().filter_map(|stretch| detection(replay, stretch)).collect()
}

fn detection(replay: &ReplayView, stretch: &[Fold]) -> Option<Detection> {
    let (first, last) = (stretch.first()?, stretch.last()?);
    let calls = last.call - first.call + 1;
    let fullest = stretch.iter().max_by(|a, b| share_left(a).total_cmp(&share_left(b)))?;
    let poorest = stretch.iter().min_by(|a, b| gain(a).total_cmp(&gain(b)))?;
    let (share, Fold { left: size, limit, .. }) = (share_left(fullest), *fullest);
    let times = if stretch.len() == 1 { "once".to_owned() } else { format!("{} times within {calls} calls", stretch.len()) };
    let mut message = format!("{} summarises {times}", replay.who(first.layer));
    if share >= LEFT {
        let compared_with = if fullest.limit_is_threshold { "its threshold" } else { "the window" };
        message += &format!(", leaves {:.0} % of {compared_with} ({size} of {limit})", share * 100.0);
    }
    if gain(poorest) < GAIN {
        let Fold { before, after, .. } = poorest;
        message += &format!(", frees almost nothing: {before} tokens become {after}");
    }
    let detection = Detection::at_call(replay, Level::Warning, first.call, message).with("layer", replay.layer(first.layer));
    let detection = detection.with("folds", stretch.len()).with("calls", calls).with("overhead", replay.journal.overhead);
    let detection = detection.with("left", (share * 1000.0).round() / 1000.0).with("left_size", size).with("limit", limit);
    Some(detection.with("least_gain", (gain(poorest) * 1000.0).round() / 1000.0))
}

/// Size that a summary left, as a share of the threshold or the window.
fn share_left(fold: &Fold) -> f64 {
    fold.left as f64 / fold.limit.max(1) as f64
}

/// Share of the messages' tokens that a summary freed; negative if they grew.
fn gain(fold: &Fold) -> f64 {
    (fold.before as f64 - fold.after as f64) / fold.before.max(1) as f64
}
