//! Finds the anchors of a fact on its line: a number alone means little, but `max_idle` near it says what it belongs to.

use super::FactKind;

/// Maximum distance between a fact and its anchor, in words.
const MAX_DISTANCE: u32 = 40;
/// Maximum anchors of one fact.
pub const MAX_ANCHORS: usize = 8;

/// A fact that is reported at the end of its line, because anchors may follow it.
#[derive(Debug, Clone, Copy)]
pub struct PendingFact {
    pub kind: FactKind,
    /// Byte offsets in the line.
    pub start: usize,
    pub end: usize,
    /// Index of its word in the line.
    pub word: u32,
}

/// The anchors of one line, and the facts that need them.
#[derive(Debug, Default)]
pub struct LineAnchors {
    /// Word index, ascending, and key of each anchor.
    anchors: Vec<(u32, u64)>,
    pub pending: Vec<PendingFact>,
}

impl LineAnchors {
    pub fn add_anchor(&mut self, word: u32, key: u64) {
        self.anchors.push((word, key));
    }

    pub fn clear(&mut self) {
        self.anchors.clear();
        self.pending.clear();
    }

    /// Returns the nearest distinct anchors of a word, nearest first. A word has at most two anchors, so this visits only nearby
    /// anchors, even on a long line.
    pub fn nearest(&self, word: u32) -> NearestAnchors {
        let mut nearest = NearestAnchors { keys: [0; MAX_ANCHORS], count: 0 };
        let split = self.anchors.partition_point(|anchor| anchor.0 < word);
        let (mut before, mut after) = (self.anchors[..split].iter().rev().peekable(), self.anchors[split..].iter().peekable());
        while nearest.count < MAX_ANCHORS {
            let distance =
                |anchor: Option<&&(u32, u64)>| anchor.map(|anchor| anchor.0.abs_diff(word)).filter(|d| *d <= MAX_DISTANCE);
            let next = match (distance(before.peek()), distance(after.peek())) {
                (None, None) => break,
                (Some(left), Some(right)) if left <= right => before.next(),
                (Some(_), None) => before.next(),
                _ => after.next(),
            };
            nearest.push(next.map(|anchor| anchor.1));
        }
        nearest
    }
}

/// The keys of the nearest anchors.
pub struct NearestAnchors {
    keys: [u64; MAX_ANCHORS],
    count: usize,
}

impl NearestAnchors {
    fn push(&mut self, key: Option<u64>) {
        if let Some(key) = key.filter(|key| !self.keys().contains(key)) {
            self.keys[self.count] = key;
            self.count += 1;
        }
    }

    pub fn keys(&self) -> &[u64] {
        &self.keys[..self.count]
    }
}
