//! What entered between two calls, and by how many tokens the recorded request grew.

use crate::tokens::meter::{Class, SizeUnit, media};
use crate::transcript::conversation::{BlockId, Compaction, Conversation, Kind, Message, Thinking};

/// A call whose request is the one before it and what entered since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    pub call: usize,
    /// Unicode characters of what entered, in the order of [`Class::ALL`].
    pub characters: [u64; 4],
    /// Tokens by which the recorded request is larger than the one before.
    pub tokens: u64,
}

/// The calls of which it is known what their tokens were for.
///
/// Left out are calls without a recorded usage or after one without; those after a change of the model, as every model has a
/// tokenizer of its own; those before which a compaction was made or thinking left the context; those with images, documents
/// or content whose text the record lacks; and those whose request did not grow.
pub fn deltas(conversation: &Conversation) -> Vec<Delta> {
    let mut held = false;
    let all = (1..conversation.calls.len()).filter_map(|call| {
        let dropped = thinking_leaves(conversation, call, &mut held);
        let is_compacted = !compactions(conversation, call).is_empty();
        if dropped || is_compacted { None } else { delta(conversation, call) }
    });
    all.collect()
}

/// The messages that entered for a call: the response before, and what came since. Without one before, what it began with.
pub fn messages(conversation: &Conversation, call: usize) -> &[Message] {
    let start = call.checked_sub(1).map_or(0, |before| conversation.calls[before].response);
    &conversation.messages[start..conversation.calls[call].response]
}

/// The blocks of messages that are sent.
pub fn blocks<'a>(conversation: &'a Conversation, messages: &'a [Message]) -> impl Iterator<Item = BlockId> + 'a {
    let is_sent = |id: &BlockId| conversation.thinking != Thinking::None || conversation.block(*id).kind != Kind::Thinking;
    messages.iter().flat_map(|message| message.blocks.iter().copied()).filter(is_sent)
}

/// The compactions that were made between the call before this one and this one.
pub fn compactions(conversation: &Conversation, call: usize) -> &[Compaction] {
    let made = |call: usize| {
        let read = conversation.calls[call].response;
        conversation.compactions.partition_point(|compaction| compaction.at <= read)
    };
    let before = call.checked_sub(1).map_or(0, made);
    conversation.compactions.get(before..made(call)).unwrap_or_default()
}

/// Whether thinking left the context before a call; `held` is whether any stands in it.
fn thinking_leaves(conversation: &Conversation, call: usize, held: &mut bool) -> bool {
    let entered = messages(conversation, call);
    let is_thinking = |id: &BlockId| conversation.block(*id).kind == Kind::Thinking;
    *held |= entered.iter().flat_map(|message| &message.blocks).any(is_thinking);
    let typed = conversation.thinking == Thinking::Turn && entered.iter().any(|message| conversation.is_typed(message));
    typed && std::mem::take(held)
}

fn delta(conversation: &Conversation, call: usize) -> Option<Delta> {
    let [before, this] = [call - 1, call].map(|call| &conversation.calls[call]);
    let tokens = this.billed()?.request().checked_sub(before.billed()?.request()).filter(|tokens| *tokens > 0)?;
    if this.model != before.model {
        return None;
    }
    let mut characters = [0; 4];
    for id in blocks(conversation, messages(conversation, call)) {
        let block = conversation.block(id);
        if block.recorded_tokens.is_some() || media::parts(block).next().is_some() {
            return None;
        }
        characters[Class::of(block) as usize] += SizeUnit::Chars.block(block, false);
    }
    Some(Delta { call, characters, tokens })
}
