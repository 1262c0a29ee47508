//! Which blocks a layer may touch: the values that `clear`, `persist`, `truncate` and `dedupe` share, so that "keep the last
//! three" means the same everywhere.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::context::{Context, Edit};
use crate::tokens::meter::{SizeUnit, python, python_text};
use crate::transcript::conversation::{Block, BlockId, Kind, PairId, Role};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ResultFilter {
    /// The newest results, so many of them, stay.
    pub keep_recent: usize,
    /// Content of at most so many characters stays.
    pub min_chars: usize,
    /// Only results of these tools; all where none is named.
    pub tools: Vec<String>,
    /// Results of these tools stay.
    pub preserve_tools: Vec<String>,
    /// Results the model has not answered yet stay, and do not count among the recent.
    pub protect_unseen: bool,
    /// Results marked as errors stay.
    pub keep_errors: bool,
    /// How content that is a list of parts is read.
    pub lists: ListContent,
}

impl Default for ResultFilter {
    fn default() -> Self {
        Self {
            keep_recent: 0,
            min_chars: 0,
            tools: Vec::new(),
            preserve_tools: Vec::new(),
            protect_unseen: false,
            keep_errors: false,
            lists: ListContent::Text,
        }
    }
}

/// How a harness reads a result whose content is a list of parts, where it expects a string.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ListContent {
    /// The parts' texts.
    #[default]
    Text,
    /// It leaves lists alone.
    Skip,
    /// It takes the number of parts for the number of characters (Python's `len` of a list).
    Count,
    /// Python's `str` of the list.
    Repr,
}

impl ListContent {
    /// The content of a result as this harness reads it; `None` where it leaves it alone.
    pub fn content(self, block: &Block) -> Option<Cow<'_, str>> {
        match (block.field("content"), self) {
            (Some(list @ Value::Array(_)), ListContent::Repr) => Some(Cow::Owned(python_text::repr(list))),
            (Some(Value::Array(_)), ListContent::Skip) => None,
            _ => Some(block.text()),
        }
    }

    /// The characters of that content, as this harness counts them.
    pub fn chars(self, block: &Block) -> Option<usize> {
        match (block.field("content"), self) {
            (Some(Value::Array(parts)), ListContent::Count) => Some(parts.len()),
            (Some(list @ Value::Array(_)), ListContent::Repr) => Some(python::repr_len(list) as usize),
            _ => self.content(block).map(|text| SizeUnit::Chars.text(&text) as usize),
        }
    }
}

/// A kind of block, for settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlockFilter {
    Text,
    ToolResult,
    ToolUse,
    Thinking,
}

impl BlockFilter {
    pub fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Text => Some(BlockFilter::Text),
            Kind::ToolResult(_) => Some(BlockFilter::ToolResult),
            Kind::ToolUse(_) => Some(BlockFilter::ToolUse),
            Kind::Thinking => Some(BlockFilter::Thinking),
            Kind::Media | Kind::Other => None,
        }
    }
}

/// Where a block stands: message of the context, block of the message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub message: usize,
    pub block: usize,
}

impl Place {
    /// The edit that gives the result there another content.
    pub fn with_content(self, content: impl Into<Value>) -> Edit {
        Edit::Rewrite { message: self.message, block: self.block, field: "content", value: content.into() }
    }
}

/// The place up to which a layer has decided. It holds as long as no message moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor {
    place: Place,
    moves: u32,
}

impl Cursor {
    pub fn start(self, context: &Context) -> Place {
        if self.moves == context.moves() { self.place } else { Place::default() }
    }

    pub fn set(&mut self, place: Place, context: &Context) {
        *self = Cursor { place, moves: context.moves() };
    }
}

/// A result a layer may touch.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    pub place: Place,
    pub id: BlockId,
    pub pair: PairId,
    pub block: &'a Block,
}

impl ResultFilter {
    /// The results that may be touched and were not decided before, oldest first. What is passed over now is passed over for
    /// good, so the cursor moves on: each result is looked at once, not once a call.
    pub fn results<'a>(&self, context: &'a Context, cursor: &mut Cursor) -> Vec<Candidate<'a>> {
        let mut open = results_from(context, cursor.start(context));
        let end = Place { message: context.len(), block: 0 };
        let mut first_kept = end;
        if self.protect_unseen {
            let answered = context.messages().iter().rposition(|m| m.role == Role::Assistant);
            let seen = open.partition_point(|picked| answered.is_some_and(|last| picked.place.message <= last));
            first_kept = open.get(seen).map_or(first_kept, |picked| picked.place);
            open.truncate(seen);
        }
        let old = open.len().saturating_sub(self.keep_recent);
        first_kept = open.get(old).map_or(first_kept, |picked| picked.place);
        open.truncate(old);
        cursor.set(first_kept, context);
        open.retain(|picked| self.may_touch(context, picked));
        open
    }

    /// Whether the rules that do not depend on age let this result be touched.
    pub fn may_touch(&self, context: &Context, picked: &Candidate) -> bool {
        let tool = context.tool_name(picked.pair);
        let named = |tools: &[String]| tools.iter().any(|name| name == tool);
        (self.tools.is_empty() || named(&self.tools))
            && !named(&self.preserve_tools)
            && !(self.keep_errors && picked.block.is_error())
            && self.is_longer(picked.block)
    }

    fn is_longer(&self, block: &Block) -> bool {
        // A character takes four bytes at most.
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

/// The tool results of the user's messages from a place on, in order.
pub fn results_from<'a>(context: &'a Context, from: Place) -> Vec<Candidate<'a>> {
    let messages = context.messages().iter().enumerate().skip(from.message);
    let of_message = messages
        .filter(|(_, sent)| sent.role == Role::User)
        .flat_map(|(message, sent)| sent.blocks.iter().enumerate().map(move |(block, id)| (Place { message, block }, *id)));
    let picked = of_message.filter(|(place, _)| *place >= from).filter_map(|(place, id)| {
        let block = context.block(id);
        match block.kind {
            Kind::ToolResult(pair) => Some(Candidate { place, id, pair, block }),
            _ => None,
        }
    });
    picked.collect()
}
