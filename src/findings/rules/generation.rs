//! `generation`: what went through several summaries, and how much of it the last still held.
//!
//! What it means: a fact went into a summary, and that summary into another. It is a warning where less of it survives two or
//! more summaries than one. Why it hurts: each summary is written from the one before, so what one leaves out no later one can
//! hold, and the oldest, the task and its constraints, goes first. What to change: fold later and less often (a higher
//! `threshold`), keep the users' words beside the summary (`{request}` in `template`), and write what was folded to a file whose
//! path stays (`archive`, `{path}`). Evidence: nac #147 (facts are lost in a repeated compaction with nothing new) and PR #164,
//! langchain #39261.
//!
//! Of the record it says nothing: what a recorded agent used it could see, so its own summaries seem to hold all of it. Fewer
//! than 20 uses of a generation are too few to tell decay.
//!
//! Precision: 18 findings of four policies were read, and make sense beside the policies; their counts are those of `kept` and
//! were not taken by another way.

use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::metrics::retention::Share;
use crate::util::text::plural;

/// Uses of a generation from which on its share says something: with 20, a share is known to about ±22 percentage points.
const FEWEST: u64 = 20;
/// By how much less survives several summaries than one, for a warning: a tenth of all uses' weight.
const DECAY: f64 = 0.1;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    if replay.is_record() {
        return Vec::new();
    }
    let [none, once, twice, older @ ..] = &replay.kept.by_generation;
    let mut more = Share::default();
    older.iter().for_each(|share| more.add(share));
    let several = sum(twice, &more);
    if several.uses == 0 {
        return Vec::new();
    }
    let decays = once.uses >= FEWEST && several.uses >= FEWEST && survival(several) + DECAY <= survival(*once);
    let generations = [("no summary", none), ("1 summary", once), ("2 summaries", twice), ("3 or more", &more)];
    let told = generations.iter().filter(|(_, share)| share.uses > 0).map(|(name, share)| {
        format!("{:.0} % behind {name} ({})", 100.0 * survival(**share), plural(share.uses as usize, "use"))
    });
    let message = format!("of what later calls use, the requests hold {}", told.collect::<Vec<_>>().join(", "));
    let level = if decays { Level::Warning } else { Level::Note };
    let mut found = Detection::of_all(level, message);
    for (name, (_, share)) in ["none", "1", "2", "3_or_more"].iter().zip(generations) {
        found = found.with(&format!("uses_{name}"), share.uses).with(&format!("held_{name}"), survival(*share));
    }
    vec![found]
}

fn sum(one: &Share, other: &Share) -> Share {
    let mut sum = *one;
    sum.add(other);
    sum
}

/// The share of the uses' weight that the requests held.
fn survival(share: Share) -> f64 {
    if share.weight > 0.0 { share.hit / share.weight } else { 0.0 }
}
