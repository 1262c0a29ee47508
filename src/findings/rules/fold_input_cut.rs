//! `fold_input_cut`: the summarizer is not shown all of what it summarises, and the rest is gone unread.
//!
//! What it means: the messages, written down, are longer than the layer's limit on the input, and what is beyond the limit can be
//! in no summary. Why it hurts: a limit that keeps the beginning hides the newest work, so the agent redoes it; one that keeps
//! the end hides the task; one that keeps both hides the middle. What to change: `input_chars` of at least the layer's threshold
//! in characters, or a threshold below it; `input_side` chooses what is lost; `keep_recent` keeps the newest as it is. Evidence:
//! learn-claude-code's s06 summarises at 200,000 characters and reads the first 80,000; LangChain's summary reads the last 4,000
//! tokens by default.
//!
//! Cuts of less than 5 % that hide neither the task nor the newest message are left out; a layer that cuts more than five times
//! is told once, at its worst cut. It is silent for the record, which does not tell what its summarizer was shown. That a block
//! on the edge was shown in part is known to the share of its characters.
//!
//! Precision: 8 opened of 74, held against the request before and what entered since, written out as JSON: 8 right.

use std::collections::BTreeMap;

use crate::engine::summarizer::HiddenInput;
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::tokens::calibration::median;
use crate::util::text::plural;

/// A smaller share is the space a cut leaves for rounding: ours.
const LEAST_SHARE: f64 = 0.05;
/// So many cuts of one layer are told one by one.
const MOST: usize = 5;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let mut cuts: BTreeMap<usize, Vec<Cut>> = BTreeMap::new();
    for summary in replay.journal.summaries.iter().filter(|summary| !summary.attempt.failed) {
        let Some(unshown) = summary.attempt.unshown else { continue };
        let share = unshown.chars as f64 / unshown.of as f64;
        if share >= LEAST_SHARE || unshown.task || unshown.newest {
            cuts.entry(summary.layer).or_default().push(Cut { call: summary.call, unshown, share });
        }
    }
    let told = |(layer, cuts): (usize, Vec<Cut>)| match cuts.len() {
        0..=MOST => cuts.iter().map(|cut| one(replay, layer, cut)).collect(),
        _ => Vec::from_iter(many_cuts(replay, layer, &cuts)),
    };
    cuts.into_iter().flat_map(told).collect()
}

struct Cut {
    call: usize,
    unshown: HiddenInput,
    share: f64,
}

fn one(replay: &ReplayView, layer: usize, cut: &Cut) -> Detection {
    let HiddenInput { chars, of, task, newest } = cut.unshown;
    let layer = replay.layer(layer);
    let hidden = [("the task", task), ("the newest message", newest)];
    let hidden: Vec<&str> = hidden.into_iter().filter(|(_, hidden)| *hidden).map(|(what, _)| what).collect();
    let among = if hidden.is_empty() { String::new() } else { format!(", {} among it", hidden.join(" and ")) };
    let percent = cut.share * 100.0;
    let message =
        format!("{layer}'s summarizer is not shown {chars} of {of} characters ({percent:.0} %) of what it summarises{among}");
    let found = Detection::at_call(replay, Level::Warning, cut.call, message).with("layer", layer);
    found.with("unshown_chars", chars).with("chars", of).with("share", cut.share).with("task", task).with("newest", newest)
}

fn many_cuts(replay: &ReplayView, layer: usize, cuts: &[Cut]) -> Option<Detection> {
    let worst = cuts.iter().max_by(|one, other| one.share.total_cmp(&other.share))?;
    let middle = median(&mut cuts.iter().map(|cut| cut.share).collect::<Vec<_>>())?;
    let [task, newest] =
        [|cut: &&Cut| cut.unshown.task, |cut: &&Cut| cut.unshown.newest].map(|hidden| cuts.iter().filter(hidden).count());
    let layer = replay.layer(layer);
    let message = format!(
        "{layer}'s summarizer is not shown all of what it summarises in {}: {:.0} % of the characters are left out in the median, here \
         {:.0} %; the newest message is hidden {newest} times, the task {task} times",
        plural(cuts.len(), "fold"),
        middle * 100.0,
        worst.share * 100.0
    );
    let found = Detection::at_call(replay, Level::Warning, worst.call, message).with("layer", layer);
    let found = found.with("folds", cuts.len()).with("share", middle).with("worst_share", worst.share);
    Some(found.with("task", task).with("newest", newest))
}
