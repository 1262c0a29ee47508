//! Codex CLI rollouts (`~/.codex/sessions/**/rollout-*.jsonl`), read from versions 0.142 to 0.147.
//!
//! A rollout is a flat list of the items that Codex sends; no item says to which response it belongs. These are the rules:
//!
//! * **Responses.** Items of the model (reasoning, message, calls) belong to one response until a `token_count` event with a new
//!   running total ends it. That event comes after the outputs of the response's calls. A message to the model also ends a response. A
//!   `token_count` with the same running total is a repetition and is ignored. If a rollout has no usage at all, an output also ends a
//!   response; parallel calls with interleaved outputs are then read as several responses. Versions up to about 0.50 wrote the usage
//!   before the items; the reader detects this if usage comes before any item.
//! * **Usage.** `input_tokens` includes cached tokens; `cached_input_tokens` becomes `cache_read`, and the rest becomes `input`. A
//!   response with web searches was several requests to the provider; its usage is their sum.
//! * **User messages.** Everything sent to the model between two responses is one message: first the outputs in the order of the
//!   calls, then the rest. A call without output gets the output `aborted`, as Codex itself does.
//! * **Reasoning** is encrypted. The first reasoning block of a response gets the response's `reasoning_output_tokens`.
//! * **Compaction.** `replacement_history` repeats the messages of the user; if the text is the same, the conversation's own blocks are
//!   used. The summary is encrypted; its size comes from the estimate that Codex writes directly after it (see `compaction.rs`). The
//!   trigger is not recorded. Rollouts of older versions contain only the summary, in `message`.
//! * `session_meta` is repeated when a session is resumed; the first one counts. `event_msg` copies are not read.
//! * Going back in the conversation (`thread_rolled_back`) becomes a note; the turns stay in the conversation.

mod compaction;
mod meter;
mod record;
mod response;
mod rollout;
mod wire;

#[cfg(test)]
mod tests;

use super::{Format, ReadOptions, Reading, SessionFolder, jsonl};

/// The id of the format.
const NAME: &str = "codex";

pub const FORMAT: Format =
    Format { name: NAME, about: "Codex CLI rollouts: ~/.codex/sessions/**/rollout-*.jsonl", sniff, read, folders: FOLDERS };

const FOLDERS: &[SessionFolder] = &[
    SessionFolder { variable: Some("CODEX_HOME"), home: Some(".codex"), sessions: "sessions" },
    SessionFolder { variable: Some("CODEX_HOME"), home: Some(".codex"), sessions: "archived_sessions" },
];

/// Returns whether one of the first three lines is a line of a rollout.
fn sniff(bytes: &[u8]) -> bool {
    jsonl::lines(bytes).take(3).any(|(_, line)| record::is_rollout_line(line))
}

fn read(bytes: &[u8], _: &ReadOptions) -> Reading {
    let mut notes = Vec::new();
    let records = record::records(bytes, &mut notes);
    let conversation = rollout::conversation(records, &mut notes);
    notes.sort_by_key(|note| note.line);
    let conversations = if conversation.messages.is_empty() { Vec::new() } else { vec![conversation] };
    Reading { conversations, notes }
}
