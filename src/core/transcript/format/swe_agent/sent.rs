//! The requests that were sent, which newer runs keep in each step of `trajectory` (`query`): the history after its processors.
//!
//! A processor may cut what it sends anew in each request, as the one that keeps the last observations does. Where a request is not the one
//! before with what came since, it is a compaction after which the context is this request.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::document::Document;
use super::super::notes::Notes;
use super::super::openai_chat::Recorded;
use super::super::openai_chat::message::sent;
use super::super::{Note, jsonl};
use super::as_chat;
use crate::transcript::conversation::{
    BlockId, Compaction, Conversation, ConversationBuilder, Message, Origin, RecordedEdit, Role,
};

/// A step of a run. Some versions name the request `messages`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Step<'a> {
    #[serde(borrow)]
    query: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
}

/// The requests of a run.
pub struct Requests<'a> {
    /// By the index of its response in the history.
    of: HashMap<usize, &'a RawValue>,
    /// The blocks so far, by their role and content.
    known: HashMap<String, Vec<BlockId>>,
    /// How many blocks are in there.
    read: usize,
    /// How many requests are not of the messages before their response, and the line of the first.
    odd: Option<(usize, u32)>,
}

impl<'a> Requests<'a> {
    /// Finds the requests of a document with this history. The nth step is that of the nth response.
    pub fn new(document: &Document<'a>, history: &[Recorded]) -> Self {
        let steps = document.field("trajectory").and_then(|steps| serde_json::from_str::<Vec<Step>>(steps.get()).ok());
        let responses = (0..).zip(history).filter(|(_, message)| message.value["role"] == "assistant").map(|(at, _)| at);
        let request = |(at, step): (usize, Step<'a>)| Some((at, step.query.or(step.messages)?));
        let of = responses.zip(steps.unwrap_or_default()).filter_map(request).collect();
        Self { of, known: HashMap::new(), read: 0, odd: None }
    }

    /// Whether the response at this index of the history has a recorded request.
    pub fn has(&self, response: usize) -> bool {
        self.of.contains_key(&response)
    }

    /// Compares the request of a response with the context so far, and adds a compaction if it is another.
    pub fn compare(&mut self, response: usize, line: u32, builder: &mut ConversationBuilder, notes: &mut Notes) {
        let Some(raw) = self.of.remove(&response) else { return };
        let values: Vec<Value> = match jsonl::values::<Value>(line, raw.get().as_bytes(), &mut notes.lines).into_iter().next() {
            Some(Value::Array(values)) if !values.is_empty() => values,
            _ => return,
        };
        let mut messages: Vec<Recorded> = values.into_iter().map(|value| Recorded { line, value }).collect();
        as_chat(&mut messages);
        let context = context(builder.so_far());
        let is_inserted = |id: &BlockId| builder.so_far().block(*id).origin == Origin::Placeholder;
        if messages.len() != response || context.iter().any(|(_, id)| is_inserted(id)) {
            self.odd.get_or_insert((0, line)).0 += 1;
            return;
        }
        // What the request has of the first message is the system prompt.
        let is_system = |message: &Recorded| message.value["role"] == "system" || message.value["role"] == "developer";
        let system = usize::from(messages.first().is_some_and(is_system));
        let sent: Vec<(Role, Value)> = messages
            .into_iter()
            .skip(system)
            .filter_map(|message| sent(message.value, line, notes))
            .flat_map(|(role, wires)| wires.into_iter().map(move |wire| (role, wire)))
            .collect();
        let gists: Vec<String> = sent.iter().map(|(role, wire)| gist(*role, wire)).collect();
        let before = context.iter().map(|(role, id)| gist(*role, &builder.so_far().block(*id).wire));
        if before.eq(gists.iter().cloned()) {
            return;
        }
        self.read_on(builder.so_far());
        let (mut into, mut used): (Vec<Message>, HashSet<BlockId>) = (Vec::new(), HashSet::new());
        for ((role, wire), gist) in sent.into_iter().zip(gists) {
            let known = self.known.get(&gist).and_then(|ids| ids.iter().find(|id| !used.contains(id)).copied());
            let origin = match role {
                Role::Assistant => Origin::Agent,
                Role::User if wire["type"] == "tool_result" => Origin::Tool,
                Role::User => Origin::Injected,
            };
            let block = known.unwrap_or_else(|| builder.block(wire, origin, line));
            used.insert(block);
            match into.last_mut().filter(|last| last.role == role) {
                Some(last) => last.blocks.push(block),
                None => into.push(Message { role, is_string_content: false, blocks: vec![block], time: None, line }),
            }
        }
        let message_index = builder.so_far().messages.len();
        let edit = RecordedEdit::Fold { into };
        let (tokens_before, tokens_after, summary_usage) = (None, None, None);
        builder.compaction(Compaction { message_index, edit, trigger: None, tokens_before, tokens_after, summary_usage, line });
    }

    /// Reads the blocks that are new. One that an earlier request had in place of another counts, too.
    fn read_on(&mut self, so_far: &Conversation) {
        for (at, block) in so_far.blocks.iter().enumerate().skip(self.read) {
            let role = if matches!(block.origin, Origin::Agent) { Role::Assistant } else { Role::User };
            let id = BlockId(u32::try_from(at).expect("fewer than 2^32 blocks"));
            self.known.entry(gist(role, &block.wire)).or_default().push(id);
        }
        self.read = so_far.blocks.len();
    }

    /// Notes the requests that could not be compared.
    pub fn finish(self, notes: &mut Notes) {
        if let Some((count, line)) = self.odd {
            let why = format!(
                "from here on, {count} request(s) in `trajectory` are not of the messages before their response: what was cut from them is not known"
            );
            notes.lines.push(Note::info(line, why));
        }
    }
}

/// Returns the blocks of the context before the next request.
fn context(so_far: &Conversation) -> Vec<(Role, BlockId)> {
    let last = so_far.compactions.last();
    let folded = last.map_or(&[][..], |last| last.edit.messages());
    let since = &so_far.messages[last.map_or(0, |last| last.message_index)..];
    let blocks = |message: &Message| message.blocks.iter().map(|id| (message.role, *id)).collect::<Vec<_>>();
    folded.iter().chain(since).flat_map(blocks).collect()
}

/// Returns what a block says. Marks of the prompt cache are no part of it, and one text is the same as a list of it.
fn gist(role: Role, wire: &Value) -> String {
    let mut wire = wire.clone();
    if let Some(fields) = wire.as_object_mut() {
        fields.shift_remove("cache_control");
        if let Some(Value::Array(parts)) = fields.get_mut("content") {
            parts.iter_mut().filter_map(Value::as_object_mut).for_each(|part| _ = part.shift_remove("cache_control"));
            if let [only] = parts.as_slice()
                && only["type"] == "text"
            {
                fields["content"] = only["text"].clone();
            }
        }
    }
    format!("{} {wire}", role.as_str())
}
