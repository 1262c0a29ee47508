//! What stands beside what on a line: a number says little, `max_idle` beside it says whose it is.

use super::FactKind;

/// Words between a fact and its anchor, at most.
const NEAR: u32 = 40;
/// Anchors of one fact, at most.
pub const MOST: usize = 8;

/// A fact that waits for the end of its line: its anchors may stand behind it.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    pub kind: FactKind,
    /// Its place in the line, in bytes.
    pub start: usize,
    pub end: usize,
    /// How many words of the line are before it.
    pub word: u32,
}

/// One line's anchors and the facts that wait for them.
#[derive(Debug, Default)]
pub struct Beside {
    /// The word each stands at, ascending, and its key.
    anchors: Vec<(u32, u64)>,
    pub waiting: Vec<Waiting>,
}

impl Beside {
    pub fn anchor(&mut self, word: u32, key: u64) {
        self.anchors.push((word, key));
    }

    pub fn clear(&mut self) {
        self.anchors.clear();
        self.waiting.clear();
    }

    /// The nearest anchors of a word, nearest first, each once. No word has more than two, so this looks at no more than are
    /// near, however long the line is.
    pub fn nearest(&self, word: u32) -> Nearest {
        let mut nearest = Nearest { keys: [0; MOST], count: 0 };
        let split = self.anchors.partition_point(|anchor| anchor.0 < word);
        let (mut before, mut after) = (self.anchors[..split].iter().rev().peekable(), self.anchors[split..].iter().peekable());
        while nearest.count < MOST {
            let distance = |anchor: Option<&&(u32, u64)>| anchor.map(|anchor| anchor.0.abs_diff(word)).filter(|d| *d <= NEAR);
            let next = match (distance(before.peek()), distance(after.peek())) {
                (None, None) => break,
                (Some(left), Some(right)) if left <= right => before.next(),
                (Some(_), None) => before.next(),
                _ => after.next(),
            };
            nearest.add(next.map(|anchor| anchor.1));
        }
        nearest
    }
}

/// A few keys.
pub struct Nearest {
    keys: [u64; MOST],
    count: usize,
}

impl Nearest {
    fn add(&mut self, key: Option<u64>) {
        if let Some(key) = key.filter(|key| !self.keys().contains(key)) {
            self.keys[self.count] = key;
            self.count += 1;
        }
    }

    pub fn keys(&self) -> &[u64] {
        &self.keys[..self.count]
    }
}
