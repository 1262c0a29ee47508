//! Turns a branch of records into a conversation: valid messages, calls, and the recorded compactions between them.

use std::collections::{HashMap, HashSet};
use std::mem;

use serde_json::{Value, json};

use super::applied::AppliedEdits;
use super::kept::{self, KeptTail};
use super::origin;
use super::record::{Record, Type};
use super::text::Text;
use super::thinking;
use super::threads::Threads;
use super::tree::Branch;
use super::turns::{Turn, turns};
use super::unseen::first_request;
use crate::transcript::conversation::{
    BlockId, Call, Conversation, ConversationBuilder, Identity, Message, Origin, Role, Thinking, text_wire,
};
use crate::transcript::format::{Note, unseen};

/// Placeholder for a result that is missing in the record.
const NO_RESULT: &str = "[no result in the record]";

/// Reads one branch. Of `others`, only what was billed is kept. `content` returns the content of a record's message; it is called once for each record of the branch.
pub fn conversation(
    name: String,
    (records, threads): (&[Record], &Threads),
    branch: &[usize],
    others: &[Branch],
    content: &mut dyn FnMut(usize) -> Value,
    notes: &mut Vec<Note>,
) -> Conversation {
    let mut builder = ConversationBuilder::new(name, super::NAME, Thinking::Turn);
    if let Some(folder) = branch.iter().find_map(|record| records[*record].cwd.get()) {
        builder.set_project(folder);
    }
    builder.set_identity(identity(records, branch));
    let kept = kept::kept_tails(records, branch, threads);
    let kept_blocks = kept.values().flat_map(|tail| &tail.records).map(|record| (*record, Vec::new())).collect();
    let mut reader = Reader { records, content, builder, kept, kept_blocks, applied: AppliedEdits::default(), notes };
    let own = turns(records, branch);
    let line = branch.first().map_or(1, |first| records[*first].line);
    let unseen = first_request(records, &own, begins_outside(records, branch)).or(lacks_prompt(records, &own).then_some(0));
    let unseen = unseen.map(|first| (first, unseen::push(&mut reader.builder, line)));
    for (n, turn) in own.iter().enumerate() {
        let calls = reader.push_response(turn);
        reader.push_user_side(turn, &calls, n + 1 < own.len());
    }
    for branch in others {
        let responses = turns(records, &branch.own).into_iter().filter(|turn| !turn.response.is_empty());
        responses.for_each(|turn| reader.builder.other_branch(call_of(records, &turn)));
    }
    let note = unseen.and_then(|(first, stand_in)| unseen::settle(&mut reader.builder, stand_in, first));
    reader.notes.extend(note);
    let kept = thinking::of_calls(&reader.builder.so_far().calls);
    reader.builder.set_thinking(kept);
    reader.builder.finish()
}

/// Who held a branch. A sub-agent has an id of its own, and its records name the session that started it.
fn identity(records: &[Record], branch: &[usize]) -> Identity {
    let first = |of: fn(&Record) -> Option<&str>| branch.iter().find_map(|record| of(&records[*record])).map(str::to_owned);
    let session = first(|record| record.session_id.get());
    let version = first(|record| record.version.get());
    let identity = Identity { version, ..Identity::of(super::NAME) };
    if branch.first().is_some_and(|record| records[*record].is_side()) {
        return Identity { session: first(|record| record.agent_id.get()), ..identity.started_by(session) };
    }
    Identity { session, start: first(Record::start), ..identity }
}

/// Builds the conversation of one branch.
pub struct Reader<'a> {
    pub records: &'a [Record],
    content: &'a mut dyn FnMut(usize) -> Value,
    pub builder: ConversationBuilder,
    /// What each compaction boundary kept, by the record of the boundary.
    pub kept: HashMap<usize, KeptTail>,
    /// The blocks of kept records, by record: index of the message, and id of the block.
    pub kept_blocks: HashMap<usize, Vec<(usize, BlockId)>>,
    /// What the provider cleared by itself.
    pub applied: AppliedEdits,
    pub notes: &'a mut Vec<Note>,
}

/// A tool call of a response, and the record that contains it.
struct ResponseCall<'a> {
    id: &'a str,
    record: usize,
}

/// A compaction whose records are still being read.
pub struct OpenCompaction {
    /// The record of the boundary, or of the summary if there is no boundary.
    pub record: usize,
    pub summary: PendingMessage,
    /// Attachments restored after the summary.
    pub restored: PendingMessage,
}

impl OpenCompaction {
    pub fn new(record: usize) -> Self {
        Self { record, summary: PendingMessage::default(), restored: PendingMessage::default() }
    }

    /// Whether a record is the summary. `claude -p` marks it only as not typed.
    fn lacks_summary(&self, record: &Record) -> bool {
        self.summary.blocks.is_empty() && record.is_synthetic == Some(true)
    }
}

/// A block that is not part of a message yet.
pub struct PendingBlock {
    pub record: usize,
    pub wire: Value,
    pub origin: Origin,
}

/// A user message under construction.
#[derive(Default)]
pub struct PendingMessage {
    pub blocks: Vec<PendingBlock>,
    /// The only content is a bare string.
    pub is_string_content: bool,
}

impl PendingMessage {
    pub fn add(&mut self, content: PendingMessage) {
        if !content.blocks.is_empty() {
            self.is_string_content = content.is_string_content && self.blocks.is_empty();
            self.blocks.extend(content.blocks);
        }
    }

    /// Returns the first record of the message; placeholders count only if there is nothing else.
    fn first(&self) -> Option<usize> {
        let real = self.blocks.iter().filter(|part| part.origin != Origin::Placeholder).map(|part| part.record).min();
        real.or(self.blocks.first().map(|part| part.record))
    }
}

/// Whether the first record of a thread names a parent that is not in the file.
fn begins_outside(records: &[Record], branch: &[usize]) -> bool {
    let first = branch.first().map(|i| &records[*i]);
    first.is_some_and(|record| record.parent_uuid.get().is_some() && !record.is_summary() && !record.is_reported)
}

/// Whether a thread begins with a response of `claude -p`, which does not print the prompt; its records name no parents.
fn lacks_prompt(records: &[Record], turns: &[Turn]) -> bool {
    let is_sent = |i: &usize| records[*i].is_conversation() || records[*i].attachment.is_some();
    let [before, first, ..] = turns else { return false };
    let is_streamed = |i: &usize| records[*i].parent_uuid == Text::Missing && !records[*i].is_reported;
    !before.after.iter().any(is_sent) && first.response.iter().all(is_streamed)
}

impl<'a> Reader<'a> {
    /// Appends the response of a turn and returns its tool calls.
    fn push_response(&mut self, turn: &Turn) -> Vec<ResponseCall<'a>> {
        let records = self.records;
        let Some(first) = turn.response.first().map(|i| &records[*i]) else { return Vec::new() };
        let call = call_of(records, turn);
        self.record_applied_edits(&turn.response);
        let (mut parts, mut calls, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for &i in &turn.response {
            self.builder.add_record();
            calls.extend(records[i].calls.iter().filter(|id| seen.insert(*id)).map(|id| ResponseCall { id, record: i }));
            parts.extend(self.message_blocks(i, |_| Origin::Agent).blocks);
        }
        let (line, time) = (first.line, call.time);
        let blocks = self.create_blocks(parts, true);
        self.builder.response(Message { role: Role::Assistant, is_string_content: false, blocks, time, line }, call);
        calls
    }

    /// Appends the content between two responses: first the results in the order of their calls, then the rest in its own order.
    fn push_user_side(&mut self, turn: &Turn, calls: &[ResponseCall], response_follows: bool) {
        let (mut results, mut others, mut cleared) = (Vec::new(), Vec::new(), Vec::new());
        for &i in &turn.after {
            let mut content = self.record_content(i);
            let is_result = |part: &mut PendingBlock| part.wire.get("type").and_then(Value::as_str) == Some("tool_result");
            results.extend(content.blocks.extract_if(.., is_result));
            others.push((i, content));
        }
        let mut message =
            PendingMessage { blocks: self.paired_results(results, calls, response_follows), is_string_content: false };
        let mut open: Option<OpenCompaction> = None;
        for (i, content) in others {
            let record = &self.records[i];
            if record.is_microcompact_boundary() {
                cleared.push(i);
            } else if record.is_compact_boundary() {
                self.record_compaction(open.take(), &mut message);
                self.push_user_message(&mut message);
                open = Some(OpenCompaction::new(i));
            } else if record.is_summary() || open.as_ref().is_some_and(|open| open.lacks_summary(record)) {
                self.push_user_message(&mut message);
                open.get_or_insert_with(|| OpenCompaction::new(i)).summary.add(content);
            } else if let Some(open) = open.as_mut().filter(|_| record.r#type == Type::Attachment) {
                open.restored.add(content);
            } else if !content.blocks.is_empty() {
                self.record_compaction(open.take(), &mut message);
                message.add(content);
            }
        }
        self.record_compaction(open, &mut message);
        self.push_user_message(&mut message);
        for i in cleared {
            self.record_clearing(i);
        }
    }

    /// Returns the content of one record on the user's side.
    fn record_content(&mut self, i: usize) -> PendingMessage {
        let record = &self.records[i];
        if record.is_conversation() {
            self.builder.add_record();
            return self.message_blocks(i, |block| origin::block_origin(record, block));
        }
        let part = |(text, origin)| PendingBlock { record: i, wire: text_wire(text), origin };
        PendingMessage { blocks: origin::visible_text(record).map(part).into_iter().collect(), is_string_content: false }
    }

    /// Returns one result for each call of a response, in order, then the results of unknown calls.
    fn paired_results(
        &mut self,
        results: Vec<PendingBlock>,
        calls: &[ResponseCall],
        response_follows: bool,
    ) -> Vec<PendingBlock> {
        let call_indices: HashMap<&str, usize> = calls.iter().enumerate().map(|(index, call)| (call.id, index)).collect();
        let mut answers: Vec<Option<PendingBlock>> = calls.iter().map(|_| None).collect();
        let mut strays = Vec::new();
        for result in results {
            let line = self.records[result.record].line;
            let id = result.wire.get("tool_use_id").and_then(Value::as_str).unwrap_or_default();
            match call_indices.get(id).map(|index| &mut answers[*index]) {
                Some(answer @ None) => *answer = Some(result),
                Some(Some(_)) => self.notes.push(Note::info(line, format!("a second result of tool call {id} was left out"))),
                None => {
                    self.notes.push(Note::info(
                        line,
                        format!("this is the result of tool call {id}, which is not in the record before it"),
                    ));
                    strays.push(result);
                }
            }
        }
        let mut parts = Vec::new();
        for (call, answer) in calls.iter().zip(answers) {
            parts.extend(answer.or_else(|| response_follows.then(|| self.placeholder_result(call))));
        }
        parts.extend(strays);
        parts
    }

    fn placeholder_result(&mut self, call: &ResponseCall) -> PendingBlock {
        let line = self.records[call.record].line;
        self.notes
            .push(Note::info(line, format!("tool call {} has no result in the record; a placeholder was inserted", call.id)));
        let wire = json!({"type": "tool_result", "tool_use_id": call.id, "content": NO_RESULT, "is_error": true});
        PendingBlock { record: call.record, wire, origin: Origin::Placeholder }
    }

    /// Appends the pending user message, if it has content, and starts the next one.
    fn push_user_message(&mut self, pending: &mut PendingMessage) {
        let pending = mem::take(pending);
        if let Some(message) = self.user_message(pending, true) {
            self.builder.message(message);
        }
    }

    /// Creates a user message; `None` if it has no content. `is_unrolled`: it will be part of [`Conversation::messages`].
    pub fn user_message(&mut self, pending: PendingMessage, is_unrolled: bool) -> Option<Message> {
        let first = &self.records[pending.first()?];
        let is_string_content = pending.is_string_content;
        let blocks = self.create_blocks(pending.blocks, is_unrolled);
        Some(Message { role: Role::User, is_string_content, blocks, time: first.time(), line: first.line })
    }

    /// Returns the blocks of a record's message.
    fn message_blocks(&mut self, i: usize, origin: impl Fn(&Value) -> Origin) -> PendingMessage {
        let part = |wire: Value| PendingBlock { record: i, origin: origin(&wire), wire };
        let mut pending = PendingMessage::default();
        match (self.content)(i) {
            Value::String(text) => {
                pending.is_string_content = true;
                pending.blocks.extend(Some(text).filter(|text| !text.is_empty()).map(|text| part(text_wire(text))));
            }
            Value::Array(blocks) => {
                for block in blocks {
                    match block {
                        Value::Object(_) if is_empty_text(&block) => {}
                        Value::Object(_) => pending.blocks.push(part(block)),
                        Value::String(text) => pending.blocks.push(part(text_wire(text))),
                        _ => self
                            .notes
                            .push(Note::skipped(self.records[i].line, "a content block that is not an object was skipped")),
                    }
                }
            }
            _ => self.notes.push(Note::skipped(self.records[i].line, "the message has no content; it was skipped")),
        }
        pending
    }

    /// Creates blocks. If they belong to the next message (`is_unrolled`), it remembers the blocks of records that a compaction keeps.
    fn create_blocks(&mut self, parts: Vec<PendingBlock>, is_unrolled: bool) -> Vec<BlockId> {
        let message = self.builder.so_far().messages.len();
        let mut blocks = Vec::with_capacity(parts.len());
        for part in parts {
            let block = self.builder.block(part.wire, part.origin, self.records[part.record].line);
            if is_unrolled
                && part.origin != Origin::Placeholder
                && let Some(kept_blocks) = self.kept_blocks.get_mut(&part.record)
            {
                kept_blocks.push((message, block));
            }
            blocks.push(block);
        }
        blocks
    }
}

/// Returns what the record says about the call of a response.
fn call_of(records: &[Record], turn: &Turn) -> Call {
    let mut call = Call { time: turn.response.first().and_then(|i| records[*i].time()), ..Call::default() };
    for record in turn.response.iter().map(|i| &records[*i]) {
        if let Some(message) = &record.message {
            // Every line repeats the usage; the last line has the final output tokens.
            if let Some(recorded) = &message.usage {
                let (usage, others) = recorded.by_iteration();
                (call.usage, call.other_iterations, call.service) = (Some(usage), others, recorded.service());
            }
            call.model = message.model.clone().or(call.model);
            call.message_id = message.id.clone().or(call.message_id);
        }
        call.request_id = record.request_id.get().map(str::to_owned).or(call.request_id);
    }
    call
}

/// Returns whether a block is an empty text block, which an API refuses.
fn is_empty_text(block: &Value) -> bool {
    block.get("type").and_then(Value::as_str) == Some("text") && block.get("text").and_then(Value::as_str) == Some("")
}
