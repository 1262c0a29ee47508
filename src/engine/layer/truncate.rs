//! `truncate`: of long blocks, the head and the tail stay.
//!
//! Known as caps and as the 500-character turns of the Java port. What is cut is gone; the marker says how much it was.
//!
//! ```toml
//! [[layer]]
//! id = "cap"
//! do = "truncate"
//! when = "entry"
//! max_chars = 10_000         # longer blocks are cut
//! keep_head = 5000
//! keep_tail = 5000
//! marker = "<elided_chars>{n} characters elided</elided_chars>"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drop::turn_start;
use super::pick::Candidate;
use super::{BlockFilter, LayerInput, LayerState, Place, Proposal, ResultFilter};
use crate::engine::context::Edit;
use crate::tokens::meter::SizeUnit;
use crate::transcript::conversation::{BlockId, Kind};
use crate::util::template::fill;
use crate::util::text;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Truncate {
    #[serde(flatten)]
    pub pick: ResultFilter,
    /// The blocks it looks at: `text`, `tool-result`.
    pub parts: Vec<BlockFilter>,
    /// Longer blocks are cut.
    pub max_chars: usize,
    /// So many characters of the beginning stay.
    pub keep_head: usize,
    /// So many characters of the end stay.
    pub keep_tail: usize,
    /// What stands between head and tail; `{n}` is the number of characters that went.
    pub marker: String,
    /// What was said since the newest typed message stays whole.
    pub protect_turn: bool,
}

impl Default for Truncate {
    fn default() -> Self {
        Self {
            pick: ResultFilter::default(),
            parts: vec![BlockFilter::ToolResult],
            max_chars: 10_000,
            keep_head: 5_000,
            keep_tail: 5_000,
            marker: "[… {n} characters cut …]".to_owned(),
            protect_turn: false,
        }
    }
}

impl Truncate {
    pub fn propose(&self, now: &LayerInput, memory: &mut LayerState) -> Proposal {
        let context = now.context;
        let end = if self.protect_turn { turn_start(context) } else { context.len() };
        let start = memory.cursor.start(context).message;
        memory.cursor.set(Place { message: end, block: 0 }, context);
        let mut proposal = Proposal::default();
        for (message, sent) in context.messages().iter().enumerate().take(end).skip(start) {
            for (block, id) in sent.blocks.iter().enumerate() {
                proposal.edits.extend(self.cut(now, Place { message, block }, *id));
            }
        }
        proposal
    }

    fn cut(&self, now: &LayerInput, place: Place, id: BlockId) -> Option<Edit> {
        let block = now.context.block(id);
        let part = BlockFilter::of(block.kind).filter(|part| self.parts.contains(part))?;
        match (part, block.kind) {
            (BlockFilter::ToolResult, Kind::ToolResult(pair)) => {
                let picked = Candidate { place, id, pair, block };
                let content = self.pick.lists.content(block).filter(|_| self.pick.may_touch(now.context, &picked))?;
                Some(place.with_content(self.shorten(&content)?))
            }
            (BlockFilter::Text, _) => {
                let (Place { message, block: at }, value) = (place, self.shorten(&block.text())?.into());
                Some(Edit::Rewrite { message, block: at, field: "text", value })
            }
            _ => None,
        }
    }

    fn shorten(&self, content: &str) -> Option<String> {
        let chars = SizeUnit::Chars.text(content) as usize;
        let gone = chars.saturating_sub(self.keep_head + self.keep_tail);
        if chars <= self.max_chars || gone == 0 || self.is_shortened(content) {
            return None;
        }
        let marker = fill(&self.marker, &[("n", &gone.to_string())]);
        Some([text::head(content, self.keep_head), &marker, text::tail(content, self.keep_tail)].concat())
    }

    /// Whether this is what [`Truncate::shorten`] made of a longer text: with its marker it may be longer than `max_chars`.
    fn is_shortened(&self, content: &str) -> bool {
        let head = text::head(content, self.keep_head).len();
        let tail = text::tail(content, self.keep_tail).len();
        let Some(middle) = content.get(head..content.len() - tail) else { return false };
        let before = self.marker.find("{n}").unwrap_or(0);
        let digits = middle.get(before..).unwrap_or_default();
        let n = &digits[..digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())];
        middle == fill(&self.marker, &[("n", n)])
    }
}
