//! `pairs`: a request that an API refuses, because tool_use and tool_result do not pair up or a message stands where none may.
//!
//! What it means: an edit took one half of a tool call away, or left a message in a place or a form that is not allowed. Why it
//! hurts: the API answers 400, and as the broken history is sent again with every call, it does so from then on. What to change:
//! cut on the boundaries of batches (`cut = "batch"`), pull the kept tail back to its tool_use, or drop both halves
//! (`repair = "drop"`). Evidence: claude-code #24670, openclaw PR #4852 (closes four such issues), pi #4570, langchain #38352,
//! deepagents #270.
//!
//! The faults of one kind by one layer are told together, at the first request that has one; `requests` says how many do, `blocks` how
//! many tool calls or messages they are about.
//!
//! It is a warning where an API still takes the request, but the shape is a mistake: two summaries in a row (one fold left the summary
//! of another: let it cover the last one, `min_span`); thinking that stands where the rest of its response was taken away, or
//! the thinking in front of a tool_use taken away (keep responses whole).
//!
//! Precision: 33 findings under learn-claude-code's first s08 in 108 recordings, each counted again in the requests as they are written
//! out: in all 33 the first request, the number of requests and the number of orphans (769 together) are the same. What is a warning
//! was found in cases only.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::context::{Cause, Fault, FaultKind};
use crate::findings::Level;
use crate::findings::timeline::misshapen::misshapen;
use crate::findings::timeline::{Detection, ReplayView};
use crate::transcript::conversation::{BlockId, Kind};

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let mut found = refused(replay);
    found.extend(misshapen(replay));
    found
}

/// What an API refuses.
fn refused(replay: &ReplayView) -> Vec<Detection> {
    let mut groups: BTreeMap<(FaultKind, Cause), Group> = BTreeMap::new();
    for request in &replay.journal.requests {
        for fault in request.faults.iter().filter(|fault| replay.is_record() || fault.cause != Cause::Record) {
            let group = groups.entry((fault.kind, fault.cause)).or_insert_with(|| Group::new(request.call, fault));
            group.requests.insert(request.call);
            group.blocks.insert(replay.journal.recorded_block(replay.conversation, fault.block).unwrap_or(fault.block));
        }
    }
    groups.values().map(|group| group.tell(replay)).collect()
}

/// The faults of one kind that one layer brought about.
struct Group {
    call: usize,
    first: Fault,
    /// The calls whose requests have some.
    requests: BTreeSet<usize>,
    /// What they are about, each once, whatever stands in its place.
    blocks: BTreeSet<BlockId>,
}

impl Group {
    fn new(call: usize, first: &Fault) -> Self {
        Self { call, first: *first, requests: BTreeSet::new(), blocks: BTreeSet::new() }
    }

    fn tell(&self, replay: &ReplayView) -> Detection {
        let Self { call, first, requests, blocks } = self;
        let (fault, cause, all) = (first.kind.name(), replay.cause(first.cause), replay.journal.requests.len());
        let pair = match replay.block(first.block).kind {
            Kind::ToolUse(pair) | Kind::ToolResult(pair) => Some(replay.conversation.pair(pair)),
            _ => None,
        };
        let of = pair.map(|pair| format!(", of {} {}", pair.name, pair.id)).unwrap_or_default();
        let (several, place) = (blocks.len(), first.message + 1);
        let requests = requests.len();
        let message = format!("{fault}, by {cause}: {several} in {requests} of {all} requests; the first in message {place}{of}");
        let found = Detection::at_call(replay, Level::Error, *call, message).at_line(replay.line_of_block(first.block));
        let found = found.with("fault", fault).with("cause", cause).with("blocks", several).with("requests", requests);
        pair.map_or(found.clone(), |pair| found.with("tool_use_id", pair.id.as_str()))
    }
}
