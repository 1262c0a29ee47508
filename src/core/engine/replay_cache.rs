//! Data that the replays of one conversation share. It makes replays faster and does not change their results.

use crate::engine::context::RewriteCache;
use crate::engine::summarizer::{Digests, NameIndex};
use crate::transcript::conversation::Conversation;

/// Shared data of one conversation and one token counter, for replays of any policy in any thread.
#[derive(Debug)]
pub struct ReplayCache {
    pub digests: Digests,
    pub rewrites: RewriteCache,
    pub names: NameIndex,
}

impl ReplayCache {
    /// Builds an empty cache for the replays of one conversation.
    pub fn new(conversation: &Conversation) -> Self {
        Self { digests: Digests::new(conversation), rewrites: RewriteCache::new(conversation), names: NameIndex::default() }
    }
}
