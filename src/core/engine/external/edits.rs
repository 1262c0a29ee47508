//! The edits that make the context what an answer wants.

use super::target::{TargetBlock, TargetMessage};
use crate::engine::context::{Context, Edit};
use crate::transcript::conversation::BlockId;

/// Returns the edits, from the first message to the last. Messages that stay cause no edit.
pub(super) fn edits(context: &Context, targets: &[TargetMessage]) -> Vec<Edit> {
    let mut edits = Edits { context, edits: Vec::new(), at: 0, next: 0, written: Vec::new() };
    for target in targets {
        match target.from {
            None => edits.written.push(target),
            Some(message) => {
                edits.fill_gap(message);
                edits.change(target, message);
            }
        }
    }
    edits.fill_gap(context.len());
    edits.edits
}

/// Edits in the making.
struct Edits<'a, 'c> {
    context: &'a Context<'c>,
    edits: Vec<Edit>,
    /// Position of the next message after the edits so far.
    at: usize,
    /// Index of the next message in the context as it is.
    next: usize,
    /// New messages that come before it.
    written: Vec<&'a TargetMessage>,
}

impl Edits<'_, '_> {
    /// Removes the messages up to `message`, and adds the new ones in their place.
    fn fill_gap(&mut self, message: usize) {
        let (at, removed) = (self.at, message - self.next);
        let written = std::mem::take(&mut self.written);
        match (removed, written.is_empty()) {
            (0, _) => {
                let inserted = written.iter().enumerate();
                self.edits.extend(inserted.map(|(nth, target)| Edit::Insert { at: at + nth, message: target.to_new() }));
            }
            (_, true) => self.edits.push(Edit::Drop { messages: at..at + removed }),
            (_, false) => {
                let into = written.iter().map(|target| target.to_new()).collect();
                self.edits.push(Edit::Replace { messages: at..at + removed, into });
            }
        }
        for target in written {
            self.rewrite_blocks(target);
            self.at += 1;
        }
        self.next = message;
    }

    /// Makes one message of the context what it will be.
    fn change(&mut self, target: &TargetMessage, message: usize) {
        let old = &self.context.messages()[message];
        let is_form_kept = target.role == old.role && target.is_string_content == old.is_string_content;
        let kept: Option<Vec<BlockId>> = target.blocks.iter().map(TargetBlock::kept).collect();
        match kept.filter(|kept| is_form_kept && !kept.is_empty() && is_part_in_order(kept, &old.blocks)) {
            Some(kept) if kept.len() == old.blocks.len() => {}
            Some(keep) => self.edits.push(Edit::Retain { message: self.at, keep }),
            None => self.edits.push(Edit::Replace { messages: self.at..self.at + 1, into: vec![target.to_new()] }),
        }
        self.rewrite_blocks(target);
        self.at += 1;
        self.next = message + 1;
    }

    fn rewrite_blocks(&mut self, target: &TargetMessage) {
        for (block, of) in target.blocks.iter().enumerate() {
            let TargetBlock::Old { rewrites, .. } = of else { continue };
            for (field, value) in rewrites {
                self.edits.push(Edit::Rewrite { message: self.at, block, field, value: value.clone() });
            }
        }
    }
}

impl TargetBlock {
    fn kept(&self) -> Option<BlockId> {
        match self {
            Self::Old { block, .. } => Some(*block),
            Self::New(_) => None,
        }
    }
}

/// Returns whether the blocks are some of the others, in the same order.
fn is_part_in_order(part: &[BlockId], all: &[BlockId]) -> bool {
    let mut all = all.iter();
    part.iter().all(|block| all.any(|other| other == block))
}
