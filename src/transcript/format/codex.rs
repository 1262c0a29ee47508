//! Codex CLI rollouts (`~/.codex/sessions/**/rollout-*.jsonl`), read from versions 0.142 to 0.147.
//!
//! A rollout is a journal of the items that Codex sends, flat: no item says which response it belongs to. The rules:
//!
//! * **Responses.** Items of the model (reasoning, message, calls) belong to one response until a `token_count` event with a new
//!   running total says that the response was complete; it comes after the outputs of the response's calls. A message to the
//!   model ends a response too. A `token_count` whose running total stands still is a repetition and says nothing. Where a
//!   rollout has no usage at all, an output also ends a response, so that parallel calls whose outputs are interleaved
//!   read as several. Versions up to about 0.50 wrote the usage before the items: seen when usage comes before any item.
//! * **Usage.** `input_tokens` includes what was cached; `cached_input_tokens` is `cache_read` here, and the rest is `input`.
//!   A response that ran web searches was several requests of the provider: its usage is their sum.
//! * **User messages.** Everything to the model between two responses is one message: outputs in the order of the calls, then
//!   the rest. A call without output is answered by `aborted`, as Codex does it.
//! * **Reasoning** is encrypted: the first reasoning block of a response has the response's `reasoning_output_tokens`.
//! * **Compaction.** `replacement_history` repeats the users' messages: they are the conversation's own blocks where the text
//!   is the same. The summary itself is encrypted; its size is taken from Codex's estimate right after (see
//!   `compaction.rs`). The record has no trigger. Rollouts of older versions hold the summary in `message` alone.
//! * `session_meta` is repeated when a session is resumed: the first one counts. `event_msg` copies are not read.
//! * Going back in the conversation (`thread_rolled_back`) is noted and not followed.

mod compaction;
mod meter;
mod record;
mod response;
mod rollout;
mod wire;

#[cfg(test)]
mod tests;

use super::{Format, ReadOptions, Reading, jsonl};

/// The id of the format.
const NAME: &str = "codex";

pub const FORMAT: Format = Format { name: NAME, about: "Codex CLI rollouts: ~/.codex/sessions/**/rollout-*.jsonl", sniff, read };

/// Whether one of the first lines is a line of a rollout.
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
