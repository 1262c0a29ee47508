//! Whether the thinking of earlier turns stayed in the recorded requests: the growth of the requests decides, where it says enough.
//!
//! At the beginning of a turn, thinking that stays makes the request larger by that of the last response, and thinking that leaves makes
//! it smaller by that of the whole turn before. The model of a conversation says what is expected; its harness or gateway may do
//! something else.

use std::ops::Range;

use super::conversation::{BlockKind, Conversation, Thinking};
use super::format::{Note, Reading};
use crate::text::tokens::BYTES_PER_TOKEN;

/// A turn is looked at if what may have left has at least this size in tokens, and at least that of the new text, which is estimated.
const MIN_TOKENS: u64 = 500;
/// Fewest turns that decide.
const MIN_TURNS: usize = 3;
/// Largest share of the turns that may say the opposite.
const OPPOSITE: f64 = 0.25;

/// The turns of a conversation whose requests show what became of the thinking before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Evidence {
    pub stayed: usize,
    pub left: usize,
}

impl Evidence {
    /// Looks at every turn of a conversation.
    pub fn of(conversation: &Conversation) -> Self {
        let (turns, edits) = (turns(conversation), Edits::of(conversation));
        let mut evidence = Self::default();
        for (at, pair) in turns.windows(2).enumerate().filter(|(_, pair)| pair[0] != pair[1]) {
            match stayed_before(conversation, at + 1, pair[0], &edits) {
                Some(true) => evidence.stayed += 1,
                Some(false) => evidence.left += 1,
                None => {}
            }
        }
        evidence
    }

    /// Returns what the turns agree on; `None` if they are too few or do not agree.
    pub fn agreed(self) -> Option<Thinking> {
        let turns = self.stayed + self.left;
        let agree = |opposite: usize| turns >= MIN_TURNS && opposite as f64 <= OPPOSITE * turns as f64;
        match () {
            () if agree(self.left) => Some(Thinking::All),
            () if agree(self.stayed) => Some(Thinking::Turn),
            () => None,
        }
    }
}

/// Corrects how long thinking stays in each conversation whose requests show it, with a note where they contradict the model.
pub fn add_to(reading: &mut Reading) {
    for conversation in &mut reading.conversations {
        let evidence = Evidence::of(conversation);
        let Some(thinking) = evidence.agreed().filter(|thinking| *thinking != conversation.thinking) else { continue };
        conversation.thinking = thinking;
        let (count, what) = match thinking {
            Thinking::All => (evidence.stayed, "keep the thinking of the turn before"),
            Thinking::Turn | Thinking::None => (evidence.left, "are without the thinking of the turn before"),
        };
        let turns = evidence.stayed + evidence.left;
        let text = format!("{}: {count} of {turns} turns {what}, so it is replayed like that", conversation.name);
        reading.notes.push(Note::info(1, text));
    }
}

/// The message indices of the recorded edits of a conversation, in order.
pub(super) struct Edits(Vec<usize>);

impl Edits {
    pub fn of(conversation: &Conversation) -> Self {
        let mut indices: Vec<usize> = conversation.compactions.iter().map(|compaction| compaction.message_index).collect();
        indices.sort_unstable();
        Self(indices)
    }

    /// Returns whether an edit is recorded after `begin` to `end` messages, both included.
    pub fn has_some(&self, begin: usize, end: usize) -> bool {
        let first = self.0.partition_point(|index| *index < begin);
        self.0.get(first).is_some_and(|index| *index <= end)
    }
}

/// Returns whether the thinking before a call that begins a turn stayed in its request; `None` if the requests do not show it. `turn` is
/// the message that began the turn before.
fn stayed_before(conversation: &Conversation, call: usize, turn: usize, edits: &Edits) -> Option<bool> {
    let (previous, current) = (&conversation.calls[call - 1], &conversation.calls[call]);
    if previous.model != current.model || edits.has_some(turn, current.response) {
        return None;
    }
    let size = |call: usize| {
        let call = &conversation.calls[call];
        call.billed().filter(|_| call.other_iterations.is_empty()).map(|usage| usage.request() as i64)
    };
    let grown = size(call)? - size(call - 1)?;
    let thinking = |range: Range<usize>| tokens(conversation, range, true) as i64;
    let (sent, last) = (thinking(turn..previous.response), thinking(previous.response..previous.response + 1));
    let text = tokens(conversation, previous.response..current.response, false) as i64;
    // What a tokenizer makes of the text is not known better than to a half.
    let is_clear = sent + last >= MIN_TOKENS as i64 && sent + last >= text;
    is_clear.then_some(grown > text + (last - sent) / 2)
}

/// Returns for each call the message that begins its turn: the last typed message before the response, or the first of all.
pub(super) fn turns(conversation: &Conversation) -> Vec<usize> {
    let mut turn = 0;
    let of_call = |call| {
        let typed = |message: &usize| conversation.is_typed(&conversation.messages[*message]);
        turn = conversation.new_messages(call).rev().find(typed).unwrap_or(turn);
        turn
    };
    (0..conversation.calls.len()).map(of_call).collect()
}

/// Returns the tokens of the thinking in these messages, or of the rest.
pub(super) fn tokens(conversation: &Conversation, messages: Range<usize>, of_thinking: bool) -> u64 {
    let blocks = conversation.messages[messages].iter().flat_map(|message| &message.blocks).map(|id| conversation.block(*id));
    let wanted = blocks.filter(|block| (block.kind == BlockKind::Thinking) == of_thinking);
    wanted.map(|block| block.recorded_tokens.unwrap_or(block.text().len() as u64 / BYTES_PER_TOKEN)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::conversation::{Call, Compaction, ConversationBuilder, Message, Origin, RecordedEdit, Role, Usage};
    use serde_json::json;

    /// A conversation in which each turn is a typed message of 40 bytes (10 tokens) and a response that thinks 1,000 tokens, with
    /// requests of these sizes.
    fn conversation(requests: &[u64]) -> Conversation {
        let mut builder = ConversationBuilder::new("main", "test", Thinking::Turn);
        let message = |role, blocks| Message { role, is_string_content: false, blocks, time: None, line: 1 };
        for request in requests {
            let typed = builder.block(json!({"type": "text", "text": "x".repeat(40)}), Origin::User, 1);
            builder.message(message(Role::User, vec![typed]));
            let thinking = builder.block(json!({"type": "thinking", "thinking": ""}), Origin::Agent, 1);
            builder.set_recorded_tokens(thinking, 1_000);
            let usage = Usage { cache_read: *request, ..Usage::default() };
            builder.response(message(Role::Assistant, vec![thinking]), Call { usage: Some(usage), ..Call::default() });
        }
        builder.finish()
    }

    fn evidence(requests: &[u64]) -> (usize, usize, Option<Thinking>) {
        let evidence = Evidence::of(&conversation(requests));
        (evidence.stayed, evidence.left, evidence.agreed())
    }

    /// Each request grows by 10 tokens of text, and by 1,000 of thinking if it stays.
    #[test]
    fn requests_that_grow_by_the_thinking_keep_it() {
        assert_eq!(evidence(&[5_000, 6_010, 7_020, 8_030]), (3, 0, Some(Thinking::All)));
        assert_eq!(evidence(&[5_000, 5_010, 5_020, 5_030]), (0, 3, Some(Thinking::Turn)));
        assert_eq!(evidence(&[5_000, 6_010, 7_020]), (2, 0, None), "two turns are too few");
        assert_eq!(evidence(&[5_000, 6_010, 6_020, 7_030, 7_040]), (2, 2, None), "they do not agree");
        assert_eq!(evidence(&[5_000, 6_010, 6_020, 7_030, 8_040]), (3, 1, Some(Thinking::All)), "a quarter may differ");
    }

    #[test]
    fn what_else_may_change_a_request_is_no_evidence() {
        let mut other = conversation(&[5_000, 6_010]);
        other.calls[1].model = Some("another".to_owned());
        assert_eq!(Evidence::of(&other), Evidence::default(), "another model counts otherwise");
        let mut small = conversation(&[5_000, 6_010]);
        small.blocks[1].recorded_tokens = Some(499);
        assert_eq!(Evidence::of(&small), Evidence::default(), "499 tokens of thinking");
        let mut edited = conversation(&[5_000, 6_010]);
        edited.compactions.push(Compaction {
            message_index: 2,
            edit: RecordedEdit::Clear { pairs: Vec::new() },
            trigger: None,
            tokens_before: None,
            tokens_after: None,
            summary_usage: None,
            line: 1,
        });
        assert_eq!(Evidence::of(&edited), Evidence::default(), "the record has an edit");
    }

    #[test]
    fn requests_that_contradict_the_model_are_believed_and_said() {
        let mut reading = Reading { conversations: vec![conversation(&[5_000, 6_010, 7_020, 8_030])], notes: Vec::new() };
        add_to(&mut reading);
        assert_eq!(reading.conversations[0].thinking, Thinking::All);
        assert_eq!(reading.notes[0].what, "main: 3 of 3 turns keep the thinking of the turn before, so it is replayed like that");
        add_to(&mut reading);
        assert_eq!(reading.notes.len(), 1, "what is right is not corrected");
    }
}
