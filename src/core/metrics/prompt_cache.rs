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
//! * **Thinking** that providers drop when the next turn begins does not break the prefix: in recordings 56 of 81 such turns of GPT
//!   still read the previous request. Thinking that a policy removes after it was sent breaks the prefix like text.
//! * **Edits on the server** ([`crate::engine::layer::Scope::Server`]) do not change the prefix.
//! * Each **model** has its own cache.
//! * What is **behind the last breakpoint** of a recorded request is neither read nor written ([`CacheUse::unwritten`]).
//!
//! * **Cache events** of the record, such as early evictions ([`CacheEvent`]).
//!
//! What is not simulated: calls that are not in the recording (a harness that asks for a title warms and refreshes the cache
//! unseen) and routing to a server that does not have the prefix, except where an event shows them; and explicit caches with
//! storage billed by the hour.

mod blocks;
mod breakpoint;
mod events;
mod prefixes;
mod provider;
mod request_view;

use serde::{Deserialize, Serialize};

use crate::engine::context::{Cause, Change};
use crate::engine::journal::{Journal, Request, RequestCursor};
use crate::engine::policy::{Breakpoints, Policy};
use crate::transcript::conversation::{BlockId, Conversation, MINUTE};

use blocks::BlockInfo;
pub use blocks::{came_with, keys, leaves_by_itself};
use breakpoint::LastBreakpoints;
pub use events::{CacheEvent, CacheEventKind, CacheMode, PrefixEnd};
use prefixes::Prefixes;
pub use provider::{OTHER, PROVIDERS, Provider};
use request_view::{RequestView, SentRequest};

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
    /// Tokens of each request of the journal, by the provider's count as far as the record has one
    /// ([`RecordedRequests::sizes_of`](crate::engine::replay::RecordedRequests::sizes_of)).
    pub request_tokens: &'a [u64],
    /// By call of the conversation.
    pub terms: &'a [CacheTerms],
    pub initial: InitialState,
    /// What happened to the cache for other reasons than its rules, by call in rising order.
    pub events: &'a [CacheEvent],
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
    /// The request is long enough to be cached: it writes what it does not read, but for `unwritten` tokens.
    pub is_cached: bool,
    /// Tokens read from the cache, with breakpoints where the policy sets them.
    pub read: u64,
    /// Tokens read with breakpoints at the best places.
    pub read_at_best: u64,
    /// Tokens read with breakpoints at the ends of requests; equal to `read_at_best` for providers without breakpoints.
    pub read_at_ends: u64,
    /// Tokens at its end, behind its last cache breakpoint, that it does not read: input that the next request writes.
    pub unwritten: u64,
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
    let mut simulator = Simulator::new(setup);
    sized_requests(setup).map(|(request, tokens)| simulator.simulate_request(request, tokens)).collect()
}

/// Simulates the cache over the recorded session, and finds the requests that read something else.
pub fn simulate_record(setup: &CacheSetup) -> (Vec<CacheUse>, Vec<CacheEvent>) {
    let mut simulator = Simulator::new(setup);
    let (mut cache_uses, mut events) = (Vec::new(), Vec::new());
    for (request, tokens) in sized_requests(setup) {
        let simulated = simulator.simulate_request(request, tokens);
        cache_uses.push(simulated);
        let Some(recorded) = setup.conversation.calls[request.call].billed() else { continue };
        if let Some(kind) = CacheEventKind::find(&recorded, &simulated) {
            let prefixes = &simulator.models[setup.terms[request.call].model].prefixes;
            let cached = SentRequest { simulator: &simulator, prefixes, request, tokens }.prefix_end(recorded.cache_read);
            events.push(CacheEvent { call: request.call, kind, cached });
        }
    }
    (cache_uses, events)
}

/// Returns the requests of a replay with their sizes.
fn sized_requests<'a>(setup: &CacheSetup<'a>) -> impl Iterator<Item = (&'a Request, u64)> {
    setup.journal.requests.iter().zip(setup.request_tokens.iter().copied())
}

struct Simulator<'a> {
    setup: CacheSetup<'a>,
    blocks: BlockInfo<'a>,
    breakpoints: LastBreakpoints,
    /// The last request.
    cursor: RequestCursor,
    /// For each of its blocks, the newest message of the conversation that it or a block before it came with.
    newest: Vec<usize>,
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
    /// Tokens by the report's counter alone.
    counted: u64,
    /// Size of its blocks.
    size: u64,
    is_cached: bool,
    /// Tokens behind its last breakpoint, and number of the blocks before it.
    unwritten: u64,
    written_blocks: usize,
    /// Number of the blocks before its last breakpoint that are part of a prefix.
    solid: usize,
    answered_at: Option<i64>,
}

impl<'a> Simulator<'a> {
    fn new(setup: &CacheSetup<'a>) -> Self {
        Self {
            setup: *setup,
            blocks: BlockInfo::new(setup),
            breakpoints: LastBreakpoints::new(setup.conversation),
            cursor: RequestCursor::default(),
            newest: Vec::new(),
            models: Vec::new(),
        }
    }

    fn simulate_request(&mut self, request: &Request, tokens: u64) -> CacheUse {
        let is_first = self.cursor.blocks().is_empty();
        self.cursor.advance(request);
        let shared_prefix = self.cursor.shared_prefix();
        self.newest.truncate(shared_prefix);
        for sent in self.cursor.added() {
            let before = self.newest.last().copied().unwrap_or_default();
            self.newest.push(self.blocks.came_with(sent.block).map_or(before, |message| message.max(before)));
        }
        let terms = self.setup.terms[request.call];
        if self.models.len() <= terms.model {
            self.models.resize_with(terms.model + 1, ModelCache::default);
        }
        for model in &mut self.models {
            model.shared_prefix = model.shared_prefix.min(shared_prefix);
        }
        let mut model = std::mem::take(&mut self.models[terms.model]);
        let cache_use = self.simulate_model(&mut model, &terms, (request, tokens), is_first);
        model.shared_prefix = self.cursor.blocks().len();
        self.models[terms.model] = model;
        cache_use
    }

    /// Returns the cache event before the request of a call.
    fn event(&self, call: usize) -> Option<&CacheEvent> {
        let events = self.setup.events;
        events.binary_search_by_key(&call, |event| event.call).ok().map(|index| &events[index])
    }

    fn simulate_model(
        &self,
        model: &mut ModelCache,
        terms: &CacheTerms,
        (request, tokens): (&Request, u64),
        is_first: bool,
    ) -> CacheUse {
        let conversation = self.setup.conversation;
        let asked_at = conversation.requested_at(request.call);
        let last = model.last.take();
        // The last request paid for the lifetime.
        let long = last.as_ref().map_or(terms, |last| &self.setup.terms[last.call]).long;
        let lifetime = (terms.provider.lifetime(long) * MINUTE as f64) as i64;
        let event = self.event(request.call);
        let lived_on = event.is_some_and(|event| event.kind == CacheEventKind::LivedOn);
        // Without a clock no prefix expires.
        let oldest = asked_at.filter(|_| !lived_on).map_or(i64::MIN, |asked_at| asked_at - lifetime);
        let last_used = last.as_ref().and_then(|last| last.answered_at).unwrap_or(i64::MAX);
        let tail = &self.cursor.blocks()[model.shared_prefix..];
        let shared = model.prefixes.advance(model.shared_prefix, self.blocks.prefix_steps(tail), last_used, oldest);
        let expired = last_used < oldest;
        let sent = SentRequest { simulator: self, prefixes: &model.prefixes, request, tokens };
        // What was behind the last breakpoint of the last request is in no cache.
        let unwritten_from = last.as_ref().map(|last| last.written_blocks).filter(|written| *written < model.shared_prefix);
        let shared = unwritten_from.map_or(shared, |written| shared.min(written));
        let view = RequestView { sent, terms, tail, shared };
        let ideal = match &last {
            _ if expired => [0, 0],
            None if is_first => [view.readable_tokens(self.setup.initial.warm); 2],
            None => [0, 0],
            Some(last) => view.reads(last),
        };
        let of_policy = |[best, ends]: [u64; 2]| match self.setup.policy.cache.breakpoints {
            Breakpoints::Ends => ends,
            Breakpoints::Best => best,
        };
        let alive = last.as_ref().filter(|last| last.is_cached && !expired);
        let broken = alive.and_then(|last| view.find_break(last, of_policy(ideal)));
        let [read_at_best, read_at_ends] = event.map_or(ideal, |event| view.reads_after(event, ideal, broken.is_some()));
        let is_cached = tokens >= terms.min_tokens;
        let behind = self.breakpoints.tokens_behind(conversation, terms, request.call);
        let unwritten = behind.min(tokens - read_at_best);
        let written_blocks = if unwritten == 0 { model.prefixes.len() } else { sent.blocks_within(tokens - unwritten) };
        let cache_use = CacheUse {
            call: request.call,
            tokens,
            is_cached,
            read: of_policy([read_at_best, read_at_ends]),
            read_at_best,
            read_at_ends,
            unwritten,
            ready: alive.map_or(0, |last| {
                let written = last.tokens - last.unwritten;
                event.map_or(written, |event| view.ready_after(event, written))
            }),
            expired,
            broken,
        };
        if is_cached {
            model.prefixes.mark_end(written_blocks);
        }
        model.last = Some(Previous {
            call: request.call,
            tokens,
            counted: request.tokens,
            size: model.prefixes.size_of(model.prefixes.len()),
            is_cached,
            unwritten,
            written_blocks,
            solid: model.prefixes.solid_in(written_blocks),
            answered_at: conversation.calls[request.call].time.or(asked_at),
        });
        cache_use
    }
}

/// Returns the layer whose edit changed a message of a request: the nearest edit before it, else the first edit. Ignores
/// edits on the provider's side, which do not change the prefix.
pub fn layer_that_touched(policy: &Policy, request: &Request, message: usize) -> Option<usize> {
    let edits = request.edits().filter_map(|change| prefix_edit(policy, change).map(|layer| (change.at, layer)));
    let nearest = edits.clone().filter(|(at, _)| *at <= message).max_by_key(|(at, _)| *at);
    nearest.or_else(|| edits.min_by_key(|(at, _)| *at)).map(|(_, layer)| layer)
}

/// Returns the layer that made an edit, if the edit can invalidate a cached prefix.
pub fn prefix_edit(policy: &Policy, change: &Change) -> Option<usize> {
    match change.cause {
        Cause::Layer(layer) if !policy.layers[layer].edits_on_server() => Some(layer),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::context::ChangeKind;

    const POLICY: &str = r#"
        name = "three"
        layer = [{ id = "a", do = "clear" }, { id = "b", do = "clear" }, { id = "server", do = "clear", scope = "server" }]
    "#;

    /// An edit at a message; without a layer it is the record's.
    fn change(layer: Option<usize>, at: usize) -> Change {
        let cause = layer.map_or(Cause::Record, Cause::Layer);
        Change { kind: ChangeKind::Drop, cause, at, removed: Vec::new(), added: Vec::new() }
    }

    /// Edits at messages 0, 1, 2, 3, 5 and 5. Those of the record and of the server change no prefix; the later of two edits at one message
    /// is the nearer.
    #[test]
    fn message_was_touched_by_the_nearest_edit_before_it() {
        let policy = Policy::parse(POLICY, "three", &[]).unwrap_or_else(|error| panic!("{error}"));
        let edits = [(None, 0), (Some(2), 1), (Some(0), 2), (Some(2), 3), (Some(0), 5), (Some(1), 5)];
        let request = Request { changes: edits.map(|(layer, at)| change(layer, at)).to_vec(), ..Request::default() };
        let touched: Vec<_> = [0, 1, 2, 4, 5, 9].iter().map(|message| layer_that_touched(&policy, &request, *message)).collect();
        // No edit is before the first two messages: the first of all did it.
        assert_eq!(touched, [Some(0), Some(0), Some(0), Some(0), Some(1), Some(1)]);
        let of_others = Request { changes: request.changes[..2].to_vec(), ..Request::default() };
        assert_eq!(layer_that_touched(&policy, &of_others, 9), None);
    }
}
