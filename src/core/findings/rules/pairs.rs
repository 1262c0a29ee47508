//! `pairs`: a request that the API refuses: tool_use and tool_result do not pair up, or a message is where none is
//! allowed.
//!
//! What it means: an edit removed one half of a tool call, or left a message in a place or a form that is not allowed.
//! Why it hurts: the API answers 400, and because the broken history is sent again with every call, it does so from
//! then on. What to change: cut on the boundaries of batches (`cut = "batch"`), extend the kept tail back to its
//! tool_use, or drop both halves (`repair = "drop"`). Evidence: claude-code #24670, openclaw PR #4852 (closes four such
//! issues), pi #4570, langchain #38352, deepagents #270.
//!
//! One finding reports all faults of one kind by one layer, at the first request that has one; `requests` is the number
//! of such requests, `blocks` the number of tool calls or messages with the fault.
//!
//! Providers sign thinking and want that of the newest response back, unchanged, with the results of its tool calls:
//! remove thinking only from earlier responses. Thinking without a signature is not checked.
//!
//! It is a warning if the API still accepts the request, but its shape is a mistake: two summaries in a row (one
//! summary was made beside an earlier one: let it cover the earlier one, `span.min`); thinking without the rest of its
//! response; or a tool_use without the thinking before it (keep responses whole).
//!
//! Precision: 33 findings under learn-claude-code's first s08 in 108 recordings. We counted each again in the written
//! requests: in all 33 the first request, the number of requests and the number of orphans (769 together) are the same.
//! The warnings occurred in test cases only.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::context::{Cause, Fault, FaultKind};
use crate::engine::journal::FaultTally;
use crate::findings::Level;
use crate::findings::timeline::misshapen::misshapen_requests;
use crate::findings::timeline::{Detection, ReplayView};
use crate::transcript::conversation::{BlockId, BlockKind};

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let mut detections = refused_requests(replay);
    detections.extend(misshapen_requests(replay));
    detections
}

/// Reports requests that the API refuses.
fn refused_requests(replay: &ReplayView) -> Vec<Detection> {
    let mut groups: BTreeMap<(FaultKind, Cause), FaultGroup> = BTreeMap::new();
    let mut tally = FaultTally::default();
    let is_reported = |cause: Cause| replay.is_record() || cause != Cause::Record;
    for request in &replay.journal.requests {
        for fault in request.faults.appended.iter().filter(|fault| is_reported(fault.cause)) {
            let group = groups.entry((fault.kind, fault.cause)).or_insert_with(|| FaultGroup::new(request.call, fault));
            group.blocks.insert(replay.journal.recorded_block(replay.conversation, fault.block).unwrap_or(fault.block));
        }
        tally.advance(request);
        for key in tally.kinds() {
            groups.entry(key).and_modify(|group| group.requests += 1);
        }
    }
    groups.values().map(|group| group.detection(replay)).collect()
}

/// The faults of one kind that one layer caused.
struct FaultGroup {
    /// Index of the first call.
    call: usize,
    first: Fault,
    /// Number of requests with such a fault.
    requests: usize,
    /// The recorded blocks with the fault.
    blocks: BTreeSet<BlockId>,
}

impl FaultGroup {
    fn new(call: usize, first: &Fault) -> Self {
        Self { call, first: *first, requests: 0, blocks: BTreeSet::new() }
    }

    fn detection(&self, replay: &ReplayView) -> Detection {
        let Self { call, first, requests, blocks } = self;
        let (fault, cause, all) = (first.kind.name(), replay.cause(first.cause), replay.journal.requests.len());
        let pair = match replay.block(first.block).kind {
            BlockKind::ToolUse(pair) | BlockKind::ToolResult(pair) => Some(replay.conversation.pair(pair)),
            _ => None,
        };
        let tool_call = pair.map(|pair| format!(" ({} {})", pair.name, pair.id)).unwrap_or_default();
        let (count, position) = (blocks.len(), first.message + 1);
        let message = format!(
            "{fault}, caused by {cause}: {count} in {requests} of {all} requests; the first is in message {position}{tool_call}"
        );
        let detection = Detection::at_call(replay, Level::Error, *call, message).at_line(replay.line_of_block(first.block));
        let detection = detection.with("fault", fault).with("cause", cause).with("blocks", count).with("requests", *requests);
        match pair {
            Some(pair) => detection.with("tool_use_id", pair.id.as_str()),
            None => detection,
        }
    }
}
