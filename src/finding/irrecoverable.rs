//! `irrecoverable`: tool results are taken away, and nothing the model can see leads back to them.
//!
//! What it means: no path or URL they were read from is in sight, they were not moved to a file whose name is, and no archive that holds
//! them is named. Why it hurts: the model cannot know what is missing, nor fetch it; it guesses, or does the work again. What to
//! change: an `archive` layer and `{path}` in the summary's `template` or the marker, `persist` in place of `clear`, or a placeholder that
//! says what it was (`{tool}`, `{path}`). Evidence: maki #814, claude-code #92089; Claude Code names the transcript behind each summary.
//!
//! A warning; a note where the calls of all of them are in sight, so that they could be run again, for what that gives today. Left out
//! are files that were written since (what they say now can be read), results cut in the middle, and copies of what stays. It is looked at
//! when a result leaves and whenever something was dropped or summarised later; told once for each layer that took them away, from 1,000 tokens
//! on. Of the record, a summary that says where the full transcript lies is a way back.
//!
//! Precision:

use std::collections::{BTreeMap, BTreeSet};

use super::{Found, Level, Replay, Sent};
use crate::context::{Cause, Change, ChangeKind};
use crate::conversation::{BlockId, Kind, Origin, PairId};
use crate::journal::SentBlock;
use crate::kept::WaysBack;
use crate::layer::{Act, recorded::POINTER};
use crate::text::many;

/// What a layer took away is told from so many tokens on: ours.
const LEAST_TOKENS: u64 = 1_000;
/// So many of the largest are named.
const NAMED: usize = 3;

pub fn look(replay: &Replay) -> Vec<Found> {
    let mut ways = WaysBack::new(replay.conversation, replay.references, replay.journal);
    let mut sent = Sent::default();
    let mut gone = Gone::default();
    let mut lost: BTreeMap<usize, Vec<Lost>> = BTreeMap::new();
    for request in &replay.journal.requests {
        ways.advance(request);
        let blocks = sent.advance(request);
        if request.view_anew {
            gone.away.retain(|_, away| !away.of_view);
        }
        gone.fresh.clear();
        let mut again = false;
        for (changes, of_view) in [(&request.changes, false), (&request.view, true)] {
            for change in changes {
                again |= matches!(change.kind, ChangeKind::Drop | ChangeKind::Fold);
                gone.take(replay, change, of_view);
            }
        }
        if gone.pointer {
            continue;
        }
        let suspects: Vec<BlockId> = if again { gone.away.keys().copied().collect() } else { gone.fresh.clone() };
        let mut calls = None;
        for block in suspects.into_iter().filter(|block| ways.to(*block, request.call).is_none()) {
            let Some(away) = gone.away.remove(&block).filter(|_| gone.told.insert(block)) else { continue };
            let calls = calls.get_or_insert_with(|| tool_uses(replay, blocks));
            let again = matches!(replay.block(block).kind, Kind::ToolResult(pair) if calls.contains(&pair));
            let tokens = (replay.tokens)(block);
            lost.entry(away.layer).or_default().push(Lost { block, call: request.call, tokens, again });
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
    fn take(&mut self, replay: &Replay, change: &Change, of_view: bool) {
        let Cause::Layer(layer) = change.cause else { return };
        let act = &replay.policy.layers[layer].act;
        if change.kind == ChangeKind::Fold && matches!(act, Act::Recorded(_)) {
            self.pointer = change.added.iter().any(|id| replay.block(*id).text().contains(POINTER));
        }
        let removed = change.removed.iter().filter(|id| !change.added.contains(id));
        for recorded in removed.filter_map(|id| replay.journal.recorded_block(replay.conversation, *id)) {
            let block = replay.conversation.block(recorded);
            if !matches!(block.kind, Kind::ToolResult(_)) || block.origin == Origin::StandIn {
                continue;
            }
            match (change.kind, act) {
                (ChangeKind::Rewrite, Act::Dedupe(_)) => _ = self.copies.insert(recorded),
                (ChangeKind::Rewrite, Act::Truncate(_)) => {}
                _ if self.copies.contains(&recorded) || self.told.contains(&recorded) => {}
                _ => {
                    self.away.entry(recorded).or_insert(Away { layer, of_view });
                    self.fresh.push(recorded);
                }
            }
        }
    }
}

fn tool_uses(replay: &Replay, blocks: &[SentBlock]) -> BTreeSet<PairId> {
    let pair = |sent: &SentBlock| match replay.block(sent.block).kind {
        Kind::ToolUse(pair) => Some(pair),
        _ => None,
    };
    blocks.iter().filter_map(pair).collect()
}

fn found(replay: &Replay, layer: usize, mut lost: Vec<Lost>) -> Option<Found> {
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
        format!("{} at line {} ({} tokens)", replay.conversation.pair(pair).name, block.line, lost.tokens)
    };
    let largest = lost.iter().take(NAMED).map(name).collect::<Vec<_>>().join(", ");
    let message = format!(
        "{} takes {} of {tokens} tokens away, and no path, file or archive in sight leads back to them; the calls of {again} are in sight and \
         could be made again; the largest: {largest}",
        replay.layer(layer),
        many(lost.len(), "tool result")
    );
    let level = if again == lost.len() { Level::Note } else { Level::Warning };
    let found = Found::at_call(replay, level, first, message).with("layer", replay.layer(layer));
    Some(found.with("results", lost.len()).with("tokens", tokens).with("calls_in_sight", again))
}
