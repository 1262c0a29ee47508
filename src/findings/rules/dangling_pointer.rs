//! `dangling_pointer`: a result says that its content stands elsewhere in the request, and it does not.
//!
//! What it means: a copy was replaced by a pointer to another, by a `dedupe` layer or by the harness itself (Claude Code answers
//! a second read of a file with "File unchanged since last read"), and then the other was cleared, dropped or folded. Why it
//! hurts: the agent is told not to read again what it cannot see, and asks in vain: the harness goes on to answer that nothing
//! has changed. What to change: run `dedupe` after the layers that clear, or let `clear` spare what others point to
//! (`preserve_tools`); a harness must forget what it has shown when it compacts. Evidence: Vibe-Trading PR #1349 (44 skips that
//! point at a cleared result), claude-code #46749 and #68536 (compacted or rewound, and a read answers "unchanged").
//!
//! A copy is a result with the same text, or for `key = "path"` and for harnesses one of the same tool and file; a part of it
//! counts as a copy. Pointers to files on disk are not among these. One finding for the pointers that one layer left or that the
//! harness gave and that begin to dangle at the same call.
//!
//! Precision: no recording that was looked at holds a harness's pointer. 55 findings of two `dedupe` policies in one recorded
//! session, with a `clear` layer behind, were held against the requests: in 55 of 55 no copy was in sight.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use crate::engine::context::{Cause, ChangeKind};
use crate::engine::journal::Request;
use crate::engine::layer::LayerSpec;
use crate::engine::layer::dedupe::Key;
use crate::findings::Level;
use crate::findings::timeline::visible::{VisibleBlocks, taker};
use crate::findings::timeline::{Detection, ReplayView, message_text};
use crate::transcript::conversation::{BlockId, Kind};
use crate::transcript::tool_access;
use crate::util::text::plural;

/// What harnesses answer in place of a file that they have shown before (Claude Code 2.0, 2.1; Cline).
const STUBS: [&str; 3] = [
    "File unchanged since last read",
    "Wasted call \u{2014} file unchanged since your last Read",
    "[[NOTE] This file read has been removed to save space",
];

/// A hash of what a pointer points to: a text, or a tool and a file.
type Content = u64;

/// Who left a pointer: a layer, or the recorded harness.
type Author = Option<usize>;

struct Pointers<'a, 'r> {
    replay: &'r ReplayView<'a>,
    /// What layers emptied: the rest of a result is no copy.
    emptied: FxHashSet<BlockId>,
    /// What layers wrote as pointers.
    written: FxHashMap<BlockId, (usize, Content)>,
    /// How many copies are in sight.
    copies: FxHashMap<Content, usize>,
    /// Pointers in sight that do not dangle yet, and what they point to.
    good: BTreeMap<BlockId, (Author, Content)>,
    /// Who took the last copy, and before which call.
    takers: FxHashMap<Content, (usize, usize)>,
}

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let has_dedupe = replay.policy.layers.iter().any(|layer| layer.enabled && matches!(layer.spec, LayerSpec::Dedupe(_)));
    let is_stub = |id: &BlockId| stub(replay, *id);
    if !has_dedupe && !replay.conversation.messages.iter().flat_map(|message| &message.blocks).any(is_stub) {
        return Vec::new();
    }
    let mut visible = VisibleBlocks::new(replay);
    let mut pointers = Pointers {
        replay,
        emptied: FxHashSet::default(),
        written: FxHashMap::default(),
        copies: FxHashMap::default(),
        good: BTreeMap::new(),
        takers: FxHashMap::default(),
    };
    let mut found = Vec::new();
    for request in &replay.journal.requests {
        pointers.learn(request);
        let (left, came) = visible.advance(request);
        came.iter().for_each(|block| pointers.comes(*block));
        left.iter().for_each(|block| pointers.leaves(*block, request));
        found.extend(pointers.dangling(request.call));
    }
    found
}

impl Pointers<'_, '_> {
    /// What layers wrote before this request.
    fn learn(&mut self, request: &Request) {
        for change in request.edits().filter(|change| change.kind == ChangeKind::Rewrite) {
            let (Some(layer), [old], [new]) = (taker(self.replay, change), &change.removed[..], &change.added[..]) else {
                continue;
            };
            self.emptied.insert(*new);
            if let (LayerSpec::Dedupe(dedupe), Some([text, path])) = (&self.replay.policy.layers[layer].spec, self.contents(*old))
            {
                self.written.insert(*new, (layer, if dedupe.key == Key::Text { text } else { path }));
            }
        }
    }

    fn comes(&mut self, block: BlockId) {
        if let Some((layer, content)) = self.written.get(&block) {
            self.good.insert(block, (Some(*layer), *content));
        } else if stub(self.replay, block) {
            self.good.extend(self.contents(block).map(|[_, path]| (block, (None, path))));
        } else if !self.emptied.contains(&block) {
            for content in self.contents(block).into_iter().flatten() {
                *self.copies.entry(content).or_default() += 1;
            }
        }
    }

    fn leaves(&mut self, block: BlockId, request: &Request) {
        if self.good.remove(&block).is_some() || self.emptied.contains(&block) || stub(self.replay, block) {
            return;
        }
        let by = request.edits().filter(|change| change.removed.contains(&block)).find_map(|change| match change.cause {
            Cause::Layer(layer) => Some(layer),
            Cause::Record => None,
        });
        for content in self.contents(block).into_iter().flatten() {
            let copies = self.copies.entry(content).or_default();
            *copies = copies.saturating_sub(1);
            if let (0, Some(layer)) = (*copies, by) {
                self.takers.insert(content, (layer, request.call));
            }
        }
    }

    /// The pointers that dangle from this call on.
    fn dangling(&mut self, call: usize) -> Vec<Detection> {
        let has_copy = |content: &Content| self.copies.get(content).is_some_and(|copies| *copies > 0);
        let mut groups = BTreeMap::<(Author, Option<(usize, usize)>), Vec<BlockId>>::new();
        for (block, (author, content)) in self.good.iter().filter(|(_, (_, content))| !has_copy(content)) {
            groups.entry((*author, self.takers.get(content).copied())).or_default().push(*block);
        }
        groups.values().flatten().for_each(|block| _ = self.good.remove(block));
        groups.into_iter().map(|((author, by), blocks)| self.told(call, author, by, &blocks)).collect()
    }

    fn told(&self, call: usize, author: Author, by: Option<(usize, usize)>, blocks: &[BlockId]) -> Detection {
        let replay = self.replay;
        let first = blocks.iter().min().copied();
        let asked = first.map(|block| message_text::asked(replay, block)).unwrap_or_default();
        let left = author.map_or("the recorded harness gave", |_| "");
        let author = author.map(|layer| replay.who(layer));
        let by_whom = by.map_or("it stands in no earlier request".to_owned(), |(layer, at)| {
            format!("{} took it away before call {}", replay.who(layer), at + 1)
        });
        let message = format!(
            "{} that {}{} in place of a result ({asked}) {} to a copy that is not in the request: {by_whom}",
            plural(blocks.len(), "pointer"),
            left,
            author.map_or(String::new(), |layer| format!("{layer} left")),
            if blocks.len() == 1 { "points" } else { "point" },
        );
        let found = Detection::at_call(replay, Level::Warning, call, message);
        let found = found.at_line(first.and_then(|block| replay.line_of_block(block))).with("pointers", blocks.len());
        let found = found.with("author", author.unwrap_or("record")).with("asked", asked);
        by.map_or(found.clone(), |(layer, at)| found.with("taken_by", replay.layer(layer)).with("taken_before_call", at + 1))
    }

    /// What a pointer to this result would point to: its text, and its tool and file.
    fn contents(&self, block: BlockId) -> Option<[Content; 2]> {
        let held = self.replay.block(block);
        let Kind::ToolResult(pair) = held.kind else { return None };
        let pair = self.replay.conversation.pair(pair);
        let input = pair.used.and_then(|used| self.replay.conversation.block(used).field("input"));
        let path = input.and_then(tool_access::named).unwrap_or_default();
        let name = format!("{}\n{path}", pair.name);
        Some([xxh3_64(held.text().as_bytes()), xxh3_64(name.as_bytes()).rotate_left(1)])
    }
}

/// Whether a result is what a harness says in place of a file it has shown before.
fn stub(replay: &ReplayView, block: BlockId) -> bool {
    let held = replay.block(block);
    matches!(held.kind, Kind::ToolResult(_)) && STUBS.iter().any(|stub| held.text().trim_start().starts_with(stub))
}
