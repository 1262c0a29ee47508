//! What the replays of one conversation find out once for all of them. It makes them faster and changes nothing else.

use crate::engine::context::Rewrites;
use crate::engine::summarizer::{Digests, NameIndex};
use crate::transcript::conversation::Conversation;

/// Of one conversation, counted by one counter; read by all its replays, whatever their policies and threads.
#[derive(Debug)]
pub struct Shared {
    pub digests: Digests,
    pub rewrites: Rewrites,
    pub names: NameIndex,
}

impl Shared {
    pub fn new(conversation: &Conversation) -> Self {
        Self { digests: Digests::new(conversation), rewrites: Rewrites::new(conversation), names: NameIndex::default() }
    }
}
