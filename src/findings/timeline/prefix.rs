//! Where a request is not the one before it and what entered since, because a layer edited it.

use crate::engine::context::{Cause, ChangeKind};
use crate::engine::journal::{Request, SentBlock};
use crate::findings::timeline::{ReplayView, RequestCursor};
use crate::metrics::prompt_cache::{came_with, keys, layer_that_touched, prefix_edit};
use crate::transcript::conversation::{BlockId, Kind, MINUTE, Role};

/// No provider keeps a prefix for longer, in minutes: Anthropic's longer time of its two. An edit after such a pause breaks nothing.
const LONGEST_LIFETIME: i64 = 60;

/// A prefix that an edit ended.
#[derive(Debug, Clone, Copy)]
pub(in crate::findings) struct Break {
    pub call: usize,
    pub layer: usize,
    /// Tokens behind the common prefix that did not enter since the request before.
    pub rebilled: u64,
    /// Tokens that the edits took out; negative where they put some in.
    pub saved: i64,
    /// What stands at the first place that differs: in the request before, and in this one, which may be shorter.
    pub old: BlockId,
    pub new: Option<BlockId>,
    /// Requests from this one to the next break, or to the end.
    pub followed: usize,
}

/// Every break of a replay that has something written again, in the order of its requests. Blocks are compared by content; thinking is passed over, for it leaves
/// by itself when a turn ends.
pub(in crate::findings) fn breaks(replay: &ReplayView) -> Vec<Break> {
    let walk = Walk {
        replay,
        keys: keys(replay.conversation, replay.policy, replay.journal),
        came_with: came_with(replay.conversation, replay.journal),
    };
    let requests = &replay.journal.requests;
    let mut sent = RequestCursor::default();
    let mut found: Vec<Break> = Vec::new();
    let mut last: Option<&Request> = None;
    let mut at = Vec::new();
    for (place, request) in requests.iter().enumerate() {
        let old = sent.advance(request);
        if let Some(last) = last.filter(|last| !walk.paused(last, request)) {
            let broken = walk.broken(last, request, &sent, &old).filter(|broken| broken.rebilled > 0);
            at.extend(broken.map(|_| place));
            found.extend(broken);
        }
        last = Some(request);
    }
    let ends = at.iter().skip(1).copied().chain([requests.len()]);
    for (one, (begin, end)) in found.iter_mut().zip(at.iter().zip(ends)) {
        one.followed = end - begin;
    }
    found
}

struct Walk<'r, 'a> {
    replay: &'r ReplayView<'a>,
    keys: Vec<u64>,
    came_with: Vec<Option<usize>>,
}

/// A block that is no thinking, and how it stands: it opens a message if thinking before it did.
struct Step {
    key: u64,
    opens: Option<Role>,
    place: usize,
}

impl Walk<'_, '_> {
    /// Whether so much time passed between two requests that nothing of the first was cached any more.
    fn paused(&self, last: &Request, request: &Request) -> bool {
        let conversation = self.replay.conversation;
        let times = conversation.calls[last.call].time.zip(conversation.asked(request.call));
        times.is_some_and(|(answered, asked)| asked - answered > LONGEST_LIFETIME * MINUTE)
    }

    /// `sent` is this request, and `old` are the blocks of the one before behind those they have in common.
    fn broken(&self, last: &Request, request: &Request, sent: &RequestCursor, old: &[SentBlock]) -> Option<Break> {
        let then = &request.delta.appended;
        let (mut before, mut after) = (self.steps(old), self.steps(then));
        let (was, is) = loop {
            let (was, is) = (before.next()?, after.next());
            if is.as_ref().is_none_or(|is| (is.key, is.opens) != (was.key, was.opens)) {
                break (was, is);
            }
        };
        let place = is.as_ref().map_or(then.len(), |is| is.place);
        let opened = |blocks: &[SentBlock]| blocks.iter().filter(|sent| sent.opens.is_some()).count();
        let kept = sent.blocks().len() - then.len();
        let message = opened(&sent.blocks()[..kept + (place + 1).min(then.len())]).saturating_sub(1);
        let layer = self.layer_that_touched(message, last, request)?;
        let since = self.replay.conversation.calls[last.call].response;
        let is_new = |block: BlockId| self.came_with[block.index()].is_some_and(|came_with| came_with >= since);
        let tokens = |sent: &SentBlock| (self.replay.tokens)(sent.block);
        let by_itself = |sent: &&SentBlock| {
            let mut left = request.changes.iter().filter(|change| change.cause == Cause::Record);
            left.any(|change| change.removed.contains(&sent.block))
        };
        let was_sent: u64 = old.iter().filter(|sent| !by_itself(sent)).map(tokens).sum();
        let stays: u64 = then.iter().filter(|sent| !is_new(sent.block)).map(tokens).sum();
        Some(Break {
            call: request.call,
            layer,
            rebilled: then[place..].iter().filter(|sent| !is_new(sent.block)).map(tokens).sum(),
            saved: (was_sent + self.never_sent(request, is_new)) as i64 - stays as i64,
            old: old[was.place].block,
            new: is.map(|is| then[is.place].block),
            followed: 0,
        })
    }

    /// Tokens of what entered, and that a layer took out before it was sent.
    fn never_sent(&self, request: &Request, is_new: impl Fn(BlockId) -> bool) -> u64 {
        let changes = request.edits();
        let taken = changes.filter(|change| change.cause != Cause::Record && change.kind != ChangeKind::Rewrite);
        let gone = taken.flat_map(|change| change.removed.iter().filter(|block| !change.added.contains(block)));
        gone.filter(|block| is_new(**block)).map(|block| (self.replay.tokens)(*block)).sum()
    }

    fn steps<'s>(&'s self, blocks: &'s [SentBlock]) -> impl Iterator<Item = Step> + 's {
        let mut opens = None;
        blocks.iter().enumerate().filter_map(move |(place, sent)| {
            opens = sent.opens.or(opens);
            let solid = self.replay.block(sent.block).kind != Kind::Thinking;
            solid.then(|| Step { key: self.keys[sent.block.index()], opens: opens.take(), place })
        })
    }

    /// The layer whose edit reached this message. Where none edited this request, one that had edited the view of the request before
    /// and no longer does.
    fn layer_that_touched(&self, message: usize, last: &Request, request: &Request) -> Option<usize> {
        let policy = self.replay.policy;
        let gone = || last.view.iter().find_map(|change| prefix_edit(policy, change));
        layer_that_touched(policy, request, message).or_else(gone)
    }
}
