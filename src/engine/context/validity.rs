//! What an API would refuse about a request, and which layer is to blame.
//!
//! Messages of one role in a row count as one turn, as Anthropic's API reads them. Faults are looked for again only from the
//! place where something changed.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::change::Cause;
use super::message::ContextMessage;
use crate::transcript::conversation::{Block, BlockId, Kind, PairId, Role};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FaultKind {
    /// A tool_result without its tool_use before it.
    OrphanResult,
    /// A tool_use without its tool_result in the next turn.
    UnansweredUse,
    /// A tool_result that does not stand at the beginning of the turn right after its tool_use.
    MisplacedResult,
    /// A tool_use whose id an earlier one has, or the second tool_result of one turn with the same id.
    DuplicateId,
    /// The first message is not the user's.
    FirstNotUser,
    /// A text without characters.
    EmptyContent,
}

impl FaultKind {
    /// As results and findings name it.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::OrphanResult => "orphan tool_result",
            FaultKind::UnansweredUse => "unanswered tool_use",
            FaultKind::MisplacedResult => "tool_result not right after its tool_use",
            FaultKind::DuplicateId => "duplicate tool_use id",
            FaultKind::FirstNotUser => "first message is not the user's",
            FaultKind::EmptyContent => "empty content",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    pub block: BlockId,
    /// Index of the message it stands in.
    pub message: usize,
    /// The layer whose edit brought it about; the record itself where no edit did.
    pub cause: Cause,
}

/// The faults of a context, kept up to date.
#[derive(Debug, Clone)]
pub struct Faults {
    found: Vec<Fault>,
    /// Messages before this one are unchanged since the last look.
    stale_from: Option<usize>,
    /// How many tool_use blocks of each pair are in the context.
    uses: Vec<u32>,
}

impl Faults {
    pub fn new(pairs: usize) -> Self {
        Self { found: Vec::new(), stale_from: None, uses: vec![0; pairs] }
    }

    pub fn found(&self) -> &[Fault] {
        &self.found
    }

    pub fn use_enters(&mut self, pair: PairId) {
        self.uses[pair.index()] += 1;
    }

    pub fn use_leaves(&mut self, pair: PairId) {
        self.uses[pair.index()] -= 1;
    }

    /// Says that one block stands in place of another of its kind: its faults are those of the other.
    pub fn rewritten(&mut self, message: usize, old: BlockId, new: BlockId) {
        let from = self.found.partition_point(|fault| fault.message < message);
        let of_message = self.found[from..].iter_mut().take_while(|fault| fault.message == message);
        of_message.filter(|fault| fault.block == old).for_each(|fault| fault.block = new);
    }

    /// Says that messages from this one on were added, changed or moved.
    pub fn touched_from(&mut self, message: usize) {
        self.stale_from = Some(self.stale_from.map_or(message, |stale| stale.min(message)));
    }

    /// Looks again where something changed. A fault that was there before keeps its cause.
    pub fn update<'a>(&mut self, messages: &[ContextMessage], block: &dyn Fn(BlockId) -> &'a Block, cause: Cause) {
        let Some(stale) = self.stale_from.take() else { return };
        let from = turn_to_look_from(messages, stale);
        let kept = self.found.partition_point(|fault| fault.message < from);
        let before: Vec<_> = self.found.drain(kept..).collect();
        let mut look = Look { messages, block, uses: &mut self.uses, open: Vec::new(), found: Vec::new(), cause };
        look.turns(from);
        for fault in &mut look.found {
            let known = before.iter().find(|old| (old.kind, old.block) == (fault.kind, fault.block));
            fault.cause = known.map_or(fault.cause, |old| old.cause);
        }
        self.found.extend(look.found);
    }
}

/// The beginning of the assistant turn whose answers may have changed: two turns back at most.
fn turn_to_look_from(messages: &[ContextMessage], changed: usize) -> usize {
    let mut at = changed.min(messages.len());
    for role in [Role::User, Role::Assistant] {
        while at > 0 && messages[at - 1].role == role {
            at -= 1;
        }
    }
    at
}

struct Look<'l, 'a> {
    messages: &'l [ContextMessage],
    block: &'l dyn Fn(BlockId) -> &'a Block,
    /// How many tool_use blocks of each pair stand before the place that is looked at; in the end, all of them.
    uses: &'l mut [u32],
    /// The tool calls of the last assistant turn, in the order of their pairs.
    open: Vec<Open>,
    found: Vec<Fault>,
    cause: Cause,
}

struct Open {
    pair: PairId,
    block: BlockId,
    message: usize,
    answered: bool,
}

impl<'l, 'a> Look<'l, 'a> {
    fn turns(&mut self, from: usize) {
        let messages = self.messages;
        for (.., kind) in self.blocks(from..messages.len()) {
            if let Kind::ToolUse(pair) = kind {
                self.uses[pair.index()] -= 1;
            }
        }
        let mut at = from;
        while at < messages.len() {
            let role = messages[at].role;
            let end = messages[at..].iter().position(|m| m.role != role).map_or(messages.len(), |n| at + n);
            match role {
                Role::Assistant => self.assistant_turn(at..end),
                Role::User => self.user_turn(at..end),
            }
            at = end;
        }
        self.close_open();
        self.found.sort_by_key(|fault| fault.message);
    }

    fn assistant_turn(&mut self, turn: Range<usize>) {
        if let (0, Some(first)) = (turn.start, self.messages[turn.start].blocks.first()) {
            self.fault(FaultKind::FirstNotUser, *first, 0);
        }
        for (message, block, kind) in self.blocks(turn) {
            match kind {
                Kind::ToolUse(pair) => {
                    match self.uses[pair.index()] {
                        0 => self.open.push(Open { pair, block, message, answered: false }),
                        _ => self.fault(FaultKind::DuplicateId, block, message),
                    }
                    self.uses[pair.index()] += 1;
                }
                Kind::Text => self.text(block, message),
                _ => {}
            }
        }
        self.open.sort_unstable_by_key(|open| open.pair);
    }

    fn user_turn(&mut self, turn: Range<usize>) {
        let mut others_seen = false;
        let mut not_asked = BTreeSet::new();
        for (message, block, kind) in self.blocks(turn) {
            let Kind::ToolResult(pair) = kind else {
                others_seen = true;
                if kind == Kind::Text {
                    self.text(block, message);
                }
                continue;
            };
            let asked = self.open.binary_search_by_key(&pair, |open| open.pair);
            let answered = match asked {
                Ok(at) => std::mem::replace(&mut self.open[at].answered, true),
                Err(_) => !not_asked.insert(pair),
            };
            let fault = match self.uses[pair.index()] {
                0 => Some(FaultKind::OrphanResult),
                _ if answered => Some(FaultKind::DuplicateId),
                1 if asked.is_err() || others_seen => Some(FaultKind::MisplacedResult),
                _ => None,
            };
            if let Some(kind) = fault {
                self.fault(kind, block, message);
            }
        }
        self.close_open();
    }

    /// What the turn that just ended left open stays without an answer.
    fn close_open(&mut self) {
        let unanswered = self.open.drain(..).filter(|open| !open.answered);
        let cause = self.cause;
        let fault = |Open { block, message, .. }| Fault { kind: FaultKind::UnansweredUse, block, message, cause };
        self.found.extend(unanswered.map(fault));
    }

    /// The blocks of some messages, each with its message.
    fn blocks(&self, messages: Range<usize>) -> impl Iterator<Item = (usize, BlockId, Kind)> + use<'l, 'a> {
        let (all, block) = (self.messages, self.block);
        messages.flat_map(move |message| all[message].blocks.iter().map(move |id| (message, *id, block(*id).kind)))
    }

    fn text(&mut self, block: BlockId, message: usize) {
        if (self.block)(block).text().is_empty() {
            self.fault(FaultKind::EmptyContent, block, message);
        }
    }

    fn fault(&mut self, kind: FaultKind, block: BlockId, message: usize) {
        self.found.push(Fault { kind, block, message, cause: self.cause });
    }
}
