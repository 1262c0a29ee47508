//! A slow and obvious replay: computes again at every request everything that a replay updates step by step.

use recompact::engine::context::{Change, ChangeKind, Context, ContextMessage, FaultKind, MessageUnit};
use recompact::engine::journal::{FaultTally, File, Journal, Request, RequestCursor, SentBlock, SentCopy};
use recompact::engine::replay::Observer;
use recompact::tokens::meter::{Meter, Rates, SizeUnit};
use recompact::transcript::conversation::{BlockId, BlockKind, Conversation, Message, Role, Thinking};
use recompact::transcript::format::{self, ReadOptions};

use super::slow_sizes::slow_size;
use crate::support::trial::{Trial, trials};
use crate::support::{generate, transcripts};

#[test]
fn fast_replay_equals_the_slow_replay() {
    let trials = trials();
    generate::check_in_turn(8, &trials, |steps, trials| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        for trial in trials {
            check(trial, &conversation);
        }
    });
}

#[test]
fn incremental_sizes_equal_recounted_sizes() {
    let mut trials = trials();
    for trial in &mut trials {
        let fitted = SizeUnit::Fitted(Rates { by_class: [3_500, 3_200, 3_000, 2_500], per_call: 90 });
        trial.also = SizeUnit::ALL.iter().map(|(measure, _)| *measure).chain([fitted]).collect();
        trial.counter = Meter::from_unit(SizeUnit::Cl100k);
        trial.overhead = 7;
    }
    generate::check(1, |steps| {
        let conversation = generate::conversation(&steps[..steps.len().min(6)], Thinking::All);
        let chars: u64 = conversation.blocks.iter().map(|block| SizeUnit::Chars.block(block, false)).sum();
        // Counting tokens is slow.
        for trial in trials.iter().filter(|_| chars < 5_000) {
            check(trial, &conversation);
        }
    });
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn fast_replay_equals_the_slow_replay_of_recordings() {
    let folder = transcripts::folder("anthropic-messages-derived");
    for file in transcripts::files(&folder, "seg1.blocks.jsonl") {
        let bytes = std::fs::read(&file).expect("a transcript");
        let reading = (format::by_name("messages").expect("the format").read)(&bytes, &ReadOptions::default());
        for trial in trials().iter().step_by(3) {
            check(trial, &reading.conversations[0]);
        }
    }
}

fn check(trial: &Trial, conversation: &Conversation) -> Journal {
    let mut slow = Slow {
        trial,
        conversation,
        read: 0,
        history: Vec::new(),
        view: Vec::new(),
        sent: RequestCursor::default(),
        faults: FaultTally::default(),
    };
    trial.replay(conversation, &mut slow)
}

/// Observes a replay and computes everything again.
struct Slow<'a> {
    trial: &'a Trial,
    conversation: &'a Conversation,
    /// Number of messages of the conversation that have entered.
    read: usize,
    /// Blocks of each message of the stored history, rebuilt from the changes in the journal.
    history: Vec<Vec<BlockId>>,
    /// Blocks of each message of the view.
    view: Vec<Vec<BlockId>>,
    /// Blocks of the request, rebuilt from the delta in the journal.
    sent: RequestCursor,
    /// Faults of the request, rebuilt from the differences in the journal.
    faults: FaultTally,
}

impl Observer for Slow<'_> {
    fn request(&mut self, request: &Request, context: &Context) {
        let place = format!("{}, call {}", self.trial.policy.name, request.call);
        let blocks: Vec<_> = context.messages().iter().map(|sent| sent.blocks.clone()).collect();
        assert_eq!(self.by_the_log(request), blocks, "{place}: the log of changes");
        self.sent.advance(request);
        assert_eq!(self.sent.blocks(), in_a_row(context), "{place}: the tail");
        check_positions(context, &place);

        let wires: Vec<_> = context.messages().iter().map(|sent| context.wire(sent)).collect();
        let size = |measure| slow_size(measure, context, &wires);
        let measures = self.trial.policy.units().into_iter().chain(self.trial.also.iter().copied());
        for measure in measures {
            assert_eq!(context.size(measure), size(measure), "{place}: {measure}");
        }
        let tokens = self.trial.counter.apply(size(self.trial.counter.unit)) + self.trial.overhead;
        assert_eq!(request.tokens, tokens, "{place}: tokens");
        match self.trial.policy.meter {
            None => assert_eq!(request.estimate, tokens, "{place}: estimate"),
            Some(meter) if meter.recorded => {}
            Some(meter) => assert_eq!(request.estimate, meter.apply(size(meter.unit)), "{place}: estimate"),
        }
        assert_eq!((request.messages, request.failed), (wires.len(), tokens > self.trial.window), "{place}");
        assert!(request.overflowed || !request.failed, "{place}");

        self.faults.advance(request);
        let mut faults: Vec<_> = self.faults.faults().iter().map(|fault| (fault.message, fault.block, fault.kind)).collect();
        faults.sort_unstable();
        assert_eq!(faults, slow_faults(context, &self.newest_thinking()), "{place}: faults");
    }

    fn units(&self) -> &[SizeUnit] {
        &self.trial.also
    }

    fn file(&mut self, file: &File, text: &str) {
        assert_eq!(file.bytes, text.len() as u64, "{}: {}", self.trial.policy.name, file.path);
    }

    fn wants_archives(&self) -> bool {
        true
    }
}

/// Compares the positions that a context keeps with a look at every message.
fn check_positions(context: &Context, place: &str) {
    let holds = |message: &ContextMessage, is_wanted: fn(BlockKind) -> bool| {
        message.blocks.iter().any(|id| is_wanted(context.block(*id).kind))
    };
    let is_answer =
        |message: &ContextMessage| message.role == Role::User && holds(message, |kind| matches!(kind, BlockKind::ToolResult(_)));
    let has_thinking = |message: &ContextMessage| holds(message, |kind| kind == BlockKind::Thinking);
    let positions = |is_wanted: &dyn Fn(&ContextMessage) -> bool| {
        let messages = context.messages().iter().enumerate();
        messages.filter(|(_, message)| is_wanted(message)).map(|(at, _)| at).collect::<Vec<_>>()
    };
    assert_eq!(context.typed(), positions(&|message| message.typed), "{place}: typed messages");
    let turns = positions(&|message| message.typed && !is_answer(message));
    assert_eq!(context.turn_starts(), turns, "{place}: turns");
    assert_eq!(context.with_thinking(), positions(&has_thinking), "{place}: thinking");
}

/// Returns the blocks of all messages.
fn in_a_row(context: &Context) -> Vec<SentBlock> {
    let of = |sent: &ContextMessage| {
        let opens = |place| (place == 0).then_some(sent.role);
        sent.blocks.iter().enumerate().map(|(place, id)| SentBlock { block: *id, opens: opens(place) }).collect::<Vec<_>>()
    };
    context.messages().iter().flat_map(of).collect()
}

impl Slow<'_> {
    /// Returns the messages that the harness makes of a recorded one, by adding block after block.
    fn parts(&self, role: Role, blocks: &[BlockId]) -> Vec<Vec<BlockId>> {
        let is_result = |id: &BlockId| matches!(self.conversation.block(*id).kind, BlockKind::ToolResult(_));
        let mut parts: Vec<Vec<BlockId>> = Vec::new();
        for id in blocks {
            let begins = match (parts.last().and_then(|part| part.last()), self.trial.policy.messages) {
                (None, _) => true,
                (Some(_), MessageUnit::Whole) => false,
                (Some(before), unit) => {
                    let is_call = |id: &BlockId| matches!(self.conversation.block(*id).kind, BlockKind::ToolUse(_));
                    match role {
                        Role::Assistant => unit == MessageUnit::Event && is_call(before) && is_call(id),
                        Role::User => is_result(before) != is_result(id) || unit != MessageUnit::ResultsApart && is_result(id),
                    }
                }
            };
            if begins {
                parts.push(Vec::new());
            }
            parts.last_mut().expect("a part").push(*id);
        }
        parts
    }

    /// Returns the thinking of the newest response that the provider wants back. All invented thinking is signed.
    fn newest_thinking(&self) -> Vec<BlockId> {
        let messages = &self.conversation.messages[..self.read];
        let Some(response) = messages.iter().rposition(|message| message.role == Role::Assistant) else { return Vec::new() };
        let thinking = self.trial.thinking.unwrap_or(self.conversation.thinking);
        let typed = messages[response..].iter().any(|message| self.conversation.is_typed(message));
        if thinking == Thinking::None || thinking == Thinking::Turn && typed {
            return Vec::new();
        }
        let is_thinking = |id: &BlockId| self.conversation.block(*id).kind == BlockKind::Thinking;
        messages[response].blocks.iter().copied().filter(is_thinking).collect()
    }

    /// The previous request, the messages since then, and the changes in the journal.
    fn by_the_log(&mut self, request: &Request) -> Vec<Vec<BlockId>> {
        let thinking = self.trial.thinking.unwrap_or(self.conversation.thinking);
        let stays = |id: &BlockId| thinking != Thinking::None || self.conversation.block(*id).kind != BlockKind::Thinking;
        let end = self.conversation.calls[request.call].response;
        for message in &self.conversation.messages[self.read..end] {
            let blocks: Vec<_> = message.blocks.iter().copied().filter(stays).collect();
            for part in self.parts(message.role, &blocks) {
                self.history.push(part.clone());
                self.view.push(part);
            }
        }
        self.read = end;
        // Positions count from the front and new messages come last, so it does not matter when a change was made.
        for change in &request.changes {
            replay_change(&mut self.history, change, self.conversation);
        }
        if !self.trial.policy.layers.iter().any(|layer| layer.enabled && layer.for_request_only()) {
            assert!(request.view.is_empty() && request.sent == SentCopy::History);
            return self.history.clone();
        }
        if request.sent == SentCopy::NewView {
            self.view.clone_from(&self.history);
        }
        for change in &request.view {
            replay_change(&mut self.view, change, self.conversation);
        }
        self.view.clone()
    }
}

fn replay_change(messages: &mut Vec<Vec<BlockId>>, change: &Change, conversation: &Conversation) {
    let at = change.at;
    match change.kind {
        ChangeKind::Rewrite => {
            let (old, new) = (change.removed[0], change.added[0]);
            assert_eq!((change.removed.len(), change.added.len()), (1, 1));
            let block = messages[at].iter_mut().find(|block| **block == old);
            *block.expect("the rewritten block was there") = new;
        }
        ChangeKind::Drop | ChangeKind::Replace => {
            let mut removed = &change.removed[..];
            while let Some(next) = removed.first() {
                let block = messages[at].iter().position(|block| block == next).expect("a removed block was there");
                messages[at].remove(block);
                if messages[at].is_empty() {
                    messages.remove(at);
                }
                removed = &removed[1..];
            }
            messages.splice(at..at, folded_into(&change.added, conversation));
        }
        ChangeKind::Insert => {
            assert!(change.removed.is_empty());
            messages.insert(at, change.added.clone());
        }
    }
}

/// Returns the messages of a fold: recorded messages as recorded, and one message for each other block.
fn folded_into(mut added: &[BlockId], conversation: &Conversation) -> Vec<Vec<BlockId>> {
    let recorded: Vec<_> = conversation.compactions.iter().flat_map(|compaction| compaction.edit.messages()).collect();
    let mut messages = Vec::new();
    while let Some(first) = added.first() {
        let length = recorded.iter().find(|message| message.blocks.first() == Some(first)).map_or(1, |m| m.blocks.len());
        messages.push(added[..length].to_vec());
        added = &added[length..];
    }
    messages
}

/// Returns the faults that an API would refuse: checks every rule for every block of the whole request.
/// `thinking` is that of the newest response: each is missing if a call of that response is there, and the block is not.
fn slow_faults(context: &Context, thinking: &[BlockId]) -> Vec<(usize, BlockId, FaultKind)> {
    let all = blocks_in_turns(context);
    let uses = |pair| move |other: &&Placed| other.kind == BlockKind::ToolUse(pair);
    let mut faults = Vec::new();
    for (index, this) in all.iter().enumerate() {
        let before = &all[..index];
        let fault = match (this.role, this.kind) {
            (_, BlockKind::Text) if context.block(this.id).text().is_empty() => Some(FaultKind::EmptyContent),
            (Role::Assistant, BlockKind::ToolUse(pair)) => {
                let is_answer = |other: &Placed| other.turn == this.turn + 1 && other.kind == BlockKind::ToolResult(pair);
                match before.iter().filter(uses(pair)).count() {
                    0 if !all.iter().any(is_answer) => Some(FaultKind::UnansweredUse),
                    0 => None,
                    _ => Some(FaultKind::DuplicateId),
                }
            }
            (Role::User, BlockKind::ToolResult(pair)) => {
                let uses: Vec<_> = before.iter().filter(uses(pair)).collect();
                let mut turn = before.iter().filter(|other| other.turn == this.turn);
                match uses[..] {
                    [] => Some(FaultKind::OrphanResult),
                    _ if turn.clone().any(|other| other.kind == this.kind) => Some(FaultKind::DuplicateId),
                    [only] if only.turn + 1 != this.turn => Some(FaultKind::MisplacedResult),
                    [_] if turn.any(|other| !matches!(other.kind, BlockKind::ToolResult(_))) => Some(FaultKind::MisplacedResult),
                    _ => None,
                }
            }
            _ => None,
        };
        if index == 0 && this.role == Role::Assistant {
            faults.push((0, this.id, FaultKind::FirstNotUser));
        }
        faults.extend(fault.map(|kind| (this.message, this.id, kind)));
    }
    if let Some(first) = thinking.first() {
        let is_response = |message: &&Message| message.blocks.contains(first);
        let response = context.conversation().messages.iter().find(is_response).expect("thinking is in a response");
        let is_call = |this: &&Placed| {
            let recorded = context.recorded_block(this.id);
            this.role == Role::Assistant
                && matches!(this.kind, BlockKind::ToolUse(_))
                && recorded.is_some_and(|id| response.blocks.contains(&id))
        };
        if let Some(call) = all.iter().rfind(is_call) {
            let missing = thinking.iter().filter(|id| all.iter().all(|this| this.id != **id));
            faults.extend(missing.map(|id| (call.message, *id, FaultKind::ThinkingChanged)));
        }
    }
    faults.sort_unstable();
    faults
}

struct Placed {
    role: Role,
    /// Consecutive messages of one role are one turn.
    turn: usize,
    message: usize,
    id: BlockId,
    kind: BlockKind,
}

fn blocks_in_turns(context: &Context) -> Vec<Placed> {
    let messages = context.messages();
    let turn_of = |message: usize| messages[..=message].windows(2).filter(|two| two[0].role != two[1].role).count();
    let placed = |(message, sent): (usize, &ContextMessage)| {
        let (role, turn) = (sent.role, turn_of(message));
        let place = move |id: &BlockId| Placed { role, turn, message, id: *id, kind: context.block(*id).kind };
        sent.blocks.iter().map(place).collect::<Vec<_>>()
    };
    messages.iter().enumerate().flat_map(placed).collect()
}
