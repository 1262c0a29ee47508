//! Detects tool results that were changed before any response had seen them.

use std::cell::LazyCell;

use crate::engine::context::ChangeKind;
use crate::findings::Level;
use crate::findings::timeline::visible::{Form, RequestEdits, VisibleBlocks, remover};
use crate::findings::timeline::{Detection, ReplayView, message_text};
use crate::transcript::conversation::{BlockId, BlockKind, Origin, Role};
use crate::util::text::plural;

/// How an unseen result left the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Cleared or dropped: a placeholder is in its place, or nothing.
    Masked,
    /// Summarised: a summary is in its place.
    Folded,
}

/// Summarised results with fewer tokens are only a note, because a summary can repeat short answers, such as the answer to an edit.
/// Cleared results are a warning at any size, because no text repeats them.
const FEW: u64 = 200;

/// A result that no response saw.
struct UnseenResult {
    block: BlockId,
    fate: Fate,
    layer: usize,
    kind: ChangeKind,
    /// The layer that cleared it before it was summarised, so that the summarizer did not read it either.
    masked_by: Option<usize>,
}

/// Reports the unseen results with this fate, one finding for each layer and call.
pub fn detect(replay: &ReplayView, fate: Fate) -> Vec<Detection> {
    let mut visible = VisibleBlocks::new(replay);
    let mut detections = Vec::new();
    for request in &replay.journal.requests {
        visible.advance(request);
        // Most requests have no edits.
        if request.edits().next().is_none() {
            continue;
        }
        // Most new results stay, so edits are rarely looked up.
        let edits = LazyCell::new(|| RequestEdits::new(request));
        let missing = new_results(replay, request.call).into_iter().filter(|block| visible.form(*block) != Form::Whole);
        let results = missing.filter_map(|block| unseen_result(replay, &visible, &edits, block));
        let of_fate: Vec<_> = results.filter(|unseen| unseen.fate == fate).collect();
        for group in of_fate.chunk_by(|unseen, next| unseen.layer == next.layer) {
            detections.extend(detection(replay, request.call, group));
        }
    }
    detections
}

/// Returns the results that entered between the last response and this call.
fn new_results(replay: &ReplayView, call: usize) -> Vec<BlockId> {
    let conversation = replay.conversation;
    let messages = &conversation.messages[conversation.new_messages(call)];
    let after = messages.iter().rposition(|message| message.role == Role::Assistant).map_or(0, |last| last + 1);
    let blocks = messages[after..].iter().flat_map(|message| &message.blocks).copied();
    let is_result = |id: &BlockId| {
        let block = conversation.block(*id);
        matches!(block.kind, BlockKind::ToolResult(_)) && block.origin != Origin::Placeholder
    };
    blocks.filter(is_result).collect()
}

/// Returns how a missing result left the context before this request. `None` if its text is still visible.
fn unseen_result(replay: &ReplayView, visible: &VisibleBlocks, edits: &RequestEdits, block: BlockId) -> Option<UnseenResult> {
    let changes = edits.changes_of(block).into_iter();
    let removals: Vec<_> = changes.filter_map(|change| Some((remover(replay, change)?, change.kind))).collect();
    let (layer, kind) = *removals.last()?;
    let text = replay.block(block).text();
    let is_visible = visible.restores(&text) || (replay.traits(layer).points_to_copies() && visible.has_result(&text));
    if is_visible {
        return None;
    }
    let fate = if kind == ChangeKind::Replace { Fate::Folded } else { Fate::Masked };
    let mask = removals.first().filter(|(_, kind)| *kind == ChangeKind::Rewrite && fate == Fate::Folded);
    Some(UnseenResult { block, fate, layer, kind, masked_by: mask.map(|(layer, _)| *layer) })
}

/// One finding for what one layer did at one call.
fn detection(replay: &ReplayView, call: usize, group: &[UnseenResult]) -> Option<Detection> {
    let first = group.first()?;
    let tokens = |unseen: &UnseenResult| (replay.tokens)(unseen.block);
    let sum: u64 = group.iter().map(tokens).sum();
    let largest = group.iter().max_by_key(|unseen| (tokens(unseen), std::cmp::Reverse(unseen.block)))?;
    let did = match (first.kind, replay.traits(first.layer).points_to_copies()) {
        (ChangeKind::Replace, _) => "summarised",
        (ChangeKind::Drop, _) => "dropped",
        (_, true) => "put a pointer in place of",
        (_, false) => "cleared",
    };
    let asked = message_text::tool_call(replay, largest.block);
    let masked = group.iter().filter(|unseen| unseen.masked_by.is_some()).count();
    let masked_by = group.iter().find_map(|unseen| unseen.masked_by).map(|layer| replay.who(layer));
    let message = format!(
        "{} {did} {} of {sum} tokens before any response had seen {}{}: {asked}{}{}",
        replay.who(first.layer),
        plural(group.len(), "tool result"),
        if group.len() == 1 { "it" } else { "them" },
        if group.len() == 1 { "" } else { ", the largest" },
        if group.len() == 1 { String::new() } else { format!(" of {} tokens", tokens(largest)) },
        masked_by.map_or(String::new(), |layer| format!(
            "; {layer} had cleared {masked} of them before, so the summarizer did not read {} either",
            if masked == 1 { "it" } else { "those" }
        )),
    );
    let level = if first.fate == Fate::Folded && sum < FEW { Level::Note } else { Level::Warning };
    let detection = Detection::at_call(replay, level, call, message).at_line(replay.line_of_block(largest.block));
    let detection = detection.with("layer", replay.layer(first.layer)).with("results", group.len()).with("tokens", sum);
    Some(detection.with("largest", asked).with("largest_tokens", tokens(largest)).with("masked_first", masked))
}
