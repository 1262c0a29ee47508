//! A branch of records → a conversation: messages an API would accept, calls, and the compactions recorded between them.

use std::collections::{HashMap, HashSet};
use std::mem;

use serde_json::{Value, json};

use super::kept::{self, Tail};
use super::origin;
use super::record::{Record, Type};
use super::threads::Threads;
use super::turns::{Turn, turns};
use crate::transcript::conversation::{BlockId, Builder, Call, Conversation, Message, Origin, Role, Thinking, text_wire};
use crate::transcript::format::Note;

/// What stands in for a result that the record lacks.
const NO_RESULT: &str = "[no result in the record]";

/// Reads one branch. `content` gives the content of a record's message; it is asked for once for each record of the branch.
pub fn conversation(
    name: String,
    (records, threads): (&[Record], &Threads),
    branch: &[usize],
    content: &mut dyn FnMut(usize) -> Value,
    notes: &mut Vec<Note>,
) -> Conversation {
    let builder = Builder::new(name, super::NAME, Thinking::Turn);
    let kept = kept::tails(records, branch, threads);
    let placed = kept.values().flat_map(|tail| &tail.records).map(|record| (*record, Vec::new())).collect();
    let mut reader = Reader { records, content, builder, kept, placed, notes };
    let turns = turns(records, branch);
    for (n, turn) in turns.iter().enumerate() {
        let calls = reader.response(turn);
        reader.between(turn, &calls, n + 1 < turns.len());
    }
    reader.builder.finish()
}

pub struct Reader<'a> {
    pub records: &'a [Record],
    content: &'a mut dyn FnMut(usize) -> Value,
    pub builder: Builder,
    /// What each compaction boundary kept.
    pub kept: HashMap<usize, Tail>,
    /// Where the blocks of kept records went: message and block.
    pub placed: HashMap<usize, Vec<(usize, BlockId)>>,
    pub notes: &'a mut Vec<Note>,
}

/// A tool call of a response, and the record it stands in.
struct Used<'a> {
    id: &'a str,
    record: usize,
}

/// A compaction whose records are being read.
pub struct Folding {
    /// The boundary, or the summary where the file has none.
    pub record: usize,
    pub summary: Gathered,
    pub restored: Gathered,
}

impl Folding {
    pub fn new(record: usize) -> Self {
        Self { record, summary: Gathered::default(), restored: Gathered::default() }
    }
}

/// A block on its way into a message.
pub struct Part {
    pub record: usize,
    pub wire: Value,
    pub origin: Origin,
}

/// A user message that is being gathered.
#[derive(Default)]
pub struct Gathered {
    pub parts: Vec<Part>,
    /// Its only content is a bare string.
    pub plain: bool,
}

impl Gathered {
    pub fn add(&mut self, said: Gathered) {
        if !said.parts.is_empty() {
            self.plain = said.plain && self.parts.is_empty();
            self.parts.extend(said.parts);
        }
    }

    /// The record it begins with.
    fn first(&self) -> Option<usize> {
        let real = self.parts.iter().filter(|part| part.origin != Origin::Placeholder).map(|part| part.record).min();
        real.or(self.parts.first().map(|part| part.record))
    }
}

impl<'a> Reader<'a> {
    /// Appends the response of a turn and gives its tool calls.
    fn response(&mut self, turn: &Turn) -> Vec<Used<'a>> {
        let records = self.records;
        let Some(first) = turn.response.first().map(|i| &records[*i]) else { return Vec::new() };
        let mut call = Call { time: first.time(), ..Call::default() };
        let (mut parts, mut calls, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for &i in &turn.response {
            let record = &records[i];
            self.builder.add_record();
            calls.extend(record.calls.iter().filter(|id| seen.insert(*id)).map(|id| Used { id, record: i }));
            if let Some(message) = &record.message {
                // Every line repeats the usage; the last has the final output.
                call.usage = message.usage.as_ref().map(|usage| usage.usage()).or(call.usage);
                call.model = message.model.clone().or(call.model);
                call.message_id = message.id.clone().or(call.message_id);
            }
            call.request_id = record.request_id.get().map(str::to_owned).or(call.request_id);
            parts.extend(self.parts(i, |_| Origin::Agent).parts);
        }
        let (line, time) = (first.line, call.time);
        let blocks = self.blocks(parts, true);
        self.builder.response(Message { role: Role::Assistant, plain: false, blocks, time, line }, call);
        calls
    }

    /// Appends what stands between two responses: results first, in the order of their calls; then the rest as it stands.
    fn between(&mut self, turn: &Turn, calls: &[Used], followed: bool) {
        let (mut results, mut others, mut cleared) = (Vec::new(), Vec::new(), Vec::new());
        for &i in &turn.after {
            let mut said = self.said(i);
            let is_result = |part: &mut Part| part.wire.get("type").and_then(Value::as_str) == Some("tool_result");
            results.extend(said.parts.extract_if(.., is_result));
            others.push((i, said));
        }
        let mut message = Gathered { parts: self.answers(results, calls, followed), plain: false };
        let mut folding: Option<Folding> = None;
        for (i, said) in others {
            let record = &self.records[i];
            if record.is_microcompact_boundary() {
                cleared.push(i);
            } else if record.is_compact_boundary() {
                self.fold(folding.take(), &mut message);
                self.user(&mut message);
                folding = Some(Folding::new(i));
            } else if record.is_summary() {
                self.user(&mut message);
                folding.get_or_insert_with(|| Folding::new(i)).summary.add(said);
            } else if let Some(folding) = folding.as_mut().filter(|_| record.r#type == Type::Attachment) {
                folding.restored.add(said);
            } else if !said.parts.is_empty() {
                self.fold(folding.take(), &mut message);
                message.add(said);
            }
        }
        self.fold(folding, &mut message);
        self.user(&mut message);
        for i in cleared {
            self.clear(i);
        }
    }

    /// What one record brings to the user's side.
    fn said(&mut self, i: usize) -> Gathered {
        let record = &self.records[i];
        if record.is_said() {
            self.builder.add_record();
            return self.parts(i, |block| origin::of(record, block));
        }
        let part = |text| Part { record: i, wire: text_wire(text), origin: Origin::Injected };
        Gathered { parts: origin::shown(record).map(part).into_iter().collect(), plain: false }
    }

    /// The results of a response's calls in their order, each once; then results of calls that are not before them.
    fn answers(&mut self, results: Vec<Part>, calls: &[Used], followed: bool) -> Vec<Part> {
        let places: HashMap<&str, usize> = calls.iter().enumerate().map(|(place, call)| (call.id, place)).collect();
        let mut answers: Vec<Option<Part>> = calls.iter().map(|_| None).collect();
        let mut strays = Vec::new();
        for result in results {
            let line = self.records[result.record].line;
            let id = result.wire.get("tool_use_id").and_then(Value::as_str).unwrap_or_default();
            match places.get(id).map(|place| &mut answers[*place]) {
                Some(answer @ None) => *answer = Some(result),
                Some(Some(_)) => self.notes.push(Note::info(line, format!("a second result of tool call {id} was left out"))),
                None => {
                    self.notes.push(Note::info(line, format!("the tool call {id} this answers is not in the record before it")));
                    strays.push(result);
                }
            }
        }
        let mut parts = Vec::new();
        for (call, answer) in calls.iter().zip(answers) {
            parts.extend(answer.or_else(|| followed.then(|| self.stand_in(call))));
        }
        parts.extend(strays);
        parts
    }

    fn stand_in(&mut self, call: &Used) -> Part {
        let line = self.records[call.record].line;
        self.notes.push(Note::info(line, format!("tool call {} has no result in the record; a stand-in was put", call.id)));
        let wire = json!({"type": "tool_result", "tool_use_id": call.id, "content": NO_RESULT, "is_error": true});
        Part { record: call.record, wire, origin: Origin::Placeholder }
    }

    /// Appends the user message gathered so far, if there is something in it, and begins the next.
    fn user(&mut self, gathered: &mut Gathered) {
        let gathered = mem::take(gathered);
        if let Some(message) = self.user_message(gathered, true) {
            self.builder.message(message);
        }
    }

    pub fn user_message(&mut self, gathered: Gathered, unrolled: bool) -> Option<Message> {
        let first = &self.records[gathered.first()?];
        let plain = gathered.plain;
        let blocks = self.blocks(gathered.parts, unrolled);
        Some(Message { role: Role::User, plain, blocks, time: first.time(), line: first.line })
    }

    /// The blocks of a record's message.
    fn parts(&mut self, i: usize, origin: impl Fn(&Value) -> Origin) -> Gathered {
        let part = |wire: Value| Part { record: i, origin: origin(&wire), wire };
        let mut gathered = Gathered::default();
        match (self.content)(i) {
            Value::String(text) => {
                gathered.plain = true;
                gathered.parts.extend(Some(text).filter(|text| !text.is_empty()).map(|text| part(text_wire(text))));
            }
            Value::Array(blocks) => {
                for block in blocks {
                    match block {
                        Value::Object(_) if is_empty_text(&block) => {}
                        Value::Object(_) => gathered.parts.push(part(block)),
                        Value::String(text) => gathered.parts.push(part(text_wire(text))),
                        _ => {
                            self.notes.push(Note::skipped(self.records[i].line, "a content block that is no object was skipped"))
                        }
                    }
                }
            }
            _ => self.notes.push(Note::skipped(self.records[i].line, "the message has no content; it was skipped")),
        }
        gathered
    }

    /// Makes blocks of parts. Those of the next message (`unrolled`) are remembered where a compaction keeps their record.
    fn blocks(&mut self, parts: Vec<Part>, unrolled: bool) -> Vec<BlockId> {
        let message = self.builder.so_far().messages.len();
        let mut blocks = Vec::with_capacity(parts.len());
        for part in parts {
            let block = self.builder.block(part.wire, part.origin, self.records[part.record].line);
            if unrolled
                && part.origin != Origin::Placeholder
                && let Some(placed) = self.placed.get_mut(&part.record)
            {
                placed.push((message, block));
            }
            blocks.push(block);
        }
        blocks
    }
}

/// An empty text block, which an API refuses.
fn is_empty_text(block: &Value) -> bool {
    block.get("type").and_then(Value::as_str) == Some("text") && block.get("text").and_then(Value::as_str) == Some("")
}
