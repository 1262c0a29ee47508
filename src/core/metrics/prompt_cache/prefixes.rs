//! Tree of the prefixes of all requests so far: a block after another is a child, and a request is a path from the root.
//!
//! Only the part that differs from the previous request is walked, so a request costs time in proportion to its tail. Nodes
//! of the current path were used by the last request; a node that left the path remembers when it was last used.
//!
//! A transparent block is a leaf: it has a node, so that it is known to be cached, and the block behind it is a child of the block
//! before it.

use rustc_hash::FxHashMap;

/// A block of a request, as a step of its prefix.
#[derive(Debug, Clone, Copy)]
pub(super) struct PrefixStep {
    /// Equal for equal content at the same position of a message.
    pub key: u64,
    pub size: u64,
    pub opens_message: bool,
    /// The block is sent and counted, but does not change the prefix.
    pub transparent: bool,
}

#[derive(Debug)]
pub(super) struct Prefixes {
    /// The first node is the root.
    nodes: Vec<Node>,
    /// Children of a node other than its first.
    branches: FxHashMap<(u32, u64), u32>,
    /// Path of the last request.
    path: Vec<PathEntry>,
}

/// Sliding windows create millions of nodes, so a node is small.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// When the last request that contained it was answered; meaningless while it is on the path.
    last_used: i64,
    /// Key and index of its first child, which for most nodes is the only one, so no search is needed.
    key: u64,
    first_child: u32,
    /// The cached part of a request ended here.
    is_request_end: bool,
}

impl Node {
    const NEW: Self = Self { last_used: NEVER, key: 0, first_child: 0, is_request_end: false };
}

/// Before any recorded time.
const NEVER: i64 = i64::MIN;

#[derive(Debug, Clone, Copy)]
struct PathEntry {
    node: u32,
    parent_of_next: u32,
    /// Totals of the path up to here: size, messages, and blocks that are not transparent.
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
    /// Moves to the path of the next request: the first `kept` blocks of the last one, then `tail`. Returns how many of its
    /// first blocks, but for transparent ones among them, were all used since `oldest`; `used` is when the last request was
    /// answered.
    pub fn advance(&mut self, kept: usize, tail: impl Iterator<Item = PrefixStep>, used: i64, oldest: i64) -> usize {
        self.leave(kept, used);
        let alive = used >= oldest;
        let shared = if alive { self.len() } else { 0 };
        self.walk(tail, alive, oldest, shared)
    }

    /// Leaves the path after its first `kept` blocks.
    fn leave(&mut self, kept: usize, used: i64) {
        for entry in self.path.drain(kept.min(self.path.len())..) {
            self.nodes[entry.node as usize].last_used = used;
        }
    }

    fn walk(&mut self, steps: impl Iterator<Item = PrefixStep>, mut alive: bool, oldest: i64, mut shared: usize) -> usize {
        for step in steps {
            let last = self.path.last().copied();
            let parent = last.map_or(0, |entry| entry.parent_of_next);
            let node = self.child(parent, step.key);
            let was_used = self.is_alive(node, oldest);
            alive &= was_used || step.transparent;
            self.path.push(PathEntry {
                node,
                parent_of_next: if step.transparent { parent } else { node },
                size: last.map_or(0, |entry| entry.size) + step.size,
                messages: last.map_or(0, |entry| entry.messages) + usize::from(step.opens_message),
                solid: last.map_or(0, |entry| entry.solid) + usize::from(!step.transparent),
            });
            if alive && was_used {
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
        // No child is the root, so 0 means none.
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

    /// Returns the longest prefix of the first `shared` blocks that a request cached, at most `reach` blocks before the
    /// end.
    pub fn end_within(&self, shared: usize, reach: usize) -> usize {
        let first = self.path.len().saturating_sub(reach);
        let is_end = |blocks: &usize| self.nodes[self.path[blocks - 1].node as usize].is_request_end;
        (first.max(1)..=shared).rev().find(is_end).unwrap_or(0)
    }

    /// Marks the end of what the current request cached, its first `blocks` blocks, so that later requests can find it.
    pub fn mark_end(&mut self, blocks: usize) {
        if let Some(node) = self.before(blocks).map(|entry| entry.node) {
            self.nodes[node as usize].is_request_end = true;
        }
    }

    pub fn len(&self) -> usize {
        self.path.len()
    }

    /// Returns the size of the first `blocks` blocks of the path.
    pub fn size_of(&self, blocks: usize) -> u64 {
        self.before(blocks).map_or(0, |entry| entry.size)
    }

    /// Returns how many first blocks of the path have a size for which this is true. It must be false for all larger sizes.
    pub fn blocks_while(&self, holds: impl Fn(u64) -> bool) -> usize {
        self.path.partition_point(|entry| holds(entry.size))
    }

    /// Returns how many of the first `blocks` blocks are not transparent.
    pub fn solid_in(&self, blocks: usize) -> usize {
        self.before(blocks).map_or(0, |entry| entry.solid)
    }

    /// Returns the index of the message that contains, or would contain, the block after the first `blocks` blocks.
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
