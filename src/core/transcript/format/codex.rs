//! Codex CLI rollouts (`~/.codex/sessions/**/rollout-*.jsonl`), read from versions 0.140 to 0.169.
//!
//! A rollout is a flat list of the items that Codex sends; no item says to which response it belongs. These are the rules:
//!
//! * **Responses.** Items of the model (reasoning, message, calls) belong to one response until a `token_count` event with a new
//!   running total ends it. That event comes after the outputs of the response's calls. A message to the model also ends a response. A
//!   `token_count` with the same running total is a repetition and is ignored. If a rollout has no usage at all, an output also ends a
//!   response; parallel calls with interleaved outputs are then read as several responses. Versions up to about 0.50 wrote the usage
//!   before the items; the reader detects this if usage comes before any item.
//! * **Usage.** `token_count` events and `token_usage_record`s repeat each other; what has only running totals counts by their
//!   difference (see `meter.rs`). `input_tokens` includes cached tokens; `cached_input_tokens` becomes `cache_read`, and the rest
//!   becomes `input`. A response with web searches was several requests to the provider; its usage is their sum.
//! * **User messages.** Everything sent to the model between two responses is one message: first the outputs in the order of the
//!   calls, then the rest. A call without output gets the output `aborted`, as Codex itself does.
//! * **Reasoning** is encrypted. The first reasoning block of a response gets the response's `reasoning_output_tokens`.
//! * **Compaction.** `replacement_history` repeats the messages of the user; if the text is the same, the conversation's own blocks are
//!   used. The summary is encrypted; its size comes from the estimate that Codex writes directly after it (see `compaction.rs`). The
//!   trigger is not recorded. Rollouts of older versions contain only the summary, in `message`.
//! * `session_meta` is repeated when a session is resumed; the first one counts. `event_msg` copies are not read.
//! * **Forks and children** begin with a copy of their parent's history (see `inherited.rs`), or name a part of the parent's file (see
//!   `base.rs`). It is their first context: its responses are no calls, and what the parent compacted away is not in it.
//! * **Going back** (`thread_rolled_back`) leaves a branch (see `rewind.rs`), whose calls were billed; `--branches all` reads it too.
//! * **Found tools.** What `tool_search` returns is a result: the definitions are part of the context from there on.
//! * Kinds of records, events and items that are not known become one note each, with their number.

mod base;
mod compaction;
mod events;
mod fields;
mod inherited;
mod item;
mod meter;
mod record;
mod response;
mod rewind;
mod rollout;
mod session;
mod wire;

#[cfg(test)]
mod tests;

use self::meter::TokenEvent;
use self::record::{Record, RecordKind};
use self::rewind::Rewinds;
use self::rollout::{FileUsage, Lineage};
use super::head::Head;
use super::{Branches, Certainty, Format, Joins, ReadOptions, Reading, SessionFolder, jsonl};
use crate::transcript::conversation::Conversation;

/// The id of the format.
const NAME: &str = "codex";

pub const FORMAT: Format = Format {
    name: NAME,
    about: "Codex CLI rollouts, with forks and children",
    sniff,
    read,
    folders: FOLDERS,
    store: None,
    joins: Joins::Parent(base::parent),
};

const FOLDERS: &[SessionFolder] = &[
    SessionFolder { variable: Some("CODEX_HOME"), home: Some(".codex"), sessions: "sessions" },
    SessionFolder { variable: Some("CODEX_HOME"), home: Some(".codex"), sessions: "archived_sessions" },
];

/// Returns whether one of the first three lines is a line of a rollout.
fn sniff(head: &Head) -> Certainty {
    jsonl::lines(head.bytes).take(3).any(|(_, line)| record::is_rollout_line(line)).into()
}

fn read(bytes: &[u8], options: &ReadOptions) -> Reading {
    let mut notes = Vec::new();
    let ancestors: Vec<&[u8]> = options.others.iter().map(|file| file.bytes.as_slice()).collect();
    let mut records = base::join(record::records(bytes, &mut notes), &ancestors);
    let is_first = meter::count(&mut records);
    let is_used =
        |record: &Record| matches!(&record.kind, RecordKind::Counted(counted) if matches!(counted.event, TokenEvent::Used(_)));
    let usage = FileUsage { is_recorded: records.iter().any(is_used), is_first };
    let inherited = inherited::count(&records);
    let rewinds = Rewinds::new(&records);
    let all = options.branches == Branches::All;
    let mut ends = vec![None];
    ends.extend(rewinds.left_branches(&records, inherited).filter(|_| all).map(Some));
    notes.extend(inherited::note(&records, inherited));
    notes.extend(rewinds.notes(&records, inherited, all));
    let mut left = if all { Vec::new() } else { rewinds.billed(&records, inherited) };
    let mut records: Vec<Option<Record>> = records.into_iter().map(Some).collect();
    let mut conversations = Vec::new();
    // The branch that ends last is read last, so that its records need no copy.
    for (n, end) in ends.iter().enumerate().rev() {
        let branch = rewinds.branch(*end);
        let lineages = lineages(&branch, &records, inherited);
        let take = |record: &usize| if n > 0 { records[*record].clone() } else { records[*record].take() };
        let branch: Vec<Record> = branch.iter().filter_map(take).collect();
        let name = if n == 0 { "main".to_owned() } else { format!("main~{}", n + 1) };
        let left = std::mem::take(&mut left);
        conversations.push(rollout::conversation(&name, lineages.into_iter().zip(branch), left, usage, &mut notes));
    }
    conversations.reverse();
    conversations.retain(|conversation: &Conversation| !conversation.is_empty());
    notes.sort_by_key(|note| note.line);
    notes.dedup();
    Reading { conversations, notes }
}

/// Returns what each record of a branch is for the session. What the parent compacted away is not part of the first context.
fn lineages(branch: &[usize], records: &[Option<Record>], inherited: usize) -> Vec<Lineage> {
    let is_compaction =
        |record: usize| matches!(records[record], Some(Record { kind: RecordKind::Compacted(_), .. })) && record < inherited;
    let compaction = branch.iter().copied().rfind(|record| is_compaction(*record)).unwrap_or(0);
    let lineage = |record: usize| match record {
        _ if record >= inherited => Lineage::Own,
        _ if record < compaction => Lineage::Forgotten,
        _ => Lineage::Inherited,
    };
    branch.iter().map(|record| lineage(*record)).collect()
}
