//! A parsed synthetic session of Claude Code, with usage, thinking, compactions and time stamps, so that every layer has its data.

use recompact::transcript::conversation::Conversation;
use recompact::transcript::format::{self, ReadOptions};

use crate::claude_code;
use crate::trace::Trace;

const SEED: u64 = 1;

/// Returns a conversation of about this many messages.
pub fn conversation(messages: usize) -> Conversation {
    let bytes = claude_code::write(&Trace::new(SEED, messages), 0);
    let format = format::by_name("claude-code").expect("a known format");
    let mut reading = (format.read)(bytes.as_bytes(), &ReadOptions::default());
    assert!(reading.notes.is_empty(), "the trace is not what Claude Code writes: {:?}", reading.notes.first());
    reading.conversations.remove(0)
}
