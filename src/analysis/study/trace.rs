//! Tokens per call, for the plots over time.

use crate::engine::journal::{EventKind, Journal};
use crate::engine::policy::Policy;
use crate::results::saved::{EventMark, TraceLine, TraceRow};
use crate::transcript::conversation::Conversation;

/// Returns the requests of one policy, and what its layers did before them.
pub fn line(policy: &Policy, journal: &Journal) -> TraceLine {
    let mark = |event: &crate::engine::journal::Event| match event.kind {
        EventKind::Fired { before, after, .. } => {
            let layer = policy.layers.get(event.layer)?.id.clone();
            Some(EventMark { call: event.call + 1, layer, before, after })
        }
        EventKind::Wrote | EventKind::Failed { .. } | EventKind::Skipped { .. } => None,
    };
    TraceLine {
        policy: policy.name.clone(),
        tokens: journal.requests.iter().map(|request| request.tokens).collect(),
        events: journal.events.iter().filter_map(mark).collect(),
    }
}

/// Returns the lines of one conversation, with its recorded compactions.
pub fn row(transcript: &str, conversation: &Conversation, window: u64, lines: Vec<TraceLine>) -> TraceRow {
    // A compaction comes before the first call whose response had not entered yet.
    let before = |at: usize| conversation.calls.partition_point(|call| call.response < at) + 1;
    let calls = conversation.compactions.iter().map(|compaction| before(compaction.message_index));
    let mut recorded: Vec<usize> = calls.filter(|call| *call <= conversation.calls.len()).collect();
    recorded.dedup();
    TraceRow {
        transcript: transcript.into(),
        conversation: conversation.name.as_str().into(),
        window,
        recorded,
        lines: lines.into(),
    }
}
