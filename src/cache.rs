//! A provider's prompt cache, simulated over what a replay sent: what each request reads from it, and what it writes.
//!
//! A request reads the longest prefix that it shares, block by block, with an earlier request whose prefix is still alive by
//! the recorded clock; the rest is written. So an edit of an old message is paid for with everything behind it, once.
//! Providers differ in where they look: see [`Provider`].
//!
//! Anthropic reads only what a request before was marked for. A harness that marks just behind what its next edit will spare
//! reads the longest common prefix: that is [`Served::read`], the best that marks can do. One that marks the ends of its
//! requests, as Claude Code does, finds nothing in their middle, and after an edit reads system prompt and tools alone:
//! [`Served::read_at_ends`]. The recordings have four results cleared in mid-conversation, and all four read just that.
//!
//! What is simulated:
//! * **Time.** A prefix lives so many minutes after the response that used it last, until the next request is asked. Without a
//!   clock in the record it lives for ever.
//! * **System prompt and tools** stand before the messages, never change, and are read even where no message is. The record
//!   tells how much of them had been cached before the conversation began.
//! * **Thinking** that providers drop when the next turn begins does not break the prefix: in recordings 104 of 109 such turns
//!   read the request before all the same.
//! * **Edits on the server** ([`crate::layer::Scope::Server`]) leave the prefix as it was.
//! * Another **model** has a cache of its own.
//!
//! What is not: calls that the record does not hold (a harness asking for a title warms and refreshes the cache unseen), routing
//! to a server that does not have the prefix, explicit caches with storage by the hour.

mod prefixes;
mod provider;

use xxhash_rust::xxh3::xxh3_64;

use crate::context::{Cause, Change, ChangeKind};
use crate::conversation::{Block, BlockId, Conversation, Kind};
use crate::journal::{Journal, Request, SentBlock};
use crate::policy::Policy;

use prefixes::{Prefixes, Step};
pub use provider::{OTHER, PROVIDERS, Provider};

/// By what rules one call's request is cached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    pub provider: &'static Provider,
    /// The shortest prefix that is cached, in tokens.
    pub min_tokens: u64,
    /// Prefixes are kept for the longer time, which costs more.
    pub long: bool,
    /// Tells models apart: each has a cache of its own.
    pub model: usize,
}

/// What is simulated: a replay, and how its requests were cached.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    pub conversation: &'a Conversation,
    pub policy: &'a Policy,
    pub journal: &'a Journal,
    /// By call of the conversation.
    pub terms: &'a [Terms],
    pub before: Before,
    /// The size of a block in any unit that adds up; tokens are shared out by it.
    pub size: &'a dyn Fn(BlockId) -> u64,
}

/// What the cache held when the conversation began, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Before {
    /// Read by the first request: system prompt and tools that others had used, or, of a fork, the conversation it forked.
    pub warm: u64,
    /// What can be read of system prompt and tools where the first message is another one.
    pub stable: u64,
}

impl Before {
    /// As the record tells: what the first call read, and the least that any later call read. Where it tells nothing, all of
    /// `overhead` is stable and none of it was there.
    pub fn of(conversation: &Conversation, overhead: u64) -> Self {
        let mut reads = conversation
            .calls
            .iter()
            .filter_map(|call| call.usage)
            .filter(|usage| usage.request() > 0)
            .map(|usage| usage.cache_read);
        let warm = reads.next().unwrap_or_default();
        let least = reads.filter(|read| *read > 0).min();
        Self { warm, stable: least.map_or(overhead, |least| least.min(overhead)) }
    }
}

/// What became of one request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Served {
    pub call: usize,
    /// Tokens of the request, system prompt and tools included.
    pub tokens: u64,
    /// It is long enough to be cached: what it does not read it writes.
    pub is_cached: bool,
    /// Tokens read from the cache, if prefixes are marked wherever that helps.
    pub read: u64,
    /// Tokens read if they are marked at the ends of requests only; for providers that need no marks the same.
    pub read_at_ends: u64,
    /// Tokens of the request before, if they could still be read when this call began; else 0.
    pub ready: u64,
    /// The prefix of the request before had died.
    pub expired: bool,
    pub broken: Option<Break>,
}

/// A prefix that was alive, and that an edit made unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Break {
    /// The layer that touched the first message that differs, by its index in the policy.
    pub layer: Option<usize>,
    /// Tokens that are written and did not enter since the last request: what had been sent before, and what edits put in.
    pub rebilled: u64,
    /// Tokens that the edits took out of the request; negative where they put some in. Thinking that left by itself is not
    /// among them.
    pub freed: i64,
}

/// Simulates the cache over a replay: one entry a request.
pub fn serve(setup: &Setup) -> Vec<Served> {
    let mut cache = Cache::new(setup);
    setup.journal.requests.iter().map(|request| cache.serve(request)).collect()
}

struct Cache<'a> {
    setup: Setup<'a>,
    keys: Vec<u64>,
    /// By block: the message of the conversation that it came with, it or what it stands in place of.
    came_with: Vec<Option<usize>>,
    prefixes: Prefixes,
    last: Option<Last>,
}

/// The request before.
struct Last {
    call: usize,
    tokens: u64,
    is_cached: bool,
    model: usize,
    /// Its blocks that are part of a prefix.
    solid: usize,
    answered: Option<i64>,
}

/// Milliseconds in a minute.
const MINUTE: f64 = 60_000.0;

impl<'a> Cache<'a> {
    fn new(setup: &Setup<'a>) -> Self {
        Self { setup: *setup, keys: keys(setup), came_with: came_with(setup), prefixes: Prefixes::default(), last: None }
    }

    fn serve(&mut self, request: &Request) -> Served {
        let conversation = self.setup.conversation;
        let terms = self.setup.terms[request.call];
        let asked = conversation.asked(request.call);
        let lifetime = (terms.provider.lifetime(terms.long) * MINUTE) as i64;
        // Without a clock every prefix is as young as the request.
        let oldest = asked.map_or(i64::MIN, |asked| asked - lifetime);
        let last = self.last.take();
        let used = last.as_ref().and_then(|last| last.answered).unwrap_or(i64::MAX);
        let tail = self.steps(&request.tail.then);
        let shared = self.prefixes.advance(terms.model, request.tail.kept, &tail, used, oldest);
        let expired = used < oldest;
        let [read, read_at_ends] = match &last {
            None => [self.setup.before.warm.min(request.tokens); 2],
            Some(last) => self.reads(request, &terms, shared, last, expired),
        };
        let alive = last.as_ref().filter(|last| last.is_cached && last.model == terms.model && !expired);
        let ready = alive.map_or(0, |last| last.tokens);
        let broken = alive.and_then(|last| self.broken(request, last, shared, read));
        let is_cached = request.tokens >= terms.min_tokens;
        if is_cached {
            self.prefixes.mark_end();
        }
        self.last = Some(Last {
            call: request.call,
            tokens: request.tokens,
            is_cached,
            model: terms.model,
            solid: self.prefixes.solid_in(self.prefixes.len()),
            answered: conversation.calls[request.call].time.or(asked),
        });
        Served { call: request.call, tokens: request.tokens, is_cached, read, read_at_ends, ready, expired, broken }
    }

    /// Tokens of the prefix that the provider finds, of which the first `shared` blocks are alive: with marks wherever they help,
    /// and with marks at the ends of requests only.
    fn reads(&self, request: &Request, terms: &Terms, shared: usize, last: &Last, expired: bool) -> [u64; 2] {
        let Provider { look_back, step, .. } = *terms.provider;
        let overhead = self.setup.journal.overhead;
        let known = |at_least: u64| if last.model == terms.model { at_least } else { 0 };
        let read = |found: usize, at_least: u64| {
            let prefix = if found == 0 { known(at_least) } else { overhead + self.tokens(request, self.prefixes.size_of(found)) };
            let read = prefix.min(request.tokens) / step * step;
            if expired || read < terms.min_tokens { 0 } else { read }
        };
        let anywhere = read(shared, overhead);
        let at_ends = look_back.map_or(anywhere, |blocks| {
            // The last request's end is marked once more: the search begins there, too.
            let reach = blocks + self.entered(last.call, request).count();
            read(self.prefixes.end_within(shared, reach), self.setup.before.stable)
        });
        [anywhere, at_ends]
    }

    /// What the edits before this request made unreadable.
    fn broken(&self, request: &Request, last: &Last, shared: usize, read: u64) -> Option<Break> {
        if self.prefixes.solid_in(shared) >= last.solid {
            return None;
        }
        let since = self.setup.conversation.calls[last.call].response;
        let size = |block| (self.setup.size)(block);
        let entered = self.tokens(request, self.entered(last.call, request).map(size).sum());
        let by_itself = request.changes.iter().filter(|change| change.cause == Cause::Record).flat_map(|change| &change.removed);
        let was_sent = |block: &&BlockId| self.came_with[block.index()].is_none_or(|message| message < since);
        let left = self.tokens(request, by_itself.filter(was_sent).map(|block| size(*block)).sum());
        Some(Break {
            layer: self.layer_that_touched(request, self.prefixes.message_behind(shared)),
            rebilled: request.tokens.saturating_sub(entered + read),
            freed: (last.tokens + entered) as i64 - (request.tokens + left) as i64,
        })
    }

    /// The layer whose edit reached this message: the nearest before it, else the first of all.
    fn layer_that_touched(&self, request: &Request, message: usize) -> Option<usize> {
        let edits = request.changes.iter().chain(&request.view).filter_map(|change| match change.cause {
            Cause::Layer(layer) if !self.setup.policy.layers[layer].edits_on_server() => Some((change.at, layer)),
            _ => None,
        });
        let nearest = edits.clone().filter(|(at, _)| *at <= message).max_by_key(|(at, _)| *at);
        nearest.or_else(|| edits.min_by_key(|(at, _)| *at)).map(|(_, layer)| layer)
    }

    /// The blocks of a request that came after the request of an earlier call: its response and what entered.
    fn entered(&self, earlier: usize, request: &Request) -> impl Iterator<Item = BlockId> {
        let since = self.setup.conversation.calls[earlier].response;
        let is_new = move |block: &BlockId| self.came_with[block.index()].is_some_and(|message| message >= since);
        request.tail.then.iter().map(|sent| sent.block).filter(is_new)
    }

    /// What a request counts is shared out by size: sizes need not be tokens.
    fn tokens(&self, request: &Request, size: u64) -> u64 {
        let (body, whole) =
            (request.tokens.saturating_sub(self.setup.journal.overhead), self.prefixes.size_of(self.prefixes.len()));
        if whole == 0 { 0 } else { (body as f64 * size as f64 / whole as f64).round() as u64 }
    }

    /// A message is opened by its first block that is not thinking: it is the same message when thinking has left.
    fn steps(&self, blocks: &[SentBlock]) -> Vec<Step> {
        let mut opens = None;
        let step = |sent: &SentBlock| {
            opens = sent.opens.or(opens);
            let transparent = self.block(sent.block).kind == Kind::Thinking;
            let opened = if transparent { None } else { opens.take() };
            Step {
                key: self.keys[sent.block.index()].rotate_left(8) ^ opened.map_or(0, |role| 1 + role as u64),
                size: (self.setup.size)(sent.block),
                opens_message: sent.opens.is_some(),
                transparent,
            }
        };
        blocks.iter().map(step).collect()
    }

    fn block(&self, id: BlockId) -> &Block {
        let recorded = &self.setup.conversation.blocks;
        recorded.get(id.index()).unwrap_or_else(|| &self.setup.journal.made[id.index() - recorded.len()].block)
    }
}

/// By block; `None` for what layers and recorded compactions wrote.
fn came_with(setup: &Setup) -> Vec<Option<usize>> {
    let mut came_with = vec![None; setup.conversation.blocks.len()];
    for (place, message) in setup.conversation.messages.iter().enumerate() {
        for block in &message.blocks {
            came_with[block.index()] = Some(place);
        }
    }
    for made in &setup.journal.made {
        came_with.push(made.instead_of.and_then(|block| came_with[block.index()]));
    }
    came_with
}

/// By block: the same for the same content. A recorded block is told by its number; what a layer wrote, and may write again,
/// by its text; what it wrote on the provider's side, by the block it stands in place of.
fn keys(setup: &Setup) -> Vec<u64> {
    let recorded = 0..setup.conversation.blocks.len() as u64;
    let made = setup.journal.made.iter().map(|made| xxh3_64(made.block.wire.to_string().as_bytes()));
    let mut keys: Vec<u64> = recorded.map(|id| xxh3_64(&id.to_le_bytes())).chain(made).collect();
    for change in setup.journal.requests.iter().flat_map(|request| request.changes.iter().chain(&request.view)) {
        let Change { kind: ChangeKind::Rewrite, cause: Cause::Layer(layer), removed, added, .. } = change else { continue };
        if setup.policy.layers[*layer].edits_on_server() {
            for (old, new) in removed.iter().zip(added) {
                keys[new.index()] = keys[old.index()];
            }
        }
    }
    keys
}
