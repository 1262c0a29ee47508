//! `prefix_break`: a layer changes what was sent before, so the prompt cache must be written again.
//!
//! What it means: a request is not the previous request plus what entered since. Everything after the first difference
//! is billed as new input: `rebilled` tokens, which cost 1.25 times the price of input instead of 0.1. `saved` tokens
//! left the request, and save 0.1 at each later call. `break_even_calls` is the number of calls after which the savings
//! cover the cost; `followed` is the average number of calls until the next break. Why it hurts: a prompt that is
//! broken at every call is never read from the cache, so it costs more and takes longer. What to change: edit seldom,
//! but remove much at once (`clear_at_least`, a lower `keep_recent_results` together with a `threshold`), edit what enters
//! before it is sent (`when = "entry"`), edit at the provider (`scope = "server"`), or do not edit at all.
//!
//! `volatile`: the first difference is inside a text of the layer's own, which it writes again with other bytes: a
//! count, a path, a label. Such a marker breaks the prefix even if nothing before it changed. Put nothing into it
//! (`marker`, `placeholder`) that differs from call to call.
//!
//! Breaks are reported by layer, at the first call that has one; those by a volatile marker are reported apart. It is a
//! note if together they save more until the next break than they cost: that is the purpose of compaction. Blocks are
//! compared by content. Thinking that leaves when a turn ends does not count, and after a pause of more than an hour no
//! prefix is left to break. In the recorded session a break is a recorded compaction. If a replay was priced, its
//! breaks cost their own prices.
//!
//! Evidence: stella #4381 (137k tokens billed again to save 4 to 8k a call), #3690 (27 of 86 transitions, 72 % of
//! misses), opencode #32515 (219k cached tokens lost, $0.24 → $1.83), agenc-core PR #2156 (renumbered labels),
//! learn-claude-code #62.
//!
//! Precision: 209 findings in 31 recordings under learn-claude-code's two s08 policies, Claude Code's and the record.
//! In 26 replays we counted the breaks again in the written requests: 1,483 of 1,491 are found; four of the others come
//! after a pause of an hour, four have nothing after them.

use std::collections::BTreeMap;

use crate::engine::context::Cause;
use crate::engine::journal::Request;
use crate::findings::Level;
use crate::findings::timeline::prefix::{Break, breaks};
use crate::findings::timeline::{Detection, ReplayView};
use crate::transcript::conversation::BlockId;
use crate::util::text::around;

/// Additional cost of writing a token to the cache instead of reading it, as a multiple of the input price (Anthropic's multipliers).
const REWRITE: f64 = 1.25 - 0.1;
/// Cost of reading a token from the cache, as a multiple of the input price.
const READ: f64 = 0.1;

/// Maximum characters of a marker in a message.
const SHOWN: usize = 100;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let writers = writers(replay);
    let mut groups: BTreeMap<(usize, bool), Vec<Break>> = BTreeMap::new();
    for prefix_break in breaks(replay) {
        groups.entry((prefix_break.layer, is_volatile(replay, &writers, &prefix_break))).or_default().push(prefix_break);
    }
    groups.iter().filter_map(|((layer, volatile), breaks)| detection(replay, *layer, *volatile, breaks)).collect()
}

fn detection(replay: &ReplayView, layer: usize, volatile: bool, breaks: &[Break]) -> Option<Detection> {
    let (first, requests) = (breaks.first()?, replay.journal.requests.len());
    let rebilled: u64 = breaks.iter().map(|one| one.rebilled).sum();
    let saved: i64 = breaks.iter().map(|one| one.saved).sum();
    let cost: f64 = breaks.iter().map(|one| rewrite_cost(replay, one)).sum();
    let savings: f64 = breaks.iter().map(|one| one.saved as f64 * READ * one.followed as f64).sum();
    let break_even = (saved > 0).then(|| round_to_tenths(cost / (saved as f64 * READ)));
    let followed = round_to_tenths(breaks.iter().map(|one| one.followed).sum::<usize>() as f64 / breaks.len() as f64);
    let level = if volatile || cost > savings { Level::Warning } else { Level::Note };
    let (who, count) = (replay.who(layer), breaks.len());
    let broken = if count == 1 { "a request".to_owned() } else { format!("{count} of {requests} requests") };
    let markers = volatile.then(|| marker_texts(replay, first));
    let by_marker = markers.as_ref().map_or(String::new(), |(before, after)| {
        format!(" with a marker that it rewrites differently (`{before}`, then `{after}`)")
    });
    let savings = break_even.map_or("and nothing is saved".to_owned(), |break_even| {
        format!(
            "to save {saved}, which pays off after {break_even} calls; calls until the next break or the end: {followed} on average"
        )
    });
    let message =
        format!("{who} breaks the prefix of {broken}{by_marker}: {rebilled} tokens are written to the cache again {savings}");
    let detection =
        Detection::at_call(replay, level, first.call, message).with("layer", replay.layer(layer)).with("volatile", volatile);
    let detection = detection.with("breaks", count).with("requests", requests).with("rebilled", rebilled).with("saved", saved);
    let detection = detection.with("break_even_calls", break_even).with("followed", followed);
    let Some((before, after)) = markers else { return Some(detection) };
    Some(detection.with("marker_before", before).with("marker_after", after))
}

/// Cost of a break without its savings, in tokens at the price of input.
fn rewrite_cost(replay: &ReplayView, prefix_break: &Break) -> f64 {
    let priced = replay.cost.and_then(|cost| {
        let at = cost.breaks.partition_point(|priced| priced.call < prefix_break.call);
        cost.breaks.get(at).filter(|priced| priced.call == prefix_break.call)
    });
    priced.map_or(prefix_break.rebilled as f64 * REWRITE, |priced| priced.tokens)
}

fn round_to_tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// The layer that wrote each synthetic block, by [`synthetic_index`].
fn writers(replay: &ReplayView) -> Vec<Option<usize>> {
    let mut writers = vec![None; replay.journal.synthetic_blocks.len()];
    for change in replay.journal.requests.iter().flat_map(Request::edits) {
        let Cause::Layer(layer) = change.cause else { continue };
        for block in &change.added {
            if let Some(writer) = synthetic_index(replay, *block).and_then(|index| writers.get_mut(index)) {
                *writer = Some(layer);
            }
        }
    }
    writers
}

/// Index of a block among those that layers wrote. `None` for a recorded block.
fn synthetic_index(replay: &ReplayView, block: BlockId) -> Option<usize> {
    block.index().checked_sub(replay.conversation.blocks.len())
}

/// Whether the first difference is between two texts of the same layer that differ only in part. Summaries, and what is put back
/// after them, are meant to differ.
fn is_volatile(replay: &ReplayView, writers: &[Option<usize>], prefix_break: &Break) -> bool {
    let writer = |block: BlockId| writers.get(synthetic_index(replay, block)?).copied().flatten();
    let (Some(new), Some(layer)) = (prefix_break.new, writer(prefix_break.old)) else { return false };
    let writes_markers = replay.traits(layer).writes_markers;
    writes_markers && writer(new) == Some(layer) && is_similar(&replay.block(prefix_break.old).text(), &replay.block(new).text())
}

/// Whether two texts have at least half of their words in common, from the beginning and from the end. Words with digits, which are
/// counts and names, do not matter.
fn is_similar(text: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.filter(|word| !word.contains(|c: char| c.is_ascii_digit())).map(str::to_owned).collect()
    };
    let (text, other) = (words(text), words(other));
    let (shorter, longer) = (text.len().min(other.len()), text.len().max(other.len()));
    let front = text.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let back = text.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    longer > 0 && (front + back).min(shorter) * 2 >= longer
}

/// The old and the new marker, each around the first difference.
fn marker_texts(replay: &ReplayView, prefix_break: &Break) -> (String, String) {
    let old = replay.block(prefix_break.old).text().into_owned();
    let new = prefix_break.new.map(|new| replay.block(new).text().into_owned()).unwrap_or_default();
    let same = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>();
    (around(&old, same..same, SHOWN), around(&new, same..same, SHOWN))
}
