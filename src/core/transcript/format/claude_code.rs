//! Sessions of Claude Code (`~/.claude/projects/*/*.jsonl` and its `subagents/`), versions 2.0 to 2.1, and what `claude -p` prints
//! with `--output-format stream-json` or, with `--verbose`, `json` ([`stream`]).
//!
//! The file is append-only, one record per line. `user`, `assistant` and some `attachment` and `system` records are part of the
//! conversation; all others are bookkeeping. Lines with the same `message.id` are one response; its tool results are separate lines.
//! Records name their parent: side chains, rewinds and edited prompts make the file a tree ([`threads`], [`tree`]). Records from before
//! a compaction stay in the file ([`kept`], [`compaction`]). All of this is inferred from recordings; Anthropic does not document it.

mod applied;
mod attachment;
mod compaction;
mod kept;
mod messages;
mod origin;
mod progress;
mod record;
mod stream;
#[cfg(test)]
mod tests;
mod text;
mod thinking;
mod threads;
mod tree;
mod turns;
mod unseen;
mod usage;

use std::collections::HashSet;
use std::iter;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use self::progress::Reports;
use self::record::{Record, Type};
use self::text::Text;
use self::threads::Threads;
use self::tree::{Branch, Tree};
use super::head::{self, Head};
use super::notes::Notes;
use super::{Branches, Certainty, Format, Joins, Note, ReadOptions, Reading, SessionFolder, jsonl};
use crate::util::text::plural;

const NAME: &str = "claude-code";

pub const FORMAT: Format = Format {
    name: NAME,
    about: "Claude Code sessions, with sub-agents, rewinds, compactions and micro-compactions",
    sniff,
    read,
    folders: FOLDERS,
    store: None,
    joins: Joins::Nothing,
};

/// `.config/claude` since versions of 2025; the variable replaces both.
const FOLDERS: &[SessionFolder] = &[
    SessionFolder { variable: Some("CLAUDE_CONFIG_DIR"), home: Some(".claude"), sessions: "projects" },
    SessionFolder { variable: Some("CLAUDE_CONFIG_DIR"), home: Some(".config/claude"), sessions: "projects" },
];

/// Types of bookkeeping records that may have neither `uuid` nor `sessionId`.
const BOOKKEEPING: &[&str] = &[
    "summary",
    "file-history-snapshot",
    "file-history-delta",
    "queue-operation",
    "mode",
    "permission-mode",
    "last-prompt",
    "ai-title",
];

/// What marks a record of Claude Code. Its reader also takes any record with a type and an id for one, and logs have both.
const MARKS: &[&str] = &[
    "uuid isSidechain",
    "uuid message.role message.content",
    "sessionId message.role message.content",
    "session_id message.role message.content",
    "type=system subtype uuid",
    "type=attachment attachment",
    "type=progress data uuid",
    "type=summary leafUuid",
    "type=last-prompt leafUuid",
    "type=file-history-snapshot snapshot",
    "type=queue-operation operation",
];

/// Number of records that [`is_like`] looks at: the first one can be cut off or unknown.
const SNIFFED_RECORDS: usize = 8;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RecordProbe {
    r#type: Text,
    uuid: Text,
    session_id: Text,
    #[serde(rename = "session_id")]
    stream_session_id: Text,
    /// Records of Codex rollouts have this field; records of Claude Code do not.
    payload: Option<IgnoredAny>,
}

fn sniff(head: &Head) -> Certainty {
    match is_like(head.bytes) {
        true if head.is_marked(MARKS) => Certainty::Sure,
        true => Certainty::Maybe,
        false => Certainty::No,
    }
}

/// Returns whether one of the first records has a type and an id.
fn is_like(bytes: &[u8]) -> bool {
    let is_one = |probe: RecordProbe| {
        let has_id = [&probe.uuid, &probe.session_id, &probe.stream_session_id].into_iter().any(|id| id.get().is_some());
        probe.payload.is_none() && probe.r#type.get().is_some_and(|r#type| has_id || BOOKKEEPING.contains(&r#type))
    };
    if stream::is_array(bytes) {
        return head::records(bytes).into_iter().filter_map(|record| serde_json::from_value(record).ok()).any(is_one);
    }
    let first = jsonl::lines(bytes).take(SNIFFED_RECORDS);
    let probes = first.flat_map(|(number, line)| jsonl::values(number, line, &mut Vec::new()));
    probes.take(SNIFFED_RECORDS).any(is_one)
}

fn read(bytes: &[u8], options: &ReadOptions) -> Reading {
    let mut notes = Vec::new();
    let (mut records, mut contents, mut reports) = (Vec::new(), Vec::new(), Reports::default());
    let mut unknown: Vec<Note> = Vec::new();
    for (line, json) in stream::records(bytes) {
        for mut record in jsonl::values::<Record>(line, json, &mut notes) {
            (record.line, record.line_bytes) = (line, json.len());
            record.take_stream_fields();
            record.is_after_clear = record.shows_clear();
            if let Type::Unknown(name) = &record.r#type {
                unknown.push(Note::info(line, format!("records of the unknown type `{name}` are not read")));
            }
            let reported = reports.unpack(&mut record);
            for mut record in iter::once(record).chain(reported) {
                contents.push(record.take_content());
                records.push(record);
            }
        }
    }
    progress::drop_known(&mut records, &mut contents, &options.own_files);
    drop_repeated(&mut records, &mut notes);
    let threads = Threads::new(&records);
    let all = options.branches == Branches::All;
    let mut content = |i: usize| if all { Value::clone(&contents[i]) } else { contents[i].take() };
    let mut conversations = Vec::new();
    for (name, branches) in threads.names.iter().zip(Tree::new(&records, &threads).branches(all)) {
        for (n, branch) in branches.iter().enumerate() {
            if n > 0 {
                notes.extend(branch_note(&records, branch, name, all));
            }
            if n == 0 || all {
                let name = if n == 0 { name.clone() } else { format!("{name}~{}", n + 1) };
                let file = (records.as_slice(), &threads);
                let others = if all { &[] } else { &branches[1..] };
                conversations.push(messages::conversation(name, file, &branch.records, others, &mut content, &mut notes));
            }
        }
    }
    notes.sort_by_key(|note| note.line);
    notes.dedup();
    let mut notes = Notes::of_lines(notes);
    unknown.into_iter().for_each(|note| notes.kind(note));
    Reading { conversations, notes: notes.finish() }
}

/// Drops records whose id occurs earlier: a session that was copied into itself, or a compaction that wrote its history once more.
fn drop_repeated(records: &mut [Record], notes: &mut Vec<Note>) {
    let mut seen = HashSet::with_capacity(records.len());
    let repeats = records.iter().enumerate().filter_map(|(i, record)| (!seen.insert(record.uuid.get()?)).then_some(i));
    let repeats: Vec<usize> = repeats.collect();
    let mut messages = repeats.iter().filter(|i| records[**i].is_conversation());
    if let Some(first) = messages.next() {
        let text = match messages.count() {
            0 => "this record repeats the uuid of an earlier one; it was left out".to_owned(),
            more => format!("this record and {} repeat uuids of earlier ones; they were left out", plural(more, "later record")),
        };
        notes.push(Note::info(records[*first].line, text));
    }
    for i in repeats {
        records[i] = Record { line: records[i].line, r#type: Type::Other, ..Record::default() };
    }
}

/// Returns a note about a branch that is not the main one; `None` if it has no message of its own.
fn branch_note(records: &[Record], branch: &Branch, name: &str, is_read: bool) -> Option<Note> {
    let mut own_messages = branch.own.iter().map(|i| &records[*i]).filter(|record| record.is_conversation());
    let (first, more) = (own_messages.next()?, own_messages.count());
    Some(super::tree::note(first.line, name, more + 1, is_read))
}
