//! What the replays of one conversation find out once for all of them. It makes them faster and changes nothing else.

use crate::engine::context::RewriteCache;
use crate::engine::summarizer::{Digests, NameIndex};
use crate::transcript::conversation::Conversation;

/// Of one conversation, counted by one counter; read by all its replays, whatever their policies and threads.
#[derive(Debug)]
pub struct ReplayCache {
    pub digests: Digests,
    pub rewrites: RewriteCache,
    pub names: NameIndex,
}

impl ReplayCache {
    pub fn new(conversation: &Conversation) -> Self {
        Self { digests: Digests::new(conversation), rewrites: RewriteCache::new(conversation), names: NameIndex::default() }
    }
}
