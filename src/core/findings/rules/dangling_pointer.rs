//! `dangling_pointer`: a result says that its content is elsewhere in the request, but it is not.
//!
//! What it means: a copy of a result was replaced by a pointer to another copy, either by a `dedupe` layer or by the
//! harness itself (Claude Code answers a second read of a file with "File unchanged since last read"). Then the other
//! copy was cleared, dropped or summarised. Why it hurts: the pointer says not to read again what the agent cannot see.
//! If the agent reads it again, the harness still answers that nothing has changed. What to change: run `dedupe` after
//! the layers that clear, or let `clear` spare the results that pointers refer to (`preserve_tools`). A harness must
//! forget what it has shown when it compacts. Evidence: Vibe-Trading PR #1349 (44 skips that point at a cleared
//! result), claude-code #46749 and #68536 (compacted or rewound, and a read answers "unchanged").
//!
//! A copy is a result with the same text; for `key = "path"` and for harnesses it is a result of the same tool, file and
//! range. Of the harness, any answer of at most 300 bytes is a pointer where the same call had shown the file before, ten
//! times as long, and no call has changed a file of that name since. The rule does not look at pointers to files on disk.
//! One finding covers the pointers of one layer, or of the harness, that begin to dangle at the same call.
//!
//! Precision: no recording that we looked at holds a harness's pointer, and in 122 none is taken for one. We compared 55 findings of two `dedupe`
//! policies in one recorded session, with a `clear` layer behind, with the requests: in 55 of 55 no copy was in the
//! request.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use crate::engine::context::{Cause, ChangeKind};
use crate::engine::journal::Request;
use crate::engine::layer::{Remains, dedupe::DuplicateKey, file_part_asked_for};
use crate::findings::Level;
use crate::findings::timeline::stubs::stubs;
use crate::findings::timeline::visible::{RequestEdits, VisibleBlocks, remover};
use crate::findings::timeline::{Detection, ReplayView, message_text};
use crate::transcript::conversation::{BlockId, BlockKind};
use crate::util::text::plural;

/// Hash of the target of a pointer: a text, or a tool and a part of a file.
type TargetHash = u64;

/// The layer that wrote a pointer; `None` for the recorded harness.
type Author = Option<usize>;

struct Pointers<'a, 'r> {
    replay: &'r ReplayView<'a>,
    /// Results that the recorded harness wrote in place of a file.
    stubs: FxHashSet<BlockId>,
    /// Blocks that layers wrote in place of results. They do not count as copies.
    emptied: FxHashSet<BlockId>,
    /// Pointers that layers wrote, with the layer and the target.
    written: FxHashMap<BlockId, (usize, TargetHash)>,
    /// Number of copies in the current request, by target.
    copies: FxHashMap<TargetHash, usize>,
    /// Pointers in the current request that do not dangle yet, with author and target.
    valid: FxHashMap<BlockId, (Author, TargetHash)>,
    /// The pointers to each target that were in a request and did not dangle.
    pointing: FxHashMap<TargetHash, Vec<BlockId>>,
    /// Targets that lost their last copy, or that a new pointer has: only theirs can begin to dangle.
    suspects: Vec<TargetHash>,
    /// The layer that removed the last copy of a target, and the call before which it did.
    removers: FxHashMap<TargetHash, (usize, usize)>,
}

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let has_dedupe = replay.policy.layers.iter().any(|layer| layer.enabled && layer.spec.traits().points_to_copies());
    let stubs = stubs(replay.conversation);
    if !has_dedupe && stubs.is_empty() {
        return Vec::new();
    }
    let mut visible = VisibleBlocks::new(replay);
    let mut pointers = Pointers {
        replay,
        stubs,
        emptied: FxHashSet::default(),
        written: FxHashMap::default(),
        copies: FxHashMap::default(),
        valid: FxHashMap::default(),
        pointing: FxHashMap::default(),
        suspects: Vec::new(),
        removers: FxHashMap::default(),
    };
    let mut detections = Vec::new();
    for request in &replay.journal.requests {
        pointers.record_rewrites(request);
        let (removed, added) = visible.advance(request);
        added.iter().for_each(|block| pointers.enter(*block));
        if !removed.is_empty() {
            let edits = RequestEdits::new(request);
            removed.iter().for_each(|block| pointers.leave(*block, request.call, &edits));
        }
        detections.extend(pointers.dangling(request.call));
    }
    detections
}

impl Pointers<'_, '_> {
    /// Records the results that layers rewrote before this request, and which of the new blocks are pointers.
    fn record_rewrites(&mut self, request: &Request) {
        for change in request.edits().filter(|change| change.kind == ChangeKind::Rewrite) {
            let (Some(layer), [old], [new]) = (remover(self.replay, change), &change.removed[..], &change.added[..]) else {
                continue;
            };
            self.emptied.insert(*new);
            if let (Some(Remains::Copy(key)), Some([text, path])) = (self.replay.traits(layer).remains, self.targets(*old)) {
                self.written.insert(*new, (layer, if key == DuplicateKey::Text { text } else { path }));
            }
        }
    }

    fn enter(&mut self, block: BlockId) {
        if let Some((layer, target)) = self.written.get(&block).copied() {
            self.point(block, Some(layer), target);
        } else if self.stubs.contains(&block) {
            if let Some([_, path]) = self.targets(block) {
                self.point(block, None, path);
            }
        } else if !self.emptied.contains(&block) {
            for target in self.targets(block).into_iter().flatten() {
                *self.copies.entry(target).or_default() += 1;
            }
        }
    }

    fn point(&mut self, block: BlockId, author: Author, target: TargetHash) {
        self.valid.insert(block, (author, target));
        self.pointing.entry(target).or_default().push(block);
        self.suspects.push(target);
    }

    fn leave(&mut self, block: BlockId, call: usize, edits: &RequestEdits) {
        if self.valid.remove(&block).is_some() || self.emptied.contains(&block) || self.stubs.contains(&block) {
            return;
        }
        let remover = edits.removals_of(block).find_map(|change| match change.cause {
            Cause::Layer(layer) => Some(layer),
            Cause::Record => None,
        });
        for target in self.targets(block).into_iter().flatten() {
            let copies = self.copies.entry(target).or_default();
            *copies = copies.saturating_sub(1);
            if *copies == 0 {
                self.suspects.push(target);
                self.removers.extend(remover.map(|layer| (target, (layer, call))));
            }
        }
    }

    /// Reports the pointers that begin to dangle at this call.
    fn dangling(&mut self, call: usize) -> Vec<Detection> {
        let has_copy = |target: &TargetHash| self.copies.get(target).is_some_and(|copies| *copies > 0);
        let without_copy = self.suspects.drain(..).filter(|target| !has_copy(target));
        let dangling: BTreeSet<BlockId> = without_copy.filter_map(|target| self.pointing.remove(&target)).flatten().collect();
        let mut groups = BTreeMap::<(Author, Option<(usize, usize)>), Vec<BlockId>>::new();
        for block in dangling {
            // One that left the request does not dangle.
            let Some((author, target)) = self.valid.remove(&block) else { continue };
            groups.entry((author, self.removers.get(&target).copied())).or_default().push(block);
        }
        groups.into_iter().map(|((author, remover), blocks)| self.detection(call, author, remover, &blocks)).collect()
    }

    /// One finding for pointers of one author whose last copy the same remover took at the same call.
    fn detection(&self, call: usize, author: Author, remover: Option<(usize, usize)>, blocks: &[BlockId]) -> Detection {
        let replay = self.replay;
        let first = blocks.iter().min().copied();
        let asked = first.map(|block| message_text::tool_call(replay, block)).unwrap_or_default();
        let author = author.map(|layer| replay.who(layer));
        let fate = remover.map_or("no earlier request has it".to_owned(), |(layer, at)| {
            format!("{} removed it before call {}", replay.who(layer), at + 1)
        });
        let message = format!(
            "{} that {} wrote in place of a result ({asked}) {} to a copy that is not in the request: {fate}",
            plural(blocks.len(), "pointer"),
            author.unwrap_or("the recorded harness"),
            if blocks.len() == 1 { "points" } else { "point" },
        );
        let detection = Detection::at_call(replay, Level::Warning, call, message);
        let detection = detection.at_line(first.and_then(|block| replay.line_of_block(block))).with("pointers", blocks.len());
        let detection = detection.with("author", author.unwrap_or("record")).with("asked", asked);
        match remover {
            Some((layer, at)) => detection.with("taken_by", replay.layer(layer)).with("taken_before_call", at + 1),
            None => detection,
        }
    }

    /// The targets of a pointer to this result: its text, and its tool and file.
    fn targets(&self, block: BlockId) -> Option<[TargetHash; 2]> {
        let result = self.replay.block(block);
        let BlockKind::ToolResult(pair) = result.kind else { return None };
        let conversation = self.replay.conversation;
        let part = file_part_asked_for(conversation, pair).unwrap_or_else(|| conversation.pair(pair).name.clone());
        Some([xxh3_64(result.text().as_bytes()), xxh3_64(part.as_bytes()).rotate_left(1)])
    }
}
