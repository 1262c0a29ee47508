//! Sessions of Claude Code (`~/.claude/projects/*/*.jsonl` and its `subagents/`), versions 2.0 to 2.1.
//!
//! One record a line, append-only; `user`, `assistant` and some `attachment` and `system` records are conversation, all others
//! are bookkeeping. Lines with one `message.id` are one response; its tool results are lines of their own. Records name their
//! parent: side chains, rewinds and edited prompts make it a tree ([`threads`], [`tree`]). What came before a compaction stays
//! in the file ([`kept`], [`compaction`]). Read off recordings; Anthropic documents none of it.

mod attachment;
mod compaction;
mod kept;
mod messages;
mod origin;
mod record;
#[cfg(test)]
mod tests;
mod text;
mod threads;
mod tree;
mod turns;

use std::collections::HashSet;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use self::record::{Record, Type};
use self::text::Text;
use self::threads::Threads;
use self::tree::{Branch, Tree};
use super::{Branches, Format, Note, ReadOptions, Reading, jsonl};

const NAME: &str = "claude-code";

pub const FORMAT: Format =
    Format { name: NAME, about: "Claude Code session (JSONL), with sub-agents and compactions", sniff, read };

/// Bookkeeping records that may carry neither `uuid` nor `sessionId`.
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

/// How many records are looked at: the first can be cut off or unknown.
const SNIFFED_RECORDS: usize = 8;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Probe {
    r#type: Text,
    uuid: Text,
    session_id: Text,
    /// Codex rollouts wrap every record in one.
    payload: Option<IgnoredAny>,
}

fn sniff(bytes: &[u8]) -> bool {
    let first = jsonl::lines(bytes).take(SNIFFED_RECORDS);
    let probes = first.flat_map(|(number, line)| jsonl::values::<Probe>(number, line, &mut Vec::new()));
    probes.take(SNIFFED_RECORDS).any(|probe| {
        let has_id = probe.uuid.get().or(probe.session_id.get()).is_some();
        probe.payload.is_none() && probe.r#type.get().is_some_and(|r#type| has_id || BOOKKEEPING.contains(&r#type))
    })
}

fn read(bytes: &[u8], options: &ReadOptions) -> Reading {
    let mut notes = Vec::new();
    let (mut records, mut contents) = (Vec::new(), Vec::new());
    for (line, json) in jsonl::lines(bytes) {
        for mut record in jsonl::values::<Record>(line, json, &mut notes) {
            record.line = line;
            contents.push(record.take_content());
            records.push(record);
        }
    }
    leave_out_repeated(&mut records, &mut notes);
    let threads = Threads::new(&records);
    let all = options.branches == Branches::All;
    let mut content = |i: usize| if all { Value::clone(&contents[i]) } else { contents[i].take() };
    let mut conversations = Vec::new();
    for (name, branches) in threads.names.iter().zip(Tree::new(&records, &threads).branches(all)) {
        for (n, branch) in branches.iter().enumerate() {
            if n > 0 {
                notes.extend(other_branch(&records, branch, name, all));
            }
            if n == 0 || all {
                let name = if n == 0 { name.clone() } else { format!("{name}~{}", n + 1) };
                let file = (records.as_slice(), &threads);
                conversations.push(messages::conversation(name, file, &branch.records, &mut content, &mut notes));
            }
        }
    }
    notes.sort_by_key(|note| note.line);
    notes.dedup();
    Reading { conversations, notes }
}

/// Makes bookkeeping of records whose id was there before: a session that was copied into itself.
fn leave_out_repeated(records: &mut [Record], notes: &mut Vec<Note>) {
    let mut seen = HashSet::with_capacity(records.len());
    let repeats = records.iter().enumerate().filter_map(|(i, record)| (!seen.insert(record.uuid.get()?)).then_some(i));
    for i in repeats.collect::<Vec<_>>() {
        let line = records[i].line;
        if records[i].is_said() {
            notes.push(Note::info(line, "a record with this uuid was there before; it was left out"));
        }
        records[i] = Record { line, r#type: Type::Other, ..Record::default() };
    }
}

fn other_branch(records: &[Record], branch: &Branch, name: &str, read: bool) -> Option<Note> {
    let mut said = branch.own.iter().map(|i| &records[*i]).filter(|record| record.is_said());
    let (first, more) = (said.next()?, said.count());
    let what = if read { "read as a conversation of its own" } else { "left out (--branches all reads it)" };
    Some(Note::info(first.line, format!("{name} has another branch here, of {} records: {what}", more + 1)))
}
