//! Replays one conversation through one policy: what the model would have been sent at each recorded call.
//!
//! Open loop: recorded responses and tool results are taken as they are, and a policy changes only what is sent. Before each
//! recorded call, what entered since the last is appended, the layers that are due run in the policy's order, the request is
//! measured and, while it is over the window, the overflow layers run. Then the recorded response is appended. No layer sees
//! what comes later, so the journal of the first calls does not depend on the calls after them.

mod due;
mod estimate;
mod layer_runner;
mod send;

use crate::engine::context::{Cause, Context, Edit};
use crate::engine::journal::{File, Journal, Request};
use crate::engine::layer::{Cursor, LayerState, Place, When};
use crate::engine::policy::Policy;
use crate::engine::replay_cache::ReplayCache;
use crate::engine::size::Limits;
use crate::engine::summarizer::Summarizer;
use crate::tokens::block_sizes::Sizes;
use crate::tokens::meter::Meter;
use crate::transcript::conversation::{BlockId, Conversation, Kind, Message, Thinking};

pub use estimate::{Record, RecordedRequests};

use layer_runner::LayerRunner;
use send::LastMessages;

/// Everything a replay depends on.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    pub conversation: &'a Conversation,
    /// By every measure the policy and the counter need.
    pub sizes: &'a Sizes,
    pub policy: &'a Policy,
    /// The report's own count of tokens.
    pub counter: Meter,
    /// Tokens the model accepts.
    pub window: u64,
    /// Tokens of system prompt and tools, in every request.
    pub overhead: u64,
    pub thinking: Thinking,
    pub summarizer: &'a dyn Summarizer,
    /// What the recorded agent's requests were, for policies that go by recorded usage.
    pub recorded: Option<&'a RecordedRequests>,
    pub shared: &'a ReplayCache,
}

impl Setup<'_> {
    fn limits(&self) -> Limits {
        Limits { window: self.window, max_output: self.policy.max_output }
    }
}

/// Looks on while a replay runs, for what a journal does not keep: whole requests, the contents of files.
pub trait Observer {
    /// This request is about to be answered.
    fn request(&mut self, _request: &Request, _context: &Context) {}

    /// A file would be written; `text` is what it holds.
    fn file(&mut self, _file: &File, _text: &str) {}

    /// Whether the contents of archives are wanted. They are whole transcripts, so they are not written down for nothing.
    fn wants_archives(&self) -> bool {
        false
    }
}

/// Sees nothing.
pub struct NoObserver;

impl Observer for NoObserver {}

/// Replays a conversation through a policy.
pub fn replay(setup: &Setup, observer: &mut dyn Observer) -> Journal {
    let history = ContextState::new(Context::new(setup.conversation, setup.sizes, &setup.shared.rewrites), setup);
    let mut run = Run {
        history,
        view: None,
        thinking: Cursor::default(),
        last: LastMessages::default(),
        runner: LayerRunner::new(setup, observer),
    };
    for call in 0..setup.conversation.calls.len() {
        run.call(call);
    }
    Journal { made: run.history.context.into_made(), ..run.runner.journal }
}

struct Run<'a, 'o> {
    /// The stored history.
    history: ContextState<'a>,
    /// What is sent instead, where layers work for one request only.
    view: Option<ContextState<'a>>,
    /// Up to where thinking has left.
    thinking: Cursor,
    last: LastMessages,
    runner: LayerRunner<'a, 'o>,
}

/// A context, and what each layer remembers of its work on it.
struct ContextState<'a> {
    context: Context<'a>,
    memories: Vec<LayerState>,
}

impl<'a> ContextState<'a> {
    fn new(context: Context<'a>, setup: &Setup) -> Self {
        Self { context, memories: vec![LayerState::default(); setup.policy.layers.len()] }
    }
}

/// What the layers of one call have in common.
#[derive(Clone, Copy)]
struct CallState<'a> {
    call: usize,
    /// Messages of the conversation that have entered.
    read: usize,
    /// How many of them since the last response.
    entered: usize,
    /// Some of what entered was typed.
    typed: bool,
    focus: Option<&'a str>,
    overflows: bool,
}

impl<'a> Run<'a, '_> {
    fn call(&mut self, call: usize) {
        let setup = self.runner.setup;
        let conversation = setup.conversation;
        let entered = conversation.entered(call);
        let mut now = CallState { call, read: entered.start, entered: 0, typed: false, focus: None, overflows: false };
        for message in &conversation.messages[entered] {
            now.read += 1;
            now.entered += 1;
            now.typed |= self.enter(message);
            self.runner.run_layers(&mut self.history, &now, |when| *when == When::Entry);
            if let Some(response) = answered(conversation, &now) {
                self.run_compact_tool(&now, response);
            }
        }
        self.runner.turns += usize::from(now.typed);
        if !self.history.context.is_empty() {
            self.runner.remember_request(&self.history.context);
            self.runner.before_request(&mut self.history, &now);
            self.send(&now);
        }
        self.append(&conversation.messages[conversation.calls[call].response]);
    }

    /// Appends what entered; gives whether a person typed some of it. The thinking of earlier turns leaves then.
    fn enter(&mut self, message: &Message) -> bool {
        let typed = self.runner.setup.conversation.is_typed(message);
        if typed && self.runner.setup.thinking == Thinking::Turn {
            self.drop_thinking();
        }
        self.append(message);
        typed
    }

    fn append(&mut self, message: &Message) {
        let without_thinking = self.runner.setup.thinking == Thinking::None;
        for track in [Some(&mut self.history), self.view.as_mut()].into_iter().flatten() {
            track.context.append(message, without_thinking);
        }
    }

    fn drop_thinking(&mut self) {
        let context = &mut self.history.context;
        for message in (self.thinking.start(context).message..context.len()).rev() {
            let blocks = &context.messages()[message].blocks;
            let stays = |id: &BlockId| context.block(*id).kind != Kind::Thinking;
            let keep: Vec<_> = blocks.iter().copied().filter(stays).collect();
            if keep.len() < blocks.len() {
                context.apply(Edit::Retain { message, keep }, Cause::Record);
            }
        }
        self.thinking.set(Place { message: context.len(), block: 0 }, context);
    }

    /// Runs the layers that wait for a tool which this response called.
    fn run_compact_tool(&mut self, now: &CallState<'a>, response: &'a Message) {
        let (conversation, layers) = (self.runner.setup.conversation, &self.runner.setup.policy.layers);
        for block in response.blocks.iter().map(|id| conversation.block(*id)) {
            let Kind::ToolUse(pair) = block.kind else { continue };
            let name = &conversation.pair(pair).name;
            let waits = |when: &When| matches!(when, When::Tool(tool) if tool == name);
            if layers.iter().any(|layer| waits(&layer.when)) {
                let focus = block.field("input").and_then(|input| input.get("focus")?.as_str());
                self.runner.run_layers(&mut self.history, &CallState { focus, ..*now }, waits);
            }
        }
    }
}

/// The response that the message which just entered answers, if it is the first to do so.
fn answered<'a>(conversation: &'a Conversation, now: &CallState) -> Option<&'a Message> {
    let response = conversation.calls[now.call.checked_sub(1)?].response;
    (now.read == response + 2).then(|| &conversation.messages[response])
}
