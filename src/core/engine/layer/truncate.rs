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
//! max_length = 10_000
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
//! max_length = 500
//! keep_head = 200
//! marker = "[Trimmed: {tool} output — {len} chars → 200 char preview]\n{head}..."
//! ```
//!
//! `parts` may also name text and thinking. Cut thinking breaks the prompt cache as text does, and where a provider signs thinking, it
//! refuses a request in which that of the newest tool-calling response was changed: protect it (`protect_turns`).
//!
//! Ages with several steps are layers: the newest results are whole, older ones are cut (`keep_recent_results = 5`), and the oldest are
//! cleared by a `clear` behind it (`keep_recent_results = 30`). Text and thinking have an age by `protect_turns` only.

mod unit;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::result_filter::result_at;
use super::tail::turns_start;
use super::{
    Action, BlockFilter, BlockPosition, LayerInput, LayerTraits, Newest, Proposal, Remains, ResultFilter, ScanCursor,
    ThinkingLeft, WrongSetting,
};
use crate::engine::context::{Context, Edit};
use crate::util::template::{fill, has_placeholder};
pub use unit::CutUnit;

/// Settings of `truncate`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Truncate {
    #[serde(flatten)]
    pub filter: ResultFilter,
    /// Kinds of blocks to cut.
    pub parts: Vec<BlockFilter>,
    /// Maximum length of a block: longer blocks are cut.
    #[schemars(extend("x-unit" = "by count"))]
    pub max_length: usize,
    /// How much to keep at the beginning.
    #[schemars(extend("x-unit" = "by count"))]
    pub keep_head: usize,
    /// How much to keep at the end.
    #[schemars(extend("x-unit" = "by count"))]
    pub keep_tail: usize,
    /// Unit of `max_length`, `keep_head` and `keep_tail`.
    pub count: CutUnit,
    /// Text between head and tail; `{n}` is the number of removed characters or lines, `{len}` of all, `{tool}` the name of the tool. A marker
    /// with `{head}` is the whole text: it says itself where the head goes, the tail is left out, and it is used only if it is shorter.
    pub marker: String,
}

impl Default for Truncate {
    fn default() -> Self {
        Self {
            filter: ResultFilter::default(),
            parts: vec![BlockFilter::ToolResult],
            max_length: 10_000,
            keep_head: 5_000,
            keep_tail: 5_000,
            count: CutUnit::Chars,
            marker: "[… {n} characters cut …]".to_owned(),
        }
    }
}

impl Action for Truncate {
    type State = TruncateState;

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits {
            remains: Some(Remains::Part),
            rewrites_in_place: true,
            keeps_parts: true,
            stability: self.filter.stability(),
            writes_markers: true,
            filter: Some(&self.filter),
            ..LayerTraits::PLAIN
        }
    }

    fn check(&self) -> Result<(), WrongSetting> {
        self.filter.refuse_empty_too()?;
        match self.parts[..] {
            [] => Err(WrongSetting::new("parts", "`parts` names no kind of block, so nothing would be cut")),
            _ => Ok(()),
        }
    }

    fn restrict_schema(schema: &mut Value) {
        schema["properties"]["empty_too"]["const"] = false.into();
    }

    fn propose(&self, input: &LayerInput, state: &mut TruncateState) -> Proposal {
        let context = input.context;
        let end = turns_start(context, self.filter.protect_turns);
        let start = state.cursor.start(context).message;
        state.cursor.set(BlockPosition { message: end, block: 0 }, context);
        let positions = (start..end)
            .flat_map(|message| (0..context.messages()[message].blocks.len()).map(move |block| BlockPosition { message, block }));
        let mut old: Vec<_> = positions.filter(|position| self.has_age_of_message(context, *position)).collect();
        if self.filter.counts_newest() {
            old.extend(self.filter.take_old(input, &mut state.newest, 0, |_| false).iter().map(|result| result.position));
            old.sort_unstable();
        }
        Proposal {
            edits: old.into_iter().filter_map(|position| self.cut_block(context, position)).collect(),
            ..Proposal::default()
        }
    }

    fn thinking_left(&self, left: &ThinkingLeft, _state: &mut TruncateState) -> Option<Vec<Edit>> {
        left.gone.is_empty().then(Vec::new)
    }

    fn settle(&self, context: &Context, state: &mut TruncateState) {
        state.newest.settle(context);
    }
}

/// Which blocks were looked at.
#[derive(Debug, Clone, Default)]
pub struct TruncateState {
    cursor: ScanCursor,
    newest: Newest,
}

impl Truncate {
    /// Returns whether a block is old as soon as its turn is: only results have an age of their own.
    fn has_age_of_message(&self, context: &Context, position: BlockPosition) -> bool {
        !self.filter.counts_newest() || result_at(context, position).is_none()
    }

    fn cut_block(&self, context: &Context, position: BlockPosition) -> Option<Edit> {
        let BlockPosition { message, block: at } = position;
        let block = context.block(context.messages()[message].blocks[at]);
        let part = BlockFilter::from_kind(block.kind).filter(|part| self.parts.contains(part))?;
        let rewrite = |field, value: String| Edit::Rewrite { message, block: at, field, value: value.into() };
        match part {
            BlockFilter::ToolResult => {
                let candidate = result_at(context, position).filter(|candidate| self.filter.may_edit(context, candidate))?;
                let content = self.filter.lists.content(block)?;
                Some(rewrite("content", self.shorten(&content, context.tool_name(candidate.pair))?))
            }
            BlockFilter::Thinking => Some(rewrite("thinking", self.shorten(&block.text(), "")?)),
            BlockFilter::Text => Some(rewrite("text", self.shorten(&block.text(), "")?)),
        }
    }

    fn shorten(&self, content: &str, tool: &str) -> Option<String> {
        let length = self.count.length(content);
        let places_head = has_placeholder(&self.marker, "head");
        let removed = length.saturating_sub(self.keep_head + if places_head { 0 } else { self.keep_tail });
        if length <= self.max_length || removed == 0 || self.is_shortened(content, tool) {
            return None;
        }
        let head = self.count.head(content, self.keep_head);
        let values = [("n", &*removed.to_string()), ("len", &length.to_string()), ("tool", tool), ("head", head)];
        let marker = fill(&self.marker, &values);
        if places_head {
            return (marker.chars().count() < content.chars().count()).then_some(marker);
        }
        Some([head, &marker, self.count.behind_marker(), self.count.tail(content, self.keep_tail)].concat())
    }

    /// Returns whether this text is already an output of [`Truncate::shorten`]: with the marker it may exceed `max_length`.
    fn is_shortened(&self, content: &str, tool: &str) -> bool {
        let marker = fill(&self.marker, &[("tool", tool)]);
        if has_placeholder(&marker, "head") {
            let before = &marker[..marker.find('{').unwrap_or(0)];
            return !before.is_empty() && content.starts_with(before);
        }
        let head = self.count.head(content, self.keep_head).len();
        let tail = self.count.tail(content, self.keep_tail).len();
        let Some(middle) = content.get(head..content.len() - tail) else { return false };
        let Some(middle) = middle.strip_suffix(self.count.behind_marker()) else { return false };
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
