//! A branch of records → a conversation: messages an API would accept, calls, and the compactions recorded between them.

use std::collections::{HashMap, HashSet};
use std::mem;

use serde_json::{Value, json};

use super::compaction::Kept;
use super::origin;
use super::record::{Record, Type};
use super::threads::Threads;
use super::turns::{Turn, turns};
use crate::conversation::{
    BlockId, Builder, Call, Compaction, Conversation, Message, Origin, RecordedEdit, Role, Thinking, text_wire,
};
use crate::format::Note;

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
    let mut kept = HashMap::new();
    let mut since = 0;
    for &i in branch.iter().filter(|i| records[**i].is_compact_boundary()) {
        if let Some(thread) = threads.of[i] {
            let tail = Kept::of(&records[i], thread, threads, since);
            kept.insert(i, Tail { records: tail.among(branch), leads: tail.leads() });
            since = i;
        }
    }
    let placed = kept.values().flat_map(|tail| &tail.records).map(|record| (*record, Vec::new())).collect();
    let builder = Builder::new(name, super::NAME, Thinking::Turn);
    let mut reader = Reader { records, content, builder, kept, placed, notes };
    let turns = turns(records, branch);
    for (n, turn) in turns.iter().enumerate() {
        let calls = reader.response(turn);
        reader.between(turn, &calls, n + 1 < turns.len());
    }
    reader.builder.finish()
}

struct Reader<'a> {
    records: &'a [Record],
    content: &'a mut dyn FnMut(usize) -> Value,
    builder: Builder,
    /// What each compaction boundary kept.
    kept: HashMap<usize, Tail>,
    /// Where the blocks of kept records went: message and block.
    placed: HashMap<usize, Vec<(usize, BlockId)>>,
    notes: &'a mut Vec<Note>,
}

/// Records that a compaction kept, before or after its summary.
struct Tail {
    records: Vec<usize>,
    leads: bool,
}

/// A tool call of a response, and the record it stands in.
struct Used<'a> {
    id: &'a str,
    record: usize,
}

/// A block on its way into a message.
struct Part {
    record: usize,
    wire: Value,
    origin: Origin,
}

/// A user message that is being gathered.
#[derive(Default)]
struct Gathered {
    parts: Vec<Part>,
    /// Its only content is a bare string.
    plain: bool,
}

impl Gathered {
    fn add(&mut self, said: Gathered) {
        self.plain = said.plain && self.parts.is_empty();
        self.parts.extend(said.parts);
    }

    /// The record it begins with.
    fn first(&self) -> Option<usize> {
        let real = self.parts.iter().filter(|part| part.origin != Origin::StandIn).map(|part| part.record).min();
        real.or(self.parts.first().map(|part| part.record))
    }
}

/// A compaction whose records are being read.
struct Folding {
    /// The boundary, or the summary where the file has none.
    record: usize,
    summary: Gathered,
    restored: Gathered,
}

impl Folding {
    fn new(record: usize) -> Self {
        Self { record, summary: Gathered::default(), restored: Gathered::default() }
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
        Part { record: call.record, wire, origin: Origin::StandIn }
    }

    /// Appends the user message gathered so far, if there is something in it, and begins the next.
    fn user(&mut self, gathered: &mut Gathered) {
        let gathered = mem::take(gathered);
        if let Some(message) = self.user_message(gathered, true) {
            self.builder.message(message);
        }
    }

    fn user_message(&mut self, gathered: Gathered, unrolled: bool) -> Option<Message> {
        let first = &self.records[gathered.first()?];
        let plain = gathered.plain;
        let blocks = self.blocks(gathered.parts, unrolled);
        Some(Message { role: Role::User, plain, blocks, time: first.time(), line: first.line })
    }

    /// Records a compaction. With nothing before it, it is the head of a continued session: an ordinary first message.
    fn fold(&mut self, folding: Option<Folding>, message: &mut Gathered) {
        let Some(Folding { record: i, mut summary, mut restored }) = folding else { return };
        for part in summary.parts.iter_mut().chain(&mut restored.parts) {
            part.origin = Origin::Compaction;
        }
        let at = self.builder.so_far().messages.len();
        let tail = self.kept.remove(&i).unwrap_or(Tail { records: Vec::new(), leads: false });
        let kept = self.kept_messages(&tail.records);
        if at == 0 || kept.is_empty() || tail.leads {
            summary.add(mem::take(&mut restored));
        }
        if at == 0 {
            message.add(summary);
            return;
        }
        let (summary, restored) = (self.user_message(summary, false), self.user_message(restored, false));
        let mut into: Vec<Message> = Vec::new();
        if tail.leads {
            into.extend(kept);
            into.extend(summary);
        } else {
            into.extend(summary);
            into.extend(kept);
        }
        into.extend(restored);
        let record = &self.records[i];
        if into.is_empty() {
            self.notes.push(Note::info(record.line, "nothing is in the record that this compaction left; it was taken for none"));
            return;
        }
        let metadata = record.compact_metadata.as_ref();
        self.builder.compaction(Compaction {
            at,
            edit: RecordedEdit::Fold { into },
            trigger: metadata.and_then(|metadata| metadata.trigger.clone()),
            tokens_before: metadata.and_then(|metadata| metadata.pre_tokens),
            tokens_after: metadata.and_then(|metadata| metadata.post_tokens),
            line: record.line,
        });
    }

    /// The messages that kept records are in, with only their blocks.
    fn kept_messages(&self, records: &[usize]) -> Vec<Message> {
        let mut blocks: Vec<(usize, BlockId)> = records.iter().filter_map(|i| self.placed.get(i)).flatten().copied().collect();
        blocks.sort_unstable();
        let all = &self.builder.so_far().messages;
        let in_message = |blocks: &[(usize, BlockId)]| {
            let message = blocks.first().and_then(|(message, _)| all.get(*message))?;
            let blocks: Vec<BlockId> = blocks.iter().map(|(_, block)| *block).collect();
            Some(Message { blocks, ..message.clone() })
        };
        blocks.chunk_by(|a, b| a.0 == b.0).filter_map(in_message).collect()
    }

    /// Records a micro-compaction.
    fn clear(&mut self, i: usize) {
        let record = &self.records[i];
        let Some(metadata) = &record.microcompact_metadata else { return };
        let pairs = metadata.compacted_tool_ids.iter().filter_map(|id| self.builder.pair(id)).collect();
        self.builder.compaction(Compaction {
            at: self.builder.so_far().messages.len(),
            edit: RecordedEdit::Clear { pairs },
            trigger: metadata.trigger.clone(),
            tokens_before: metadata.pre_tokens,
            tokens_after: metadata.pre_tokens.zip(metadata.tokens_saved).map(|(before, saved)| before.saturating_sub(saved)),
            line: record.line,
        });
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
                && part.origin != Origin::StandIn
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
