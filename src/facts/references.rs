//! Which call uses which earlier fact: what the recorded agent went on to need, found once for each conversation.
//!
//! A call *uses* the facts of its text and of its tool inputs. A use is a *reference* where the recorded agent could see the
//! fact when it made the call: in what entered since its last compaction, or in the summary it was given then. What was never
//! lost to anyone says nothing, so a reference counts only if the fact was last seen two calls or more before, if it is rare
//! in its conversation, and if the system prompt, which every request holds, does not have it.
//!
//! Nothing outside the transcript goes into it: rarity is counted over the blocks of the same conversation.

mod chance_baseline;
mod find;
mod lines;
mod loss;
mod rules;
mod steps;
mod vocabulary;

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;

use crate::facts::extract::{self, FactKind, FactMatch};
use crate::transcript::conversation::{Block, BlockId, BlockKind, Conversation, Origin};
use crate::util::csr::Rows;

pub use chance_baseline::Placebo;
use find::Finder;
use lines::{InLine, Lines};
pub use loss::{Loss, Nowhere, cost_to_fetch};
use rules::Rules;
use vocabulary::Vocabulary;

/// Index of a fact or a rule in [`References::tracked`].
pub type FactId = u32;

/// A fact that some call uses, or that is the handle by which a tool result can be fetched again.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    pub kind: FactKind,
    /// Canonical form.
    pub text: String,
    /// ln((1 + blocks) ÷ (1 + blocks that hold it)): the rarer, the heavier.
    pub weight: f64,
    /// Of facts that are bound: the keys of what stood beside it where it was first seen.
    anchors: Box<[u64]>,
}

/// A use of an earlier fact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Use {
    /// Index of the call.
    pub call: u32,
    pub fact: FactId,
    /// Calls since the fact was last said or seen; 2 or more.
    pub gap: u32,
    /// Where the recorded agent had it from: the first block it could see that holds it.
    pub origin: BlockId,
    pub provenance: Provenance,
}

/// Who brought a fact into what the agent could see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provenance {
    Tool,
    /// Typed, or put in by the harness on the user's side.
    User,
    /// The agent's own words and tool inputs.
    Own,
    /// A recorded summary, or what was restored with it.
    Summary,
}

impl Provenance {
    pub const ALL: [Provenance; 4] = [Self::Tool, Self::User, Self::Own, Self::Summary];

    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::User => "user",
            Self::Own => "self",
            Self::Summary => "summary",
        }
    }

    pub fn of(block: &Block) -> Self {
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
    /// The shortest line of the block that holds it, and that line's length in bytes.
    pub line: u32,
    pub line_bytes: u32,
}

/// A rule that a user gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub text: String,
    /// The first call whose request could hold it.
    pub from: u32,
}

/// The references of one conversation, and what is needed to look them up in what a policy sent.
#[derive(Debug, Clone)]
pub struct References {
    pub facts: Vec<Fact>,
    /// By call, then fact.
    pub uses: Vec<Use>,
    pub rules: Vec<Rule>,
    /// One for each recorded compaction that folded, in order.
    pub losses: Vec<Loss>,
    /// To compare with other conversations.
    pub placebo: Placebo,
    bytes: Vec<u32>,
    known: FxHashMap<u64, FactId>,
    /// Finds the rules in a text; none where there are no rules.
    finder: Option<AhoCorasick>,
    seen: Rows<Occurrence>,
    sources: Rows<BlockId>,
    after: Vec<u32>,
    handles: Rows<FactId>,
    written: Rows<u32>,
    /// What was found in lines that layers wrote.
    lines: Lines,
    /// No rule is longer than a line.
    rules_are_lines: bool,
}

impl References {
    /// Finds them. `tokens` is the size of a block by the report's counter.
    pub fn new(conversation: &Conversation, tokens: impl Fn(BlockId) -> u64) -> Self {
        let steps = steps::steps(conversation);
        let mut vocabulary = Vocabulary::default();
        let used = vocabulary.used_by_calls(conversation);
        let accesses = vocabulary.accesses(conversation);
        let rules = Rules::new(conversation, &steps);
        let sightings = vocabulary.look_through(conversation, &steps, &rules);
        Finder::new(conversation, &tokens, vocabulary, accesses, rules, sightings).walk(&steps, &used)
    }

    /// The fact with this key, if it is followed.
    pub fn known(&self, key: u64) -> Option<FactId> {
        self.known.get(&key).copied()
    }

    /// How many facts and rules are followed; rules come after the facts.
    pub fn tracked(&self) -> usize {
        self.facts.len() + self.rules.len()
    }

    /// The facts and rules in a block of the conversation, ascending.
    pub fn in_block(&self, block: BlockId) -> &[Occurrence] {
        self.seen.row(block.index())
    }

    /// The blocks of the unrolled conversation that hold a fact, in the order in which they entered.
    pub fn sources(&self, fact: FactId) -> &[BlockId] {
        self.sources.row(fact as usize)
    }

    /// How many responses came before a block entered, itself included where it is one: the first call that could see it.
    pub fn after(&self, block: BlockId) -> u32 {
        self.after[block.index()]
    }

    /// Bytes of a block in which facts were looked for.
    pub fn bytes(&self, block: BlockId) -> u32 {
        self.bytes[block.index()]
    }

    /// The paths and URLs by which what a block holds can be fetched again.
    pub fn handles(&self, block: BlockId) -> &[FactId] {
        self.handles.row(block.index())
    }

    /// Whether a file was written by a call after a block entered and before `call`.
    pub fn written_since(&self, file: FactId, block: BlockId, call: u32) -> bool {
        self.written.has_in(file as usize, self.after(block)..call)
    }

    /// The facts and rules in a block that a layer wrote, each once; `more` names facts that only this policy knows. In a
    /// summary hashes count only beside what they stood beside.
    pub fn in_made(&self, block: &Block, is_summary: bool, more: &FxHashMap<u64, FactId>) -> Vec<FactId> {
        let mut found = Vec::new();
        let text = block.text();
        if self.rules_are_lines && extract::is_read_by_line(block, &text) {
            self.lines.each(&text, is_summary, &|line| self.in_line(line, is_summary), &mut |line| {
                found.extend(&line.found);
                found.extend(line.names.iter().filter_map(|name| more.get(name)));
            });
        } else {
            extract::in_block(block, &mut |sighting| match self.known.get(&sighting.key) {
                Some(fact) => found.extend(Some(*fact).filter(|_| self.facts[*fact as usize].counts(&sighting, is_summary))),
                None => found.extend(more.get(&sighting.key)),
            });
            self.find_rules(&text, &mut found);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn in_line(&self, line: &str, is_summary: bool) -> InLine {
        let (mut found, mut names) = (Vec::new(), Vec::new());
        extract::in_text(line, &mut |sighting| match self.known.get(&sighting.key) {
            Some(fact) => found.extend(Some(*fact).filter(|_| self.facts[*fact as usize].counts(&sighting, is_summary))),
            None => names.extend(Some(sighting.key).filter(|_| sighting.kind.is_name())),
        });
        self.find_rules(line, &mut found);
        InLine { found: found.into(), names: names.into() }
    }

    fn find_rules(&self, text: &str, found: &mut Vec<FactId>) {
        let rules = self.finder.iter().flat_map(|finder| finder.find_overlapping_iter(text));
        found.extend(rules.map(|rule| (self.facts.len() + rule.pattern().as_usize()) as FactId));
    }
}

impl Fact {
    /// Whether a sighting with this fact's key is one of this fact: those that are bound must stand beside something they
    /// stood beside at first; in a summary that holds for hashes, too.
    pub fn counts(&self, sighting: &FactMatch, is_summary: bool) -> bool {
        let must_be_beside = self.kind.is_bound() || (is_summary && self.kind == FactKind::Hash && !self.anchors.is_empty());
        !must_be_beside || self.stood_beside(sighting.anchors)
    }

    /// Whether it stood beside one of these at first.
    fn stood_beside(&self, anchors: &[u64]) -> bool {
        anchors.iter().any(|anchor| self.anchors.contains(anchor))
    }
}
