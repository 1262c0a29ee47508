//! `prefix_break`: a layer changes what was sent before, and the cache is written again.
//!
//! What it means: a request is not the one before it and what entered since. Everything behind the first difference is billed as
//! new input: `rebilled` tokens, which cost 1.25 of the price of input in place of 0.1. `saved` tokens left the request, and spare
//! 0.1 at each later call. `break_even_calls` is after how many calls the second has made good the first; `followed` is how many
//! there were, on the average, before the next break. Why it hurts: a prompt that is broken at every call is never read from the
//! cache, and costs and waits accordingly. What to change: edit seldom and much (`clear_at_least`, a lower `keep_recent` behind a
//! `threshold`), edit what enters (`when = "entry"`) before it was sent, edit with the provider (`scope = "server"`), or not at all.
//!
//! `volatile`: the first difference is inside a text of the layer's own, which it writes anew with other bytes: a count, a path, a
//! label. Such a marker breaks the prefix even where nothing else changed in front. Put nothing into it (`marker`, `placeholder`)
//! that differs from call to call.
//!
//! Breaks are told by layer, those by a volatile marker apart, at the first call that has one. It is a note where together they
//! save more until the next break than they cost: that is what compaction is for. Blocks are compared by content. Thinking that
//! leaves when a turn ends is nobody's fault, and after a pause of more than an hour nothing is left to break. In the record a break
//! is a recorded compaction. Where a replay was priced, its breaks are taken at their own prices.
//!
//! Evidence: stella #4381 (137k tokens billed again to save 4 to 8k a call), #3690 (27 of 86 transitions, 72 % of misses), opencode
//! #32515 (219k cached tokens lost, $0.24 → $1.83), agenc-core PR #2156 (renumbered labels), learn-claude-code #62.
//!
//! Precision: 209 findings in 31 recordings under learn-claude-code's two s08 policies, Claude Code's and the record. In 26 replays the
//! breaks were counted again from the requests as they are written out: 1,483 of 1,491 are found; four of the others come after a
//! pause of an hour, four have nothing behind them.

use std::collections::BTreeMap;

use crate::engine::context::Cause;
use crate::engine::journal::Request;
use crate::engine::layer::LayerSpec;
use crate::findings::Level;
use crate::findings::timeline::prefix::{Break, breaks};
use crate::findings::timeline::{Detection, ReplayView};
use crate::transcript::conversation::BlockId;
use crate::util::text::around;

/// What writing to the cache costs more than reading from it, and what reading costs, in prices of input: Anthropic's multipliers.
const DEARER: f64 = 1.25 - 0.1;
const READ: f64 = 0.1;

/// Characters of a marker that are shown.
const SHOWN: usize = 100;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let writers = writers(replay);
    let mut groups: BTreeMap<(usize, bool), Vec<Break>> = BTreeMap::new();
    for one in breaks(replay) {
        groups.entry((one.layer, is_volatile(replay, &writers, &one))).or_default().push(one);
    }
    groups.iter().filter_map(|((layer, volatile), of_group)| tell(replay, *layer, *volatile, of_group)).collect()
}

fn tell(replay: &ReplayView, layer: usize, volatile: bool, of_group: &[Break]) -> Option<Detection> {
    let (first, requests) = (of_group.first()?, replay.journal.requests.len());
    let rebilled: u64 = of_group.iter().map(|one| one.rebilled).sum();
    let saved: i64 = of_group.iter().map(|one| one.saved).sum();
    let dearer: f64 = of_group.iter().map(|one| dearer(replay, one)).sum();
    let earned: f64 = of_group.iter().map(|one| one.saved as f64 * READ * one.followed as f64).sum();
    let even = (saved > 0).then(|| tenths(dearer / (saved as f64 * READ)));
    let followed = tenths(of_group.iter().map(|one| one.followed).sum::<usize>() as f64 / of_group.len() as f64);
    let level = if volatile || dearer > earned { Level::Warning } else { Level::Note };
    let (who, breaks) = (replay.who(layer), of_group.len());
    let of = if breaks == 1 { "a request".to_owned() } else { format!("{breaks} of {requests} requests") };
    let markers = volatile.then(|| shown(replay, first));
    let by = markers.as_ref().map_or(String::new(), |(before, after)| {
        format!(" with a marker that it writes anew and otherwise (`{before}`, then `{after}`)")
    });
    let pays = even.map_or("and nothing is saved".to_owned(), |even| {
        format!("to save {saved}: that pays after {even} calls, and {followed} followed before the next break or the end")
    });
    let message = format!("{who} breaks the prefix of {of}{by}: {rebilled} tokens are written to the cache again {pays}");
    let found =
        Detection::at_call(replay, level, first.call, message).with("layer", replay.layer(layer)).with("volatile", volatile);
    let found = found.with("breaks", breaks).with("requests", requests).with("rebilled", rebilled).with("saved", saved);
    let found = found.with("break_even_calls", even).with("followed", followed);
    let Some((before, after)) = markers else { return Some(found) };
    Some(found.with("marker_before", before).with("marker_after", after))
}

/// What a break costs in tokens at the price of input, before it saves anything.
fn dearer(replay: &ReplayView, one: &Break) -> f64 {
    let priced = replay.cost.and_then(|cost| cost.breaks.iter().find(|priced| priced.call == one.call));
    priced.map_or(one.rebilled as f64 * DEARER, |priced| priced.tokens)
}

fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// The layer that wrote each block, of those that layers wrote.
fn writers(replay: &ReplayView) -> Vec<Option<usize>> {
    let mut writers = vec![None; replay.journal.made.len()];
    for change in replay.journal.requests.iter().flat_map(Request::edits) {
        let Cause::Layer(layer) = change.cause else { continue };
        for block in &change.added {
            if let Some(writer) = made(replay, *block).and_then(|made| writers.get_mut(made)) {
                *writer = Some(layer);
            }
        }
    }
    writers
}

/// The place of a block among those that layers wrote.
fn made(replay: &ReplayView, block: BlockId) -> Option<usize> {
    block.index().checked_sub(replay.conversation.blocks.len())
}

/// Whether the first difference is between two texts of the same layer that differ in a part only. Summaries, and what is put back
/// behind them, are meant to differ.
fn is_volatile(replay: &ReplayView, writers: &[Option<usize>], one: &Break) -> bool {
    let writer = |block: BlockId| writers.get(made(replay, block)?).copied().flatten();
    let (Some(new), Some(layer)) = (one.new, writer(one.old)) else { return false };
    let marks = matches!(
        replay.policy.layers[layer].spec,
        LayerSpec::Clear(_) | LayerSpec::Persist(_) | LayerSpec::Truncate(_) | LayerSpec::Dedupe(_) | LayerSpec::Drop(_)
    );
    marks && writer(new) == Some(layer) && alike(&replay.block(one.old).text(), &replay.block(new).text())
}

/// Whether two texts have at least half of their words in common, from the beginning and from the end; those with digits, which are
/// counts and names, do not matter.
fn alike(one: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.filter(|word| !word.contains(|c: char| c.is_ascii_digit())).map(str::to_owned).collect()
    };
    let (one, other) = (words(one), words(other));
    let (shorter, longer) = (one.len().min(other.len()), one.len().max(other.len()));
    let front = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let back = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    longer > 0 && (front + back).min(shorter) * 2 >= longer
}

/// The two texts around their first difference.
fn shown(replay: &ReplayView, one: &Break) -> (String, String) {
    let old = replay.block(one.old).text().into_owned();
    let new = one.new.map(|new| replay.block(new).text().into_owned()).unwrap_or_default();
    let same = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>();
    (around(&old, same..same, SHOWN), around(&new, same..same, SHOWN))
}
