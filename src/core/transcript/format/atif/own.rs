//! Trajectories that recompact wrote ([`write`](crate::transcript::write)): `extra` says which message each step is of, and what the
//! steps cannot hold. So each message is read as it was.

use serde_json::{Value, json};

use super::super::Note;
use super::super::batch::Stamp;
use super::super::exit_code;
use super::super::notes::Notes;
use super::super::wire_usage;
use super::form::{self, OWN};
use super::{NAME, USAGE};
use crate::transcript::conversation::{
    BlockId, Call, Compaction, Conversation, ConversationBuilder, Identity, Message, Origin, RecordedEdit, Role, Thinking, Usage,
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
    let mut reader = Reader { builder: ConversationBuilder::new(name, NAME, thinking), pending: None, notes };
    reader.builder.set_identity(identity);
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
    let conversation = reader.builder.finish();
    (!conversation.messages.is_empty()).then_some(conversation)
}

struct Reader<'n> {
    builder: ConversationBuilder,
    /// The message of the user that later steps may go on with, and its number.
    pending: Option<(u64, Message)>,
    notes: &'n mut Notes,
}

impl Reader<'_> {
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
        let blocks = wires.into_iter().map(|wire| self.block(wire, Origin::Agent, at.line)).collect();
        let is_string_content = own["is_string"] == true;
        let message = Message { role: Role::Assistant, is_string_content, blocks, time: at.time, line: at.line };
        if step["llm_call_count"] == json!(0) {
            self.builder.message(message);
            return;
        }
        let text = |key: &str| own[key].as_str().map(str::to_owned);
        let call = Call {
            usage: usage(&step["metrics"], at.line, self.notes),
            model: step["model_name"].as_str().or(model).map(str::to_owned),
            message_id: text("message_id"),
            request_id: text("request_id"),
            time: at.time,
            ..Call::default()
        };
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
        let blocks: Vec<BlockId> = wires.into_iter().map(|wire| self.block(wire, origin, at.line)).collect();
        self.pending.iter_mut().for_each(|(_, message)| message.blocks.extend_from_slice(&blocks));
    }

    fn flush(&mut self) {
        if let Some((_, message)) = self.pending.take() {
            self.builder.message(message);
        }
    }

    fn block(&mut self, wire: Value, origin: Origin, line: u32) -> BlockId {
        let is_result = wire["type"] == "tool_result";
        let says_failed = is_result && wire.get("is_error").is_none() && exit_code::says_failed(&wire["content"]);
        let block = self.builder.block(wire, if is_result { Origin::Tool } else { origin }, line);
        if says_failed {
            self.builder.set_says_failed(block);
        }
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
        let compaction = Compaction { message_index, edit, trigger, tokens_before, tokens_after, summary_usage: None, line: 1 };
        self.builder.compaction(compaction);
    }

    /// Reads a message that a compaction left. A block is one of another message, by the numbers of both, or else a new one.
    fn folded(&mut self, message: &Value) -> Message {
        let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
        let mut blocks = Vec::new();
        for block in message["blocks"].as_array().into_iter().flatten() {
            let kept = number(&block[0]).zip(number(&block[1]));
            let kept = kept.and_then(|(message, at)| self.builder.so_far().messages.get(message)?.blocks.get(at).copied());
            match kept {
                Some(kept) => blocks.push(kept),
                None if block.is_object() => blocks.push(self.block(block.clone(), Origin::Compaction, 1)),
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

/// Reads the usage with the parts that are only in `extra`.
fn usage(metrics: &Value, line: u32, notes: &mut Notes) -> Option<Usage> {
    let usage = wire_usage::named(metrics, &USAGE, line, notes)?;
    let extra = |key: &str| metrics["extra"][key].as_u64();
    let written = extra("cache_creation_input_tokens").unwrap_or(0).min(usage.input);
    let cache_write_1h = extra("ephemeral_1h_input_tokens").unwrap_or(0).min(written);
    let (input, cache_write_5m) = (usage.input - written, written - cache_write_1h);
    Some(Usage { input, cache_write_5m, cache_write_1h, reasoning: extra("reasoning_tokens"), ..usage })
}
