//! Input behind the last cache breakpoint of a request: a provider with breakpoints neither reads nor writes it, and bills it as
//! plain input. The next request, whose breakpoints are behind it, writes it.
//!
//! Where a harness sets its last breakpoint is not in a record, but its usage shows how much was behind it. Claude Code 2.1.205
//! sends some 11,000 tokens of attachments behind the last breakpoint of a session's first request.

use crate::transcript::conversation::{Conversation, Usage};

use super::CacheTerms;

/// Every request of a harness has a few tokens behind its last breakpoint: mostly 1 to 10 in the recordings. They cost nearly
/// the same either way, and a breakpoint that far back has 109 or more.
const HANDFUL: u64 = 100;

/// What a record shows of its last breakpoints.
pub(super) struct LastBreakpoints {
    /// The record has a number of its own for tokens written to the cache.
    tells_writes: bool,
}

impl LastBreakpoints {
    pub fn new(conversation: &Conversation) -> Self {
        let writes = |usage: &Usage| usage.cache_write_5m + usage.cache_write_1h > 0;
        Self { tells_writes: conversation.calls.iter().filter_map(|call| call.usage.as_ref()).any(writes) }
    }

    /// Returns the tokens behind the last breakpoint of a recorded request; 0 for a provider without breakpoints.
    pub fn tokens_behind(&self, conversation: &Conversation, terms: &CacheTerms, call: usize) -> u64 {
        if !self.tells_writes || terms.provider.look_back.is_none() {
            return 0;
        }
        let input = conversation.calls[call].billed().map_or(0, |usage| usage.input);
        if input > HANDFUL { input } else { 0 }
    }
}
