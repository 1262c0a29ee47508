//! Finds what an API would refuse in a request, and which layer caused it.
//!
//! Consecutive messages of one role count as one turn, as in Anthropic's API. After a change, only the messages from the changed
//! turn on are checked again.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::change::Cause;
use super::message::ContextMessage;
use super::turns::Turns;
use crate::transcript::conversation::{Block, BlockId, BlockKind, PairId, Role};

/// Why an API would refuse a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FaultKind {
    /// A tool_result without its tool_use before it.
    OrphanResult,
    /// A tool_use without its tool_result in the next turn.
    UnansweredUse,
    /// A tool_result that is not at the beginning of the turn right after its tool_use.
    MisplacedResult,
    /// A tool_use with the id of an earlier tool_use, or the second tool_result with the same id in one turn.
    DuplicateId,
    /// The first message is not a user message.
    FirstNotUser,
    /// An empty text block.
    EmptyContent,
    /// Signed thinking of the newest response, whose tool calls are answered now, is missing or has other bytes.
    ThinkingChanged,
}

impl FaultKind {
    /// Name of the fault in results and findings.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::OrphanResult => "orphan tool_result",
            FaultKind::UnansweredUse => "unanswered tool_use",
            FaultKind::MisplacedResult => "tool_result not right after its tool_use",
            FaultKind::DuplicateId => "duplicate tool_use id",
            FaultKind::FirstNotUser => "first message is not the user's",
            FaultKind::EmptyContent => "empty content",
            FaultKind::ThinkingChanged => "thinking of the newest tool-calling response removed or changed",
        }
    }
}

/// A place of a request for which an API would refuse it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    pub block: BlockId,
    /// Index of the message with the fault.
    pub message: usize,
    /// The layer whose edit caused the fault; the recording if no edit did.
    pub cause: Cause,
}

/// The faults of a context, updated incrementally.
#[derive(Debug, Clone)]
pub struct Faults {
    faults: Vec<Fault>,
    /// Number of faults at the beginning that did not change since [`Self::mark_unchanged`].
    unchanged: usize,
    /// Index of the first message that changed since the last update.
    stale_from: Option<usize>,
    /// The blocks that were replaced since the last update, and the index of the first message with one.
    replaced: FxHashMap<BlockId, BlockId>,
    replaced_from: usize,
    /// Number of tool_use blocks of each pair in the context.
    uses: Vec<u32>,
    /// The turn at the end of the messages, which further messages may continue.
    open_turn: Option<OpenTurn>,
    /// The turns of all messages, as of the last update.
    turns: Turns,
}

/// A turn at the end of the messages.
#[derive(Debug, Clone)]
struct OpenTurn {
    /// Index after its last message.
    end: usize,
    role: Role,
    /// The calls of the last assistant turn.
    pending: PendingCalls,
    /// Of a user turn.
    results: ResultsSoFar,
}

impl OpenTurn {
    /// Whether messages that were appended behind the turn leave its faults as they are.
    fn is_continued_by(&self, appended: &[ContextMessage]) -> bool {
        match self.role {
            // The next user turn may answer its calls.
            Role::Assistant => appended.iter().all(ContextMessage::is_response),
            Role::User => self.pending.values().all(|answered| *answered),
        }
    }
}

/// What was read of a user turn.
#[derive(Debug, Clone, Default)]
struct ResultsSoFar {
    /// The turn has a block that is no tool_result.
    other_block_before: bool,
    /// The results of calls that are not in the turn before.
    without_call: BTreeSet<PairId>,
}

/// Tool calls of an assistant turn, and whether each is answered.
type PendingCalls = BTreeMap<PairId, bool>;

impl Faults {
    pub fn new(pairs: usize) -> Self {
        Self {
            faults: Vec::new(),
            unchanged: 0,
            stale_from: None,
            replaced: FxHashMap::default(),
            replaced_from: usize::MAX,
            uses: vec![0; pairs],
            open_turn: None,
            turns: Turns::default(),
        }
    }

    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Gives faults the causes that the same ones have among others.
    pub fn adopt_causes(&mut self, others: &[Fault]) {
        if self.faults.is_empty() {
            return;
        }
        let own: FxHashMap<_, _> = self.faults.iter().enumerate().map(|(at, fault)| ((fault.kind, fault.block), at)).collect();
        for other in others {
            let same = own.get(&(other.kind, other.block)).filter(|at| self.faults[**at].cause != other.cause);
            if let Some(at) = same {
                self.faults[*at].cause = other.cause;
                self.unchanged = self.unchanged.min(*at);
            }
        }
    }

    /// Returns the number of faults at the beginning that did not change since this method was last called.
    pub fn mark_unchanged(&mut self) -> usize {
        std::mem::replace(&mut self.unchanged, self.faults.len())
    }

    pub fn add_tool_use(&mut self, pair: PairId) {
        self.uses[pair.index()] += 1;
    }

    pub fn remove_tool_use(&mut self, pair: PairId) {
        self.uses[pair.index()] -= 1;
    }

    /// Moves the faults of a block to the block of the same kind that replaces it, at the next update.
    pub fn replace_block(&mut self, message: usize, old: BlockId, new: BlockId) {
        if !self.faults.is_empty() {
            self.replaced_from = self.replaced_from.min(message);
            self.replaced.insert(old, new);
        }
    }

    fn move_to_replacements(&mut self) {
        let from = self.faults.partition_point(|fault| fault.message < self.replaced_from);
        for (index, fault) in self.faults.iter_mut().enumerate().skip(from) {
            while let Some(new) = self.replaced.get(&fault.block) {
                fault.block = *new;
                self.unchanged = self.unchanged.min(index);
            }
        }
        self.replaced.clear();
        self.replaced_from = usize::MAX;
    }

    /// Marks the messages from this index on as added, changed or moved.
    pub fn invalidate_from(&mut self, message: usize) {
        self.stale_from = Some(self.stale_from.map_or(message, |stale| stale.min(message)));
    }

    /// Checks the changed messages again. A fault that existed before keeps its cause.
    pub fn update<'a>(&mut self, messages: &[ContextMessage], block: &dyn Fn(BlockId) -> &'a Block, cause: Cause) {
        if !self.replaced.is_empty() {
            self.move_to_replacements();
        }
        let Some(stale) = self.stale_from.take() else { return };
        let is_continued = |turn: &OpenTurn| turn.end == stale && turn.is_continued_by(&messages[stale..]);
        let open_turn = self.open_turn.take().filter(is_continued);
        let from = if open_turn.is_some() { stale } else { self.turns.rescan_start(messages, stale) };
        self.turns.update(messages, stale, block);
        let kept = self.faults.partition_point(|fault| fault.message < from);
        self.unchanged = self.unchanged.min(kept);
        let before: FxHashMap<_, _> = self.faults.drain(kept..).map(|old| ((old.kind, old.block), old.cause)).collect();
        // A turn of the other role begins anew.
        let continued = open_turn.filter(|turn| messages.get(stale).is_none_or(|message| message.role == turn.role));
        let (pending, results) = continued.map(|turn| (turn.pending, turn.results)).unwrap_or_default();
        let (uses, new_calls, faults) = (&mut self.uses, Vec::new(), Vec::new());
        let mut scan = FaultScan { messages, block, uses, pending, results, new_calls, faults, cause };
        scan.scan_turns(from);
        for fault in &mut scan.faults {
            fault.cause = before.get(&(fault.kind, fault.block)).copied().unwrap_or(fault.cause);
        }
        let FaultScan { faults, pending, results, .. } = scan;
        self.open_turn = messages.last().map(|last| OpenTurn { end: messages.len(), role: last.role, pending, results });
        self.faults.extend(faults);
    }
}

struct FaultScan<'l, 'a> {
    messages: &'l [ContextMessage],
    block: &'l dyn Fn(BlockId) -> &'a Block,
    /// Number of tool_use blocks of each pair before the current position; after the scan, in all messages.
    uses: &'l mut [u32],
    /// Tool calls of the last assistant turn, and those of them that this scan found: block, and index of the message.
    pending: PendingCalls,
    new_calls: Vec<(PairId, BlockId, usize)>,
    /// Of the current user turn.
    results: ResultsSoFar,
    faults: Vec<Fault>,
    cause: Cause,
}

impl<'l, 'a> FaultScan<'l, 'a> {
    fn scan_turns(&mut self, from: usize) {
        let messages = self.messages;
        for (.., kind) in self.blocks(from..messages.len()) {
            if let BlockKind::ToolUse(pair) = kind {
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
            if role == Role::User && end < messages.len() {
                self.end_user_turn();
            }
            at = end;
        }
        self.report_unanswered();
        self.faults.sort_by_key(|fault| fault.message);
    }

    fn assistant_turn(&mut self, turn: Range<usize>) {
        if let (0, Some(first)) = (turn.start, self.messages[turn.start].blocks.first()) {
            self.add_fault(FaultKind::FirstNotUser, *first, 0);
        }
        for (message, block, kind) in self.blocks(turn) {
            match kind {
                BlockKind::ToolUse(pair) => {
                    match self.uses[pair.index()] {
                        0 => {
                            self.pending.insert(pair, false);
                            self.new_calls.push((pair, block, message));
                        }
                        _ => self.add_fault(FaultKind::DuplicateId, block, message),
                    }
                    self.uses[pair.index()] += 1;
                }
                BlockKind::Text => self.check_text(block, message),
                _ => {}
            }
        }
    }

    fn user_turn(&mut self, turn: Range<usize>) {
        for (message, block, kind) in self.blocks(turn) {
            let BlockKind::ToolResult(pair) = kind else {
                self.results.other_block_before = true;
                match kind {
                    BlockKind::Text => self.check_text(block, message),
                    // Some records have a call in a message of the user. It counts like any other.
                    BlockKind::ToolUse(pair) => self.uses[pair.index()] += 1,
                    _ => {}
                }
                continue;
            };
            let call = self.pending.get_mut(&pair);
            let has_call = call.is_some();
            let already_answered = match call {
                Some(answered) => std::mem::replace(answered, true),
                None => !self.results.without_call.insert(pair),
            };
            let fault = match self.uses[pair.index()] {
                0 => Some(FaultKind::OrphanResult),
                _ if already_answered => Some(FaultKind::DuplicateId),
                1 if !has_call || self.results.other_block_before => Some(FaultKind::MisplacedResult),
                _ => None,
            };
            if let Some(kind) = fault {
                self.add_fault(kind, block, message);
            }
        }
    }

    /// Ends a user turn that a response follows.
    fn end_user_turn(&mut self) {
        self.report_unanswered();
        self.pending.clear();
        self.results = ResultsSoFar::default();
    }

    /// Reports the unanswered calls that this scan found. The other calls of a continued turn are reported already.
    fn report_unanswered(&mut self) {
        let cause = self.cause;
        let unanswered = self.new_calls.drain(..).filter(|(pair, ..)| self.pending.get(pair) == Some(&false));
        let fault = |(_, block, message)| Fault { kind: FaultKind::UnansweredUse, block, message, cause };
        self.faults.extend(unanswered.map(fault));
    }

    /// Yields the blocks of some messages, each with the index of its message.
    fn blocks(&self, messages: Range<usize>) -> impl Iterator<Item = (usize, BlockId, BlockKind)> + use<'l, 'a> {
        let (all, block) = (self.messages, self.block);
        messages.flat_map(move |message| all[message].blocks.iter().map(move |id| (message, *id, block(*id).kind)))
    }

    fn check_text(&mut self, block: BlockId, message: usize) {
        if (self.block)(block).text().is_empty() {
            self.add_fault(FaultKind::EmptyContent, block, message);
        }
    }

    fn add_fault(&mut self, kind: FaultKind, block: BlockId, message: usize) {
        self.faults.push(Fault { kind, block, message, cause: self.cause });
    }
}
