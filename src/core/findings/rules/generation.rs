//! `generation`: how many facts survive when summaries are summarised again.
//!
//! What it means: a fact went into a summary, and that summary went into another. It is a warning if fewer facts
//! survive two or more summaries than survive one. Why it hurts: each summary is written from the one before, so no
//! later summary can contain what an earlier one left out. The oldest content, the task and its constraints, is lost
//! first. What to change: summarise later and less often (a higher `threshold`), keep the users' words beside the
//! summary (`{request}` in `messages.template`), and write the summarised messages to a file whose path stays in the context
//! (`archive`, `{path}`). Evidence: nac #147 (facts are lost in a repeated compaction with nothing new) and PR #164,
//! langchain #39261.
//!
//! The rule does not run on the recorded session: a recorded agent could see everything that it used, so its own
//! summaries seem to hold all of it. Fewer than 20 uses after a number of summaries are too few to show a decline.
//!
//! Precision: we read 18 findings of four policies, and they make sense for these policies. Their counts are those of
//! `kept`; we did not count them in another way.

use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::metrics::retention::OutcomeWeights;
use crate::util::text::plural;

/// Fewest uses for which a share is meaningful: with 20, it is known to about ±22 percentage points.
const MIN_DELTAS: u64 = 20;
/// Difference between the shares that survive one summary and several from which it is a warning: a tenth of the uses' weight.
const DECAY: f64 = 0.1;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    if replay.is_record() {
        return Vec::new();
    }
    let [none, once, twice, older @ ..] = &replay.retention.by_generation;
    let mut three_or_more = OutcomeWeights::default();
    older.iter().for_each(|share| three_or_more.add(share));
    let several = sum(twice, &three_or_more);
    if several.uses == 0 {
        return Vec::new();
    }
    let decays = once.uses >= MIN_DELTAS && several.uses >= MIN_DELTAS && survival(several) + DECAY <= survival(*once);
    let generations = [("no summary", none), ("1 summary", once), ("2 summaries", twice), ("3 or more", &three_or_more)];
    let shares = generations
        .iter()
        .filter(|(_, share)| share.uses > 0)
        .map(|(name, share)| format!("{:.0} % after {name} ({})", 100.0 * survival(**share), plural(share.uses as usize, "use")));
    let message = format!("of the facts that later calls use, the requests still hold {}", shares.collect::<Vec<_>>().join(", "));
    let level = if decays { Level::Warning } else { Level::Note };
    let mut detection = Detection::of_all(level, message);
    for (name, (_, share)) in ["none", "1", "2", "3_or_more"].iter().zip(generations) {
        detection = detection.with(&format!("uses_{name}"), share.uses).with(&format!("held_{name}"), survival(*share));
    }
    vec![detection]
}

fn sum(share: &OutcomeWeights, other: &OutcomeWeights) -> OutcomeWeights {
    let mut sum = *share;
    sum.add(other);
    sum
}

/// Share of the uses' weight that the requests still held.
fn survival(share: OutcomeWeights) -> f64 {
    if share.weight > 0.0 { share.hit / share.weight } else { 0.0 }
}
