//! `silent_drop`: the recorded agent's request shrank, and no record says what left.
//!
//! What it means: a request has at most four fifths of the tokens of the one before it, and between them there is no compaction, no
//! clearing and no thinking that the model drops. A harness or a provider removed something without a word: when a session was resumed,
//! after an idle time, or between two calls. Why it hurts: what the agent did not know from there on is in no record, and where the
//! cached prefix was lost, the rest was written to the cache again. What to change: look at what the agent asked for again after that
//! call, and turn on the record of the edits (`context_management` of the API says them in each response).
//!
//! Only the usage shows it, so a transcript without usage has no such finding. The row of the recorded runs takes the oldest results
//! for what left. Evidence: seven requests of 4,700 in two folders of recordings, of Claude Code and of Codex; users of Claude Code
//! report the same (anthropics/claude-code 42542, 25666).
//!
//! Precision: we looked at all seven. No record between the two requests says why; what left is not in the file.

use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::transcript::conversation::Compaction;
use crate::transcript::silent_drops::SILENT;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    if !replay.policy.is_recorded() {
        return Vec::new();
    }
    let conversation = replay.conversation;
    let silent = conversation.compactions.iter().filter(|compaction| compaction.trigger.as_deref() == Some(SILENT));
    let detection = |compaction: &Compaction| {
        let call = conversation.calls.partition_point(|call| call.response < compaction.message_index);
        let (before, after) = (compaction.tokens_before?, compaction.tokens_after?);
        let message = format!("the request has {after} tokens after {before}, and no record says what left the context");
        Some(Detection::at_call(replay, Level::Warning, call, message).with("before", before).with("after", after))
    };
    silent.filter_map(detection).collect()
}
