//! References: which call uses which earlier fact, computed once per conversation.
//!
//! A call *uses* the facts in its text and in its tool inputs. A use is a *reference* if the recorded agent could see the fact
//! when it made the call: in messages since its last compaction, or in the summary of that compaction. A call that fetches again
//! what the agent had lost by a compaction is a reference too, to the facts that a later call uses from its result ([`Refetch`]).
//! Facts that no policy can lose are left out: a reference counts only if the fact was last seen two or more calls before, is rare
//! in its conversation, and is not in the system prompt, which is part of every request. Names that the agent made up for itself are
//! left out, too.
//!
//! Only the transcript matters: rarity is counted over the blocks of the same conversation.

mod accesses;
mod chance_baseline;
mod find;
mod lines;
mod loss;
mod own_names;
mod refetch;
mod rules;
mod steps;
mod vocabulary;
mod wordings;
mod worth;
mod written_keys;

use std::sync::{Arc, OnceLock};

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;

use crate::facts::block_names::BlockNames;
use crate::facts::extract::{self, FactKind, FactMatch};
use crate::transcript::conversation::{Block, BlockId, BlockKind, Conversation, Origin};
use crate::util::csr::Rows;

use accesses::{Accesses, Writes};
pub use chance_baseline::Placebo;
use find::ReferenceFinder;
use lines::{LineCache, LineContent};
pub use loss::{Loss, Nowhere, cost_to_fetch};
pub use refetch::Refetch;
use rules::RuleIndex;
use vocabulary::Vocabulary;
use wordings::Wordings;
pub use worth::{LENGTHS, MEASURED, Worth, WorthGroups};

/// Index of a fact or a rule in [`References::tracked`].
pub type FactId = u32;

/// A fact that a call uses, or the path or URL by which a tool result can be fetched again.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    pub kind: FactKind,
    /// Canonical form.
    pub text: String,
    /// What a use weighs: the bits that a model loses without this fact, by [`MEASURED`].
    pub weight: f64,
    /// ln((1 + blocks) ÷ (1 + blocks with this fact)): the weight before bits were measured.
    pub rarity: f64,
    /// Keys of its anchors at its first occurrence that has any.
    anchors: Box<[u64]>,
}

/// A use of an earlier fact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Use {
    /// Index of the call.
    pub call: u32,
    pub fact: FactId,
    /// Calls since the fact last entered the history; at least 2.
    pub gap: u32,
    /// The first block with this fact that the recorded agent could see.
    pub origin: BlockId,
    pub provenance: Provenance,
    /// The call edits a file and quotes the fact from it, so the file contains the fact at this call.
    pub in_file: bool,
    /// The call does not name the fact, but fetches it again: index in [`References::refetches`].
    pub refetch: Option<u32>,
}

/// The source of a fact in the agent's context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provenance {
    /// A tool result.
    Tool,
    /// Text that the user typed or the harness injected on the user's side.
    User,
    /// The agent's own text and tool inputs.
    Own,
    /// A recorded summary, or content restored with it.
    Summary,
}

impl Provenance {
    /// All origins, in the order of reports.
    pub const ALL: [Provenance; 4] = [Self::Tool, Self::User, Self::Own, Self::Summary];

    /// Returns the name in reports and in saved results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::User => "user",
            Self::Own => "self",
            Self::Summary => "summary",
        }
    }

    /// Returns where the content of a block comes from.
    pub fn of_block(block: &Block) -> Self {
        match (block.kind, block.origin) {
            (_, Origin::Compaction) => Self::Summary,
            (BlockKind::ToolResult(_), _) => Self::Tool,
            (_, Origin::Agent) => Self::Own,
            _ => Self::User,
        }
    }
}

/// A fact in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    pub tracked: FactId,
    /// Number of the shortest line of the block that contains it.
    pub line: u32,
    /// Length of that line in bytes.
    pub line_bytes: u32,
}

/// A rule that the user set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub text: String,
    /// Index of the first call whose request can contain it.
    pub from: u32,
}

/// The references of one conversation, and the indexes to look them up in the requests of a policy.
#[derive(Debug, Clone)]
pub struct References {
    pub facts: Vec<Fact>,
    /// Sorted by call, then fact.
    pub uses: Vec<Use>,
    refetches: Vec<Refetch>,
    pub rules: Vec<Rule>,
    /// One per recorded compaction that replaced the history, in order.
    pub losses: Vec<Loss>,
    /// For the comparison with other conversations.
    pub placebo: Placebo,
    bytes: Vec<u32>,
    /// The names in the blocks that entered.
    pub names: Arc<BlockNames>,
    /// Tracked facts by key.
    known: FxHashMap<u64, FactId>,
    /// Finds the rules in a text; `None` if there are no rules. Built when a layer first wrote a text.
    rule_matcher: OnceLock<Option<AhoCorasick>>,
    occurrences: Rows<Occurrence>,
    sources: Rows<BlockId>,
    after: Vec<u32>,
    handles: Rows<FactId>,
    writes: Writes,
    /// Facts and rules of lines that layers wrote.
    lines: LineCache,
    wordings: Wordings,
    /// Whether every rule fits on one line.
    rules_are_lines: bool,
}

impl References {
    /// Finds the references of a conversation. `tokens` returns the size of a block in the report's tokens.
    pub fn new(conversation: &Conversation, tokens: impl Fn(BlockId) -> u64) -> Self {
        let steps = steps::steps(conversation);
        let mut vocabulary = Vocabulary::default();
        let used = vocabulary.used_by_calls(conversation);
        let accesses = Accesses::new(conversation, &mut vocabulary);
        let rules = RuleIndex::new(conversation, &steps);
        let occurrences = vocabulary.find_occurrences(conversation, &steps, (&rules, &accesses));
        ReferenceFinder::new(conversation, &tokens, vocabulary, accesses, rules, occurrences).walk(&steps, &used)
    }

    /// Returns the tracked fact with this key.
    pub fn known(&self, key: u64) -> Option<FactId> {
        self.known.get(&key).copied()
    }

    /// Returns the number of tracked facts and rules; the ids of rules follow those of facts.
    pub fn tracked(&self) -> usize {
        self.facts.len() + self.rules.len()
    }

    /// Returns the facts and rules in a block of the conversation, ascending.
    pub fn in_block(&self, block: BlockId) -> &[Occurrence] {
        self.occurrences.row(block.index())
    }

    /// Returns the blocks of the unrolled conversation that contain a fact, in the order in which they entered.
    pub fn sources(&self, fact: FactId) -> &[BlockId] {
        self.sources.row(fact as usize)
    }

    /// Returns the number of responses up to a block, including the block's own: the index of the first call that can see it.
    pub fn after(&self, block: BlockId) -> u32 {
        self.after[block.index()]
    }

    /// Returns the bytes of a block that were searched for facts.
    pub fn bytes(&self, block: BlockId) -> u32 {
        self.bytes[block.index()]
    }

    /// Returns the paths, URLs and commands by which the content of a block can be fetched again.
    pub fn handles(&self, block: BlockId) -> &[FactId] {
        self.handles.row(block.index())
    }

    /// Whether a call after a block entered and before `call` wrote a file. Of a command: whether one changed anything.
    pub fn written_since(&self, handle: FactId, block: BlockId, call: u32) -> bool {
        self.writes.has_in(handle, self.after(block)..call)
    }

    /// Returns whether a call wrote a file.
    pub fn writes(&self, call: u32, file: FactId) -> bool {
        !self.is_command(file) && self.writes.has_in(file, call..call + 1)
    }

    /// Whether a handle is a command, which can be run again while its call is in the context.
    pub fn is_command(&self, handle: FactId) -> bool {
        self.writes.is_command(handle)
    }

    /// Returns the facts and rules in a block that a layer wrote, without duplicates. `more` has facts that only this policy tracks.
    /// In a summary, hashes count only near one of their anchors.
    pub fn in_made(&self, block: &Block, is_summary: bool, more: &FxHashMap<u64, FactId>) -> Vec<FactId> {
        let mut found = Vec::new();
        let text = block.text();
        if self.rules_are_lines && extract::can_be_read_by_line(block, &text) {
            self.lines.for_each_line(&text, is_summary, &|line| self.scan_line(line, is_summary), &mut |line| {
                found.extend(&line.found);
                found.extend(line.names.iter().filter_map(|name| more.get(name)));
            });
        } else {
            extract::shown_by(block, &mut |fact_match| match self.known.get(&fact_match.key) {
                Some(fact) => found.extend(Some(*fact).filter(|_| self.facts[*fact as usize].counts(&fact_match, is_summary))),
                None => found.extend(more.get(&fact_match.key)),
            });
            self.find_rules(&text, &mut found);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether some blocks say a fact in other words. `block` returns the block with a number; the blocks from `recorded` are those of
    /// one policy.
    pub fn say_in_other_words<'b>(
        &self,
        fact: FactId,
        blocks: impl Iterator<Item = BlockId> + Clone,
        block: impl Fn(BlockId) -> &'b Block,
        recorded: usize,
    ) -> bool {
        self.wordings.say((fact, &self.facts[fact as usize]), blocks, block, recorded)
    }

    fn scan_line(&self, line: &str, is_summary: bool) -> LineContent {
        let (mut found, mut names) = (Vec::new(), Vec::new());
        extract::in_text(line, &mut |fact_match| match self.known.get(&fact_match.key) {
            Some(fact) => found.extend(Some(*fact).filter(|_| self.facts[*fact as usize].counts(&fact_match, is_summary))),
            None => names.extend(Some(fact_match.key).filter(|_| fact_match.kind.is_name())),
        });
        self.find_rules(line, &mut found);
        LineContent { found: found.into(), names: names.into() }
    }

    fn find_rules(&self, text: &str, found: &mut Vec<FactId>) {
        let rules = self
            .rule_matcher
            .get_or_init(|| rules::matcher(&self.rules))
            .iter()
            .flat_map(|finder| finder.find_overlapping_iter(text));
        found.extend(rules.map(|rule| (self.facts.len() + rule.pattern().as_usize()) as FactId));
    }
}

impl Fact {
    /// Whether a match with this fact's key counts as this fact. Kinds that need an anchor must be near one of the fact's anchors,
    /// unless a longer fact shows them (`#11028` the number); in a summary, hashes must be, too.
    pub fn counts(&self, fact_match: &FactMatch, is_summary: bool) -> bool {
        let is_bound = fact_match.said && self.kind.needs_anchor();
        let needs_anchor = is_bound || (is_summary && self.kind == FactKind::Hash && !self.anchors.is_empty());
        !needs_anchor || self.shares_anchor(fact_match.anchors)
    }

    /// Returns the keys of its anchors if its kind counts only near one, else nothing.
    fn required_anchors(&self) -> &[u64] {
        if self.kind.needs_anchor() { &self.anchors } else { &[] }
    }

    /// Whether one of these anchors is an anchor of the fact.
    fn shares_anchor(&self, anchors: &[u64]) -> bool {
        anchors.iter().any(|anchor| self.anchors.contains(anchor))
    }

    /// Returns a fact without weight and anchors.
    pub fn plain(kind: FactKind, text: &str) -> Self {
        Self { kind, text: text.to_owned(), weight: 0.0, rarity: 0.0, anchors: Box::default() }
    }
}
