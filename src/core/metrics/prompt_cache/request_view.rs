//! One request of a replay, looked at when its prefix is known.

use crate::engine::context::Cause;
use crate::engine::journal::{Request, SentBlock};
use crate::transcript::conversation::BlockId;

use super::prefixes::Prefixes;
use super::{CacheBreak, CacheEvent, CacheEventKind, CacheTerms, PrefixEnd, Previous, Simulator, layer_that_touched};

/// A request that is the path of its model's prefixes.
#[derive(Clone, Copy)]
pub(super) struct SentRequest<'a> {
    pub simulator: &'a Simulator<'a>,
    pub prefixes: &'a Prefixes,
    pub request: &'a Request,
    pub tokens: u64,
}

impl SentRequest<'_> {
    /// Converts a size to tokens: divides the tokens of the request by size, because sizes need not be tokens.
    fn tokens_of(&self, size: u64) -> u64 {
        self.part_of(self.tokens, size)
    }

    /// Converts a size to tokens of a request that has `request` tokens.
    fn part_of(&self, request: u64, size: u64) -> u64 {
        proportional(request.saturating_sub(self.overhead()), size, self.prefixes.size_of(self.prefixes.len()))
    }

    fn overhead(&self) -> u64 {
        self.simulator.setup.journal.overhead
    }

    /// Returns the index of the first block that came with this message of the conversation or a later one, and the message it
    /// came with. Text that a layer or the record wrote belongs to the newest message before it.
    fn first_block_of(&self, message: usize) -> Option<(usize, usize)> {
        let index = self.simulator.newest.partition_point(|newest| *newest < message);
        self.simulator.newest.get(index).map(|newest| (index, *newest))
    }

    /// Returns where in the conversation the first `tokens` tokens end.
    pub fn prefix_end(&self, tokens: u64) -> PrefixEnd {
        let with = |size: u64| self.overhead() + self.tokens_of(size);
        let whole = self.prefixes.blocks_while(|size| with(size) <= tokens);
        let newest = &self.simulator.newest;
        let message = newest.get(whole).or(newest.last()).copied().unwrap_or(0);
        let first = self.first_block_of(message).map_or(0, |(index, _)| index);
        PrefixEnd { message, tokens: tokens as i64 - with(self.prefixes.size_of(first)) as i64 }
    }

    /// Returns how many first blocks end nearest to the first `tokens` tokens.
    pub fn blocks_within(&self, tokens: u64) -> usize {
        let with = |blocks: usize| self.overhead() + self.tokens_of(self.prefixes.size_of(blocks));
        let whole = self.prefixes.blocks_while(|size| self.overhead() + self.tokens_of(size) <= tokens);
        let next = (whole + 1).min(self.prefixes.len());
        if with(next).abs_diff(tokens) < with(whole).abs_diff(tokens) { next } else { whole }
    }

    /// Returns how many tokens of the request precede a position of the conversation.
    fn tokens_before(&self, end: PrefixEnd) -> u64 {
        let Some((index, message)) = self.first_block_of(end.message) else { return self.tokens };
        let tokens = self.overhead() + self.tokens_of(self.prefixes.size_of(index));
        // A request without that message has nothing of its text.
        let within = if message == end.message { end.tokens } else { end.tokens.min(0) };
        tokens.saturating_add_signed(within).min(self.tokens)
    }
}

/// A request, compared with the last request to the same model.
pub(super) struct RequestView<'a> {
    pub sent: SentRequest<'a>,
    pub terms: &'a CacheTerms,
    /// Blocks after those shared with the model's last request.
    pub tail: &'a [SentBlock],
    /// Number of its first blocks whose prefix is alive.
    pub shared: usize,
}

impl RequestView<'_> {
    /// Returns the tokens read: with breakpoints at the best places, and with breakpoints at the ends of requests only.
    pub fn reads(&self, last: &Previous) -> [u64; 2] {
        let SentRequest { simulator, prefixes, .. } = self.sent;
        let read = |blocks: usize, at_least: u64| {
            let prefix = if blocks == 0 { at_least } else { self.prefix_tokens(blocks, last) };
            self.readable_tokens(prefix.saturating_sub(self.terms.provider.unread_end))
        };
        let anywhere = read(self.shared, self.sent.overhead());
        let at_ends = self.terms.provider.look_back.map_or(anywhere, |blocks| {
            // The end of the last request is marked again, so the search also begins there.
            let reach = blocks + self.new_blocks(last).count();
            read(prefixes.end_within(self.shared, reach), simulator.setup.initial.stable).min(anywhere)
        });
        [anywhere, at_ends]
    }

    /// Returns the tokens that the provider reads of a cached prefix.
    pub fn readable_tokens(&self, prefix: u64) -> u64 {
        let read = self.terms.provider.round_down(prefix.min(self.sent.tokens));
        if read < self.terms.min_tokens { 0 } else { read }
    }

    /// Returns the prefix that edits before this request made unreadable.
    pub fn find_break(&self, last: &Previous, read: u64) -> Option<CacheBreak> {
        if self.has_all_of(last) {
            return None;
        }
        let SentRequest { simulator, prefixes, request, tokens } = self.sent;
        let layer = layer_that_touched(simulator.setup.policy, request, prefixes.message_behind(self.shared))?;
        let size = |block| (simulator.setup.size)(block);
        let new_size = self.new_blocks(last).map(size).sum();
        let by_itself = request.changes.iter().filter(|change| change.cause == Cause::Record).flat_map(|change| &change.removed);
        let since = simulator.setup.conversation.calls[last.call].response;
        let was_sent = |block: &&BlockId| !simulator.blocks.came_since(**block, since);
        let dropped_by_itself: u64 = by_itself.filter(was_sent).map(|block| size(*block)).sum();
        // What the record has beside the counted blocks was freed by no edit.
        let counted = |size| self.sent.part_of(request.tokens, size) as i64;
        Some(CacheBreak {
            layer,
            rebilled: tokens.saturating_sub(self.sent.tokens_of(new_size) + last.unwritten + read),
            freed: (last.counted as i64 + counted(new_size)) - (request.tokens as i64 + counted(dropped_by_itself)),
        })
    }

    /// Returns the blocks that entered after the model's last request: its response and later messages.
    fn new_blocks(&self, last: &Previous) -> impl Iterator<Item = BlockId> {
        let since = self.sent.simulator.setup.conversation.calls[last.call].response;
        let blocks = self.tail.iter().map(|sent| sent.block);
        blocks.filter(move |block| self.sent.simulator.blocks.came_since(*block, since))
    }

    /// Returns the tokens of the first blocks and what precedes them. The last request, if it had them all, says best how many
    /// tokens their size is: all of them are as many as it had.
    fn prefix_tokens(&self, blocks: usize, last: &Previous) -> u64 {
        if last.unwritten > 0 && blocks == last.written_blocks {
            return last.tokens - last.unwritten;
        }
        let (overhead, size) = (self.sent.overhead(), self.sent.prefixes.size_of(blocks));
        overhead
            + if size <= last.size {
                proportional(last.tokens.saturating_sub(overhead), size, last.size)
            } else {
                self.sent.tokens_of(size)
            }
    }

    /// Returns whether all of the last request is cached and is a prefix of this one.
    fn has_all_of(&self, last: &Previous) -> bool {
        self.sent.prefixes.solid_in(self.shared) >= last.solid
    }

    /// Returns the tokens read after a cache event. A request before which a layer edited the cached prefix finds nothing more
    /// than what both have in common.
    pub fn reads_after(&self, event: &CacheEvent, ideal: [u64; 2], is_broken: bool) -> [u64; 2] {
        let cached = self.readable_tokens(self.sent.tokens_before(event.cached));
        match event.kind {
            CacheEventKind::LivedOn if !is_broken => [cached; 2],
            CacheEventKind::LivedOn | CacheEventKind::Evicted => ideal.map(|read| read.min(cached)),
            CacheEventKind::Extended => {
                let limit = if is_broken { ideal[0] } else { self.sent.tokens };
                ideal.map(|read| read.max(cached.min(limit)))
            }
        }
    }

    /// Returns how many tokens of the last request can still be read after a cache event.
    pub fn ready_after(&self, event: &CacheEvent, last: u64) -> u64 {
        match event.kind {
            CacheEventKind::Extended => last,
            _ => self.sent.tokens_before(event.cached).min(last),
        }
    }
}

/// Returns the part of `tokens` that has `size` of a whole.
fn proportional(tokens: u64, size: u64, whole: u64) -> u64 {
    if whole == 0 { 0 } else { (tokens as f64 * size as f64 / whole as f64).round() as u64 }
}
