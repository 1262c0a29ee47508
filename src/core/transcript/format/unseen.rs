//! History that is not in a file: the first recorded requests hold messages that the file does not have.
//!
//! In the conversation it is one message without text at the beginning, so that the next recorded compaction removes it, as it did. Its
//! tokens follow from the usage.

use crate::text::tokens::BYTES_PER_TOKEN;
use crate::transcript::conversation::{BlockId, ConversationBuilder, Message, Origin, Role};

use super::Note;

/// The text in place of the history that is not in the file.
const TEXT: &str = "[earlier messages, which are not in the file]";

/// Less history than this may be a wrong count.
pub const MIN_TOKENS: u64 = 1_000;

/// Begins a conversation with a message for the history that is not in its file.
pub fn push(builder: &mut ConversationBuilder, line: u32) -> BlockId {
    let block = builder.text(TEXT, Origin::Placeholder, line);
    builder.message(Message { role: Role::User, is_string_content: true, blocks: vec![block], time: None, line });
    block
}

/// Sets the size of this message, and returns a note. `first`: tokens of the first request with a usage, without system prompt and
/// tools. The size is 0 if it is so little that the count may be wrong.
pub fn settle(builder: &mut ConversationBuilder, stand_in: BlockId, first: u64) -> Option<Note> {
    let conversation = builder.so_far();
    let line = conversation.block(stand_in).line;
    let call = conversation.calls.iter().find(|call| call.billed().is_some());
    let sent = &conversation.messages[..call.map_or(0, |call| call.response)];
    let blocks = sent.iter().flat_map(|message| &message.blocks).filter(|block| **block != stand_in);
    let bytes: usize = blocks.map(|block| conversation.block(*block).text().len()).sum();
    let tokens = call.map_or(0, |_| first.saturating_sub(bytes as u64 / BYTES_PER_TOKEN));
    let tokens = if tokens < MIN_TOKENS { 0 } else { tokens };
    builder.set_recorded_tokens(stand_in, tokens);
    let text = format!(
        "the session begins before this file: by the usage, about {tokens} tokens of its messages are not in it; they count until the next \
         compaction"
    );
    (tokens > 0).then(|| Note::info(line, text))
}
