//! A provider's prompt cache, simulated over what a replay sent: what each request reads from it, and what it writes.
//!
//! A request reads the longest prefix that it shares, block by block, with an earlier request whose prefix is still alive by
//! the recorded clock; the rest is written. So an edit of an old message is paid for with everything behind it, once.
//! Providers differ in where they look: see [`Provider`].
//!
//! Anthropic reads only what a request before was marked for. A harness that marks just behind what its next edit will spare
//! reads the longest common prefix: that is [`CacheUse::read`], the best that marks can do. One that marks the ends of its
//! requests, as Claude Code does, finds nothing in their middle, and after an edit reads system prompt and tools alone:
//! [`CacheUse::read_at_ends`]. The recordings have four results cleared in mid-conversation, and all four read just that.
//!
//! What is simulated:
//! * **Time.** A prefix lives so many minutes after the response that used it last, until the next request is asked. Without a
//!   clock in the record it lives for ever.
//! * **System prompt and tools** stand before the messages, never change, and are read even where no message is. The record
//!   tells how much of them had been cached before the conversation began.
//! * **Thinking** that providers drop when the next turn begins breaks the prefix with some ([`Provider::reads_past_thinking`]):
//!   in recordings 104 of 109 such turns of Claude read the request before all the same, and 9 of 9 of GPT-5.6, but 9 of 21 of
//!   GPT-5.5.
//! * **Edits on the server** ([`crate::engine::layer::Scope::Server`]) leave the prefix as it was.
//! * Another **model** has a cache of its own.
//!
//! What is not: calls that the record does not hold (a harness asking for a title warms and refreshes the cache unseen), routing
//! to a server that does not have the prefix, explicit caches with storage by the hour.

mod blocks;
mod prefixes;
mod provider;

use serde::{Deserialize, Serialize};

use crate::engine::context::{Cause, Change};
use crate::engine::journal::{Journal, Request, SentBlock};
use crate::engine::policy::Policy;
use crate::transcript::conversation::{BlockId, Conversation, MINUTE};

use blocks::BlockInfo;
pub(crate) use blocks::{came_with, keys};
use prefixes::Prefixes;
pub use provider::{OTHER, PROVIDERS, Provider};

/// By what rules one call's request is cached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheTerms {
    pub provider: &'static Provider,
    /// The shortest prefix that is cached, in tokens.
    pub min_tokens: u64,
    /// Prefixes are kept for the longer time, which costs more.
    pub long: bool,
    /// Models are numbered from 0: each has a cache of its own.
    pub model: usize,
}

/// What is simulated: a replay, and how its requests were cached.
#[derive(Clone, Copy)]
pub struct CacheSetup<'a> {
    pub conversation: &'a Conversation,
    pub policy: &'a Policy,
    pub journal: &'a Journal,
    /// By call of the conversation.
    pub terms: &'a [CacheTerms],
    pub before: InitialState,
    /// The size of a block in any unit that adds up; tokens are shared out by it.
    pub size: &'a dyn Fn(BlockId) -> u64,
}

/// What the cache held when the conversation began, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InitialState {
    /// Read by the first request: system prompt and tools that others had used, or, of a fork, the conversation it forked.
    pub warm: u64,
    /// What can be read of system prompt and tools where the first message is another one.
    pub stable: u64,
}

impl InitialState {
    /// As the record tells: what the first call read, and the least that any later call read. Where it tells nothing, all of
    /// `overhead` is stable and none of it was there.
    pub fn from_record(conversation: &Conversation, overhead: u64) -> Self {
        let mut reads = conversation.calls.iter().filter_map(|call| call.billed()).map(|usage| usage.cache_read);
        let warm = reads.next().unwrap_or_default();
        let least = reads.filter(|read| *read > 0).min();
        Self { warm, stable: least.map_or(overhead, |least| least.min(overhead)) }
    }
}

/// What became of one request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheUse {
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

/// A prefix that was alive, and that a layer's edit made unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Break {
    /// The layer that touched the first message that differs, by its index in the policy.
    pub layer: usize,
    /// Tokens that are written and did not enter since the last request: what had been sent before, and what edits put in.
    pub rebilled: u64,
    /// Tokens that the edits took out of the request; negative where they put some in. Thinking that left by itself is not
    /// among them.
    pub freed: i64,
}

/// Simulates the cache over a replay: one entry a request.
pub fn simulate(setup: &CacheSetup) -> Vec<CacheUse> {
    let mut simulator = Simulator { setup: *setup, blocks: BlockInfo::new(setup), sent: Vec::new(), models: Vec::new() };
    setup.journal.requests.iter().map(|request| simulator.simulate_request(request)).collect()
}

struct Simulator<'a> {
    setup: CacheSetup<'a>,
    blocks: BlockInfo<'a>,
    /// The blocks of the last request.
    sent: Vec<SentBlock>,
    models: Vec<ModelCache>,
}

/// What one model has in its cache.
#[derive(Default)]
struct ModelCache {
    prefixes: Prefixes,
    /// Its last request, and how many of that one's first blocks have stood in every request since.
    last: Option<Previous>,
    shared_prefix: usize,
}

struct Previous {
    call: usize,
    tokens: u64,
    is_cached: bool,
    /// Its blocks that are part of a prefix.
    solid: usize,
    answered_at: Option<i64>,
}

impl Simulator<'_> {
    fn simulate_request(&mut self, request: &Request) -> CacheUse {
        let is_first = self.sent.is_empty();
        self.sent.truncate(request.delta.shared_prefix);
        self.sent.extend(&request.delta.appended);
        let terms = self.setup.terms[request.call];
        if self.models.len() <= terms.model {
            self.models.resize_with(terms.model + 1, ModelCache::default);
        }
        for model in &mut self.models {
            model.shared_prefix = model.shared_prefix.min(request.delta.shared_prefix);
        }
        let mut model = std::mem::take(&mut self.models[terms.model]);
        let cache_use = self.simulate_model(&mut model, &terms, request, is_first);
        model.shared_prefix = self.sent.len();
        self.models[terms.model] = model;
        cache_use
    }

    fn simulate_model(&self, model: &mut ModelCache, terms: &CacheTerms, request: &Request, is_first: bool) -> CacheUse {
        let conversation = self.setup.conversation;
        let asked_at = conversation.asked(request.call);
        let lifetime = (terms.provider.lifetime(terms.long) * MINUTE as f64) as i64;
        // Without a clock every prefix is as young as the request.
        let oldest = asked_at.map_or(i64::MIN, |asked_at| asked_at - lifetime);
        let last = model.last.take();
        let last_used = last.as_ref().and_then(|last| last.answered_at).unwrap_or(i64::MAX);
        let tail = &self.sent[model.shared_prefix..];
        let shared =
            model.prefixes.advance(model.shared_prefix, self.blocks.prefix_steps(tail, terms.provider), last_used, oldest);
        let expired = last_used < oldest;
        let view = RequestView { cache: self, prefixes: &model.prefixes, request, tail, shared };
        let [read, read_at_ends] = match &last {
            _ if expired => [0, 0],
            None if is_first => [view.readable_tokens(terms, self.setup.before.warm); 2],
            None => [0, 0],
            Some(last) => view.reads(terms, last),
        };
        let alive = last.as_ref().filter(|last| last.is_cached && !expired);
        let broken = alive.and_then(|last| view.find_break(last, read));
        let is_cached = request.tokens >= terms.min_tokens;
        let cache_use = CacheUse {
            call: request.call,
            tokens: request.tokens,
            is_cached,
            read,
            read_at_ends,
            ready: alive.map_or(0, |last| last.tokens),
            expired,
            broken,
        };
        if is_cached {
            model.prefixes.mark_end();
        }
        model.last = Some(Previous {
            call: request.call,
            tokens: request.tokens,
            is_cached,
            solid: model.prefixes.solid_in(model.prefixes.len()),
            answered_at: conversation.calls[request.call].time.or(asked_at),
        });
        cache_use
    }
}

/// A request on the path of its model's prefixes.
struct RequestView<'a> {
    cache: &'a Simulator<'a>,
    prefixes: &'a Prefixes,
    request: &'a Request,
    /// The blocks behind those it has in common with the model's last request.
    tail: &'a [SentBlock],
    /// How many of its first blocks are alive.
    shared: usize,
}

impl RequestView<'_> {
    /// Tokens read: with marks wherever they help, and with marks at the ends of requests only.
    fn reads(&self, terms: &CacheTerms, last: &Previous) -> [u64; 2] {
        let overhead = self.cache.setup.journal.overhead;
        let read = |blocks: usize, at_least: u64| {
            let prefix = if blocks == 0 { at_least } else { overhead + self.tokens(self.prefixes.size_of(blocks)) };
            self.readable_tokens(terms, prefix)
        };
        let anywhere = read(self.shared, overhead);
        let at_ends = terms.provider.look_back.map_or(anywhere, |blocks| {
            // The last request's end is marked once more: the search begins there, too.
            let reach = blocks + self.new_blocks(last).count();
            read(self.prefixes.end_within(self.shared, reach), self.cache.setup.before.stable)
        });
        [anywhere, at_ends]
    }

    /// What the provider finds of a prefix that is there.
    fn readable_tokens(&self, terms: &CacheTerms, prefix: u64) -> u64 {
        let read = prefix.min(self.request.tokens) / terms.provider.step * terms.provider.step;
        if read < terms.min_tokens { 0 } else { read }
    }

    /// What the edits before this request made unreadable.
    fn find_break(&self, last: &Previous, read: u64) -> Option<Break> {
        if self.prefixes.solid_in(self.shared) >= last.solid {
            return None;
        }
        let layer = layer_that_touched(self.cache.setup.policy, self.request, self.prefixes.message_behind(self.shared))?;
        let Self { cache, request, .. } = self;
        let size = |block| (cache.setup.size)(block);
        let new_tokens = self.tokens(self.new_blocks(last).map(size).sum());
        let by_itself = request.changes.iter().filter(|change| change.cause == Cause::Record).flat_map(|change| &change.removed);
        let since = cache.setup.conversation.calls[last.call].response;
        let was_sent = |block: &&BlockId| !cache.blocks.came_since(**block, since);
        let dropped_by_itself = self.tokens(by_itself.filter(was_sent).map(|block| size(*block)).sum());
        Some(Break {
            layer,
            rebilled: request.tokens.saturating_sub(new_tokens + read),
            freed: (last.tokens + new_tokens) as i64 - (request.tokens + dropped_by_itself) as i64,
        })
    }

    /// The blocks that came after the model's last request: its response and what entered.
    fn new_blocks(&self, last: &Previous) -> impl Iterator<Item = BlockId> {
        let since = self.cache.setup.conversation.calls[last.call].response;
        let blocks = self.tail.iter().map(|sent| sent.block);
        blocks.filter(move |block| self.cache.blocks.came_since(*block, since))
    }

    /// What a request counts is shared out by size: sizes need not be tokens.
    fn tokens(&self, size: u64) -> u64 {
        let body = self.request.tokens.saturating_sub(self.cache.setup.journal.overhead);
        let whole = self.prefixes.size_of(self.prefixes.len());
        if whole == 0 { 0 } else { (body as f64 * size as f64 / whole as f64).round() as u64 }
    }
}

/// The layer whose edit reached a message of a request: the nearest before it, else the first of all. Edits on the provider's side
/// leave the prefix as it was.
pub(crate) fn layer_that_touched(policy: &Policy, request: &Request, message: usize) -> Option<usize> {
    let edits = request.edits().filter_map(|change| prefix_edit(policy, change).map(|layer| (change.at, layer)));
    let nearest = edits.clone().filter(|(at, _)| *at <= message).max_by_key(|(at, _)| *at);
    nearest.or_else(|| edits.min_by_key(|(at, _)| *at)).map(|(_, layer)| layer)
}

/// The layer that made an edit, if a cached prefix can break on it.
pub(crate) fn prefix_edit(policy: &Policy, change: &Change) -> Option<usize> {
    match change.cause {
        Cause::Layer(layer) if !policy.layers[layer].edits_on_server() => Some(layer),
        _ => None,
    }
}
