//! `reread`: the agent asked for something again after its result had been taken from what it saw.
//!
//! What it means: the same tool was called with the same arguments, and answered with the same text, when the first answer was
//! cleared, dropped or folded. In the record that is what the compaction cost. In a replay it is what the recorded agent did
//! though it had the answer in sight, or had lost it to its own harness; under this policy it would have had to. Why it hurts:
//! the tokens are paid again, and often cleared again, in a loop. What to change: keep more results (`keep_recent`), never clear
//! those of tools that read files (`preserve_tools`), put files back after a fold (a `restore` layer). Evidence:
//! learn-claude-code #62 and PR #72 (files read again and again after clearing), claude-code #42542, claude-code #85488.
//!
//! Only calls that read something and write nothing count, and only where no file they read was written in between: another
//! answer is a good reason to ask. So tests that are run again, and commands whose reading is not known, are not reported.
//! Results that `persist` or `truncate` shortened are not counted as taken. One finding for what a layer took at a call.
//!
//! Precision: 17 findings in two recorded sessions, of the record and four policies, were held against the requests and the
//! transcript: in 17 of 17 the first answer was not in sight, no edit of the file was in between, and both answers were the same.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::facts::references::cost_to_fetch;
use crate::findings::Level;
use crate::findings::timeline::visible::{Form, VisibleBlocks, points_to_copy, taker};
use crate::findings::timeline::{Detection, ReplayView, message_text};
use crate::transcript::conversation::{BlockId, Kind, PairId};
use crate::transcript::tool_access;
use crate::util::text::plural;

/// An answer that was paid for twice.
struct Again {
    first: BlockId,
    second: BlockId,
    /// The call that asked again.
    call: usize,
}

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let mut visible = VisibleBlocks::new(replay);
    let mut asked: FxHashMap<String, BlockId> = FxHashMap::default();
    let mut taken: FxHashMap<BlockId, (usize, usize)> = FxHashMap::default();
    let mut again: BTreeMap<(usize, usize), Vec<Again>> = BTreeMap::new();
    for request in &replay.journal.requests {
        visible.advance(request);
        for change in request.edits() {
            let Some(layer) = taker(replay, change) else { continue };
            for block in change.removed.iter().filter(|block| !change.added.contains(block)) {
                let recorded = replay.journal.recorded_block(replay.conversation, *block);
                if let Some(result) = recorded.filter(|id| matches!(replay.block(*id).kind, Kind::ToolResult(_))) {
                    taken.entry(result).or_insert((request.call, layer));
                }
            }
        }
        for (key, result) in reads(replay, request.call) {
            let Some(first) = asked.insert(key, result) else { continue };
            let by = taken.get(&first).filter(|(_, layer)| is_lost(replay, &visible, first, *layer));
            if let Some(by) = by.filter(|_| is_the_same(replay, first, result, request.call)) {
                again.entry(*by).or_default().push(Again { first, second: result, call: request.call });
            }
        }
    }
    again.into_iter().filter_map(|((call, layer), again)| told(replay, call, layer, &again)).collect()
}

/// The answered calls of a response that read something and change nothing: what they asked, and the answer.
fn reads(replay: &ReplayView, call: usize) -> Vec<(String, BlockId)> {
    let conversation = replay.conversation;
    let blocks = &conversation.messages[conversation.calls[call].response].blocks;
    let pairs = blocks.iter().filter_map(|id| match conversation.block(*id).kind {
        Kind::ToolUse(pair) => Some(pair),
        _ => None,
    });
    pairs.filter_map(|pair| question(replay, pair)).collect()
}

fn question(replay: &ReplayView, pair: PairId) -> Option<(String, BlockId)> {
    let pair = replay.conversation.pair(pair);
    let answer = pair.answered.filter(|answer| !replay.block(*answer).is_error())?;
    let input = replay.block(pair.used?).field("input")?;
    let access = tool_access::of(&pair.name, input);
    (!access.reads.is_empty() && access.writes.is_empty()).then(|| (format!("{}\n{input}", pair.name), answer))
}

/// Whether the present request lacks a result that this layer took.
fn is_lost(replay: &ReplayView, visible: &VisibleBlocks, result: BlockId, layer: usize) -> bool {
    let text = replay.block(result).text();
    visible.form(result) != Form::Whole
        && !visible.restores(&text)
        && !(points_to_copy(replay, layer) && visible.has_result(&text))
}

/// Whether there was nothing new to read: no file was written since, and the answer is the same.
fn is_the_same(replay: &ReplayView, first: BlockId, second: BlockId, call: usize) -> bool {
    let references = replay.references;
    let is_written = |file: &u32| references.written_since(*file, first, call as u32);
    let text = replay.block(first).text();
    !text.trim().is_empty() && text == replay.block(second).text() && !references.handles(first).iter().any(is_written)
}

fn told(replay: &ReplayView, call: usize, layer: usize, again: &[Again]) -> Option<Detection> {
    let cost = |again: &Again| cost_to_fetch(replay.conversation, again.second, replay.tokens);
    let sum: u64 = again.iter().map(cost).sum();
    let dearest = again.iter().max_by_key(|again| (cost(again), std::cmp::Reverse(again.call)))?;
    let asked = message_text::asked(replay, dearest.second);
    let who = if replay.is_record() { "the agent" } else { "the recorded agent" };
    let message = format!(
        "{} took {} away that {who} asked for again and got again unchanged, for {sum} tokens: {asked}, \
         first at {}, again at call {}",
        replay.who(layer),
        plural(again.len(), "tool result"),
        replay.conversation.line_named(replay.line_of_block(dearest.first).unwrap_or_default()),
        dearest.call + 1,
    );
    let found = Detection::at_call(replay, Level::Warning, call, message).at_line(replay.line_of_block(dearest.second));
    let found = found.with("layer", replay.layer(layer)).with("results", again.len()).with("tokens", sum);
    Some(found.with("dearest", asked).with("asked_again_at_call", dearest.call + 1))
}
