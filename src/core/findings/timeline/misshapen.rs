//! Detects requests that the API accepts although an edit gave them a wrong shape.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::engine::context::{Cause, Change, ChangeKind, FaultKind};
use crate::engine::journal::{Request, RequestCursor, SentBlock};
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::metrics::prompt_cache::came_with;
use crate::transcript::conversation::{BlockId, BlockKind, Origin, Role};

/// Reports two summaries in a row, and responses that were split. Checks the requests with summaries and drops. Reports each case
/// once, and all responses that a layer split in the same way together.
pub(in crate::findings) fn misshapen_requests(replay: &ReplayView) -> Vec<Detection> {
    let mut detector = ShapeDetector {
        replay,
        came_with: came_with(replay.conversation, replay.journal),
        summaries: BTreeSet::new(),
        reported_summaries: BTreeSet::new(),
        sent: FxHashMap::default(),
        split: BTreeMap::new(),
        split_responses: BTreeSet::new(),
    };
    let mut cursor = RequestCursor::default();
    let mut detections = Vec::new();
    for request in &replay.journal.requests {
        cursor.advance(request);
        detections.extend(detector.two_summaries(request, cursor.blocks()));
        detector.follow(&cursor);
        detector.find_split_responses(request);
    }
    detections.extend(detector.split.iter().map(|((fault, cause), group)| group.detection(replay, fault, *cause)));
    detections
}

/// Responses that one layer split in the same way.
struct SplitResponses {
    /// Index of the first call whose request has one.
    call: usize,
    /// Its first block that remains.
    first: BlockId,
    count: usize,
}

impl SplitResponses {
    fn detection(&self, replay: &ReplayView, fault: &'static str, cause: Cause) -> Detection {
        let all = if self.count == 1 { String::new() } else { format!(": {} responses", self.count) };
        let message = format!("{fault}, caused by {}{all}", replay.cause(cause));
        let detection = Detection::at_call(replay, Level::Warning, self.call, message).at_line(replay.line_of_block(self.first));
        detection.with("fault", fault).with("cause", replay.cause(cause)).with("blocks", self.count)
    }
}

struct ShapeDetector<'r, 'a> {
    replay: &'r ReplayView<'a>,
    /// Index of the conversation message that each block came with.
    came_with: Vec<Option<usize>>,
    /// What the current request has of each response, by its index among the messages of the conversation.
    sent: FxHashMap<usize, Vec<BlockId>>,
    summaries: BTreeSet<BlockId>,
    /// Summaries that were reported because they follow another one.
    reported_summaries: BTreeSet<BlockId>,
    /// Split responses by fault and cause, and the messages of all.
    split: BTreeMap<(&'static str, Cause), SplitResponses>,
    split_responses: BTreeSet<usize>,
}

impl ShapeDetector<'_, '_> {
    /// Reports a summary directly after another one.
    fn two_summaries(&mut self, request: &Request, blocks: &[SentBlock]) -> Option<Detection> {
        let replay = self.replay;
        let is_text = |block: &&BlockId| {
            let block = replay.block(**block);
            block.kind == BlockKind::Text && block.origin == Origin::Compaction
        };
        let folds = layer_edits(request).filter(|change| change.kind == ChangeKind::Replace);
        let new: Vec<_> = folds.filter_map(|fold| Some((*fold.added.iter().find(is_text)?, fold.cause))).collect();
        self.summaries.extend(new.iter().map(|(summary, _)| *summary));
        let (_, cause) = new.last()?;
        let messages: Vec<&[SentBlock]> = blocks.chunk_by(|_, next| next.opens.is_none()).collect();
        let summary_in =
            |message: &[SentBlock]| message.iter().map(|sent| sent.block).find(|block| self.summaries.contains(block));
        let second = (1..messages.len())
            .find_map(|at| summary_in(messages[at - 1]).and(summary_in(messages[at])).map(|block| (at, block)));
        let (at, summary) = second?;
        if !self.reported_summaries.insert(summary) {
            return None;
        }
        let message = format!("two summaries in a row (messages {at} and {}), caused by {}", at + 1, replay.cause(*cause));
        let detection = Detection::at_call(replay, Level::Warning, request.call, message);
        Some(detection.with("fault", "two summaries in a row").with("cause", replay.cause(*cause)))
    }

    /// Takes in what the next request has of each response. What is removed was the end of the request before, and of each response in it.
    fn follow(&mut self, cursor: &RequestCursor) {
        for sent in cursor.removed() {
            if let Some(blocks) = self.sent_of(sent.block) {
                blocks.pop();
            }
        }
        for sent in cursor.added() {
            if let Some(blocks) = self.sent_of(sent.block) {
                blocks.push(sent.block);
            }
        }
    }

    /// The blocks that the current request has of the response that a block came with; `None` if it came with none.
    fn sent_of(&mut self, block: BlockId) -> Option<&mut Vec<BlockId>> {
        let response = self.came_with[block.index()].filter(|at| self.is_response(*at))?;
        Some(self.sent.entry(response).or_default())
    }

    /// Finds responses from which an edit removed a part that the rest needs, but for those for which the request is refused.
    fn find_split_responses(&mut self, request: &Request) {
        let replay = self.replay;
        let refused = request.faults.appended.iter().filter(|fault| fault.kind == FaultKind::ThinkingChanged);
        self.split_responses.extend(refused.filter_map(|fault| self.came_with[fault.block.index()]));
        let mut removed: BTreeMap<usize, (Vec<BlockKind>, Cause)> = BTreeMap::new();
        for change in layer_edits(request).filter(|change| matches!(change.kind, ChangeKind::Drop | ChangeKind::Replace)) {
            for block in change.gone() {
                let Some(response) = self.came_with[block.index()].filter(|at| self.is_response(*at)) else { continue };
                removed.entry(response).or_insert((Vec::new(), change.cause)).0.push(replay.block(block).kind);
            }
        }
        for (response, (removed, cause)) in &removed {
            let Some(remaining) = self.sent.get(response).filter(|remaining| !remaining.is_empty()) else { continue };
            let kinds: Vec<BlockKind> = remaining.iter().map(|block| replay.block(*block).kind).collect();
            let uses = |kinds: &[BlockKind]| kinds.iter().any(|kind| matches!(kind, BlockKind::ToolUse(_)));
            let fault = match () {
                () if kinds.iter().all(|kind| *kind == BlockKind::Thinking) => "thinking without the rest of its response",
                () if removed.contains(&BlockKind::Thinking) && uses(&kinds) => "a tool_use without the thinking before it",
                () if kinds.contains(&BlockKind::Thinking) && uses(removed) => "thinking without the tool_use behind it",
                () => continue,
            };
            if self.split_responses.insert(*response) {
                let group = SplitResponses { call: request.call, first: remaining[0], count: 0 };
                self.split.entry((fault, *cause)).or_insert(group).count += 1;
            }
        }
    }

    fn is_response(&self, message: usize) -> bool {
        self.replay.conversation.messages.get(message).is_some_and(|message| message.role == Role::Assistant)
    }
}

/// Returns the edits of layers, without those that the record made.
fn layer_edits(request: &Request) -> impl Iterator<Item = &Change> {
    request.edits().filter(|change| change.cause != Cause::Record)
}
