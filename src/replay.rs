//! Replays one conversation through one policy: what the model would have been sent at each recorded call.
//!
//! Open loop: recorded responses and tool results are taken as they are, and a policy changes only what is sent. Before each
//! recorded call, what entered since the last is appended, the layers that are due run in the policy's order, the request is
//! measured and, while it is over the window, the overflow layers run. Then the recorded response is appended. No layer sees
//! what comes later, so the journal of the first calls does not depend on the calls after them.

mod clock;
mod due;
mod estimate;

use crate::context::Context;
use crate::conversation::{Conversation, Kind, Thinking};
use crate::journal::{Cause, Event, File, FileKind, Happened, Journal, Request, Summary};
use crate::layer::archive::Archive;
use crate::layer::{Act, Memory, Moment, NewFile, When};
use crate::meter::Meter;
use crate::policy::{Limits, Policy};
use crate::sizes::Sizes;
use crate::summarizer::Summarizer;
use crate::template::fill;

pub use estimate::RecordedRequests;

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
}

/// Looks on while a replay runs, for what a journal does not keep: whole requests, the contents of files.
pub trait Observer {
    /// A request is about to be answered.
    fn request(&mut self, _request: &Request, _context: &Context) {}

    /// A file would be written; `text` is what it holds.
    fn file(&mut self, _file: &File, _text: &str) {}

    /// Whether the contents of archives are wanted: they are whole transcripts.
    fn wants_archives(&self) -> bool {
        false
    }
}

/// Sees nothing.
pub struct NoObserver;

impl Observer for NoObserver {}

/// Replays a conversation through a policy.
pub fn replay(setup: &Setup, observer: &mut dyn Observer) -> Journal {
    let mut run = Run {
        setup,
        context: Context::new(setup.conversation, setup.sizes),
        memories: vec![Memory::default(); setup.policy.layers.len()],
        journal: Journal { overhead: setup.overhead, ..Journal::default() },
        observer,
        paths: std::collections::HashSet::new(),
        archives: 0,
        turns: 0,
        thinking_from: 0,
        request_text: String::new(),
        last_sent: None,
    };
    for call in 0..setup.conversation.calls.len() {
        run.call(call);
    }
    run.journal.made = run.context.into_made();
    run.journal
}

struct Run<'a, 'o> {
    setup: &'a Setup<'a>,
    context: Context<'a>,
    memories: Vec<Memory>,
    journal: Journal,
    observer: &'o mut dyn Observer,
    /// Paths written so far.
    paths: std::collections::HashSet<String>,
    archives: usize,
    /// Typed user messages so far.
    turns: usize,
    /// Messages of the context before this one have no thinking left to leave.
    thinking_from: usize,
    /// The newest typed text in sight when the present call began.
    request_text: String,
    last_sent: Option<estimate::LastSent>,
}

/// What the layers of one call share.
#[derive(Clone, Copy)]
struct Now<'a> {
    call: usize,
    read: usize,
    entered: usize,
    focus: Option<&'a str>,
    overflows: bool,
}

impl<'a> Run<'a, '_> {
    fn call(&mut self, call: usize) {
        let conversation = self.setup.conversation;
        let mut now = Now { call, read: 0, entered: self.context.len(), focus: None, overflows: false };
        let entered = conversation.entered(call);
        let mut typed = false;
        for index in entered.clone() {
            now.read = index + 1;
            typed |= self.enter(index, now.entered);
            self.run_layers(&now, |when| matches!(when, When::Entry));
            if index == entered.start {
                self.run_compact_tool(&mut now);
            }
        }
        now.read = entered.end;
        now.entered = now.entered.min(self.context.len());
        self.turns += usize::from(typed);
        if !self.context.is_empty() {
            self.remember_request();
            self.before_request(&now, typed);
            self.send(&now);
        }
        let response = &conversation.messages[conversation.calls[call].response];
        self.context.append(response, self.setup.thinking == Thinking::None);
    }

    /// Appends what entered; gives whether a person typed some of it. The thinking of earlier turns leaves then.
    fn enter(&mut self, index: usize, entered: usize) -> bool {
        let message = &self.setup.conversation.messages[index];
        let typed = self.setup.conversation.is_typed(message);
        if typed && self.setup.thinking == Thinking::Turn {
            self.drop_thinking(entered);
        }
        self.context.append(message, self.setup.thinking == Thinking::None);
        typed
    }

    fn drop_thinking(&mut self, _entered: usize) {
        let from = self.thinking_from.min(self.context.len());
        for message in (from..self.context.len()).rev() {
            let blocks = &self.context.messages()[message].blocks;
            let keep: Vec<_> = blocks.iter().copied().filter(|id| self.context.block(*id).kind != Kind::Thinking).collect();
            if keep.len() < blocks.len() {
                self.context.apply(crate::context::Edit::Thin { message, keep }, Cause::Record);
            }
        }
        self.thinking_from = self.context.len();
    }

    /// Runs the layers that wait for a tool, if the last response called it.
    fn run_compact_tool(&mut self, now: &mut Now<'a>) {
        let conversation = self.setup.conversation;
        let Some(before) = now.call.checked_sub(1) else { return };
        let response = &conversation.messages[conversation.calls[before].response];
        let uses = response.blocks.iter().filter_map(|id| match conversation.block(*id).kind {
            Kind::ToolUse(pair) => Some((&*conversation.pair(pair).name, conversation.block(*id))),
            _ => None,
        });
        for (name, block) in uses {
            now.focus = block.wire.get("input").and_then(|input| input.get("focus")).and_then(|focus| focus.as_str());
            self.run_layers(now, |when| matches!(when, When::Tool(tool) if tool == name));
        }
        now.focus = None;
    }

    /// Keeps the newest typed text that is in sight; where none is, the one known from before.
    fn remember_request(&mut self) {
        let typed = self.context.messages().iter().rev().find(|sent| sent.typed);
        let Some(sent) = typed else { return };
        let blocks = sent.blocks.iter().map(|id| self.context.block(*id));
        let texts: Vec<_> = blocks.filter(|b| b.origin == crate::conversation::Origin::Typed).map(|b| b.text()).collect();
        self.request_text = texts.join("\n");
    }

    /// Runs the layers that are due before a request, in order, those for this request only apart.
    fn before_request(&mut self, now: &Now<'a>, typed: bool) {
        for layer in 0..self.setup.policy.layers.len() {
            let settings = &self.setup.policy.layers[layer];
            if settings.enabled && settings.runs_before_requests() && !settings.for_request_only() {
                match due::due(self.setup, &settings.when, now.call, self.turns, typed) {
                    Ok(true) => self.run_layer(layer, now),
                    Ok(false) => {}
                    Err(why) => self.event(now.call, layer, Happened::Skipped { why }),
                }
            }
        }
    }

    fn run_layers(&mut self, now: &Now<'a>, wanted: impl Fn(&When) -> bool) {
        for layer in 0..self.setup.policy.layers.len() {
            let settings = &self.setup.policy.layers[layer];
            if settings.enabled && wanted(&settings.when) {
                self.run_layer(layer, now);
            }
        }
    }
}
