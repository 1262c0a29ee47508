//! Turns the records of a rollout into one conversation. The [parent module](super) describes the rules.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::Note;
use super::super::batch::{Batch, Stamp};
use super::compaction::{self, History};
use super::meter::{TokenEvent, TokenInfo, UsageMeter};
use super::record::{Compacted, Item, ItemMessage, Record, RecordKind};
use super::response::Response;
use super::wire;
use crate::transcript::conversation::{BlockId, Conversation, ConversationBuilder, Origin, Thinking, Usage};

/// The output that Codex itself sends for an interrupted call.
const ABORTED: &str = "aborted";

/// Builds the conversation of a rollout.
pub struct Rollout<'n> {
    builder: ConversationBuilder,
    notes: &'n mut Vec<Note>,
    batch: Batch,
    response: Option<Response>,
    /// Blocks sent to the model so far, to find them again in a compacted history.
    history: History,
    pending_compaction: Option<compaction::PendingCompaction>,
    model: Option<String>,
    /// Whether any record contains usage.
    has_usage: bool,
    meter: UsageMeter,
    /// Usage that came before its response.
    next_usage: Option<Usage>,
    /// Length in bytes of the system prompt.
    system_bytes: usize,
    /// Encrypted reasoning without a known size: the number of items, and the line of the first response that has some.
    unsized_reasoning: Option<(usize, u32)>,
    /// Items of unknown types, by type: their number, and the line of the first.
    unknown: BTreeMap<String, (usize, u32)>,
}

/// Reads the conversation of a rollout.
pub fn conversation(records: Vec<Record>, notes: &mut Vec<Note>) -> Conversation {
    let has_usage =
        records.iter().any(|record| matches!(&record.kind, RecordKind::Tokens(info) if info.last_token_usage.is_usage()));
    let mut rollout = Rollout {
        builder: ConversationBuilder::new("main", super::NAME, Thinking::Turn),
        notes,
        batch: Batch::new(ABORTED),
        response: None,
        history: History::default(),
        pending_compaction: None,
        model: None,
        has_usage,
        meter: UsageMeter::default(),
        next_usage: None,
        system_bytes: 0,
        unsized_reasoning: None,
        unknown: BTreeMap::new(),
    };
    for record in records {
        rollout.read(record);
    }
    rollout.finish()
}

impl Rollout<'_> {
    fn read(&mut self, record: Record) {
        let at = record.at;
        match record.kind {
            RecordKind::Session(meta) => {
                if let Some(folder) = &meta.cwd {
                    self.builder.set_project(folder.as_str());
                }
                if self.builder.so_far().system.is_none()
                    && let Some(text) = meta.instructions()
                {
                    self.system_bytes = text.len();
                    self.builder.set_system(text);
                }
            }
            RecordKind::Turn(turn) => self.model = turn.model.or(self.model.take()),
            RecordKind::Tokens(info) => self.token_count(info),
            RecordKind::Compacted(compacted) => self.start_compaction(compacted, at),
            RecordKind::RolledBack(turns) => {
                let text = format!("the user went back {turns} turn(s) here; these turns are still read");
                self.notes.push(Note::info(at.line, text));
            }
            RecordKind::Item(item) => self.item(item, at),
        }
    }

    fn item(&mut self, item: Item, at: Stamp) {
        self.builder.add_record();
        match item {
            Item::Message(message) if message.role == "assistant" => {
                for wire in message.content.into_iter().filter_map(wire::part) {
                    self.push_model_block(wire, at);
                }
            }
            Item::Message(message) => self.push_message(message, at),
            Item::AgentMessage(message) => self.push_message(ItemMessage { role: "agent".into(), ..message }, at),
            Item::Reasoning(reasoning) => {
                let encrypted = reasoning.content.as_ref().is_none_or(Vec::is_empty);
                let block = self.push_model_block(wire::thinking(reasoning), at);
                if encrypted && let Some(response) = &mut self.response {
                    response.reasoning.push(block);
                }
            }
            Item::FunctionCall(call) => self.push_call(wire::function_call(call), at),
            Item::CustomCall(call) => self.push_call(wire::custom_call(call), at),
            Item::LocalShell(call) => match wire::local_shell(call) {
                Some(wire) => self.push_call(wire, at),
                None => self.notes.push(Note::skipped(at.line, "a local_shell_call without an id was skipped")),
            },
            Item::WebSearch(search) => {
                self.push_model_block(wire::web_search(search), at);
            }
            Item::Output(output) => {
                let content = wire::result_content(output.output);
                self.batch.answer(&output.call_id, content, at, &mut self.builder, self.notes);
                // Without usage, only the order of items separates responses.
                if !self.has_usage {
                    self.end_response();
                }
            }
            Item::Compaction => self.count_unknown("compaction", at),
            Item::Unknown(kind) => self.count_unknown(&kind, at),
        }
    }

    /// Adds a block of the model. It belongs to the current response, unless that has ended.
    fn push_model_block(&mut self, wire: Value, at: Stamp) -> BlockId {
        if self.response.as_ref().is_none_or(|response| response.ended) {
            self.close_response();
            self.batch.close(true, &mut self.builder, self.notes);
        }
        let block = self.builder.block(wire, Origin::Agent, at.line);
        let (usage, model) = (&mut self.next_usage, &self.model);
        let response = self.response.get_or_insert_with(|| Response::new(at, usage.take(), model.clone()));
        response.blocks.push(block);
        block
    }

    fn push_call(&mut self, wire: Value, at: Stamp) {
        let id = wire.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.push_model_block(wire, at);
        self.batch.expect(&id, at.line);
    }

    /// Adds a message to the model.
    fn push_message(&mut self, message: ItemMessage, at: Stamp) {
        let parts = message.content.len();
        let wires: Vec<Value> = message.content.into_iter().filter_map(wire::part).collect();
        if wires.len() < parts {
            let text = format!("{} part(s) of this message have no readable content; they were left out", parts - wires.len());
            self.notes.push(Note::info(at.line, text));
        }
        for wire in wires {
            let key = wire.to_string();
            let origin = wire::origin(&message.role, &wire);
            let block = self.builder.block(wire, origin, at.line);
            self.history.add(key, block);
            self.batch.push(block, at);
        }
        self.end_response();
    }

    fn end_response(&mut self) {
        if let Some(response) = &mut self.response {
            response.ended = true;
        }
    }

    fn token_count(&mut self, info: TokenInfo) {
        if let Some(window) = info.model_context_window {
            self.builder.set_window(window);
        }
        let response_began = self.response.is_some() || !self.builder.so_far().calls.is_empty();
        match self.meter.read(&info, response_began) {
            TokenEvent::Estimate(tokens) => {
                if let Some(pending) = &mut self.pending_compaction {
                    pending.set_summary_size(tokens, self.system_bytes, &mut self.builder);
                }
            }
            TokenEvent::Repeated => {}
            TokenEvent::Used(usage) => {
                if let Some(pending) = &mut self.pending_compaction {
                    pending.compaction.tokens_after.get_or_insert(usage.request());
                }
                match &mut self.response {
                    _ if self.meter.usage_first => self.next_usage = Some(usage),
                    Some(response) => _ = response.usage.get_or_insert(usage),
                    None => {}
                }
                self.end_response();
            }
        }
    }

    fn close_response(&mut self) {
        let Some(response) = self.response.take() else { return };
        let line = response.at.line;
        let unsized_blocks = response.close(&mut self.builder);
        if unsized_blocks > 0 {
            self.unsized_reasoning.get_or_insert((0, line)).0 += unsized_blocks;
        }
    }

    fn start_compaction(&mut self, compacted: Compacted, at: Stamp) {
        let is_recent = compacted.replacement_history.is_some();
        let is_summary = |response: &mut Response| is_recent && response.is_summary(&compacted.message, &self.builder);
        let summary = self.response.take_if(is_summary);
        self.close_response();
        self.batch.close(true, &mut self.builder, self.notes);
        self.finish_compaction();
        self.builder.add_record();
        let before = self.meter.last_request;
        let mut pending = compaction::read_compaction(compacted, at, before, &self.history, &mut self.builder, self.notes);
        pending.compaction.summary_usage = summary.and_then(|summary| summary.usage);
        self.pending_compaction = Some(pending);
    }

    fn finish_compaction(&mut self) {
        if let Some(pending) = self.pending_compaction.take() {
            self.builder.compaction(pending.compaction);
        }
    }

    fn count_unknown(&mut self, kind: &str, at: Stamp) {
        let (count, _) = self.unknown.entry(kind.to_owned()).or_insert((0, at.line));
        *count += 1;
    }

    fn finish(mut self) -> Conversation {
        self.close_response();
        self.batch.close(false, &mut self.builder, self.notes);
        self.finish_compaction();
        if let Some((count, line)) = self.unsized_reasoning {
            let text = format!(
                "from here on, {count} encrypted reasoning item(s) have no recorded size; only their summaries are counted"
            );
            self.notes.push(Note::info(line, text));
        }
        for (kind, (count, line)) in self.unknown {
            self.notes.push(Note::info(line, format!("from here on, {count} item(s) of type `{kind}` were left out")));
        }
        self.builder.finish()
    }
}
