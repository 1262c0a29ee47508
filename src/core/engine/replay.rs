//! Replays one conversation through one policy and returns the request that would have been sent at each recorded call.
//!
//! The replay is open-loop: recorded responses and tool results stay as they are, and a policy changes only the requests. Before
//! each recorded call, the replay appends the new messages since the last call, runs the due layers in the policy's order,
//! measures the request, and runs the overflow layers while it is larger than the window. Then it appends the recorded response.
//! No layer sees later messages, so the journal of the first calls does not depend on the calls after them.

mod due;
mod estimate;
mod layer_runner;
mod send;
mod thinking;
mod tool_layers;

use crate::engine::context::Context;
use crate::engine::external::{ExternalPolicies, NoExternalPolicies};
use crate::engine::journal::{File, Journal, Request};
use crate::engine::layer::{LayerInput, Proposal, RunningLayer, When};
use crate::engine::policy::Policy;
use crate::engine::replay_cache::ReplayCache;
use crate::engine::size::Limits;
use crate::engine::summarizer::{Failing, Summarizer};
use crate::tokens::block_sizes::BlockSizes;
use crate::tokens::meter::{Meter, SizeUnit};
use crate::transcript::conversation::{Conversation, Message, Thinking};

pub use estimate::{RecordedReplay, RecordedRequests};

use due::ends_turn;
use layer_runner::LayerRunner;
use send::PreviousRequest;

/// The complete input of a replay.
#[derive(Clone, Copy)]
pub struct ReplaySetup<'a> {
    pub conversation: &'a Conversation,
    /// Block sizes, in every unit that the policy and the counter need.
    pub sizes: &'a BlockSizes,
    pub policy: &'a Policy,
    /// The report's token counter.
    pub counter: Meter,
    /// Context window of the model, in tokens.
    pub window: u64,
    /// Tokens of system prompt and tools, part of every request.
    pub overhead: u64,
    /// How long thinking blocks stay in the context.
    pub thinking: Thinking,
    pub summarizer: &'a dyn Summarizer,
    /// Starts programs that are policies.
    pub external: &'a dyn ExternalPolicies,
    /// Recorded usage of the recorded agent's requests, for policies whose meter uses it.
    pub recorded: Option<&'a RecordedRequests>,
    pub shared: &'a ReplayCache,
}

/// A window that no request exceeds. Half of the range leaves room for sums.
pub const UNLIMITED: u64 = u64::MAX / 2;

impl<'a> ReplaySetup<'a> {
    /// Creates a setup with the window of the policy, or else without a limit; without overhead, with the conversation's own
    /// rule for thinking, with a summarizer that fails, and without programs. Callers replace what they know better.
    pub fn new(
        conversation: &'a Conversation,
        sizes: &'a BlockSizes,
        policy: &'a Policy,
        counter: Meter,
        shared: &'a ReplayCache,
    ) -> Self {
        Self {
            conversation,
            sizes,
            policy,
            counter,
            window: policy.window.unwrap_or(UNLIMITED),
            overhead: 0,
            thinking: conversation.thinking,
            summarizer: &Failing,
            external: &NoExternalPolicies,
            recorded: None,
            shared,
        }
    }

    /// Returns the values of `window` and `max_output` in formulas.
    pub fn limits(&self) -> Limits {
        Limits { window: self.window, max_output: self.policy.max_output }
    }
}

/// Observes a running replay, for data that the journal does not keep: whole requests, and the contents of files.
pub trait Observer {
    /// Receives each request before it is answered.
    fn request(&mut self, _request: &Request, _context: &Context) {}

    /// Receives each file that would be written; `text` is its content.
    fn file(&mut self, _file: &File, _text: &str) {}

    /// Receives what a layer proposes, before it is applied. `layer` is the index of the layer in its policy.
    fn proposed(&mut self, _layer: usize, _input: &LayerInput, _proposal: &Proposal) {}

    /// Receives the context after the edits of a layer.
    fn settled(&mut self, _layer: usize, _context: &Context) {}

    /// Returns the units in which it reads sizes of the context, besides those of the policy and the counter.
    fn units(&self) -> &[SizeUnit] {
        &[]
    }

    /// Returns whether [`Observer::file`] needs the contents of archives. They are whole transcripts, so they are built only on
    /// request.
    fn wants_archives(&self) -> bool {
        false
    }
}

/// A function can be an observer of requests.
impl<F: FnMut(&Request, &Context)> Observer for F {
    fn request(&mut self, request: &Request, context: &Context) {
        self(request, context);
    }
}

/// An observer that ignores everything.
pub struct NoObserver;

impl Observer for NoObserver {}

/// Replays a conversation through a policy.
pub fn replay(setup: &ReplaySetup, observer: &mut dyn Observer) -> Journal {
    let units = setup.policy.units().into_iter().chain([setup.counter.unit]).chain(observer.units().iter().copied()).collect();
    let context = Context::new(setup.conversation, setup.sizes, &setup.shared.rewrites, setup.policy.messages).tracking(&units);
    let history = ContextState::new(context, setup);
    let mut replay =
        ReplayRun { history, view: None, previous: PreviousRequest::default(), runner: LayerRunner::new(setup, observer) };
    for call in 0..setup.conversation.calls.len() {
        replay.replay_call(call);
    }
    Journal { synthetic_blocks: replay.history.context.into_synthetic_blocks(), ..replay.runner.journal }
}

/// The state of a running replay.
struct ReplayRun<'a, 'o> {
    /// The stored history.
    history: ContextState<'a>,
    /// The context that is sent instead of the history, if layers edit single requests.
    view: Option<ContextState<'a>>,
    previous: PreviousRequest,
    runner: LayerRunner<'a, 'o>,
}

/// A context, and the layers that edit it, with what each remembers.
struct ContextState<'a> {
    context: Context<'a>,
    layers: Vec<RunningLayer<'a>>,
    /// For a view: the history changed, and its layers may make another one of it.
    is_outdated: bool,
}

impl<'a> ContextState<'a> {
    fn new(context: Context<'a>, setup: &ReplaySetup<'a>) -> Self {
        Self { context, layers: setup.policy.layers.iter().map(|layer| layer.spec.start()).collect(), is_outdated: false }
    }
}

/// The state of one call, the same for all its layers.
#[derive(Clone, Copy)]
struct CallState<'a> {
    /// Index of the call.
    index: usize,
    /// Number of messages of the conversation that were appended so far.
    messages_read: usize,
    /// Number of messages of the context that were appended since the last response.
    new_messages: usize,
    /// The user typed text in one of the new messages.
    typed: bool,
    /// What the model asked the compact tool to preserve.
    focus: Option<&'a str>,
    /// The request is larger than the window.
    overflows: bool,
    /// The view of the request before can be extended.
    view_holds: bool,
}

impl<'a> ReplayRun<'a, '_> {
    fn replay_call(&mut self, index: usize) {
        let setup = self.runner.setup;
        let conversation = setup.conversation;
        let entered = conversation.new_messages(index);
        let mut call = CallState {
            index,
            messages_read: entered.start,
            new_messages: 0,
            typed: false,
            focus: None,
            overflows: false,
            view_holds: false,
        };
        if ends_turn(conversation, index) {
            self.runner.run_layers(&mut self.history, &call, |when| matches!(when, When::TurnEnd | When::AfterResponse));
        }
        let left = self.run_within_batch(&call);
        for message in &conversation.messages[entered] {
            call.messages_read += 1;
            let (appended, typed) = self.append_new(message);
            let appended = appended - left.as_ref().map_or(0, |left| self.remove_later_results(left, appended));
            // A message of which nothing is sent counts, too.
            call.new_messages += appended.max(1);
            call.typed |= typed;
            self.runner.run_layers(&mut self.history, &call, |when| *when == When::Entry);
            self.run_after_batch(&call);
        }
        self.runner.turns += usize::from(call.typed);
        if !self.history.context.is_empty() {
            call.view_holds = self.view.is_some() && !self.history.context.has_changes();
            self.runner.remember_request(&self.history.context);
            self.runner.run_before_request(&mut self.history, &call);
            self.send(&call);
        }
        self.append(&conversation.messages[conversation.calls[index].response]);
    }

    /// Appends a new message. Returns how many messages of the context it became, and whether the user typed text in it. If so, the
    /// thinking of earlier turns is removed.
    fn append_new(&mut self, message: &Message) -> (usize, bool) {
        let typed = self.runner.setup.conversation.is_typed(message);
        if typed && self.runner.setup.thinking == Thinking::Turn {
            self.drop_thinking();
        }
        (self.append(message), typed)
    }

    fn append(&mut self, message: &Message) -> usize {
        let without_thinking = self.runner.setup.thinking == Thinking::None;
        if let Some(view) = &mut self.view {
            view.context.append(message, without_thinking);
        }
        self.history.context.append(message, without_thinking)
    }
}
