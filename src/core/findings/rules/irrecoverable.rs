//! `irrecoverable`: tool results are removed, and nothing the model can see leads back to them.
//!
//! What it means: the context has no path or URL that they were read from, no name of a file that they were moved to,
//! and no name of an archive that holds them. Why it hurts: the model cannot know what is missing, and cannot fetch it.
//! It guesses, or does the work again. What to change: an `archive` layer and `{path}` in the summary's `messages.template` or
//! the marker, `persist` in place of `clear`, or a placeholder that names the content (`{tool}`, `{path}`). Evidence:
//! maki #814, claude-code #92089; Claude Code names the transcript after each summary.
//!
//! It is a warning. It is a note if the tool calls of all but 1,000 tokens of the results are still in the context, so
//! that the agent could make them again, for what they return today. The rule leaves out files that were written since
//! and results of writing them (the agent can read their present content), results cut in the middle, and copies of
//! what stays. It checks a result when it leaves, and again whenever a layer dropped or summarised something later. It
//! reports each layer that removed the last way back once, from 1,000 tokens on. For the recorded session, a summary
//! that names the full transcript (Claude Code's, learn-claude-code's) is a way back.
//!
//! Precision: of 389 findings we opened 15 and searched the requests for the 45 results that they name: 43 are right.
//! The text of one was in a later run of the same test, that of another in an approved plan. For three, the request had
//! a file of the same bare name, but not its path.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

use rustc_hash::FxHashMap;

use crate::engine::context::{Cause, Change, ChangeKind};
use crate::engine::journal::{RequestCursor, SentBlock, SentCopy};
use crate::engine::layer::{Remains, recorded::is_pointer};
use crate::facts::references::FactId;
use crate::findings::Level;
use crate::findings::timeline::visible::leaves_part;
use crate::findings::timeline::{Detection, ReplayView};
use crate::metrics::retention::RecoveryPaths;
use crate::transcript::conversation::{BlockId, BlockKind, Origin, PairId};
use crate::util::text::plural;

/// Fewest tokens that a layer must remove to be reported. We chose the number.
const LEAST_TOKENS: u64 = 1_000;
/// Number of the largest results that a message names.
const NAMED: usize = 3;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let mut recovery_paths = RecoveryPaths::new(replay.conversation, replay.references, replay.journal);
    let mut cursor = RequestCursor::default();
    // Number of tool_uses in the current request, by pair.
    let mut calls = FxHashMap::default();
    let mut removed = RemovedResults::default();
    let mut lost: BTreeMap<usize, Vec<LostResult>> = BTreeMap::new();
    for request in &replay.journal.requests {
        recovery_paths.advance(request);
        cursor.advance(request);
        count_calls(replay, &mut calls, &cursor);
        if request.sent != SentCopy::SameView {
            removed.results.retain(|_, removal| !removal.in_view);
        }
        removed.fresh.clear();
        let mut last_removing_layer = None;
        for (change, in_view) in request.edits_by_copy() {
            if let (Cause::Layer(layer), ChangeKind::Drop | ChangeKind::Replace) = (change.cause, change.kind) {
                last_removing_layer = Some(layer);
            }
            removed.add(replay, change, in_view);
        }
        let suspects = removed.suspects(&recovery_paths, last_removing_layer.is_some());
        if removed.transcript_is_named {
            removed.doubtful.extend(suspects);
            continue;
        }
        for block in suspects {
            if let Some(path) = recovery_paths.way_back(block, tool_use_of(replay, block)) {
                removed.by_path.entry(path).or_default().push(block);
                continue;
            }
            let Some(removal) = removed.results.remove(&block).filter(|_| removed.reported.insert(block)) else { continue };
            // The layer that removed the result may have left a way back, which a later layer removed.
            let layer = last_removing_layer.filter(|_| !removed.fresh.contains(&block)).unwrap_or(removal.layer);
            let call_is_visible = matches!(replay.block(block).kind, BlockKind::ToolResult(pair) if calls.get(&pair) > Some(&0));
            let tokens = (replay.tokens)(block);
            lost.entry(layer).or_default().push(LostResult { block, call: request.call, tokens, call_is_visible });
        }
    }
    lost.into_iter().filter_map(|(layer, lost)| detection(replay, layer, lost)).collect()
}

/// The removal of a result.
struct Removal {
    layer: usize,
    /// The result is missing from the sent view only; the stored context still has it.
    in_view: bool,
}

/// A result that nothing in the context leads back to.
struct LostResult {
    block: BlockId,
    /// Index of the first call whose request has no way back.
    call: usize,
    tokens: u64,
    /// Its tool call is still in the context.
    call_is_visible: bool,
}

/// The results that are not in the context at present.
#[derive(Default)]
struct RemovedResults {
    results: BTreeMap<BlockId, Removal>,
    /// Results that were removed right before the current request.
    fresh: BTreeSet<BlockId>,
    /// The results that were checked, by a path or URL that led back to them then.
    by_path: FxHashMap<FactId, Vec<BlockId>>,
    /// Such paths and URLs that left. Their results are checked when a layer drops or summarises messages.
    left: BTreeSet<FactId>,
    /// Results that are checked then, too.
    doubtful: BTreeSet<BlockId>,
    /// Results that have another copy in the context.
    copies: BTreeSet<BlockId>,
    reported: BTreeSet<BlockId>,
    /// The newest recorded summary names the file of the full transcript.
    transcript_is_named: bool,
}

impl RemovedResults {
    /// Returns the results to check at this request, in order: those just removed and, if a layer dropped or summarised messages, those
    /// whose path left and is not back. For all others nothing changed.
    fn suspects(&mut self, recovery_paths: &RecoveryPaths, drops: bool) -> BTreeSet<BlockId> {
        self.left.extend(recovery_paths.disappeared().iter().filter(|path| self.by_path.contains_key(path)));
        let mut suspects = self.fresh.clone();
        if drops {
            suspects.append(&mut self.doubtful);
            let left = std::mem::take(&mut self.left).into_iter().filter(|path| !recovery_paths.is_visible(*path));
            suspects.extend(left.filter_map(|path| self.by_path.remove(&path)).flatten());
        }
        suspects.retain(|result| self.results.contains_key(result));
        suspects
    }

    fn add(&mut self, replay: &ReplayView, change: &Change, in_view: bool) {
        let Cause::Layer(layer) = change.cause else { return };
        let traits = replay.traits(layer);
        if change.kind == ChangeKind::Replace && traits.repeats_record {
            self.transcript_is_named = change.added.iter().any(|id| replay.block(*id).text().lines().any(is_pointer));
        }
        for recorded in change.gone().filter_map(|id| replay.journal.recorded_block(replay.conversation, id)) {
            let block = replay.conversation.block(recorded);
            if !matches!(block.kind, BlockKind::ToolResult(_)) || block.origin == Origin::Placeholder {
                continue;
            }
            match (change.kind, traits.remains) {
                (ChangeKind::Rewrite, Some(Remains::Copy(_))) => _ = self.copies.insert(recorded),
                (ChangeKind::Rewrite, Some(Remains::Part)) => {}
                (ChangeKind::Rewrite, None) if traits.program.is_some() && leaves_part(replay, change) => {}
                _ if self.copies.contains(&recorded) || self.reported.contains(&recorded) => {}
                _ => {
                    // A result that was moved to disk, or masked with a path, is removed only once.
                    if let Entry::Vacant(entry) = self.results.entry(recorded) {
                        entry.insert(Removal { layer, in_view });
                        self.fresh.insert(recorded);
                    }
                }
            }
        }
    }
}

fn tool_use_of(replay: &ReplayView, result: BlockId) -> Option<BlockId> {
    match replay.block(result).kind {
        BlockKind::ToolResult(pair) => replay.conversation.pair(pair).tool_use,
        _ => None,
    }
}

/// Counts the tool_uses of the current request.
fn count_calls(replay: &ReplayView, calls: &mut FxHashMap<PairId, usize>, cursor: &RequestCursor) {
    let pair = |sent: &SentBlock| match replay.block(sent.block).kind {
        BlockKind::ToolUse(pair) => Some(pair),
        _ => None,
    };
    for pair in cursor.added().iter().filter_map(pair) {
        *calls.entry(pair).or_default() += 1;
    }
    for pair in cursor.removed().iter().filter_map(pair) {
        calls.entry(pair).and_modify(|count| *count -= 1);
    }
}

fn detection(replay: &ReplayView, layer: usize, mut lost: Vec<LostResult>) -> Option<Detection> {
    let tokens: u64 = lost.iter().map(|lost| lost.tokens).sum();
    if tokens < LEAST_TOKENS {
        return None;
    }
    let first = lost.iter().map(|lost| lost.call).min()?;
    let visible_calls = lost.iter().filter(|lost| lost.call_is_visible).count();
    lost.sort_by_key(|lost| (std::cmp::Reverse(lost.tokens), lost.block));
    let name = |lost: &LostResult| {
        let block = replay.block(lost.block);
        let BlockKind::ToolResult(pair) = block.kind else { return String::new() };
        let (name, line) = (&replay.conversation.pair(pair).name, replay.conversation.line_label(block.line));
        format!("{name} at {line} ({} tokens)", lost.tokens)
    };
    let largest = lost.iter().take(NAMED).map(name).collect::<Vec<_>>().join(", ");
    let except_calls = match visible_calls {
        0 => String::new(),
        _ if visible_calls == lost.len() => ", except their tool calls, which could be made again".to_owned(),
        visible_calls => format!(" ({visible_calls} of their tool calls are still there and could be made again)"),
    };
    let message = format!(
        "{} leaves nothing in the context that leads back to {} of {tokens} tokens{except_calls}; the largest: {largest}",
        replay.who(layer),
        plural(lost.len(), "tool result")
    );
    let tokens_for_good: u64 = lost.iter().filter(|lost| !lost.call_is_visible).map(|lost| lost.tokens).sum();
    let level = if tokens_for_good < LEAST_TOKENS { Level::Note } else { Level::Warning };
    let detection = Detection::at_call(replay, level, first, message).with("layer", replay.layer(layer));
    let lines = lost.iter().take(NAMED).map(|lost| replay.conversation.line_json(replay.block(lost.block).line));
    let detection = detection.with("results", lost.len()).with("tokens", tokens);
    let detection = detection.with("largest_lines", lines.collect::<Vec<_>>());
    let calls = lost.iter().take(NAMED).map(|lost| lost.call + 1);
    let detection = detection.with("largest_calls", calls.collect::<Vec<_>>());
    Some(detection.with("calls_in_sight", visible_calls).with("tokens_for_good", tokens_for_good))
}
