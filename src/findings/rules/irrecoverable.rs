//! `irrecoverable`: tool results are taken away, and nothing the model can see leads back to them.
//!
//! What it means: no path or URL they were read from is in sight, they were not moved to a file whose name is, and no archive
//! that holds them is named. Why it hurts: the model cannot know what is missing, nor fetch it; it guesses, or does the work
//! again. What to change: an `archive` layer and `{path}` in the summary's `template` or the marker, `persist` in place of
//! `clear`, or a placeholder that says what it was (`{tool}`, `{path}`). Evidence: maki #814, claude-code #92089; Claude Code
//! names the transcript behind each summary.
//!
//! A warning; a note where the calls of all but 1,000 tokens of them are in sight, so that they could be made again, for what
//! that gives today. Left out are files that were written since and results of writing them (what they say now can be read),
//! results cut in the middle, and copies of what stays. It is looked at when a result leaves and whenever something was dropped
//! or summarised later; told once for each layer that took the last way, from 1,000 tokens on. Of the record, a summary that says
//! where the full transcript lies (Claude Code's, learn-claude-code's) is a way back.
//!
//! Precision: 15 opened of 389; of the 45 results that they name, searched for in the request, 43 right: the text of one
//! stood in a later run of the same test, of one in an approved plan. Of three a file of the same bare name was in sight, and not
//! its path.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

use crate::engine::context::{Cause, Change, ChangeKind};
use crate::engine::journal::SentBlock;
use crate::engine::layer::{LayerSpec, recorded::is_pointer};
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView, RequestCursor};
use crate::metrics::retention::RecoveryPaths;
use crate::transcript::conversation::{BlockId, Kind, Origin, PairId};
use crate::util::text::plural;

/// What a layer took away is told from so many tokens on: ours.
const LEAST_TOKENS: u64 = 1_000;
/// So many of the largest are named.
const NAMED: usize = 3;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let mut ways = RecoveryPaths::new(replay.conversation, replay.references, replay.journal);
    let mut sent = RequestCursor::default();
    let mut gone = Gone::default();
    let mut lost: BTreeMap<usize, Vec<Lost>> = BTreeMap::new();
    for request in &replay.journal.requests {
        ways.advance(request);
        sent.advance(request);
        if request.view_rebuilt {
            gone.away.retain(|_, away| !away.of_view);
        }
        gone.fresh.clear();
        let mut forgot = None;
        for (changes, of_view) in [(&request.changes, false), (&request.view, true)] {
            for change in changes {
                if let (Cause::Layer(layer), ChangeKind::Drop | ChangeKind::Replace) = (change.cause, change.kind) {
                    forgot = Some(layer);
                }
                gone.take(replay, change, of_view);
            }
        }
        if gone.pointer {
            continue;
        }
        let suspects: Vec<BlockId> = if forgot.is_some() { gone.away.keys().copied().collect() } else { gone.fresh.clone() };
        let mut calls = None;
        for block in suspects.into_iter().filter(|block| !leads_back(replay, &ways, *block, request.call)) {
            let Some(away) = gone.away.remove(&block).filter(|_| gone.told.insert(block)) else { continue };
            // Who took the result may have left a way, which a later layer took.
            let layer = forgot.filter(|_| !gone.fresh.contains(&block)).unwrap_or(away.layer);
            let calls = calls.get_or_insert_with(|| tool_uses(replay, sent.blocks()));
            let again = matches!(replay.block(block).kind, Kind::ToolResult(pair) if calls.contains(&pair));
            let tokens = (replay.tokens)(block);
            lost.entry(layer).or_default().push(Lost { block, call: request.call, tokens, again });
        }
    }
    lost.into_iter().filter_map(|(layer, lost)| found(replay, layer, lost)).collect()
}

/// A result that a layer took away, from the model's sight or from this request only.
struct Away {
    layer: usize,
    of_view: bool,
}

/// A result that nothing in sight leads to, and the call from whose request on.
struct Lost {
    block: BlockId,
    call: usize,
    tokens: u64,
    /// Its tool call is in sight.
    again: bool,
}

/// Which results are away.
#[derive(Default)]
struct Gone {
    away: BTreeMap<BlockId, Away>,
    /// Those that left before the present request.
    fresh: Vec<BlockId>,
    /// Results of which another copy stays.
    copies: BTreeSet<BlockId>,
    told: BTreeSet<BlockId>,
    /// The newest recorded summary says where the transcript lies.
    pointer: bool,
}

impl Gone {
    fn take(&mut self, replay: &ReplayView, change: &Change, of_view: bool) {
        let Cause::Layer(layer) = change.cause else { return };
        let act = &replay.policy.layers[layer].spec;
        if change.kind == ChangeKind::Replace && matches!(act, LayerSpec::Recorded(_)) {
            self.pointer = change.added.iter().any(|id| replay.block(*id).text().lines().any(is_pointer));
        }
        let removed = change.removed.iter().filter(|id| !change.added.contains(id));
        for recorded in removed.filter_map(|id| replay.journal.recorded_block(replay.conversation, *id)) {
            let block = replay.conversation.block(recorded);
            if !matches!(block.kind, Kind::ToolResult(_)) || block.origin == Origin::Placeholder {
                continue;
            }
            match (change.kind, act) {
                (ChangeKind::Rewrite, LayerSpec::Dedupe(_)) => _ = self.copies.insert(recorded),
                (ChangeKind::Rewrite, LayerSpec::Truncate(_)) => {}
                _ if self.copies.contains(&recorded) || self.told.contains(&recorded) => {}
                _ => {
                    // What was moved to disk, or masked with a path in sight, leaves only once.
                    if let Entry::Vacant(place) = self.away.entry(recorded) {
                        place.insert(Away { layer, of_view });
                        self.fresh.push(recorded);
                    }
                }
            }
        }
    }
}

/// Whether something in sight leads to a result: a way back to what it was, or the file that its call wrote.
fn leads_back(replay: &ReplayView, ways: &RecoveryPaths, block: BlockId, call: usize) -> bool {
    let used = || match replay.block(block).kind {
        Kind::ToolResult(pair) => replay.conversation.pair(pair).used,
        _ => None,
    };
    ways.to(block, call).is_some() || used().is_some_and(|used| ways.names(used))
}

fn tool_uses(replay: &ReplayView, blocks: &[SentBlock]) -> BTreeSet<PairId> {
    let pair = |sent: &SentBlock| match replay.block(sent.block).kind {
        Kind::ToolUse(pair) => Some(pair),
        _ => None,
    };
    blocks.iter().filter_map(pair).collect()
}

fn found(replay: &ReplayView, layer: usize, mut lost: Vec<Lost>) -> Option<Detection> {
    let tokens: u64 = lost.iter().map(|lost| lost.tokens).sum();
    if tokens < LEAST_TOKENS {
        return None;
    }
    let first = lost.iter().map(|lost| lost.call).min()?;
    let again = lost.iter().filter(|lost| lost.again).count();
    lost.sort_by_key(|lost| (std::cmp::Reverse(lost.tokens), lost.block));
    let name = |lost: &Lost| {
        let block = replay.block(lost.block);
        let Kind::ToolResult(pair) = block.kind else { return String::new() };
        let (name, line) = (&replay.conversation.pair(pair).name, replay.conversation.line_named(block.line));
        format!("{name} at {line} ({} tokens)", lost.tokens)
    };
    let largest = lost.iter().take(NAMED).map(name).collect::<Vec<_>>().join(", ");
    let in_sight = match again {
        0 => String::new(),
        _ if again == lost.len() => ", but for their calls, which could be made again".to_owned(),
        again => format!(" ({again} of their calls are in sight and could be made again)"),
    };
    let message = format!(
        "{} leaves nothing in sight that leads back to {} of {tokens} tokens{in_sight}; the largest: {largest}",
        replay.who(layer),
        plural(lost.len(), "tool result")
    );
    let for_good: u64 = lost.iter().filter(|lost| !lost.again).map(|lost| lost.tokens).sum();
    let level = if for_good < LEAST_TOKENS { Level::Note } else { Level::Warning };
    let found = Detection::at_call(replay, level, first, message).with("layer", replay.layer(layer));
    let places = lost.iter().take(NAMED).map(|lost| replay.conversation.line_value(replay.block(lost.block).line));
    let found = found.with("results", lost.len()).with("tokens", tokens).with("largest_lines", places.collect::<Vec<_>>());
    let calls = lost.iter().take(NAMED).map(|lost| lost.call + 1);
    let found = found.with("largest_calls", calls.collect::<Vec<_>>());
    Some(found.with("calls_in_sight", again).with("tokens_for_good", for_good))
}
