//! Simulates a provider's prompt cache over a replay: what each request reads from the cache, and what it writes.
//!
//! A request reads the longest prefix that it shares, block by block, with an earlier request whose prefix has not expired by
//! the recorded clock; the rest is written. So an edit of an old message causes everything after it to be written once more.
//! Providers differ in where they look for a prefix: see [`Provider`].
//!
//! Anthropic reads only up to a cache breakpoint of an earlier request. A harness that sets breakpoints at the ends of its
//! requests, as Claude Code does, finds nothing in their middle, and after an edit reads only system prompt and tools:
//! [`CacheUse::read_at_ends`]. The recordings have four results cleared in the middle of a conversation, and all four read
//! exactly this. A harness that sets a breakpoint just before the part that its next edit changes reads the longest common
//! prefix: [`CacheUse::read_at_best`], the best that breakpoints can give. A policy says which of them holds for
//! [`CacheUse::read`] ([`Breakpoints`]).
//!
//! What is simulated:
//! * **Time.** A prefix lives for a number of minutes after the last response that used it, until the next request is sent.
//!   Without a clock in the recording it lives forever.
//! * **System prompt and tools** precede the messages, never change, and can be read even if no message can. The recording
//!   shows how much of them was cached before the conversation began.
//! * **Thinking** that providers drop when the next turn begins breaks the prefix with some providers
//!   ([`Provider::reads_past_thinking`]): in recordings 104 of 109 such turns of Claude still read the previous request, and
//!   9 of 9 of GPT-5.6, but only 9 of 21 of GPT-5.5.
//! * **Edits on the server** ([`crate::engine::layer::Scope::Server`]) do not change the prefix.
//! * Each **model** has its own cache.
//!
//! What is not simulated: calls that are not in the recording (a harness that asks for a title warms and refreshes the cache
//! unseen), routing to a server that does not have the prefix, and explicit caches with storage billed by the hour.

mod blocks;
mod prefixes;
mod provider;

use serde::{Deserialize, Serialize};

use crate::engine::context::{Cause, Change};
use crate::engine::journal::{Journal, Request, SentBlock};
use crate::engine::policy::{Breakpoints, Policy};
use crate::transcript::conversation::{BlockId, Conversation, MINUTE};

use blocks::BlockInfo;
pub(crate) use blocks::{came_with, keys};
use prefixes::Prefixes;
pub use provider::{OTHER, PROVIDERS, Provider};

/// Cache rules for the request of one call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheTerms {
    pub provider: &'static Provider,
    /// Tokens of the shortest prefix that is cached.
    pub min_tokens: u64,
    /// Prefixes are kept for the longer lifetime, which costs more.
    pub long: bool,
    /// Number of the model, from 0: each model has its own cache.
    pub model: usize,
}

/// Input of the simulation: a replay, and how its requests are cached.
#[derive(Clone, Copy)]
pub struct CacheSetup<'a> {
    pub conversation: &'a Conversation,
    pub policy: &'a Policy,
    pub journal: &'a Journal,
    /// By call of the conversation.
    pub terms: &'a [CacheTerms],
    pub initial: InitialState,
    /// Returns the size of a block in any additive unit; the tokens of a request are divided in proportion to it.
    pub size: &'a dyn Fn(BlockId) -> u64,
}

/// Tokens in the cache when the conversation began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InitialState {
    /// Tokens that the first request reads: system prompt and tools cached by other sessions, or, for a fork, the
    /// conversation it forked.
    pub warm: u64,
    /// Tokens of system prompt and tools that can be read if the first message is a different one.
    pub stable: u64,
}

impl InitialState {
    /// Reads the state from the record: what the first call read, and the least that any later call read. If the record does
    /// not show it, all of `overhead` is stable and nothing was cached.
    pub fn from_record(conversation: &Conversation, overhead: u64) -> Self {
        let mut reads = conversation.calls.iter().filter_map(|call| call.billed()).map(|usage| usage.cache_read);
        let warm = reads.next().unwrap_or_default();
        let least = reads.filter(|read| *read > 0).min();
        Self { warm, stable: least.map_or(overhead, |least| least.min(overhead)) }
    }
}

/// Cache use of one request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheUse {
    pub call: usize,
    /// Tokens of the request, system prompt and tools included.
    pub tokens: u64,
    /// The request is long enough to be cached: it writes what it does not read.
    pub is_cached: bool,
    /// Tokens read from the cache, with breakpoints where the policy sets them.
    pub read: u64,
    /// Tokens read with breakpoints at the best places.
    pub read_at_best: u64,
    /// Tokens read with breakpoints at the ends of requests; equal to `read_at_best` for providers without breakpoints.
    pub read_at_ends: u64,
    /// Tokens of the previous request, if they could still be read when this call began; else 0.
    pub ready: u64,
    /// The prefix of the previous request had expired.
    pub expired: bool,
    pub broken: Option<CacheBreak>,
}

/// A cached prefix that a layer's edit made unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheBreak {
    /// Index of the layer that changed the first message that differs.
    pub layer: usize,
    /// Tokens written that did not enter since the last request: tokens sent before, and tokens that edits inserted.
    pub rebilled: u64,
    /// Tokens that the edits removed from the request; negative if they added tokens. Does not include thinking that the
    /// provider dropped.
    pub freed: i64,
}

/// Simulates the cache over a replay. Returns one entry per request.
pub fn simulate(setup: &CacheSetup) -> Vec<CacheUse> {
    let mut simulator = Simulator { setup: *setup, blocks: BlockInfo::new(setup), sent: Vec::new(), models: Vec::new() };
    setup.journal.requests.iter().map(|request| simulator.simulate_request(request)).collect()
}

struct Simulator<'a> {
    setup: CacheSetup<'a>,
    blocks: BlockInfo<'a>,
    /// Blocks of the last request.
    sent: Vec<SentBlock>,
    models: Vec<ModelCache>,
}

/// Cache of one model.
#[derive(Default)]
struct ModelCache {
    prefixes: Prefixes,
    /// Its last request, and how many first blocks of that request all requests since have shared.
    last: Option<Previous>,
    shared_prefix: usize,
}

struct Previous {
    call: usize,
    tokens: u64,
    is_cached: bool,
    /// Number of its blocks that are part of a prefix.
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
        let asked_at = conversation.requested_at(request.call);
        let lifetime = (terms.provider.lifetime(terms.long) * MINUTE as f64) as i64;
        // Without a clock no prefix expires.
        let oldest = asked_at.map_or(i64::MIN, |asked_at| asked_at - lifetime);
        let last = model.last.take();
        let last_used = last.as_ref().and_then(|last| last.answered_at).unwrap_or(i64::MAX);
        let tail = &self.sent[model.shared_prefix..];
        let shared =
            model.prefixes.advance(model.shared_prefix, self.blocks.prefix_steps(tail, terms.provider), last_used, oldest);
        let expired = last_used < oldest;
        let view = RequestView { simulator: self, prefixes: &model.prefixes, request, tail, shared };
        let [read_at_best, read_at_ends] = match &last {
            _ if expired => [0, 0],
            None if is_first => [view.readable_tokens(terms, self.setup.initial.warm); 2],
            None => [0, 0],
            Some(last) => view.reads(terms, last),
        };
        let read = match self.setup.policy.cache.breakpoints {
            Breakpoints::Ends => read_at_ends,
            Breakpoints::Best => read_at_best,
        };
        let alive = last.as_ref().filter(|last| last.is_cached && !expired);
        let broken = alive.and_then(|last| view.find_break(last, read));
        let is_cached = request.tokens >= terms.min_tokens;
        let cache_use = CacheUse {
            call: request.call,
            tokens: request.tokens,
            is_cached,
            read,
            read_at_best,
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

/// A request and its position in its model's prefixes.
struct RequestView<'a> {
    simulator: &'a Simulator<'a>,
    prefixes: &'a Prefixes,
    request: &'a Request,
    /// Blocks after those shared with the model's last request.
    tail: &'a [SentBlock],
    /// Number of its first blocks whose prefix is alive.
    shared: usize,
}

impl RequestView<'_> {
    /// Returns the tokens read: with breakpoints at the best places, and with breakpoints at the ends of requests only.
    fn reads(&self, terms: &CacheTerms, last: &Previous) -> [u64; 2] {
        let overhead = self.simulator.setup.journal.overhead;
        let read = |blocks: usize, at_least: u64| {
            let prefix = if blocks == 0 { at_least } else { overhead + self.tokens(self.prefixes.size_of(blocks)) };
            self.readable_tokens(terms, prefix)
        };
        let anywhere = read(self.shared, overhead);
        let at_ends = terms.provider.look_back.map_or(anywhere, |blocks| {
            // The end of the last request is marked again, so the search also begins there.
            let reach = blocks + self.new_blocks(last).count();
            read(self.prefixes.end_within(self.shared, reach), self.simulator.setup.initial.stable)
        });
        [anywhere, at_ends]
    }

    /// Returns the tokens that the provider reads of a cached prefix.
    fn readable_tokens(&self, terms: &CacheTerms, prefix: u64) -> u64 {
        let read = prefix.min(self.request.tokens) / terms.provider.step * terms.provider.step;
        if read < terms.min_tokens { 0 } else { read }
    }

    /// Returns the prefix that edits before this request made unreadable.
    fn find_break(&self, last: &Previous, read: u64) -> Option<CacheBreak> {
        if self.prefixes.solid_in(self.shared) >= last.solid {
            return None;
        }
        let layer = layer_that_touched(self.simulator.setup.policy, self.request, self.prefixes.message_behind(self.shared))?;
        let Self { simulator, request, .. } = self;
        let size = |block| (simulator.setup.size)(block);
        let new_tokens = self.tokens(self.new_blocks(last).map(size).sum());
        let by_itself = request.changes.iter().filter(|change| change.cause == Cause::Record).flat_map(|change| &change.removed);
        let since = simulator.setup.conversation.calls[last.call].response;
        let was_sent = |block: &&BlockId| !simulator.blocks.came_since(**block, since);
        let dropped_by_itself = self.tokens(by_itself.filter(was_sent).map(|block| size(*block)).sum());
        Some(CacheBreak {
            layer,
            rebilled: request.tokens.saturating_sub(new_tokens + read),
            freed: (last.tokens + new_tokens) as i64 - (request.tokens + dropped_by_itself) as i64,
        })
    }

    /// Returns the blocks that entered after the model's last request: its response and later messages.
    fn new_blocks(&self, last: &Previous) -> impl Iterator<Item = BlockId> {
        let since = self.simulator.setup.conversation.calls[last.call].response;
        let blocks = self.tail.iter().map(|sent| sent.block);
        blocks.filter(move |block| self.simulator.blocks.came_since(*block, since))
    }

    /// Converts a size to tokens: divides the tokens of the request by size, because sizes need not be tokens.
    fn tokens(&self, size: u64) -> u64 {
        let body = self.request.tokens.saturating_sub(self.simulator.setup.journal.overhead);
        let whole = self.prefixes.size_of(self.prefixes.len());
        if whole == 0 { 0 } else { (body as f64 * size as f64 / whole as f64).round() as u64 }
    }
}

/// Returns the layer whose edit changed a message of a request: the nearest edit before it, else the first edit. Ignores
/// edits on the provider's side, which do not change the prefix.
pub(crate) fn layer_that_touched(policy: &Policy, request: &Request, message: usize) -> Option<usize> {
    let edits = request.edits().filter_map(|change| prefix_edit(policy, change).map(|layer| (change.at, layer)));
    let nearest = edits.clone().filter(|(at, _)| *at <= message).max_by_key(|(at, _)| *at);
    nearest.or_else(|| edits.min_by_key(|(at, _)| *at)).map(|(_, layer)| layer)
}

/// Returns the layer that made an edit, if the edit can invalidate a cached prefix.
pub(crate) fn prefix_edit(policy: &Policy, change: &Change) -> Option<usize> {
    match change.cause {
        Cause::Layer(layer) if !policy.layers[layer].edits_on_server() => Some(layer),
        _ => None,
    }
}
