//! Deltas between calls: the characters that were added to a request, and the tokens by which it grew.

use crate::tokens::meter::{SizeUnit, TextClass, media};
use crate::transcript::conversation::{BlockId, BlockKind, Compaction, Conversation, Message, Thinking};

/// A call whose request is the previous request plus new messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// Index of the call.
    pub call: usize,
    /// Unicode characters of the new messages, in the order of [`TextClass::ALL`].
    pub characters: [u64; 4],
    /// Growth of the recorded request in tokens since the previous call.
    pub tokens: u64,
}

/// Returns the calls whose growth in tokens has a known cause.
///
/// Leaves out a call if
/// * it or the previous call has no recorded usage;
/// * the model changed before it, because every model has its own tokenizer;
/// * a compaction happened or thinking was removed before it;
/// * its new messages contain images, documents or content whose text is not recorded;
/// * its request did not grow.
pub fn deltas(conversation: &Conversation) -> Vec<Delta> {
    let mut has_thinking = false;
    let all = (1..conversation.calls.len()).filter_map(|call| {
        let is_thinking_removed = is_thinking_removed(conversation, call, &mut has_thinking);
        let is_compacted = !compactions_before(conversation, call).is_empty();
        if is_thinking_removed || is_compacted { None } else { delta_of_call(conversation, call) }
    });
    all.collect()
}

/// Returns the messages that a call adds to the request: the previous response and everything after it. For the first call,
/// these are all messages before its response.
pub fn new_messages(conversation: &Conversation, call: usize) -> &[Message] {
    let start = call.checked_sub(1).map_or(0, |before| conversation.calls[before].response);
    &conversation.messages[start..conversation.calls[call].response]
}

/// Returns the blocks of messages that are sent to the model.
pub fn sent_blocks<'a>(conversation: &'a Conversation, messages: &'a [Message]) -> impl Iterator<Item = BlockId> + 'a {
    let is_sent = |id: &BlockId| conversation.thinking != Thinking::None || conversation.block(*id).kind != BlockKind::Thinking;
    messages.iter().flat_map(|message| message.blocks.iter().copied()).filter(is_sent)
}

/// Returns the compactions between the previous call and this one.
pub fn compactions_before(conversation: &Conversation, call: usize) -> &[Compaction] {
    let count_until = |call: usize| {
        let response = conversation.calls[call].response;
        conversation.compactions.partition_point(|compaction| compaction.message_index <= response)
    };
    let start = call.checked_sub(1).map_or(0, count_until);
    conversation.compactions.get(start..count_until(call)).unwrap_or_default()
}

/// Whether thinking is removed from the context before a call. `has_thinking` is updated: whether the context contains any.
fn is_thinking_removed(conversation: &Conversation, call: usize, has_thinking: &mut bool) -> bool {
    let new_messages = new_messages(conversation, call);
    let is_thinking = |id: &BlockId| conversation.block(*id).kind == BlockKind::Thinking;
    *has_thinking |= new_messages.iter().flat_map(|message| &message.blocks).any(is_thinking);
    let starts_turn =
        conversation.thinking == Thinking::Turn && new_messages.iter().any(|message| conversation.is_typed(message));
    starts_turn && std::mem::take(has_thinking)
}

fn delta_of_call(conversation: &Conversation, call: usize) -> Option<Delta> {
    let [previous, this] = [call - 1, call].map(|call| &conversation.calls[call]);
    let tokens = this.billed()?.request().checked_sub(previous.billed()?.request()).filter(|tokens| *tokens > 0)?;
    if this.model != previous.model {
        return None;
    }
    let mut characters = [0; 4];
    for id in sent_blocks(conversation, new_messages(conversation, call)) {
        let block = conversation.block(id);
        if block.recorded_tokens.is_some() || media::parts(block).next().is_some() {
            return None;
        }
        characters[TextClass::from_block(block) as usize] += SizeUnit::Chars.block(block, false);
    }
    Some(Delta { call, characters, tokens })
}
