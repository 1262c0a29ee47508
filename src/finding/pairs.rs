//! `pairs`: a request that an API refuses, because tool_use and tool_result do not pair up or a message stands where none may.
//!
//! What it means: an edit took one half of a tool call away, or left a message in a place or a form that is not allowed. Why it
//! hurts: the API answers 400, and as the broken history is sent again with every call, it does so from then on. What to change:
//! cut on the boundaries of batches (`cut = "batch"`), pull the kept tail back to its tool_use, or drop both halves
//! (`repair = "drop"`). Evidence: claude-code #24670, openclaw PR #4852 (closes four such issues), pi #4570, langchain #38352,
//! deepagents #270.
//!
//! Each fault is told once, at the first request that has it; `requests` says how many in a row do.
//!
//! It is a warning where an API still takes the request, but the shape is a mistake: two summaries in a row (one fold left the summary
//! of another: let it cover the last one, `min_span`); thinking that stands where the rest of its response was taken away, or
//! the thinking in front of a tool_use taken away (keep responses whole).

use std::collections::{BTreeMap, BTreeSet};

use super::{Found, Level, Replay, Sent};
use crate::cache::came_with;
use crate::context::{Cause, Change, ChangeKind, Fault};
use crate::conversation::{BlockId, Kind, Origin, Role};
use crate::journal::{Request, SentBlock};
use crate::text::many;

pub fn look(replay: &Replay) -> Vec<Found> {
    let mut found = refused(replay);
    found.extend(misshapen(replay));
    found
}

/// What an API refuses.
fn refused(replay: &Replay) -> Vec<Found> {
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

/// What it takes, though an edit made it so: looked for where folds and drops were made, each once.
fn misshapen(replay: &Replay) -> Vec<Found> {
    let mut looked = Looked {
        replay,
        came_with: came_with(replay.conversation, replay.journal),
        summaries: BTreeSet::new(),
        told: BTreeSet::new(),
    };
    let mut sent = Sent::default();
    let mut found = Vec::new();
    for request in &replay.journal.requests {
        let blocks = sent.advance(request);
        let changes = || request.changes.iter().chain(&request.view).filter(|change| change.cause != Cause::Record);
        found.extend(looked.two_summaries(request, blocks, changes()));
        found.extend(looked.split_responses(request, blocks, changes()));
    }
    found
}

struct Looked<'r, 'a> {
    replay: &'r Replay<'a>,
    /// The message of the conversation that each block came with.
    came_with: Vec<Option<usize>>,
    summaries: BTreeSet<BlockId>,
    /// What was told: summaries, and the messages of responses.
    told: BTreeSet<(Option<BlockId>, Option<usize>)>,
}

impl Looked<'_, '_> {
    /// A summary right behind another one.
    fn two_summaries<'c>(
        &mut self,
        request: &Request,
        blocks: &[SentBlock],
        changes: impl Iterator<Item = &'c Change>,
    ) -> Option<Found> {
        let replay = self.replay;
        let is_text = |block: &&BlockId| {
            let block = replay.block(**block);
            block.kind == Kind::Text && block.origin == Origin::Compaction
        };
        let folds = changes.filter(|change| change.kind == ChangeKind::Fold);
        let new: Vec<_> = folds.filter_map(|fold| Some((*fold.added.iter().find(is_text)?, fold.cause))).collect();
        self.summaries.extend(new.iter().map(|(summary, _)| *summary));
        let (_, cause) = new.last()?;
        let messages: Vec<&[SentBlock]> = blocks.chunk_by(|_, next| next.opens.is_none()).collect();
        let of = |message: &[SentBlock]| message.iter().map(|sent| sent.block).find(|block| self.summaries.contains(block));
        let second = (1..messages.len()).find_map(|at| of(messages[at - 1]).and(of(messages[at])).map(|block| (at, block)));
        let (at, summary) = second?;
        if !self.told.insert((Some(summary), None)) {
            return None;
        }
        let message = format!("two summaries in a row, messages {at} and {}, by {}", at + 1, replay.cause(*cause));
        let found = Found::at_call(replay, Level::Warning, request.call, message);
        Some(found.with("fault", "two summaries in a row").with("cause", replay.cause(*cause)))
    }

    /// Responses of which an edit took a part that belongs to what stays.
    fn split_responses<'c>(
        &mut self,
        request: &Request,
        blocks: &[SentBlock],
        changes: impl Iterator<Item = &'c Change>,
    ) -> Vec<Found> {
        let replay = self.replay;
        let mut gone: BTreeMap<usize, (Vec<Kind>, Cause)> = BTreeMap::new();
        for change in changes.filter(|change| matches!(change.kind, ChangeKind::Drop | ChangeKind::Fold)) {
            for block in change.removed.iter().filter(|block| !change.added.contains(block)) {
                let Some(response) = self.came_with[block.index()].filter(|at| self.is_response(*at)) else { continue };
                gone.entry(response).or_insert((Vec::new(), change.cause)).0.push(replay.block(*block).kind);
            }
        }
        let mut stays: BTreeMap<usize, Vec<BlockId>> = BTreeMap::new();
        if !gone.is_empty() {
            for sent in blocks {
                let of = self.came_with[sent.block.index()].filter(|response| gone.contains_key(response));
                if let Some(response) = of {
                    stays.entry(response).or_default().push(sent.block);
                }
            }
        }
        let mut found = Vec::new();
        for (response, stays) in &stays {
            let (gone, cause) = &gone[response];
            let kinds: Vec<Kind> = stays.iter().map(|block| replay.block(*block).kind).collect();
            let uses = |kinds: &[Kind]| kinds.iter().any(|kind| matches!(kind, Kind::ToolUse(_)));
            let fault = match () {
                () if kinds.iter().all(|kind| *kind == Kind::Thinking) => "thinking without the rest of its response",
                () if gone.contains(&Kind::Thinking) && uses(&kinds) => "a tool_use without the thinking before it",
                () if kinds.contains(&Kind::Thinking) && uses(gone) => "thinking without the tool_use behind it",
                () => continue,
            };
            if self.told.insert((None, Some(*response))) {
                let message = format!("{fault}, by {}", replay.cause(*cause));
                let at = Found::at_call(replay, Level::Warning, request.call, message).at_line(replay.line_of_block(stays[0]));
                found.push(at.with("fault", fault).with("cause", replay.cause(*cause)));
            }
        }
        found
    }

    fn is_response(&self, message: usize) -> bool {
        self.replay.conversation.messages.get(message).is_some_and(|message| message.role == Role::Assistant)
    }
}
