//! The prefixes of all requests so far, as a tree: a block behind another is a branch, and a request is a path from the root.
//!
//! Only what differs from the request before is walked, so that a request costs its tail. A branch of the present path was
//! used by the last request; one that was left remembers when that was.

use rustc_hash::FxHashMap;

/// A block of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct PrefixStep {
    /// The same for the same content in the same entry of a message.
    pub key: u64,
    pub size: u64,
    pub opens_message: bool,
    /// It is sent, and counted, but leaves the prefix as it is.
    pub transparent: bool,
}

#[derive(Debug)]
pub(super) struct Prefixes {
    /// The first is the root.
    nodes: Vec<Node>,
    /// The branches of a node beside its first.
    branches: FxHashMap<(u32, u64), u32>,
    /// That of the last request.
    path: Vec<PathEntry>,
}

/// Windows that slide make millions of these: they are small.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// When the last request that held it was answered; of no meaning while it is on the path.
    last_used: i64,
    /// Its first branch, which for most nodes is the only one, by its key: it is known without a search.
    key: u64,
    first_child: u32,
    /// A request ended here.
    is_request_end: bool,
}

impl Node {
    const NEW: Self = Self { last_used: NEVER, key: 0, first_child: 0, is_request_end: false };
}

/// Before every time of a record.
const NEVER: i64 = i64::MIN;

#[derive(Debug, Clone, Copy)]
struct PathEntry {
    node: u32,
    /// Of the path up to here: its size, its messages, its blocks that are not transparent.
    size: u64,
    messages: usize,
    solid: usize,
}

impl Default for Prefixes {
    fn default() -> Self {
        Self { nodes: vec![Node::NEW], branches: FxHashMap::default(), path: Vec::new() }
    }
}

impl Prefixes {
    /// The path of the next request: the first `kept` blocks of the last one, and `tail`. Gives how many of its blocks stand in
    /// a row that was used since `oldest`, up to one that is not transparent; `used` is when the last request was answered.
    pub fn advance(&mut self, kept: usize, tail: impl Iterator<Item = PrefixStep>, used: i64, oldest: i64) -> usize {
        self.leave(kept, used);
        let alive = used >= oldest;
        let is_solid = |blocks: &usize| self.solid_in(*blocks) > self.solid_in(blocks - 1);
        let shared = if alive { (1..=kept).rev().find(is_solid).unwrap_or(0) } else { 0 };
        self.walk(tail, alive, oldest, shared)
    }

    /// Leaves the path behind its first `kept` blocks.
    fn leave(&mut self, kept: usize, used: i64) {
        for entry in self.path.drain(kept.min(self.path.len())..) {
            self.nodes[entry.node as usize].last_used = used;
        }
    }

    fn walk(&mut self, steps: impl Iterator<Item = PrefixStep>, mut alive: bool, oldest: i64, mut shared: usize) -> usize {
        for step in steps {
            let last = self.path.last().copied();
            let parent = last.map_or(0, |entry| entry.node);
            let node = if step.transparent { parent } else { self.child(parent, step.key) };
            alive &= step.transparent || self.is_alive(node, oldest);
            self.path.push(PathEntry {
                node,
                size: last.map_or(0, |entry| entry.size) + step.size,
                messages: last.map_or(0, |entry| entry.messages) + usize::from(step.opens_message),
                solid: last.map_or(0, |entry| entry.solid) + usize::from(!step.transparent),
            });
            if alive && !step.transparent {
                shared = self.path.len();
            }
        }
        shared
    }

    fn is_alive(&self, node: u32, oldest: i64) -> bool {
        let used = self.nodes[node as usize].last_used;
        used > NEVER && used >= oldest
    }

    fn child(&mut self, parent: u32, key: u64) -> u32 {
        let fresh = self.nodes.len() as u32;
        let parent_node = &mut self.nodes[parent as usize];
        // No branch leads to the root, so 0 is none.
        let node = match parent_node.first_child {
            0 => {
                (parent_node.key, parent_node.first_child) = (key, fresh);
                fresh
            }
            first if parent_node.key == key => first,
            _ => *self.branches.entry((parent, key)).or_insert(fresh),
        };
        if node == fresh {
            self.nodes.push(Node::NEW);
        }
        node
    }

    /// The longest of the first `shared` blocks that a request ended with, not more than `reach` blocks before the end.
    pub fn end_within(&self, shared: usize, reach: usize) -> usize {
        let first = self.path.len().saturating_sub(reach);
        let is_end = |blocks: &usize| self.nodes[self.path[blocks - 1].node as usize].is_request_end;
        (first.max(1)..=shared).rev().find(is_end).unwrap_or(0)
    }

    /// The request on the path was sent, and its end can be found again.
    pub fn mark_end(&mut self) {
        if let Some(entry) = self.path.last() {
            self.nodes[entry.node as usize].is_request_end = true;
        }
    }

    pub fn len(&self) -> usize {
        self.path.len()
    }

    /// The size of the first blocks of the path.
    pub fn size_of(&self, blocks: usize) -> u64 {
        self.before(blocks).map_or(0, |entry| entry.size)
    }

    /// How many of the first blocks are not transparent.
    pub fn solid_in(&self, blocks: usize) -> usize {
        self.before(blocks).map_or(0, |entry| entry.solid)
    }

    /// The index of the message that the block behind the first ones stands in, or would.
    pub fn message_behind(&self, blocks: usize) -> usize {
        match self.path.get(blocks) {
            Some(entry) => entry.messages.saturating_sub(1),
            None => self.before(blocks).map_or(0, |entry| entry.messages),
        }
    }

    fn before(&self, blocks: usize) -> Option<&PathEntry> {
        self.path.get(blocks.checked_sub(1)?)
    }
}
