//! `fold_input_cut`: the summarizer does not see all of what it summarises, and the rest is lost unread.
//!
//! What it means: the messages, as text, are longer than the layer's limit on the input, and no summary can contain
//! what is beyond the limit. Why it hurts: a limit that keeps the beginning hides the newest work, so the agent does it
//! again. A limit that keeps the end hides the task. A limit that keeps both hides the middle. What to change: set
//! `input.chars` to at least the layer's threshold in characters, or lower the threshold below it. `input.side` chooses
//! what is lost; `keep_recent_messages` keeps the newest messages as they are. Evidence: learn-claude-code's s06 summarises at
//! 200,000 characters and reads the first 80,000; LangChain's summary reads the last 4,000 tokens by default.
//!
//! The rule leaves out cuts of less than 5 % that hide neither the task nor the newest message. If a layer cuts more
//! than five times, one finding reports it, at its worst cut. The rule does not run on the recorded session, because
//! the record does not show what its summarizer read. If a block at the edge was shown in part, the rule counts its
//! hidden share by characters.
//!
//! Precision: of 74 findings we opened 8 and compared them with the request before and the messages since, as JSON: 8
//! are right.

use std::collections::BTreeMap;

use crate::engine::summarizer::HiddenInput;
use crate::findings::Level;
use crate::findings::timeline::{Detection, MOST_ONE_BY_ONE, ReplayView};
use crate::tokens::calibration::median;

/// Cuts of a smaller share count as rounding. We chose the number.
const LEAST_SHARE: f64 = 0.05;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let mut cuts: BTreeMap<usize, Vec<InputCut>> = BTreeMap::new();
    for summary in replay.journal.summaries.iter().filter(|summary| !summary.attempt.failed) {
        let Some(hidden) = summary.attempt.hidden_input else { continue };
        let share = hidden.chars as f64 / hidden.total_chars as f64;
        if share >= LEAST_SHARE || hidden.task || hidden.newest {
            cuts.entry(summary.layer).or_default().push(InputCut { call: summary.call, hidden, share });
        }
    }
    let detections = |(layer, cuts): (usize, Vec<InputCut>)| match cuts.len() {
        0..=MOST_ONE_BY_ONE => cuts.iter().map(|cut| detection_of_cut(replay, layer, cut)).collect(),
        _ => Vec::from_iter(detection_of_many_cuts(replay, layer, &cuts)),
    };
    cuts.into_iter().flat_map(detections).collect()
}

struct InputCut {
    call: usize,
    hidden: HiddenInput,
    /// Share of the input's characters that is hidden.
    share: f64,
}

fn detection_of_cut(replay: &ReplayView, layer: usize, cut: &InputCut) -> Detection {
    let HiddenInput { chars, total_chars: of, task, newest } = cut.hidden;
    let layer = replay.layer(layer);
    let hidden = [("the task", task), ("the newest message", newest)];
    let hidden: Vec<&str> = hidden.into_iter().filter(|(_, hidden)| *hidden).map(|(what, _)| what).collect();
    let including = if hidden.is_empty() { String::new() } else { format!(", including {}", hidden.join(" and ")) };
    let percent = cut.share * 100.0;
    let message = format!(
        "{layer}'s summarizer does not see {chars} of the {of} characters ({percent:.0} %) that it summarises{including}"
    );
    let detection = Detection::at_call(replay, Level::Warning, cut.call, message).with("layer", layer);
    detection.with("unshown_chars", chars).with("chars", of).with("share", cut.share).with("task", task).with("newest", newest)
}

fn detection_of_many_cuts(replay: &ReplayView, layer: usize, cuts: &[InputCut]) -> Option<Detection> {
    let worst = cuts.iter().max_by(|cut, other| cut.share.total_cmp(&other.share))?;
    let median_share = median(&mut cuts.iter().map(|cut| cut.share).collect::<Vec<_>>())?;
    let [task, newest] =
        [|cut: &&InputCut| cut.hidden.task, |cut: &&InputCut| cut.hidden.newest].map(|hides| cuts.iter().filter(hides).count());
    let layer = replay.layer(layer);
    let message = format!(
        "{layer}'s summarizer does not see all of what it summarises in {} summaries: the median cut hides {:.0} % of the \
         characters, the cut at this call {:.0} %; the newest message is hidden {newest} times, the task {task} times",
        cuts.len(),
        median_share * 100.0,
        worst.share * 100.0
    );
    let detection = Detection::at_call(replay, Level::Warning, worst.call, message).with("layer", layer);
    let detection = detection.with("folds", cuts.len()).with("share", median_share).with("worst_share", worst.share);
    Some(detection.with("task", task).with("newest", newest))
}
