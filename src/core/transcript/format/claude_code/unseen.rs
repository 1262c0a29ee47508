//! Files that begin in the middle of a session: the first requests hold messages that are not in the file.
//!
//! The usage tells how much that is. System prompt and tools are at most the shortest prefix that was ever read from the prompt cache;
//! what the first request holds beside them and its text is history that was not seen.

use super::record::Record;
use super::turns::Turn;
use crate::text::tokens::BYTES_PER_TOKEN;
use crate::transcript::conversation::Usage;
use crate::transcript::format::unseen::MIN_TOKENS;

/// A request after a compaction is smaller than what the first one has beside its text if it has at most this share of it.
const SMALLER: f64 = 0.95;

/// Returns the tokens of the first request without system prompt and tools, by the usage of a branch; `None` if the file begins with its
/// session.
pub fn first_request(records: &[Record], turns: &[Turn], begins_outside: bool) -> Option<u64> {
    let requests = || turns.iter().enumerate().filter_map(|(n, turn)| Some((n, last_usage(records, turn)?)));
    let (begin, (first, _)) = requests().find(|(_, (request, _))| *request > 0)?;
    let prefix = requests().map(|(_, (_, read))| read).filter(|read| *read > 0).min().unwrap_or(0);
    let before = turns[..begin].iter().flat_map(|turn| turn.response.iter().chain(&turn.after)).map(|i| &records[*i]);
    let sent = before.filter(|record| record.is_conversation() || record.attachment.is_some());
    let text = sent.map(|record| record.line_bytes as u64).sum::<u64>() / BYTES_PER_TOKEN;
    // One request alone does not show what of it is read again.
    let is_wanted = (begins_outside && requests().nth(1).is_some()) || {
        let is_boundary = |i: &usize| records[*i].is_compact_boundary();
        let compacted = turns.iter().position(|turn| turn.after.iter().any(is_boundary)).filter(|at| begin <= *at);
        let after = compacted.and_then(|at| requests().filter(|(n, _)| *n > at).map(|(_, (request, _))| request).min());
        after.is_some_and(|after| (after as f64) < SMALLER * first.saturating_sub(text) as f64)
    };
    let history = first.saturating_sub(prefix);
    (is_wanted && history.saturating_sub(text) >= MIN_TOKENS).then_some(history)
}

/// Returns the tokens of a request and those of them that were read from the cache.
fn last_usage(records: &[Record], turn: &Turn) -> Option<(u64, u64)> {
    let message = |i: &usize| records[*i].message.as_ref()?.usage.as_ref();
    let usage = Some(turn.response.iter().rev().find_map(message)?.by_iteration().0).filter(Usage::is_possible)?;
    Some((usage.request(), usage.cache_read))
}
