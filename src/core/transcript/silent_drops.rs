//! Requests that shrink although the record has no edit: a harness or a provider cleared results without a word, when a session was
//! resumed, after an idle time, or between two calls.
//!
//! The usage shows how much left, and not what. The oldest results are taken for it, because that is what harnesses clear; so the
//! conversation counts as much as was sent, and the facts of these results are not in the context any more.

use std::collections::HashSet;

use super::conversation::{BlockKind, Call, Compaction, Conversation, PairId, RecordedEdit, Thinking};
use super::format::{Note, Reading};
use super::sent_thinking::{self, Edits};
use crate::text::tokens::BYTES_PER_TOKEN;

/// What triggered a recorded compaction that is not in the record.
pub const SILENT: &str = "silent";

/// A request is suspicious if it has at most this share of the request before it.
const SHRUNK: f64 = 0.8;
/// Smaller requests change by a fifth for many reasons.
const MIN_TOKENS: u64 = 10_000;
/// A prefix was kept if the cache gave at least this share of the request.
const KEPT: f64 = 0.5;
/// Tokens per byte of text, before they are scaled to the usage.
const PER_BYTE: f64 = 1.0 / BYTES_PER_TOKEN as f64;

/// A request that is smaller than the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SilentDrop {
    /// The call before it.
    previous: usize,
    call: usize,
    /// Tokens of both requests.
    before: u64,
    after: u64,
}

/// Adds what left without a word to the recorded compactions of each conversation, with a note.
pub fn add_to(reading: &mut Reading) {
    for conversation in &mut reading.conversations {
        reading.notes.extend(add_to_conversation(conversation));
    }
}

/// Adds what left without a word to the recorded compactions, and returns a note for each.
pub fn add_to_conversation(conversation: &mut Conversation) -> Vec<Note> {
    let drops = find(conversation);
    if drops.is_empty() {
        return Vec::new();
    }
    let mut results = OldResults::of(conversation);
    let pairs: Vec<Vec<PairId>> = drops.iter().map(|drop| results.clear(conversation, *drop)).collect();
    let mut notes = Vec::new();
    for (drop, pairs) in drops.into_iter().zip(pairs) {
        let line = conversation.messages[conversation.calls[drop.call].response].line;
        notes.push(Note::info(line, text(conversation, drop, pairs.len())));
        conversation.compactions.push(Compaction {
            message_index: conversation.calls[drop.previous].response + 1,
            edit: RecordedEdit::Clear { pairs },
            trigger: Some(SILENT.to_owned()),
            tokens_before: Some(drop.before),
            tokens_after: Some(drop.after),
            summary_usage: None,
            line,
        });
    }
    conversation.compactions.sort_by_key(|compaction| compaction.message_index);
    notes
}

fn find(conversation: &Conversation) -> Vec<SilentDrop> {
    let billed: Vec<(usize, &Call, u64)> = conversation
        .calls
        .iter()
        .enumerate()
        .filter_map(|(index, call)| Some((index, call, call.billed().filter(|_| call.other_iterations.is_empty())?.request())))
        .collect();
    let (edits, thinking) = (Edits::of(conversation), thinking_that_left(conversation));
    let of_pair = |pair: &[(usize, &Call, u64)]| {
        let [(previous, had, before), (call, has, after)] = [pair[0], pair[1]];
        let shrank = before >= MIN_TOKENS && ((after + thinking[call]) as f64) < SHRUNK * before as f64;
        let is_unexplained = had.model == has.model && !edits.has_some(had.response + 1, has.response);
        (shrank && is_unexplained).then_some(SilentDrop { previous, call, before, after })
    };
    billed.windows(2).filter_map(of_pair).collect()
}

/// Returns for each call the tokens of thinking that the replay has dropped at the beginning of its turn, or before: some models drop it
/// later.
fn thinking_that_left(conversation: &Conversation) -> Vec<u64> {
    if conversation.thinking != Thinking::Turn {
        return vec![0; conversation.calls.len()];
    }
    let (mut turn, mut left) = (0, 0);
    let before = |next: usize| {
        left += sent_thinking::tokens(conversation, turn..next, true);
        turn = next;
        left
    };
    sent_thinking::turns(conversation).into_iter().map(before).collect()
}

/// The results of a conversation, while silent drops clear the oldest ones, one drop after another.
struct OldResults {
    /// Every result, with its message and its bytes of text.
    results: Vec<(usize, PairId, usize)>,
    /// Those before this one are not in the context any more.
    next: usize,
    cleared: HashSet<PairId>,
    /// The message indices of the recorded folds, in order.
    folds: Vec<usize>,
    /// The bytes of text before each message, and of all.
    bytes: Vec<usize>,
    /// The least that a call read from the cache: system prompt and tools.
    least_read: u64,
}

impl OldResults {
    fn of(conversation: &Conversation) -> Self {
        let compactions = &conversation.compactions;
        let folds = compactions.iter().filter(|compaction| matches!(compaction.edit, RecordedEdit::Fold { .. }));
        let mut folds: Vec<usize> = folds.map(|compaction| compaction.message_index).collect();
        folds.sort_unstable();
        let mut sum = 0;
        let sums = conversation.messages.iter().map(|message| {
            sum += message.blocks.iter().map(|id| conversation.block(*id).text().len()).sum::<usize>();
            sum
        });
        let mut results = Vec::new();
        for (at, message) in conversation.messages.iter().enumerate() {
            for block in message.blocks.iter().map(|id| conversation.block(*id)) {
                let BlockKind::ToolResult(pair) = block.kind else { continue };
                results.push((at, pair, block.text().len()));
            }
        }
        let bytes = [0].into_iter().chain(sums).collect();
        let reads = conversation.calls.iter().filter_map(Call::billed).map(|usage| usage.cache_read);
        let least_read = reads.filter(|read| *read > 0).min().unwrap_or(0);
        let cleared = compactions.iter().filter_map(cleared).flatten().copied().collect();
        Self { results, next: 0, cleared, folds, bytes, least_read }
    }

    /// Clears the oldest results that are still in the context, as many as have the tokens that left, and returns them.
    fn clear(&mut self, conversation: &Conversation, drop: SilentDrop) -> Vec<PairId> {
        let end = conversation.calls[drop.previous].response + 1;
        let folds = self.folds.partition_point(|index| *index <= end);
        let begin = folds.checked_sub(1).map_or(0, |last| self.folds[last]);
        let per_byte = drop.before.saturating_sub(self.least_read) as f64 / (self.bytes[end] - self.bytes[begin]).max(1) as f64;
        let per_byte = per_byte.clamp(0.5 * PER_BYTE, 2.0 * PER_BYTE);
        let mut left = (drop.before - drop.after) as f64;
        let mut pairs = Vec::new();
        while let Some(&(message, pair, bytes)) = self.results.get(self.next)
            && message < end
            && left > 0.0
        {
            self.next += 1;
            if message >= begin && self.cleared.insert(pair) {
                left -= bytes as f64 * per_byte;
                pairs.push(pair);
            }
        }
        pairs
    }
}

fn cleared(compaction: &Compaction) -> Option<&Vec<PairId>> {
    if let RecordedEdit::Clear { pairs } = &compaction.edit { Some(pairs) } else { None }
}

fn text(conversation: &Conversation, drop: SilentDrop, results: usize) -> String {
    let SilentDrop { previous, call, before, after } = drop;
    let (had, has) = (&conversation.calls[previous], &conversation.calls[call]);
    let idle = conversation.requested_at(call).zip(had.time).map(|(asked, answered)| (asked - answered).max(0) / 1_000);
    let idle = idle.map_or(String::new(), |seconds| format!(" after {seconds} s"));
    let is_kept = has.usage.is_some_and(|usage| usage.cache_read as f64 >= KEPT * after as f64);
    let kept = if is_kept { "was kept" } else { "was lost" };
    format!(
        "{}: call {} was sent with {after} tokens{idle}, the call before it with {before}, and no record says what left; the cached prefix \
         {kept}; the {results} oldest results are taken as cleared",
        conversation.name,
        call + 1
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::conversation::{ConversationBuilder, Message, Origin, Role, Usage};
    use serde_json::json;

    /// A conversation whose calls each read a file of `bytes` bytes, with requests of these sizes, all of them read from the cache.
    fn conversation(bytes: usize, requests: &[u64]) -> Conversation {
        let mut builder = ConversationBuilder::new("main", "test", Thinking::All);
        let message = |role, blocks| Message { role, is_string_content: false, blocks, time: Some(0), line: 1 };
        for (n, request) in requests.iter().enumerate() {
            let usage = Usage { cache_read: *request, ..Usage::default() };
            let used = builder.block(json!({"type": "tool_use", "id": format!("t{n}"), "name": "Read"}), Origin::Agent, 1);
            builder.response(message(Role::Assistant, vec![used]), Call { usage: Some(usage), time: Some(0), ..Call::default() });
            let result = json!({"type": "tool_result", "tool_use_id": format!("t{n}"), "content": "x".repeat(bytes)});
            let result = builder.block(result, Origin::Tool, 1);
            builder.message(message(Role::User, vec![result]));
        }
        builder.finish()
    }

    fn added(conversation: Conversation) -> (Vec<(usize, usize)>, Vec<String>) {
        let mut reading = Reading { conversations: vec![conversation], notes: Vec::new() };
        add_to(&mut reading);
        let edits = reading.conversations[0].compactions.iter();
        let edits = edits.map(|one| (one.message_index, cleared(one).map_or(0, Vec::len))).collect();
        (edits, reading.notes.into_iter().map(|note| note.what).collect())
    }

    #[test]
    fn a_request_that_shrinks_clears_the_oldest_results() {
        // Four results of 40,000 bytes are about 40,000 tokens; 18,000 tokens are two of them.
        let (edits, notes) = added(conversation(40_000, &[10_000, 20_000, 30_000, 40_000, 22_000]));
        assert_eq!(edits, [(7, 2)]);
        let text = "main: call 5 was sent with 22000 tokens after 0 s, the call before it with 40000, and no record says what left; the \
                    cached prefix was kept; the 2 oldest results are taken as cleared";
        assert_eq!(notes, [text]);
    }

    /// Encrypted thinking has no text, and recorded tokens.
    #[test]
    fn thinking_that_the_model_drops_is_no_silent_drop() {
        for (thinking, edits) in [(Thinking::Turn, 0), (Thinking::All, 1)] {
            let mut conversation = conversation(40_000, &[10_000, 40_000, 25_000]);
            conversation.thinking = thinking;
            let last = conversation.messages[3].blocks[0];
            conversation.blocks[last.index()].origin = Origin::User;
            let first = conversation.messages[0].blocks[0];
            (conversation.blocks[first.index()].kind, conversation.blocks[first.index()].recorded_tokens) =
                (BlockKind::Thinking, Some(15_000));
            assert_eq!(added(conversation).0.len(), edits, "{thinking:?}");
        }
    }

    #[test]
    fn what_explains_a_smaller_request_is_no_silent_drop() {
        assert_eq!(added(conversation(40_000, &[10_000, 20_000, 17_000])).0, [], "a sixth");
        assert_eq!(added(conversation(4_000, &[5_000, 9_000, 1_000])).0, [], "small requests");
        let mut compacted = conversation(40_000, &[10_000, 40_000, 12_000]);
        let edit = RecordedEdit::Clear { pairs: vec![PairId(0)] };
        compacted.compactions.push(Compaction {
            message_index: 4,
            edit,
            trigger: None,
            tokens_before: None,
            tokens_after: None,
            summary_usage: None,
            line: 1,
        });
        assert_eq!(added(compacted).0, [(4, 1)], "the record has an edit");
        let mut other = conversation(40_000, &[10_000, 40_000, 12_000]);
        other.calls[2].model = Some("another".to_owned());
        assert_eq!(added(other).0, [], "another model counts otherwise");
    }
}
