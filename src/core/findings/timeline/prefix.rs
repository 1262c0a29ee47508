//! Detects prefix breaks: a layer edited a request, so it is not the previous request plus what entered since.

use rustc_hash::FxHashSet;

use crate::engine::context::{Cause, Change, ChangeKind};
use crate::engine::journal::{Request, RequestCursor, SentBlock};
use crate::findings::timeline::ReplayView;
use crate::metrics::prompt_cache::{came_with, keys, layer_that_touched, leaves_by_itself, prefix_edit};
use crate::transcript::conversation::{BlockId, MINUTE, Role};

/// Longest time that a provider keeps a prefix, in minutes: the longer of Anthropic's two. An edit after a longer pause breaks nothing.
const LONGEST_LIFETIME: i64 = 60;

/// A request whose prefix an edit broke.
#[derive(Debug, Clone, Copy)]
pub(in crate::findings) struct Break {
    pub call: usize,
    pub layer: usize,
    /// Tokens after the common prefix that are not new since the previous request.
    pub rebilled: u64,
    /// Tokens that the edits removed; negative if they added some.
    pub saved: i64,
    /// The first block of the previous request that differs.
    pub old: BlockId,
    /// The block of this request at the same position; `None` if the request ends before.
    pub new: Option<BlockId>,
    /// Number of requests from this one to the next break, or to the end.
    pub followed: usize,
}

/// Returns every break of a replay that rebills tokens, in the order of the requests. Compares blocks by content, and skips thinking
/// that leaves by itself when a turn ends.
pub(in crate::findings) fn breaks(replay: &ReplayView) -> Vec<Break> {
    let detector = BreakDetector {
        replay,
        keys: keys(replay.conversation, replay.policy, replay.journal),
        came_with: came_with(replay.conversation, replay.journal),
        leaves_by_itself: leaves_by_itself(replay.conversation, replay.policy, replay.journal),
    };
    let requests = &replay.journal.requests;
    let mut cursor = RequestCursor::default();
    let mut breaks: Vec<Break> = Vec::new();
    let mut last: Option<&Request> = None;
    // Indices of the requests with a break.
    let mut positions = Vec::new();
    for (position, request) in requests.iter().enumerate() {
        cursor.advance(request);
        if let Some(last) = last.filter(|last| !detector.has_cache_expired(last, request)) {
            let found = detector.detect(last, request, &cursor).filter(|found| found.rebilled > 0);
            positions.extend(found.map(|_| position));
            breaks.extend(found);
        }
        last = Some(request);
    }
    let ends = positions.iter().skip(1).copied().chain([requests.len()]);
    for (one, (begin, end)) in breaks.iter_mut().zip(positions.iter().zip(ends)) {
        one.followed = end - begin;
    }
    breaks
}

struct BreakDetector<'r, 'a> {
    replay: &'r ReplayView<'a>,
    /// Hash of the content of each block.
    keys: Vec<u64>,
    /// Index of the conversation message that each block came with.
    came_with: Vec<Option<usize>>,
    leaves_by_itself: Vec<bool>,
}

/// A block that does not leave by itself, to compare two requests. It opens a message if it or thinking before it does.
struct ComparedBlock {
    key: u64,
    opens: Option<Role>,
    index: usize,
}

impl BreakDetector<'_, '_> {
    /// Whether the pause between two requests is so long that the cache no longer has the first.
    fn has_cache_expired(&self, last: &Request, request: &Request) -> bool {
        let conversation = self.replay.conversation;
        let times = conversation.calls[last.call].time.zip(conversation.requested_at(request.call));
        times.is_some_and(|(answered, asked)| asked - answered > LONGEST_LIFETIME * MINUTE)
    }

    /// Compares a request, at which the cursor is, with the previous one.
    fn detect(&self, last: &Request, request: &Request, cursor: &RequestCursor) -> Option<Break> {
        let (old, appended) = (cursor.removed(), cursor.added());
        let (mut before, mut after) = (self.compared_blocks(old), self.compared_blocks(appended));
        let (old_block, new_block) = loop {
            let (old_block, new_block) = (before.next()?, after.next());
            if new_block.as_ref().is_none_or(|new| (new.key, new.opens) != (old_block.key, old_block.opens)) {
                break (old_block, new_block);
            }
        };
        let index = new_block.as_ref().map_or(appended.len(), |new| new.index);
        let layer = self.layer_that_touched(cursor.message_of_added(index), last, request)?;
        let since = self.replay.conversation.calls[last.call].response;
        let is_new = |block: BlockId| self.came_with[block.index()].is_some_and(|came_with| came_with >= since);
        let tokens = |sent: &SentBlock| (self.replay.tokens)(sent.block);
        let by_record = request.changes.iter().filter(|change| change.cause == Cause::Record);
        let removed_by_record: FxHashSet<BlockId> = by_record.flat_map(|change| &change.removed).copied().collect();
        let sent_before: u64 = old.iter().filter(|sent| !removed_by_record.contains(&sent.block)).map(tokens).sum();
        let still_sent: u64 = appended.iter().filter(|sent| !is_new(sent.block)).map(tokens).sum();
        Some(Break {
            call: request.call,
            layer,
            rebilled: appended[index..].iter().filter(|sent| !is_new(sent.block)).map(tokens).sum(),
            saved: (sent_before + self.never_sent(request, is_new)) as i64 - still_sent as i64,
            old: old[old_block.index].block,
            new: new_block.map(|new| appended[new.index].block),
            followed: 0,
        })
    }

    /// Returns the tokens of new blocks that a layer removed before they were sent.
    fn never_sent(&self, request: &Request, is_new: impl Fn(BlockId) -> bool) -> u64 {
        let removals = request.edits().filter(|change| change.cause != Cause::Record && change.kind != ChangeKind::Rewrite);
        removals.flat_map(Change::gone).filter(|block| is_new(*block)).map(|block| (self.replay.tokens)(block)).sum()
    }

    fn compared_blocks<'s>(&'s self, blocks: &'s [SentBlock]) -> impl Iterator<Item = ComparedBlock> + 's {
        let mut opens = None;
        blocks.iter().enumerate().filter_map(move |(index, sent)| {
            opens = sent.opens.or(opens);
            let is_compared = !self.leaves_by_itself[sent.block.index()];
            is_compared.then(|| ComparedBlock { key: self.keys[sent.block.index()], opens: opens.take(), index })
        })
    }

    /// Returns the layer whose edit changed this message. If no layer edited this request, returns one that edited the view of the
    /// previous request, because its edit is missing now.
    fn layer_that_touched(&self, message: usize, last: &Request, request: &Request) -> Option<usize> {
        let policy = self.replay.policy;
        let previous_view_edit = || last.view.iter().find_map(|change| prefix_edit(policy, change));
        layer_that_touched(policy, request, message).or_else(previous_view_edit)
    }
}
