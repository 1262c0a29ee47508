//! Selects the tool results that a layer may edit. `clear`, `persist`, `truncate` and `dedupe` share these settings.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tool_name::is_listed;
use super::{TurnCount, turn_count};
use crate::engine::context::{Context, Edit};
use crate::engine::size::Size;
use crate::tokens::meter::{SizeUnit, python, python_text};
use crate::transcript::conversation::{Block, BlockId, BlockKind, PairId, Role};

/// Which tool results a layer may edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ResultFilter {
    /// Number of newest tool results to keep, of all tools: a result that `preserve_tools` keeps is one of them.
    #[schemars(extend("x-unit" = "results"))]
    pub keep_recent_results: usize,
    /// Keep results of at most this many characters.
    #[schemars(extend("x-unit" = "characters"))]
    pub min_chars: usize,
    /// `true`: edit results without any character, too, which are shorter than what replaces them.
    pub empty_too: bool,
    /// Edit only the results of these tools; empty: of all tools. A `*` in a name covers any characters: `mcp__*`.
    #[schemars(extend("x-names" = "tools"))]
    pub tools: Vec<String>,
    /// Keep the results of these tools.
    #[schemars(extend("x-names" = "tools"))]
    pub preserve_tools: Vec<String>,
    /// Keep results that the model has not answered yet; they do not count for `keep_recent_results`.
    pub protect_unseen: bool,
    /// Keep results that are marked as errors.
    pub keep_errors: bool,
    /// Keep what was read of a file that a newer message names, in its text or in the input of a call. It is decided when the result
    /// has become old.
    pub keep_named: bool,
    /// How to read content that is a list of parts.
    pub lists: ListContent,
    /// Instead of a number of newest results of all tools: the number of newest results of each tool to keep.
    #[schemars(extend("x-unit" = "results"))]
    pub keep_recent_per_tool: Option<usize>,
    /// Instead of a number of newest results: the number of newest groups to keep; a group is the results that answer one response.
    #[schemars(extend("x-unit" = "groups"))]
    pub keep_recent_groups: Option<usize>,
    /// Instead of a number of newest results: keep the newest ones that together have at most this size by the policy's `meter`. Those
    /// that other settings keep do not count, nor those that are edited already.
    #[schemars(extend("x-unit" = "tokens"))]
    pub keep_recent_tokens: Option<Size>,
    /// Number of newest turns whose results stay and do not count; `true` is 1.
    #[serde(deserialize_with = "turn_count")]
    #[schemars(with = "TurnCount", extend("x-unit" = "turns"))]
    pub protect_turns: usize,
}

impl Default for ResultFilter {
    fn default() -> Self {
        Self {
            keep_recent_results: 0,
            min_chars: 0,
            empty_too: false,
            tools: Vec::new(),
            preserve_tools: Vec::new(),
            protect_unseen: false,
            keep_errors: false,
            keep_named: false,
            lists: ListContent::Text,
            keep_recent_per_tool: None,
            keep_recent_groups: None,
            keep_recent_tokens: None,
            protect_turns: 0,
        }
    }
}

/// How a harness that expects a string reads a tool_result whose content is a list of parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ListContent {
    /// As the texts of the parts.
    #[default]
    Text,
    /// Not at all: the harness ignores such results.
    Skip,
    /// As their texts, but with the number of parts as the number of characters (Python's `len` of a list).
    Count,
    /// As Python's `str` of the list.
    Repr,
}

impl ListContent {
    /// Returns the content of a result as the harness reads it; `None` if the harness ignores it.
    pub fn content(self, block: &Block) -> Option<Cow<'_, str>> {
        match (block.field("content"), self) {
            (Some(list @ Value::Array(_)), ListContent::Repr) => Some(Cow::Owned(python_text::repr(list))),
            (Some(Value::Array(_)), ListContent::Skip) => None,
            _ => Some(block.text()),
        }
    }

    /// Returns the number of characters in that content, as the harness counts them.
    pub fn chars(self, block: &Block) -> Option<usize> {
        match (block.field("content"), self) {
            (Some(Value::Array(parts)), ListContent::Count) => Some(parts.len()),
            (Some(list @ Value::Array(_)), ListContent::Repr) => Some(python::repr_len(list) as usize),
            _ => self.content(block).map(|text| SizeUnit::Chars.text(&text) as usize),
        }
    }
}

/// A kind of block, as a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlockFilter {
    Text,
    ToolResult,
    Thinking,
}

impl BlockFilter {
    /// Returns the setting for a kind of block; `None` for kinds that no layer selects.
    pub fn from_kind(kind: BlockKind) -> Option<Self> {
        match kind {
            BlockKind::Text => Some(BlockFilter::Text),
            BlockKind::ToolResult(_) => Some(BlockFilter::ToolResult),
            BlockKind::Thinking => Some(BlockFilter::Thinking),
            BlockKind::ToolUse(_) | BlockKind::Media | BlockKind::Other => None,
        }
    }
}

/// Position of a block: index of the message in the context, index of the block in the message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockPosition {
    pub message: usize,
    pub block: usize,
}

impl BlockPosition {
    /// Returns the edit that replaces the content of the tool_result at this position.
    pub fn with_content(self, content: impl Into<Value>) -> Edit {
        Edit::Rewrite { message: self.message, block: self.block, field: "content", value: content.into() }
    }
}

/// The position up to which a layer has decided. It becomes invalid when a message moves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanCursor {
    position: BlockPosition,
    moves: u32,
}

impl ScanCursor {
    /// Returns the stored position, or the start of the context if messages moved since it was stored.
    pub fn start(self, context: &Context) -> BlockPosition {
        if self.moves == context.moves() { self.position } else { BlockPosition::default() }
    }

    /// Stores the position up to which the layer has decided.
    pub fn set(&mut self, position: BlockPosition, context: &Context) {
        *self = ScanCursor { position, moves: context.moves() };
    }
}

/// A tool result that a layer may edit.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    pub position: BlockPosition,
    pub id: BlockId,
    pub pair: PairId,
    pub block: &'a Block,
}

impl ResultFilter {
    /// Returns whether the rules that do not depend on age allow an edit of this result.
    pub fn may_edit(&self, context: &Context, candidate: &Candidate) -> bool {
        let tool = context.tool_name(candidate.pair);
        self.selects_tool(tool)
            && !(self.keep_errors && candidate.block.is_error())
            && (self.is_longer(candidate.block) || self.empty_too && self.lists.chars(candidate.block) == Some(0))
    }

    /// Returns whether the lists of tools allow an edit of this tool's results.
    pub fn selects_tool(&self, tool: &str) -> bool {
        (self.tools.is_empty() || is_listed(&self.tools, tool)) && !is_listed(&self.preserve_tools, tool)
    }

    fn is_longer(&self, block: &Block) -> bool {
        // A character has at most four bytes.
        let is_surely_longer = |text: &str| text.len() / 4 > self.min_chars;
        match (block.field("content"), self.lists) {
            (Some(Value::String(text)), _) if is_surely_longer(text) => true,
            (Some(Value::String(text)), _) if text.len() <= self.min_chars => false,
            (Some(Value::Array(parts)), ListContent::Text)
                if parts.iter().filter_map(|part| part.get("text")?.as_str()).any(is_surely_longer) =>
            {
                true
            }
            _ => self.lists.chars(block).is_some_and(|chars| chars > self.min_chars),
        }
    }
}

/// Returns the tool result at a position; `None` if there is something else.
pub fn result_at<'a>(context: &'a Context, position: BlockPosition) -> Option<Candidate<'a>> {
    let id = *context.messages().get(position.message)?.blocks.get(position.block)?;
    let block = context.block(id);
    if let BlockKind::ToolResult(pair) = block.kind { Some(Candidate { position, id, pair, block }) } else { None }
}

/// Yields the tool results in user messages from a position on, in order.
pub fn results_from<'a>(context: &'a Context, from: BlockPosition) -> impl Iterator<Item = Candidate<'a>> {
    results_between(context, from, BlockPosition { message: context.len(), block: 0 })
}

/// Yields the tool results in user messages from a position on and in front of another, in order. Other messages cost no time.
pub fn results_between<'a>(context: &'a Context, from: BlockPosition, end: BlockPosition) -> impl Iterator<Item = Candidate<'a>> {
    let last = (end.message + usize::from(end.block > 0)).min(context.len());
    let messages = context.messages()[..last].iter().enumerate().skip(from.message);
    let of_message = messages
        .filter(|(_, message)| message.role == Role::User)
        .flat_map(|(index, message)| (0..message.blocks.len()).map(move |block| BlockPosition { message: index, block }));
    of_message.filter(move |position| (from..end).contains(position)).filter_map(|position| result_at(context, position))
}
