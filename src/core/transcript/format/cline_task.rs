//! Tasks of Cline, Roo Code and Kilo Code in an editor (`tasks/<id>/api_conversation_history.json`, with the files beside it: [`store`]).
//!
//! Messages are of Anthropic's API. Roo and Kilo keep what a compaction hid: a message with `condenseParent` or `truncationParent` is hidden
//! once the summary or the mark with that id exists, so the folds are exact. When that was is on the screen ([`screen`]): the summary is in
//! front of what it kept. Cline says on the screen which messages it did not send any more. Tokens are on the screen, too.
//!
//! By source: all of it. Calls that a model wrote as XML in its text are text, and so are their results.

mod screen;
mod store;

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::batch::Stamp;
use super::cline::elements;
use super::head::Head;
use super::notes::Notes;
use super::timeline::{Details, Timeline};
use super::{Certainty, Format, Joins, Note, ReadOptions, Reading, SessionFolder, document, jsonl};
use crate::transcript::conversation::{BlockId, Call, Identity, Message, Origin, Role, text_wire};
use screen::{Range, Screen};

/// The id of the format.
const NAME: &str = "cline-task";

pub const FORMAT: Format = Format {
    name: NAME,
    about: "tasks of Cline, Roo Code and Kilo Code in an editor: api_conversation_history.json and the files beside it",
    sniff,
    read,
    folders: FOLDERS,
    store: Some(store::STORE),
    joins: Joins::Nothing,
};

/// The extensions of VS Code and of editors that are made of it, on the three systems; and Cline without an editor.
const FOLDERS: &[SessionFolder] = &[
    SessionFolder { variable: Some("XDG_CONFIG_HOME"), home: Some(".config"), sessions: IN_EDITOR },
    SessionFolder { variable: None, home: Some("Library/Application Support"), sessions: IN_EDITOR },
    SessionFolder { variable: None, home: Some("AppData/Roaming"), sessions: IN_EDITOR },
    SessionFolder { variable: Some("CLINE_DATA_DIR"), home: Some(".cline/data"), sessions: "tasks" },
];

const IN_EDITOR: &str = "*/User/globalStorage/*/tasks";

const MARKS: &[&str] = &[
    "role content file=api_conversation_history.json",
    "messages.role unread ui_messages",
    "role ts modelInfo",
    "role condenseId",
    "role condenseParent",
    "role truncationParent",
    "role truncationId",
];

const NO_RESULT: &str = "[no result in the record]";

/// What these programs put around what a person typed.
const TYPED: [&str; 4] = ["task", "user_message", "feedback", "answer"];

fn sniff(head: &Head) -> Certainty {
    head.is_marked(MARKS).into()
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Record {
    #[serde(skip)]
    line: u32,
    role: String,
    content: Value,
    ts: Option<i64>,
    model_info: Value,
    is_summary: bool,
    condense_id: Option<String>,
    condense_parent: Option<String>,
    truncation_id: Option<String>,
    truncation_parent: Option<String>,
}

impl Record {
    /// Returns the id by which other messages say that this one hides them.
    fn id(&self) -> Option<&str> {
        self.condense_id.as_deref().filter(|_| self.is_summary).or(self.truncation_id.as_deref())
    }

    fn is_hidden_by(&self, ids: &HashSet<&str>) -> bool {
        [&self.condense_parent, &self.truncation_parent].into_iter().flatten().any(|id| ids.contains(id.as_str()))
    }

    fn at(&self) -> Stamp {
        Stamp { line: self.line, time: self.ts }
    }
}

/// A compaction: the index of its summary or mark, and that of the first message that came behind it.
struct Edit {
    at: usize,
    before: usize,
}

fn read(bytes: &[u8], _: &ReadOptions) -> Reading {
    let mut notes = Notes::default();
    let Some(document) = document::read(bytes, "messages", usize::MAX) else {
        let why = "not the messages of a Cline, Roo or Kilo task: it is no list of messages";
        return Reading { conversations: Vec::new(), notes: vec![Note::skipped(1, why)] };
    };
    notes.lines.extend(document.note());
    let mut records: Vec<Record> = Vec::new();
    for (line, raw) in &document.messages {
        let values = jsonl::values::<Record>(*line, raw.get().as_bytes(), &mut notes.lines);
        records.extend(values.into_iter().map(|record| Record { line: *line, ..record }));
    }
    let field = |key: &str| document.field(key).and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok()).unwrap_or_default();
    for name in field("unread").as_array().into_iter().flatten().filter_map(Value::as_str) {
        notes.lines.push(Note::skipped(1, format!("{name} beside this file is no JSON; it was not read")));
    }
    if field("context_history").as_array().is_some_and(|changes| !changes.is_empty()) {
        let what = "some texts were shortened before they were sent again (context_history.json); they are read as they were";
        notes.lines.push(Note::info(1, what));
    }
    let (ui_messages, metadata) = (field("ui_messages"), field("task_metadata"));
    if !ui_messages.is_array() {
        notes.lines.push(Note::info(1, "ui_messages.json is not beside this file, so nothing is known of the usage"));
    }
    let identity = Identity { agent: document.text("program"), session: document.text("task"), ..Identity::default() };
    let task = Task { screen: Screen::new(&ui_messages), models: metadata["model_usage"].clone(), records };
    let mut timeline = Timeline::new("main", NAME, NO_RESULT, &mut notes);
    timeline.builder.set_identity(identity);
    task.read(&mut timeline);
    let conversations = timeline.finish().into_iter().collect();
    Reading { conversations, notes: notes.finish() }
}

/// The files of a task.
struct Task {
    records: Vec<Record>,
    screen: Screen,
    /// Which model was asked from when on.
    models: Value,
}

impl Task {
    fn read(&self, timeline: &mut Timeline) {
        let edits = self.edits(timeline.notes);
        let responses: Vec<usize> = (0..self.records.len()).filter(|at| self.is_response(*at)).collect();
        let times: Vec<Option<i64>> = responses.iter().map(|at| self.records[*at].ts).collect();
        let requests = self.screen.requests_of(&times);
        if requests.iter().all(Option::is_none) && !self.screen.requests.is_empty() && !responses.is_empty() {
            let what =
                "the screen has another number of requests than there are responses, and these have no times: no usage is read";
            timeline.notes.kind(Note::info(1, what));
        }
        let answered: HashSet<usize> = requests.iter().flatten().copied().collect();
        if self.screen.is_unclear {
            let what = "no request shows whether the input holds the tokens of the cache: it is taken to hold them";
            timeline.notes.kind(Note::info(1, what));
        }
        let mut requests = requests.into_iter();
        let (mut applied, mut not_sent) = (Vec::new(), None);
        for at in 0..=self.records.len() {
            for edit in edits.iter().filter(|edit| edit.before == at) {
                applied.push(edit.at);
                self.fold(edit, &applied, timeline);
            }
            let Some(record) = self.records.get(at).filter(|record| record.id().is_none()) else { continue };
            timeline.begin(at, record.at());
            match record.role.as_str() {
                "user" => user(record, at == 0, timeline),
                "assistant" => {
                    let range = self.screen.not_sent(at).unwrap_or(not_sent);
                    if range != not_sent {
                        not_sent = range;
                        range.into_iter().for_each(|range| leave_out(range, timeline));
                    }
                    let request = requests.next().flatten();
                    let usage = request.and_then(|request| self.screen.usage(request, record.line, timeline.notes));
                    let model = self.model(record);
                    let wires = said(record, timeline.notes);
                    timeline.response(wires, Call { usage, model, ..Call::default() });
                }
                other => {
                    timeline.notes.unknown_role(record.line, other);
                }
            }
        }
        for (at, request) in
            self.screen.requests.iter().enumerate().filter(|(at, _)| !answered.is_empty() && !answered.contains(at))
        {
            let usage = self.screen.usage(at, 1, timeline.notes);
            let call = Call { usage, time: Some(request.time), ..Call::default() };
            timeline.lost_response("a request on the screen has no response in the file; it is only in the bill", call);
        }
    }

    fn is_response(&self, at: usize) -> bool {
        self.records[at].role == "assistant" && self.records[at].id().is_none()
    }

    fn model(&self, record: &Record) -> Option<String> {
        let mut asked = self.models.as_array().into_iter().flatten();
        let last = asked.rfind(|model| model["ts"].as_i64() <= record.ts && record.ts.is_some());
        let model = record.model_info["modelId"].as_str().or_else(|| last?["model_id"].as_str());
        model.map(str::to_owned)
    }

    /// Returns the compactions in the order in which they were made.
    fn edits(&self, notes: &mut Notes) -> Vec<Edit> {
        let has_times = self.records.iter().all(|record| record.ts.is_some());
        let mut edits = Vec::new();
        for (at, record) in self.records.iter().enumerate() {
            let Some(id) = record.id() else { continue };
            let announced = self.screen.compactions.get(id).filter(|_| has_times);
            if announced.is_none() {
                let what =
                    "when a compaction was made is not on the screen of the task: what is behind its summary counts as later";
                notes.kind(Note::info(record.line, what));
            }
            let is_later = |record: &Record| announced.is_none_or(|announced| record.ts > Some(announced.time));
            let behind = (at + 1..self.records.len()).filter(|other| self.records[*other].id().is_none());
            let before = behind.into_iter().find(|other| is_later(&self.records[*other])).unwrap_or(self.records.len());
            edits.push((announced.map(|announced| announced.time), Edit { at, before }));
        }
        edits.sort_by_key(|(time, edit)| (edit.before, *time, edit.at));
        edits.into_iter().map(|(_, edit)| edit).collect()
    }

    /// Adds the last one of these compactions. What each of them hid stays hidden.
    fn fold(&self, edit: &Edit, applied: &[usize], timeline: &mut Timeline) {
        let record = &self.records[edit.at];
        timeline.begin(edit.at, record.at());
        timeline.settle();
        let ids: HashSet<&str> = applied.iter().filter_map(|at| self.records[*at].id()).collect();
        let is_sent = |at: usize| !self.records[at].is_hidden_by(&ids);
        let mut summaries: Vec<usize> = applied.iter().copied().filter(|at| is_sent(*at)).collect();
        summaries.sort_unstable();
        let (mut into, mut from) = (Vec::new(), 0);
        let mut used = HashSet::new();
        for at in summaries {
            into.extend(timeline.kept(|record| (from..at).contains(&record) && is_sent(record)));
            into.push(summary(&self.records[at], timeline, &mut used));
            from = at + 1;
        }
        into.extend(timeline.kept(|record| record >= from && is_sent(record)));
        let announced = record.id().and_then(|id| self.screen.compactions.get(id)).copied().unwrap_or_default();
        let (tokens_before, tokens_after) = (announced.tokens_before, announced.tokens_after);
        timeline.fold(into, Details { tokens_before, tokens_after, ..Details::default() });
    }
}

/// Adds that these messages are not sent any more.
fn leave_out([first, last]: Range, timeline: &mut Timeline) {
    timeline.settle();
    let into = timeline.kept(|record| !(first..=last).contains(&record));
    timeline.fold(into, Details::default());
}

/// Returns the message that a compaction inserted. A summary repeats the calls whose results it kept.
fn summary(record: &Record, timeline: &mut Timeline, used: &mut HashSet<BlockId>) -> Message {
    let (role, wires) = match record.role.as_str() {
        "assistant" => (Role::Assistant, said(record, timeline.notes)),
        _ => (Role::User, elements(&record.content)),
    };
    let (calls, others): (Vec<Value>, Vec<Value>) = wires.into_iter().partition(|wire| wire["type"] == "tool_use");
    let origin = if record.is_summary { Origin::Compaction } else { Origin::Injected };
    let mut message = timeline.new_message(role, others, origin);
    message.blocks.extend(calls.into_iter().map(|call| timeline.original(call, used)));
    message
}

fn user(record: &Record, is_first: bool, timeline: &mut Timeline) {
    for block in elements(&record.content) {
        match block["type"].as_str().unwrap_or("unknown") {
            "tool_result" => {
                let content = if block["content"].is_null() { json!("") } else { block["content"].clone() };
                timeline.result(block["tool_use_id"].as_str().unwrap_or_default(), content, block["is_error"].as_bool());
            }
            "text" => {
                let text = block["text"].as_str().unwrap_or_default();
                let origin = if is_typed(text, is_first) { Origin::User } else { Origin::Injected };
                if !text.is_empty() {
                    timeline.user(text_wire(text), origin);
                }
            }
            "image" | "document" => timeline.user(block, Origin::User),
            other => timeline.notes.unknown_type(record.line, "blocks", other),
        }
    }
}

/// Whether a person typed a text. The first message has no tags in some versions.
fn is_typed(text: &str, is_first: bool) -> bool {
    let text = text.trim();
    let is_around = |tag: &str| text.starts_with(&format!("<{tag}>")) || text.ends_with(&format!("</{tag}>"));
    TYPED.iter().any(|tag| is_around(tag)) || is_first && !text.starts_with("<environment_details>")
}

/// Returns what a response said.
fn said(record: &Record, notes: &mut Notes) -> Vec<Value> {
    let mut wires = Vec::new();
    for block in elements(&record.content) {
        match block["type"].as_str().unwrap_or("unknown") {
            "text" if block["text"] == "" => {}
            "text" => wires.push(text_wire(block["text"].as_str().unwrap_or_default())),
            "thinking" | "redacted_thinking" | "tool_use" => wires.push(block),
            "reasoning" => wires.push(json!({"type": "thinking", "thinking": block["text"].as_str().unwrap_or_default()})),
            other => notes.unknown_type(record.line, "blocks", other),
        }
    }
    wires
}

#[cfg(test)]
mod tests;
