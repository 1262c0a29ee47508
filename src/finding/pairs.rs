//! `pairs`: a request that an API refuses, because tool_use and tool_result do not pair up or a message stands where none may.
//!
//! What it means: an edit took one half of a tool call away, or left a message in a place or a form that is not allowed. Why it
//! hurts: the API answers 400, and as the broken history is sent again with every call, it does so from then on. What to change:
//! cut on the boundaries of batches (`cut = "batch"`), pull the kept tail back to its tool_use, or drop both halves
//! (`repair = "drop"`). Evidence: claude-code #24670, openclaw PR #4852 (closes four such issues), pi #4570, langchain #38352,
//! deepagents #270.
//!
//! Each fault is told once, at the first request that has it; `requests` says how many in a row do.

use super::{Found, Level, Replay};
use crate::context::{Cause, Fault};
use crate::conversation::Kind;
use crate::text::many;

pub fn look(replay: &Replay) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    // The faults of the request before, and where each was told.
    let mut standing: Vec<(Fault, usize)> = Vec::new();
    for request in &replay.journal.requests {
        let of_layers = request.faults.iter().filter(|fault| replay.is_record() || fault.cause != Cause::Record);
        let told = of_layers.map(|fault| {
            let known = standing.iter().find(|(other, _)| same(replay, other, fault)).map(|(_, at)| *at);
            let at = known.unwrap_or_else(|| {
                found.push(first(replay, request.call, fault));
                found.len() - 1
            });
            (*fault, at)
        });
        standing = told.collect();
        for (_, at) in &standing {
            let requests = found[*at].data.get("requests").and_then(serde_json::Value::as_u64).unwrap_or_default();
            found[*at].data.insert("requests".to_owned(), (requests + 1).into());
        }
    }
    for one in &mut found {
        let requests = one.data.get("requests").and_then(serde_json::Value::as_u64).unwrap_or_default() as usize;
        one.message += &format!("; {} in a row", many(requests, "request"));
    }
    found
}

/// Whether it is the same fault in a later request: of the same block, or of what stands in its place.
fn same(replay: &Replay, one: &Fault, other: &Fault) -> bool {
    let origin = |fault: &Fault| replay.journal.recorded_block(replay.conversation, fault.block);
    one.kind == other.kind && (one.block == other.block || (origin(one).is_some() && origin(one) == origin(other)))
}

fn first(replay: &Replay, call: usize, fault: &Fault) -> Found {
    let pair = match replay.block(fault.block).kind {
        Kind::ToolUse(pair) | Kind::ToolResult(pair) => Some(replay.conversation.pair(pair)),
        _ => None,
    };
    let of = pair.map(|pair| format!(" ({} {})", pair.name, pair.id)).unwrap_or_default();
    let message = format!("{}{of} in message {}, by {}", fault.kind.name(), fault.message + 1, replay.cause(fault.cause));
    let found = Found::at_call(replay, Level::Error, call, message).at_line(replay.line_of_block(fault.block));
    let found = found.with("fault", fault.kind.name()).with("cause", replay.cause(fault.cause));
    pair.map_or(found.clone(), |pair| found.with("tool_use_id", pair.id.as_str()))
}
