//! Tool results that were changed before any response had seen them.

use crate::engine::context::ChangeKind;
use crate::engine::journal::Request;
use crate::findings::Level;
use crate::findings::timeline::visible::{Form, VisibleBlocks, done_to, points_to_copy, taker};
use crate::findings::timeline::{Detection, ReplayView, message_text};
use crate::transcript::conversation::{BlockId, Kind, Origin, Role};
use crate::util::text::plural;

/// What became of an unseen result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// A placeholder stands in its place, or nothing does.
    Masked,
    /// A summary stands in its place.
    Folded,
}

/// Folded results of fewer tokens are a note: what an edit answers, a summary can say. What is cleared nothing says.
const FEW: u64 = 200;

/// A result that no response saw.
struct Unseen {
    block: BlockId,
    fate: Fate,
    layer: usize,
    kind: ChangeKind,
    /// The layer that cleared it before it was folded: the summarizer did not read it either.
    masked: Option<usize>,
}

/// The results of this fate, one finding a layer and call.
pub fn detect(replay: &ReplayView, fate: Fate) -> Vec<Detection> {
    let mut visible = VisibleBlocks::new(replay);
    let mut found = Vec::new();
    for request in &replay.journal.requests {
        visible.advance(request);
        // Most requests were sent as they are.
        if request.edits().next().is_none() {
            continue;
        }
        let results = entered(replay, request.call).into_iter().filter_map(|block| unseen(replay, &visible, request, block));
        let of_fate: Vec<_> = results.filter(|unseen| unseen.fate == fate).collect();
        for group in of_fate.chunk_by(|one, other| one.layer == other.layer) {
            found.extend(told(replay, request.call, group));
        }
    }
    found
}

/// The results that entered since the last response, before this call.
fn entered(replay: &ReplayView, call: usize) -> Vec<BlockId> {
    let conversation = replay.conversation;
    let messages = &conversation.messages[conversation.entered(call)];
    let after = messages.iter().rposition(|message| message.role == Role::Assistant).map_or(0, |last| last + 1);
    let blocks = messages[after..].iter().flat_map(|message| &message.blocks).copied();
    let is_result = |id: &BlockId| {
        let block = conversation.block(*id);
        matches!(block.kind, Kind::ToolResult(_)) && block.origin != Origin::Placeholder
    };
    blocks.filter(is_result).collect()
}

fn unseen(replay: &ReplayView, visible: &VisibleBlocks, request: &Request, block: BlockId) -> Option<Unseen> {
    if visible.form(block) == Form::Whole {
        return None;
    }
    let taken: Vec<_> =
        done_to(request, block).into_iter().filter_map(|change| Some((taker(replay, change)?, change.kind))).collect();
    let (layer, kind) = *taken.last()?;
    let text = replay.block(block).text();
    let is_in_sight = visible.restores(&text) || (points_to_copy(replay, layer) && visible.has_result(&text));
    if is_in_sight {
        return None;
    }
    let fate = if kind == ChangeKind::Replace { Fate::Folded } else { Fate::Masked };
    let masked = taken.first().filter(|(_, kind)| *kind == ChangeKind::Rewrite && fate == Fate::Folded).map(|(layer, _)| *layer);
    Some(Unseen { block, fate, layer, kind, masked })
}

/// One finding for what one layer did at one call.
fn told(replay: &ReplayView, call: usize, group: &[Unseen]) -> Option<Detection> {
    let first = group.first()?;
    let tokens = |unseen: &Unseen| (replay.tokens)(unseen.block);
    let sum: u64 = group.iter().map(tokens).sum();
    let largest = group.iter().max_by_key(|unseen| (tokens(unseen), std::cmp::Reverse(unseen.block)))?;
    let did = match (first.kind, points_to_copy(replay, first.layer)) {
        (ChangeKind::Replace, _) => "folded",
        (ChangeKind::Drop, _) => "dropped",
        (_, true) => "put a pointer in place of",
        (_, false) => "cleared",
    };
    let asked = message_text::asked(replay, largest.block);
    let masked = group.iter().filter(|unseen| unseen.masked.is_some()).count();
    let by = group.iter().find_map(|unseen| unseen.masked).map(|layer| replay.who(layer));
    let message = format!(
        "{} {did} {} of {sum} tokens before any response had seen {}{}: {asked}{}{}",
        replay.who(first.layer),
        plural(group.len(), "tool result"),
        if group.len() == 1 { "it" } else { "them" },
        if group.len() == 1 { "" } else { ", the largest" },
        if group.len() == 1 { String::new() } else { format!(" of {} tokens", tokens(largest)) },
        by.map_or(String::new(), |by| format!(
            "; {by} had cleared {masked} of them before, so the summarizer did not read {} either",
            if masked == 1 { "it" } else { "those" }
        )),
    );
    let level = if first.fate == Fate::Folded && sum < FEW { Level::Note } else { Level::Warning };
    let found = Detection::at_call(replay, level, call, message).at_line(replay.line_of_block(largest.block));
    let found = found.with("layer", replay.layer(first.layer)).with("results", group.len()).with("tokens", sum);
    Some(found.with("largest", asked).with("largest_tokens", tokens(largest)).with("masked_first", masked))
}
