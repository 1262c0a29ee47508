//! The records of a rollout → one conversation. The rules are in the [parent](super).

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::Note;
use super::super::batch::{Batch, Stamp};
use super::compaction::{self, History};
use super::meter::{Meter, Reading, TokenInfo};
use super::record::{Compacted, Item, ItemMessage, Record, What};
use super::response::Response;
use super::wire;
use crate::transcript::conversation::{BlockId, Builder, Conversation, Origin, Thinking, Usage};

/// What Codex itself sends as the output of a call that was interrupted.
const ABORTED: &str = "aborted";

pub struct Rollout<'n> {
    builder: Builder,
    notes: &'n mut Vec<Note>,
    batch: Batch,
    response: Option<Response>,
    /// What the user's side said so far, to know it again in a compacted history.
    history: History,
    fold: Option<compaction::Pending>,
    model: Option<String>,
    /// Whether the record says anywhere what a request used.
    metered: bool,
    meter: Meter,
    /// Usage that came ahead of its response.
    next_usage: Option<Usage>,
    /// Length in bytes of the system prompt.
    system_bytes: usize,
    /// Encrypted reasoning whose size nothing tells: how many items, and the line of the first response with some.
    unsized_reasoning: Option<(usize, u32)>,
    /// Items of unknown types: how many, and the line of the first.
    unknown: BTreeMap<String, (usize, u32)>,
}

pub fn conversation(records: Vec<Record>, notes: &mut Vec<Note>) -> Conversation {
    let metered = records.iter().any(|record| matches!(&record.what, What::Tokens(info) if info.last_token_usage.is_usage()));
    let mut rollout = Rollout {
        builder: Builder::new("main", super::NAME, Thinking::Turn),
        notes,
        batch: Batch::new(ABORTED),
        response: None,
        history: History::default(),
        fold: None,
        model: None,
        metered,
        meter: Meter::default(),
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
        match record.what {
            What::Session(meta) => {
                if self.builder.so_far().system.is_none()
                    && let Some(text) = meta.instructions()
                {
                    self.system_bytes = text.len();
                    self.builder.set_system(text);
                }
            }
            What::Turn(turn) => self.model = turn.model.or(self.model.take()),
            What::Tokens(info) => self.tokens(info),
            What::Compacted(compacted) => self.compacted(compacted, at),
            What::RolledBack(turns) => {
                let what = format!("the user went back {turns} turn(s) here; they are read as if they had stayed");
                self.notes.push(Note::info(at.line, what));
            }
            What::Item(item) => self.item(item, at),
        }
    }

    fn item(&mut self, item: Item, at: Stamp) {
        self.builder.add_record();
        match item {
            Item::Message(message) if message.role == "assistant" => {
                for wire in message.content.into_iter().filter_map(wire::part) {
                    self.said(wire, at);
                }
            }
            Item::Message(message) => self.heard(message, at),
            Item::AgentMessage(message) => self.heard(ItemMessage { role: "agent".into(), ..message }, at),
            Item::Reasoning(reasoning) => {
                let encrypted = reasoning.content.as_ref().is_none_or(Vec::is_empty);
                let block = self.said(wire::thinking(reasoning), at);
                if encrypted && let Some(response) = &mut self.response {
                    response.reasoning.push(block);
                }
            }
            Item::FunctionCall(call) => self.called(wire::function_call(call), at),
            Item::CustomCall(call) => self.called(wire::custom_call(call), at),
            Item::LocalShell(call) => match wire::local_shell(call) {
                Some(wire) => self.called(wire, at),
                None => self.notes.push(Note::skipped(at.line, "a local_shell_call without an id was skipped")),
            },
            Item::WebSearch(search) => {
                self.said(wire::web_search(search), at);
            }
            Item::Output(output) => {
                let content = wire::result_content(output.output);
                self.batch.answer(&output.call_id, content, at, &mut self.builder, self.notes);
                // Where nothing says what was used, only the order tells one response from the next.
                if !self.metered {
                    self.end_response();
                }
            }
            Item::Compaction => self.count_unknown("compaction", at),
            Item::Unknown(kind) => self.count_unknown(&kind, at),
        }
    }

    /// A block by the model. It belongs to the response at hand, if that has not ended.
    fn said(&mut self, wire: Value, at: Stamp) -> BlockId {
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

    fn called(&mut self, wire: Value, at: Stamp) {
        let id = wire.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.said(wire, at);
        self.batch.expect(&id, at.line);
    }

    /// A message to the model.
    fn heard(&mut self, message: ItemMessage, at: Stamp) {
        let parts = message.content.len();
        let wires: Vec<Value> = message.content.into_iter().filter_map(wire::part).collect();
        if wires.len() < parts {
            let what = format!("{} part(s) of this message hold nothing readable; they were left out", parts - wires.len());
            self.notes.push(Note::info(at.line, what));
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

    fn tokens(&mut self, info: TokenInfo) {
        if let Some(window) = info.model_context_window {
            self.builder.set_window(window);
        }
        let began = self.response.is_some() || !self.builder.so_far().calls.is_empty();
        match self.meter.read(&info, began) {
            Reading::Estimate(tokens) => {
                if let Some(fold) = &mut self.fold {
                    fold.set_summary_size(tokens, self.system_bytes, &mut self.builder);
                }
            }
            Reading::Repeated => {}
            Reading::Used(usage) => {
                if let Some(fold) = &mut self.fold {
                    fold.compaction.tokens_after.get_or_insert(usage.request());
                }
                match &mut self.response {
                    _ if self.meter.ahead => self.next_usage = Some(usage),
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

    fn compacted(&mut self, compacted: Compacted, at: Stamp) {
        self.close_response();
        self.batch.close(true, &mut self.builder, self.notes);
        self.close_fold();
        self.builder.add_record();
        let before = self.meter.last_request;
        self.fold = Some(compaction::fold(compacted, at, before, &self.history, &mut self.builder, self.notes));
    }

    fn close_fold(&mut self) {
        if let Some(fold) = self.fold.take() {
            self.builder.compaction(fold.compaction);
        }
    }

    fn count_unknown(&mut self, kind: &str, at: Stamp) {
        let (count, _) = self.unknown.entry(kind.to_owned()).or_insert((0, at.line));
        *count += 1;
    }

    fn finish(mut self) -> Conversation {
        self.close_response();
        self.batch.close(false, &mut self.builder, self.notes);
        self.close_fold();
        if let Some((count, line)) = self.unsized_reasoning {
            let what = format!("{count} encrypted reasoning item(s), from here on, have no recorded size: only summaries count");
            self.notes.push(Note::info(line, what));
        }
        for (kind, (count, line)) in self.unknown {
            self.notes.push(Note::info(line, format!("{count} item(s) of type `{kind}`, from here on, were left out")));
        }
        self.builder.finish()
    }
}
