//! `reread`: the agent asked for something again after the first result had been removed from the context.
//!
//! What it means: the same tool was called with the same arguments and answered with the same text, after the first
//! answer had been cleared, dropped or summarised. In the recorded session this is the cost of the compaction. In a
//! replay, the recorded agent asked again although it could still see the answer, or because its own harness had
//! removed it; under this policy it would have had to. Why it hurts: the tokens are paid again, and often cleared
//! again, in a loop. What to change: keep more results (`keep_recent_results`), never clear results of tools that read files
//! (`preserve_tools`), put files back after a summary (a `restore` layer). Evidence: learn-claude-code #62 and PR #72
//! (files read again and again after clearing), claude-code #42542, claude-code #85488.
//!
//! Only calls that read something and write nothing count, and only if no file they read was written in between: a
//! different answer is a good reason to ask again. So the rule does not report tests that run again, or commands whose
//! reads are unknown. Results that `persist` or `truncate` shortened do not count as removed. One finding covers
//! everything that a layer removed at a call.
//!
//! Precision: we compared 17 findings in two recorded sessions, of the record and four policies, with the requests and
//! the transcript: in 17 of 17 the first answer was not in the context, no edit of the file was in between, and both
//! answers were the same.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::facts::references::cost_to_fetch;
use crate::findings::Level;
use crate::findings::timeline::visible::{Form, VisibleBlocks, remover};
use crate::findings::timeline::{Detection, ReplayView, message_text};
use crate::transcript::conversation::{BlockId, BlockKind, PairId};
use crate::transcript::tool_access;
use crate::util::text::plural;

/// A tool result that was fetched twice.
struct RepeatedRead {
    first: BlockId,
    second: BlockId,
    /// Index of the call that asked again.
    call: usize,
}

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let mut visible = VisibleBlocks::new(replay);
    // The latest result of each question.
    let mut answers: FxHashMap<String, BlockId> = FxHashMap::default();
    // The call and the layer that first removed each result.
    let mut removals: FxHashMap<BlockId, (usize, usize)> = FxHashMap::default();
    let mut repeated: BTreeMap<(usize, usize), Vec<RepeatedRead>> = BTreeMap::new();
    for request in &replay.journal.requests {
        visible.advance(request);
        for change in request.edits() {
            let Some(layer) = remover(replay, change) else { continue };
            for block in change.gone() {
                let recorded = replay.journal.recorded_block(replay.conversation, block);
                if let Some(result) = recorded.filter(|id| matches!(replay.block(*id).kind, BlockKind::ToolResult(_))) {
                    removals.entry(result).or_insert((request.call, layer));
                }
            }
        }
        for (key, result) in reads(replay, request.call) {
            // Calls that share an id share their result: that is not a second one.
            let Some(first) = answers.insert(key, result).filter(|first| *first != result) else { continue };
            let removal = removals.get(&first).filter(|(_, layer)| is_lost(replay, &visible, first, *layer));
            if let Some(removal) = removal.filter(|_| is_unchanged(replay, first, result, request.call)) {
                let repeated_read = RepeatedRead { first, second: result, call: request.call };
                repeated.entry(*removal).or_default().push(repeated_read);
            }
        }
    }
    repeated.into_iter().filter_map(|((call, layer), repeated)| detection(replay, call, layer, &repeated)).collect()
}

/// Returns question and result of each answered call of a response that reads something and changes nothing.
fn reads(replay: &ReplayView, call: usize) -> Vec<(String, BlockId)> {
    let conversation = replay.conversation;
    let blocks = &conversation.messages[conversation.calls[call].response].blocks;
    let pairs = blocks.iter().filter_map(|id| match conversation.block(*id).kind {
        BlockKind::ToolUse(pair) => Some(pair),
        _ => None,
    });
    pairs.filter_map(|pair| question(replay, pair)).collect()
}

fn question(replay: &ReplayView, pair: PairId) -> Option<(String, BlockId)> {
    let input = replay.conversation.input_of(pair)?;
    let pair = replay.conversation.pair(pair);
    let answer = pair.tool_result.filter(|answer| !replay.block(*answer).is_error())?;
    let access = tool_access::access_of(&pair.name, input);
    (!access.reads.is_empty() && access.writes.is_empty()).then(|| (format!("{}\n{input}", pair.name), answer))
}

/// Whether the current request lacks a result that this layer removed.
fn is_lost(replay: &ReplayView, visible: &VisibleBlocks, result: BlockId, layer: usize) -> bool {
    let text = replay.block(result).text();
    visible.form(result) != Form::Whole
        && !visible.restores(&text)
        && !(replay.traits(layer).points_to_copies() && visible.has_result(&text))
}

/// Whether there was nothing new to read: no file was written since, and the result is the same.
fn is_unchanged(replay: &ReplayView, first: BlockId, second: BlockId, call: usize) -> bool {
    let references = replay.references;
    let is_written = |file: &u32| references.written_since(*file, first, call as u32);
    let text = replay.block(first).text();
    !text.trim().is_empty() && text == replay.block(second).text() && !references.handles(first).iter().any(is_written)
}

fn detection(replay: &ReplayView, call: usize, layer: usize, repeated: &[RepeatedRead]) -> Option<Detection> {
    let cost = |read: &RepeatedRead| cost_to_fetch(replay.conversation, read.second, replay.tokens);
    let sum: u64 = repeated.iter().map(cost).sum();
    let costliest = repeated.iter().max_by_key(|read| (cost(read), std::cmp::Reverse(read.call)))?;
    let asked = message_text::tool_call(replay, costliest.second);
    let who = if replay.is_record() { "the agent" } else { "the recorded agent" };
    let message = format!(
        "{} removed {} that {who} fetched again unchanged, for {sum} tokens; the most expensive: {asked}, first at {}, again at \
         call {}",
        replay.who(layer),
        plural(repeated.len(), "tool result"),
        replay.conversation.line_label(replay.line_of_block(costliest.first).unwrap_or_default()),
        costliest.call + 1,
    );
    let detection = Detection::at_call(replay, Level::Warning, call, message).at_line(replay.line_of_block(costliest.second));
    let detection = detection.with("layer", replay.layer(layer)).with("results", repeated.len()).with("tokens", sum);
    Some(detection.with("dearest", asked).with("asked_again_at_call", costliest.call + 1))
}
