//! Requests that an API takes, though an edit gave them a shape that is a mistake.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::context::{Cause, Change, ChangeKind};
use crate::engine::journal::{Request, SentBlock};
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView, RequestCursor};
use crate::metrics::prompt_cache::came_with;
use crate::transcript::conversation::{BlockId, Kind, Origin, Role};

/// Two summaries in a row, and responses that were split: looked for where folds and drops were made, each once.
pub(in crate::findings) fn misshapen(replay: &ReplayView) -> Vec<Detection> {
    let mut looked = Looked {
        replay,
        came_with: came_with(replay.conversation, replay.journal),
        summaries: BTreeSet::new(),
        told_summaries: BTreeSet::new(),
        told_responses: BTreeSet::new(),
    };
    let mut sent = RequestCursor::default();
    let mut found = Vec::new();
    for request in &replay.journal.requests {
        sent.advance(request);
        found.extend(looked.two_summaries(request, sent.blocks()));
        found.extend(looked.split_responses(request, sent.blocks()));
    }
    found
}

struct Looked<'r, 'a> {
    replay: &'r ReplayView<'a>,
    /// The message of the conversation that each block came with.
    came_with: Vec<Option<usize>>,
    summaries: BTreeSet<BlockId>,
    /// What was told: summaries behind others, and the messages of responses that were split.
    told_summaries: BTreeSet<BlockId>,
    told_responses: BTreeSet<usize>,
}

impl Looked<'_, '_> {
    /// A summary right behind another one.
    fn two_summaries(&mut self, request: &Request, blocks: &[SentBlock]) -> Option<Detection> {
        let replay = self.replay;
        let is_text = |block: &&BlockId| {
            let block = replay.block(**block);
            block.kind == Kind::Text && block.origin == Origin::Compaction
        };
        let folds = by_layers(request).filter(|change| change.kind == ChangeKind::Replace);
        let new: Vec<_> = folds.filter_map(|fold| Some((*fold.added.iter().find(is_text)?, fold.cause))).collect();
        self.summaries.extend(new.iter().map(|(summary, _)| *summary));
        let (_, cause) = new.last()?;
        let messages: Vec<&[SentBlock]> = blocks.chunk_by(|_, next| next.opens.is_none()).collect();
        let of = |message: &[SentBlock]| message.iter().map(|sent| sent.block).find(|block| self.summaries.contains(block));
        let second = (1..messages.len()).find_map(|at| of(messages[at - 1]).and(of(messages[at])).map(|block| (at, block)));
        let (at, summary) = second?;
        if !self.told_summaries.insert(summary) {
            return None;
        }
        let message = format!("two summaries in a row, messages {at} and {}, by {}", at + 1, replay.cause(*cause));
        let found = Detection::at_call(replay, Level::Warning, request.call, message);
        Some(found.with("fault", "two summaries in a row").with("cause", replay.cause(*cause)))
    }

    /// Responses of which an edit took a part that belongs to what stays.
    fn split_responses(&mut self, request: &Request, blocks: &[SentBlock]) -> Vec<Detection> {
        let replay = self.replay;
        let mut gone: BTreeMap<usize, (Vec<Kind>, Cause)> = BTreeMap::new();
        for change in by_layers(request).filter(|change| matches!(change.kind, ChangeKind::Drop | ChangeKind::Replace)) {
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
            if self.told_responses.insert(*response) {
                let message = format!("{fault}, by {}", replay.cause(*cause));
                let at =
                    Detection::at_call(replay, Level::Warning, request.call, message).at_line(replay.line_of_block(stays[0]));
                found.push(at.with("fault", fault).with("cause", replay.cause(*cause)));
            }
        }
        found
    }

    fn is_response(&self, message: usize) -> bool {
        self.replay.conversation.messages.get(message).is_some_and(|message| message.role == Role::Assistant)
    }
}

fn by_layers(request: &Request) -> impl Iterator<Item = &Change> {
    request.edits().filter(|change| change.cause != Cause::Record)
}
