//! Trajectories that recompact wrote ([`write`](crate::transcript::write)): `extra` says which message each step is of, and what the
//! steps cannot hold. So each message is read as it was.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::Note;
use super::super::batch::Stamp;
use super::super::exit_code;
use super::super::notes::Notes;
use super::super::wire_usage;
use super::form::{self, OWN};
use super::{NAME, USAGE};
use crate::transcript::conversation::{
    BlockId, Call, Compaction, Conversation, ConversationBuilder, Identity, Iteration, Message, Origin, RecordedEdit, Role,
    Service, Thinking, Usage,
};

/// Returns whether a step says which message it is of.
pub fn is_own(step: &Value) -> bool {
    own(step)["message"].is_u64()
}

fn own(step: &Value) -> &Value {
    &step["extra"][OWN]
}

/// Reads a trajectory. `extra` is that of its root.
pub fn conversation(
    name: String,
    identity: Identity,
    model: Option<&str>,
    extra: &Value,
    steps: &[(u32, Value)],
    notes: &mut Notes,
) -> Option<Conversation> {
    let extra = &extra[OWN];
    let thinking = serde_json::from_value(extra["thinking"].clone()).unwrap_or(Thinking::All);
    let details =
        extra["blocks"].as_array().into_iter().flatten().filter_map(|block| Some((place(&block["at"])?, block))).collect();
    let mut reader = Reader { builder: ConversationBuilder::new(name, NAME, thinking), pending: None, details, notes };
    reader.builder.set_identity(self::identity(&extra["identity"]).unwrap_or(identity));
    extra["window"].as_u64().into_iter().for_each(|window| reader.builder.set_window(window));
    extra["project"].as_str().into_iter().for_each(|project| reader.builder.set_project(project));
    for (line, step) in steps {
        reader.builder.add_record();
        reader.step(step, model, Stamp::parsed(*line, step["timestamp"].as_str()));
    }
    reader.flush();
    let mut compactions: Vec<&Value> = extra["compactions"].as_array().into_iter().flatten().collect();
    compactions.sort_by_key(|compaction| compaction["before"].as_u64());
    compactions.into_iter().for_each(|compaction| reader.compaction(compaction));
    for other in extra["other_branches"].as_array().into_iter().flatten() {
        let call = call(other, &other["metrics"], other["model_name"].as_str(), other["time"].as_i64(), reader.notes);
        reader.builder.other_branch(call);
    }
    let conversation = reader.builder.finish();
    (!conversation.is_empty()).then_some(conversation)
}

struct Reader<'a, 'n> {
    builder: ConversationBuilder,
    /// The message of the user that later steps may go on with, and its number.
    pending: Option<(u64, Message)>,
    /// What no step says of a block, by the numbers of its message and of its place in it.
    details: HashMap<(u64, u64), &'a Value>,
    notes: &'n mut Notes,
}

impl Reader<'_, '_> {
    fn step(&mut self, step: &Value, model: Option<&str>, at: Stamp) {
        let own = own(step);
        let unknown = &mut |_: &str| {};
        match (step["source"].as_str().unwrap_or_default(), own["message"].as_u64()) {
            ("system", None) => self.builder.set_system(step["message"].as_str().unwrap_or_default()),
            ("agent", Some(_)) => {
                let wires = exact(own).unwrap_or_else(|| form::read_response(step, unknown));
                self.response(wires, step, model, at);
                self.results(step, at.line);
            }
            (source, Some(number)) => {
                let wires = exact(own).unwrap_or_else(|| form::read_parts(&step["message"], unknown));
                let origin = if source == "user" { Origin::User } else { Origin::Injected };
                self.user(number, wires, origin, own["is_string"] == true, at);
            }
            (_, None) => self.notes.lines.push(Note::skipped(at.line, "a step without the number of its message was left out")),
        }
    }

    fn response(&mut self, wires: Vec<Value>, step: &Value, model: Option<&str>, at: Stamp) {
        self.flush();
        let own = own(step);
        let number = own["message"].as_u64().unwrap_or_default();
        let blocks = (0..).zip(wires).map(|(place, wire)| self.block_at((number, place), wire, Origin::Agent, at.line)).collect();
        let is_string_content = own["is_string"] == true;
        let message = Message { role: Role::Assistant, is_string_content, blocks, time: at.time, line: at.line };
        if step["llm_call_count"] == json!(0) {
            self.builder.message(message);
            return;
        }
        let model = step["model_name"].as_str().or(model);
        let call = call(own, &step["metrics"], model, at.time, self.notes);
        self.builder.response(message, call);
    }

    /// Begins the message of the user with the results of a step.
    fn results(&mut self, step: &Value, line: u32) {
        let results = &own(step)["results"];
        let Some(number) = results["message"].as_u64() else { return };
        let wire = |result: &Value| {
            let content = form::read_result(&result["content"], &mut |_| {});
            json!({"type": "tool_result", "tool_use_id": result["source_call_id"], "content": content})
        };
        let observed = || step["observation"]["results"].as_array().into_iter().flatten().map(wire).collect();
        let wires = exact(results).unwrap_or_else(observed);
        let at = Stamp { line, time: results["time"].as_i64() };
        self.user(number, wires, Origin::Tool, false, at);
    }

    /// Adds blocks to the message with this number.
    fn user(&mut self, number: u64, wires: Vec<Value>, origin: Origin, is_string_content: bool, at: Stamp) {
        if self.pending.as_ref().is_none_or(|(pending, _)| *pending != number) {
            self.flush();
            let message = Message { role: Role::User, is_string_content, blocks: Vec::new(), time: at.time, line: at.line };
            self.pending = Some((number, message));
        }
        let before = self.pending.as_ref().map_or(0, |(_, message)| message.blocks.len() as u64);
        let blocks: Vec<BlockId> =
            (before..).zip(wires).map(|(place, wire)| self.block_at((number, place), wire, origin, at.line)).collect();
        self.pending.iter_mut().for_each(|(_, message)| message.blocks.extend_from_slice(&blocks));
    }

    fn flush(&mut self) {
        if let Some((_, message)) = self.pending.take() {
            self.builder.message(message);
        }
    }

    /// Adds the block at this place of a message.
    fn block_at(&mut self, place: (u64, u64), wire: Value, origin: Origin, line: u32) -> BlockId {
        let details = self.details.get(&place).copied().unwrap_or(&Value::Null);
        self.block(wire, origin, details, line)
    }

    /// Adds a block. The details say where it differs from what its content says.
    fn block(&mut self, wire: Value, origin: Origin, details: &Value, line: u32) -> BlockId {
        let is_result = wire["type"] == "tool_result";
        let says_failed = || is_result && wire.get("is_error").is_none() && exit_code::says_failed(&wire["content"]);
        let failed = details["failed"].as_bool().unwrap_or_else(says_failed);
        let origin = serde_json::from_value(details["origin"].clone()).unwrap_or(if is_result { Origin::Tool } else { origin });
        let block = self.builder.block(wire, origin, line);
        if failed && is_result {
            self.builder.set_says_failed(block);
        }
        details["tokens"].as_u64().into_iter().for_each(|tokens| self.builder.set_recorded_tokens(block, tokens));
        block
    }

    fn compaction(&mut self, recorded: &Value) {
        let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
        let messages = self.builder.so_far().messages.len();
        let before = number(&recorded["before"]).filter(|before| (1..=messages).contains(before));
        let edit = match recorded["cleared"].as_array() {
            Some(ids) => RecordedEdit::Clear { pairs: ids.iter().filter_map(|id| self.builder.pair(id.as_str()?)).collect() },
            None => {
                let into = recorded["messages"].as_array().into_iter().flatten().map(|message| self.folded(message));
                RecordedEdit::Fold { into: into.filter(|message| !message.blocks.is_empty()).collect() }
            }
        };
        // Neither is written by a conversion.
        let (Some(message_index), false) = (before, matches!(&edit, RecordedEdit::Fold { into } if into.is_empty())) else {
            return;
        };
        let tokens = |key: &str| recorded[key].as_u64();
        let trigger = recorded["trigger"].as_str().map(str::to_owned);
        let (tokens_before, tokens_after) = (tokens("tokens_before"), tokens("tokens_after"));
        let summary_usage = usage(&recorded["summary"], 1, self.notes);
        let compaction = Compaction { message_index, edit, trigger, tokens_before, tokens_after, summary_usage, line: 1 };
        self.builder.compaction(compaction);
    }

    /// Reads a message that a compaction left. A block is one of another message, by the numbers of both, or else a new one.
    fn folded(&mut self, message: &Value) -> Message {
        let mut blocks = Vec::new();
        for block in message["blocks"].as_array().into_iter().flatten() {
            let kept = place(block).and_then(|(message, at)| {
                let message = self.builder.so_far().messages.get(usize::try_from(message).ok()?)?;
                message.blocks.get(usize::try_from(at).ok()?).copied()
            });
            match kept {
                Some(kept) => blocks.push(kept),
                None if block["block"].is_object() => {
                    blocks.push(self.block(block["block"].clone(), Origin::Compaction, block, 1));
                }
                None => {}
            }
        }
        let role = if message["role"] == "assistant" { Role::Assistant } else { Role::User };
        Message { role, is_string_content: message["is_string"] == true, blocks, time: None, line: 1 }
    }
}

/// Returns the blocks themselves, where a step cannot hold them.
fn exact(own: &Value) -> Option<Vec<Value>> {
    own["blocks"].as_array().cloned()
}

/// Reads the numbers of a message and of a place in it.
fn place(value: &Value) -> Option<(u64, u64)> {
    Some((value[0].as_u64()?, value[1].as_u64()?))
}

/// Reads who held the conversation.
fn identity(recorded: &Value) -> Option<Identity> {
    let text = |key: &str| recorded[key].as_str().map(str::to_owned);
    let [agent, version, session, parent, start] = ["agent", "version", "session", "parent", "start"].map(text);
    recorded.is_object().then_some(Identity { agent, version, session, parent, start })
}

/// Reads a call. `own` has what a step does not say of it.
fn call(own: &Value, metrics: &Value, model: Option<&str>, time: Option<i64>, notes: &mut Notes) -> Call {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut other_iterations = Vec::new();
    for other in own["iterations"].as_array().into_iter().flatten() {
        let usage = usage(&other["metrics"], 1, notes);
        other_iterations.extend(usage.map(|usage| Iteration { model: text(&other["model"]), usage }));
    }
    Call {
        usage: usage(metrics, 1, notes),
        model: model.map(str::to_owned),
        message_id: text(&own["message_id"]),
        request_id: text(&own["request_id"]),
        time,
        other_iterations,
        service: Service {
            modes: own["service"].as_array().into_iter().flatten().filter_map(text).collect(),
            web_searches: own["web_searches"].as_u64().unwrap_or(0),
        },
        ..Call::default()
    }
}

/// Reads the usage with the parts that are only in `extra`.
fn usage(metrics: &Value, line: u32, notes: &mut Notes) -> Option<Usage> {
    let usage = wire_usage::named(metrics, &USAGE, line, notes)?;
    let extra = |key: &str| metrics["extra"][key].as_u64();
    let written = extra("cache_creation_input_tokens").unwrap_or(0).min(usage.input);
    let cache_write_1h = extra("ephemeral_1h_input_tokens").unwrap_or(0).min(written);
    let (input, cache_write_5m) = (usage.input - written, written - cache_write_1h);
    Some(Usage { input, cache_write_5m, cache_write_1h, reasoning: extra("reasoning_tokens"), ..usage })
}
