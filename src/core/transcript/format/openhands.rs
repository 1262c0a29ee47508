//! Events of OpenHands since version 1 (its SDK): one a file ([`store`]), one a line, a list of them, or the `history` of a run of a benchmark.
//!
//! The actions of one response are an event each, with the same `llm_response_id`. A `Condensation` names the events that the context
//! lost, besides those of earlier ones, and where its summary is in what is left; so it is an exact fold. Which tokens a call used is not
//! recorded, only running totals of the conversation.
//!
//! By source: condensations, rejected actions. Seen in files: the rest.

mod store;

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::{Value, json};

use super::batch::Stamp;
use super::head::Head;
use super::notes::Notes;
use super::timeline::{Details, Timeline};
use super::{Certainty, Format, Joins, Note, ReadOptions, Reading, SessionFolder, document, head, jsonl, openai_wire, unseen};
use crate::transcript::conversation::{Call, Conversation, Identity, Origin, Role, text_wire};

/// The id of the format.
const NAME: &str = "openhands";

pub const FORMAT: Format = Format {
    name: NAME,
    about: "OpenHands events (version 1): one a file beside base_state.json, one a line, or a history",
    sniff,
    read,
    folders: FOLDERS,
    store: Some(store::STORE),
    joins: Joins::Nothing,
};

const FOLDERS: &[SessionFolder] = &[SessionFolder { variable: None, home: Some(".openhands"), sessions: "conversations" }];

const MARKS: &[&str] = &[
    "kind$=Event source=agent timestamp",
    "kind$=Event source=user timestamp",
    "kind$=Event source=environment timestamp",
    "history.kind$=Event history.source",
];

/// Placeholder for a result that is missing in the record.
const NO_RESULT: &str = "[no result in the record]";

/// Kinds of events that hold nothing that the model reads.
const BOOKKEEPING: [&str; 4] = ["ConversationStateUpdateEvent", "PauseEvent", "CondensationRequest", "LLMCompletionLogEvent"];

fn sniff(head: &Head) -> Certainty {
    head.is_marked(MARKS).into()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Event {
    #[serde(skip)]
    line: u32,
    id: String,
    kind: String,
    source: String,
    timestamp: Option<String>,
    system_prompt: Value,
    llm_message: Value,
    extended_content: Value,
    thought: Value,
    reasoning_content: Option<String>,
    thinking_blocks: Value,
    tool_call: Value,
    tool_call_id: String,
    llm_response_id: Option<String>,
    observation: Value,
    error: Value,
    rejection_reason: Value,
    forgotten_event_ids: Vec<String>,
    summary: Option<String>,
    summary_offset: Option<usize>,
    /// Of a line of a benchmark: a whole conversation, and its name.
    history: Option<Vec<Value>>,
    instance_id: Option<String>,
}

fn read(bytes: &[u8], _: &ReadOptions) -> Reading {
    let mut notes = Notes::default();
    let mut records: Vec<(u32, &[u8])> = Vec::new();
    if head::is_lines(bytes) {
        records.extend(jsonl::lines(bytes));
    } else if let Some(document) = document::read(bytes, "history", usize::MAX) {
        notes.lines.extend(document.note());
        records.extend(document.messages.iter().map(|(line, raw)| (*line, raw.get().as_bytes())));
    } else {
        notes.lines.push(Note::skipped(1, "not a list of OpenHands events"));
    }
    let (mut conversations, mut main): (Vec<Conversation>, Vec<Event>) = (Vec::new(), Vec::new());
    for (line, raw) in records {
        for mut event in jsonl::values::<Event>(line, raw, &mut notes.lines) {
            let Some(history) = event.history.take() else {
                main.push(Event { line, ..event });
                continue;
            };
            let mut parse = |value: Value| jsonl::values::<Event>(line, value.to_string().as_bytes(), &mut notes.lines);
            let events: Vec<Event> = history.into_iter().flat_map(&mut parse).map(|event| Event { line, ..event }).collect();
            let name = event.instance_id.take().unwrap_or_else(|| line.to_string());
            conversations.extend(conversation(name, &events, &mut notes));
        }
    }
    conversations.extend(conversation("main".to_owned(), &main, &mut notes));
    Reading { conversations, notes: notes.finish() }
}

fn conversation(name: String, events: &[Event], notes: &mut Notes) -> Option<Conversation> {
    let mut timeline = Timeline::new(name, NAME, NO_RESULT, notes);
    timeline.builder.set_identity(Identity::of(NAME));
    // The actions of each response, at the place of the first.
    let mut responses: HashMap<&str, Vec<usize>> = HashMap::new();
    for (i, event) in events.iter().enumerate().filter(|(_, event)| event.kind == "ActionEvent") {
        responses.entry(event.response(i, events)).or_default().push(i);
    }
    let (mut view, mut forgotten): (Vec<usize>, HashSet<&str>) = (Vec::new(), HashSet::new());
    for (i, event) in events.iter().enumerate() {
        let at = Stamp::parsed(event.line, event.timestamp.as_deref());
        timeline.begin(i, at);
        match event.kind.as_str() {
            "SystemPromptEvent" => {
                let text = event.system_prompt.get("text").unwrap_or(&event.system_prompt).as_str();
                timeline.builder.set_system(text.unwrap_or_default());
            }
            "MessageEvent" => message(event, at, &mut timeline),
            "ActionEvent" => {
                let actions = &responses[event.response(i, events)];
                if actions[0] == i {
                    let wires = actions.iter().flat_map(|action| action_wires(&events[*action], timeline.notes)).collect();
                    respond(wires, event, at, &mut timeline);
                }
            }
            "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" => {
                let (content, failed) = result(event, timeline.notes);
                timeline.result(&event.tool_call_id, content, failed);
            }
            "Condensation" => {
                forgotten.extend(event.forgotten_event_ids.iter().map(String::as_str));
                view.retain(|i| !forgotten.contains(events[*i].id.as_str()));
                condense(event, &view, &mut timeline);
                continue;
            }
            kind if BOOKKEEPING.contains(&kind) => {
                if event.kind == BOOKKEEPING[0] {
                    let what = "only running totals of tokens are recorded, not those of a call; they are not read";
                    timeline.notes.kind(Note::info(event.line, what));
                }
                continue;
            }
            kind => {
                let kind = crate::util::text::head(kind, 40);
                timeline.notes.kind(Note::info(event.line, format!("events of the unknown kind `{kind}` are not read")));
                continue;
            }
        }
        view.push(i);
    }
    timeline.finish()
}

impl Event {
    /// Returns what the actions of one response have in common: its id, or without one that of the event.
    fn response<'a>(&'a self, i: usize, events: &'a [Event]) -> &'a str {
        self.llm_response_id.as_deref().unwrap_or(&events[i].id)
    }
}

fn message(event: &Event, at: Stamp, timeline: &mut Timeline) {
    let wires = contents(&event.llm_message["content"], event.line, timeline.notes);
    if event.llm_message["role"] == "assistant" {
        return respond([thinking(event), wires].concat(), event, at, timeline);
    }
    let origin = if event.source == "user" { Origin::User } else { Origin::Injected };
    wires.into_iter().for_each(|wire| timeline.user(wire, origin));
    for wire in contents(&event.extended_content, event.line, timeline.notes) {
        timeline.user(wire, Origin::Injected);
    }
}

/// Adds a response and its call. The file may begin in the middle of a conversation.
fn respond(wires: Vec<Value>, event: &Event, at: Stamp, timeline: &mut Timeline) {
    timeline.settle();
    if timeline.builder.so_far().messages.is_empty() {
        timeline.begin_before(unseen::push);
        timeline.notes.kind(Note::info(event.line, "what was before the first response is not in the file"));
    }
    let call = Call { message_id: event.llm_response_id.clone(), time: at.time, ..Call::default() };
    timeline.response(wires, call);
}

/// Returns the reasoning of a response.
fn thinking(event: &Event) -> Vec<Value> {
    let is_thinking = |block: &&Value| matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"));
    let blocks: Vec<Value> = event.thinking_blocks.as_array().into_iter().flatten().filter(is_thinking).cloned().collect();
    let text = event.reasoning_content.as_ref().filter(|text| blocks.is_empty() && !text.is_empty());
    blocks.into_iter().chain(text.map(|text| json!({"type": "thinking", "thinking": text}))).collect()
}

/// Returns what an action is of its response: reasoning and text are only in the first.
fn action_wires(event: &Event, notes: &mut Notes) -> Vec<Value> {
    let mut wires = [thinking(event), contents(&event.thought, event.line, notes)].concat();
    let text = |key: &str| event.tool_call[key].as_str().unwrap_or_default();
    // The arguments are those that the model wrote; the action is what was made of them.
    wires.push(openai_wire::tool_use(&event.tool_call_id, text("name"), text("arguments").to_owned()));
    wires
}

/// Returns the content of a result, and whether the tool failed, if the event says so.
fn result(event: &Event, notes: &mut Notes) -> (Value, Option<bool>) {
    let said = match event.kind.as_str() {
        "AgentErrorEvent" => &event.error,
        "UserRejectObservation" => &event.rejection_reason,
        _ => {
            let content = event.observation.get("content").unwrap_or(&event.observation);
            let failed = event.observation.get("is_error").and_then(Value::as_bool).filter(|failed| *failed);
            return match contents(content, event.line, notes).as_slice() {
                [only] if only["type"] == "text" => (only["text"].clone(), failed),
                [] if content.is_object() => (content.to_string().into(), failed),
                wires => (wires.to_vec().into(), failed),
            };
        }
    };
    (said.as_str().unwrap_or_default().into(), Some(true))
}

/// Returns texts and images.
fn contents(content: &Value, line: u32, notes: &mut Notes) -> Vec<Value> {
    let parts = match content {
        Value::String(text) if text.is_empty() => &[],
        Value::String(text) => return vec![text_wire(text.clone())],
        content => content.as_array().map_or(&[][..], Vec::as_slice),
    };
    let mut wires = Vec::new();
    for part in parts {
        match part["type"].as_str().unwrap_or("unknown") {
            "text" => wires.extend(part["text"].as_str().filter(|text| !text.is_empty()).map(text_wire)),
            "image" => {
                let urls = part["image_urls"].as_array().into_iter().flatten();
                wires.extend(urls.filter_map(Value::as_str).map(openai_wire::image));
            }
            other => {
                notes.unknown_type(line, "parts", other);
            }
        }
    }
    wires
}

/// Adds a condensation. The summary is behind as many of the events that are left as it says, or else before all.
fn condense(event: &Event, view: &[usize], timeline: &mut Timeline) {
    timeline.settle();
    let (before, after) = view.split_at(event.summary_offset.unwrap_or(0).min(view.len()));
    let [before, after] = [before, after].map(|events| events.iter().copied().collect::<HashSet<usize>>());
    let mut into = timeline.kept(|record| before.contains(&record));
    let summary = event.summary.iter().filter(|summary| !summary.is_empty()).map(text_wire).collect();
    into.push(timeline.new_message(Role::User, summary, Origin::Compaction));
    into.extend(timeline.kept(|record| after.contains(&record)));
    timeline.fold(into, Details::default());
}

#[cfg(test)]
mod tests;
