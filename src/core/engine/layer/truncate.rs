//! `truncate`: cuts long blocks to their head and their tail.
//!
//! Other names: output caps, and the 500-character messages of the Java port of learn-claude-code. The cut text is lost; the
//! marker can state its length.
//!
//! ```toml
//! [[layer]]
//! id = "cap"
//! do = "truncate"
//! when = "entry"                  # once, when a result is new
//! max_chars = 10_000
//! keep_head = 5000
//! keep_tail = 5000
//! marker = "<elided_chars>{n} characters elided</elided_chars>"
//! ```
//!
//! A marker may state what was cut (`{n}`, `{len}`, `{tool}`). With `{head}` it is the whole text, as in the OpenAI Agents SDK's
//! `ToolOutputTrimmer`, which trims the results of all turns but the newest two:
//!
//! ```toml
//! [[layer]]
//! id = "trim"
//! do = "truncate"
//! protect_turns = 2
//! max_chars = 500
//! keep_head = 200
//! marker = "[Trimmed: {tool} output — {len} chars → 200 char preview]\n{head}..."
//! ```
//!
//! `parts` may also name text and thinking. Cut thinking breaks the prompt cache as text does, and where a provider signs thinking, it
//! refuses a request in which that of the newest tool-calling response was changed: protect it (`protect_turns`).
//!
//! Only `clear` can select results by age (`keep_recent_results`, `protect_unseen`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::result_filter::Candidate;
use super::tail::turns_start;
use super::{
    Action, BlockFilter, BlockPosition, LayerInput, LayerTraits, Proposal, Remains, ResultFilter, ScanCursor, Stability,
    TurnCount, WrongSetting, turn_count,
};
use crate::engine::context::Edit;
use crate::tokens::meter::SizeUnit;
use crate::transcript::conversation::{BlockId, BlockKind};
use crate::util::template::{fill, has_placeholder};
use crate::util::text;

/// Settings of `truncate`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Truncate {
    #[serde(flatten)]
    pub filter: ResultFilter,
    /// Kinds of blocks to cut.
    pub parts: Vec<BlockFilter>,
    /// Maximum characters of a block: longer blocks are cut.
    #[schemars(extend("x-unit" = "characters"))]
    pub max_chars: usize,
    /// Characters to keep at the beginning.
    #[schemars(extend("x-unit" = "characters"))]
    pub keep_head: usize,
    /// Characters to keep at the end.
    #[schemars(extend("x-unit" = "characters"))]
    pub keep_tail: usize,
    /// Text between head and tail; `{n}` is the number of removed characters, `{len}` of all, `{tool}` the name of the tool. A marker
    /// with `{head}` is the whole text: it says itself where the head goes, the tail is left out, and it is used only if it is shorter.
    pub marker: String,
    /// Number of newest turns that stay whole; `true` is 1.
    #[serde(deserialize_with = "turn_count")]
    #[schemars(with = "TurnCount", extend("x-unit" = "turns"))]
    pub protect_turns: usize,
}

impl Default for Truncate {
    fn default() -> Self {
        Self {
            filter: ResultFilter::default(),
            parts: vec![BlockFilter::ToolResult],
            max_chars: 10_000,
            keep_head: 5_000,
            keep_tail: 5_000,
            marker: "[… {n} characters cut …]".to_owned(),
            protect_turns: 0,
        }
    }
}

impl Action for Truncate {
    type State = ScanCursor;

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits {
            remains: Some(Remains::Part),
            rewrites_in_place: true,
            keeps_parts: true,
            stability: Stability::Stable,
            writes_markers: true,
            filter: Some(&self.filter),
            ..LayerTraits::PLAIN
        }
    }

    fn check(&self) -> Result<(), WrongSetting> {
        match self.parts[..] {
            [] => Err(WrongSetting::new("parts", "`parts` names no kind of block, so nothing would be cut")),
            _ => Ok(()),
        }
    }

    fn propose(&self, input: &LayerInput, cursor: &mut ScanCursor) -> Proposal {
        let context = input.context;
        let end = turns_start(context, self.protect_turns);
        let start = cursor.start(context).message;
        cursor.set(BlockPosition { message: end, block: 0 }, context);
        let mut proposal = Proposal::default();
        for (index, message) in context.messages().iter().enumerate().take(end).skip(start) {
            for (block, id) in message.blocks.iter().enumerate() {
                proposal.edits.extend(self.cut_block(input, BlockPosition { message: index, block }, *id));
            }
        }
        proposal
    }
}

impl Truncate {
    fn cut_block(&self, input: &LayerInput, position: BlockPosition, id: BlockId) -> Option<Edit> {
        let block = input.context.block(id);
        let part = BlockFilter::from_kind(block.kind).filter(|part| self.parts.contains(part))?;
        match (part, block.kind) {
            (BlockFilter::ToolResult, BlockKind::ToolResult(pair)) => {
                let candidate = Candidate { position, id, pair, block };
                let content = self.filter.lists.content(block).filter(|_| self.filter.may_edit(input.context, &candidate))?;
                Some(position.with_content(self.shorten(&content, input.context.tool_name(pair))?))
            }
            _ => {
                let (BlockPosition { message, block: at }, value) = (position, self.shorten(&block.text(), "")?.into());
                let field = if part == BlockFilter::Thinking { "thinking" } else { "text" };
                Some(Edit::Rewrite { message, block: at, field, value })
            }
        }
    }

    fn shorten(&self, content: &str, tool: &str) -> Option<String> {
        let chars = SizeUnit::Chars.text(content) as usize;
        let places_head = has_placeholder(&self.marker, "head");
        let removed = chars.saturating_sub(self.keep_head + if places_head { 0 } else { self.keep_tail });
        if chars <= self.max_chars || removed == 0 || self.is_shortened(content, tool) {
            return None;
        }
        let head = text::head(content, self.keep_head);
        let values = [("n", &*removed.to_string()), ("len", &chars.to_string()), ("tool", tool), ("head", head)];
        let marker = fill(&self.marker, &values);
        if places_head {
            return (SizeUnit::Chars.text(&marker) < chars as u64).then_some(marker);
        }
        Some([head, &marker, text::tail(content, self.keep_tail)].concat())
    }

    /// Returns whether this text is already an output of [`Truncate::shorten`]: with the marker it may exceed `max_chars`.
    fn is_shortened(&self, content: &str, tool: &str) -> bool {
        let marker = fill(&self.marker, &[("tool", tool)]);
        if has_placeholder(&marker, "head") {
            let before = &marker[..marker.find('{').unwrap_or(0)];
            return !before.is_empty() && content.starts_with(before);
        }
        let head = text::head(content, self.keep_head).len();
        let tail = text::tail(content, self.keep_tail).len();
        let Some(middle) = content.get(head..content.len() - tail) else { return false };
        // The first number in the marker tells both, since the kept characters are known.
        let (n_at, len_at) = (marker.find("{n}"), marker.find("{len}"));
        let digits = middle.get(n_at.into_iter().chain(len_at).min().unwrap_or(0)..).unwrap_or_default();
        let number = &digits[..digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())];
        let kept = self.keep_head + self.keep_tail;
        let number: usize = number.parse().unwrap_or_default();
        let removed = if n_at.is_none_or(|n| len_at.is_some_and(|len| len < n)) { number.saturating_sub(kept) } else { number };
        middle == fill(&marker, &[("n", &removed.to_string()), ("len", &(removed + kept).to_string())])
    }
}
