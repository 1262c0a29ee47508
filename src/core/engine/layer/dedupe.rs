//! `dedupe`: keeps one copy of the same file or text and replaces the others with a placeholder.
//!
//! Other name: removal of duplicate reads. With `key = "text"` nothing is lost. With `key = "path"` older versions of a file are
//! lost; ranges of a file are contents of their own. If the *earliest* identical copy stays, the prefix does not change, and the provider's cache stays valid.
//!
//! ```toml
//! [[layer]]
//! id = "reads"
//! do = "dedupe"
//! key = "path"                    # a copy has the same tool and file
//! keep = "last"                   # the newest copy stays
//! tools = ["Read"]
//! placeholder = "[{path} was read again later.]"
//! ```
//!
//! Only `clear` can select results by age (`keep_recent_results`, `protect_unseen`).

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::result_filter::{Candidate, results_from};
use super::{Action, BlockPosition, LayerInput, LayerTraits, Proposal, Remains, ResultFilter, ScanCursor};
use crate::engine::context::{Context, Edit};
use crate::transcript::conversation::{BlockId, Conversation, PairId};
use crate::transcript::tool_access;
use crate::util::template::fill;

/// Settings of `dedupe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Dedupe {
    #[serde(flatten)]
    pub filter: ResultFilter,
    /// What makes a result a copy of another.
    pub key: DuplicateKey,
    /// Which copy stays.
    pub keep: KeptCopy,
    /// Text that replaces a copy; `{path}` is the path of the file, `{tool}` the name of the tool.
    pub placeholder: String,
}

/// What makes two results copies of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DuplicateKey {
    /// The same characters.
    Text,
    /// The same tool with the same file, and the same numbers in its input: they say which part of the file.
    Path,
}

/// Which copy stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeptCopy {
    /// The oldest.
    First,
    /// The newest.
    Last,
}

impl Default for Dedupe {
    fn default() -> Self {
        Self {
            filter: ResultFilter { min_chars: 200, ..ResultFilter::default() },
            key: DuplicateKey::Text,
            keep: KeptCopy::First,
            placeholder: "[The same result stands elsewhere in this conversation.]".to_owned(),
        }
    }
}

/// Which results were compared, and where the copies are.
#[derive(Debug, Clone, Default)]
pub struct DedupeState {
    cursor: ScanCursor,
    /// The block in which each file or text was last seen, by its key.
    last_copies: HashMap<String, BlockId>,
}

impl Action for Dedupe {
    type State = DedupeState;

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits {
            remains: Some(Remains::Copy(self.key)),
            rewrites_in_place: true,
            writes_markers: true,
            filter: Some(&self.filter),
            ..LayerTraits::PLAIN
        }
    }

    fn propose(&self, input: &LayerInput, state: &mut DedupeState) -> Proposal {
        let context = input.context;
        let start = state.cursor.start(context);
        if start == BlockPosition::default() {
            state.last_copies.clear();
        }
        state.cursor.set(BlockPosition { message: context.len(), block: 0 }, context);
        let mut newest: HashMap<String, Candidate> = HashMap::new();
        let mut proposal = Proposal::default();
        // Another layer may have cleared the copy since; then a placeholder that refers to it would be wrong.
        let is_in_context = |before: &BlockId| results_from(context, BlockPosition::default()).any(|old| old.id == *before);
        for candidate in results_from(context, start).filter(|candidate| self.filter.may_edit(context, candidate)) {
            if candidate.block.field("content").and_then(Value::as_str) == Some(&self.placeholder_for(context, &candidate)) {
                continue;
            }
            let Some(key) = self.key_of(context, &candidate) else { continue };
            let id = candidate.id;
            let copy = match self.keep {
                KeptCopy::First if state.last_copies.get(&key).is_some_and(is_in_context) => Some(candidate),
                KeptCopy::First => None,
                KeptCopy::Last => newest.insert(key.clone(), candidate).or_else(|| {
                    let before = *state.last_copies.get(&key)?;
                    results_from(context, BlockPosition::default()).into_iter().find(|old| old.id == before)
                }),
            };
            if copy.is_none() || self.keep == KeptCopy::Last {
                state.last_copies.insert(key, id);
            }
            proposal.edits.extend(copy.map(|copy| self.replace(context, &copy)));
        }
        proposal
    }
}

impl Dedupe {
    fn key_of(&self, context: &Context, candidate: &Candidate) -> Option<String> {
        match self.key {
            DuplicateKey::Text => self.filter.lists.content(candidate.block).map(|text| text.into_owned()),
            DuplicateKey::Path => file_part_asked_for(context.conversation(), candidate.pair),
        }
    }

    fn replace(&self, context: &Context, candidate: &Candidate) -> Edit {
        candidate.position.with_content(self.placeholder_for(context, candidate))
    }

    /// Returns the text that replaces a copy.
    fn placeholder_for(&self, context: &Context, candidate: &Candidate) -> String {
        let path = path_asked_for(context, candidate.pair).unwrap_or_default();
        fill(&self.placeholder, &[("path", path), ("tool", context.tool_name(candidate.pair))])
    }
}

/// Returns the path of the file that a tool call asked for.
pub fn path_asked_for<'a>(context: &Context<'a>, pair: PairId) -> Option<&'a str> {
    tool_access::named_path(input_of(context.conversation(), pair)?)
}

/// Returns the name of the part of a file that a tool call asked for: tool, path, and the numbers of the input, which say the range. `None` for
/// a call that names no file.
pub fn file_part_asked_for(conversation: &Conversation, pair: PairId) -> Option<String> {
    let input = input_of(conversation, pair)?;
    let mut part = format!("{}\n{}", conversation.pair(pair).name, tool_access::named_path(input)?);
    for (name, value) in input.as_object()?.iter().filter(|(_, value)| says_range(value)) {
        part += &format!("\n{name}: {value}");
    }
    Some(part)
}

fn input_of(conversation: &Conversation, pair: PairId) -> Option<&Value> {
    conversation.block(conversation.pair(pair).tool_use?).field("input")
}

/// Returns whether a value of an input may say a range: a number, a list of numbers, or a text of digits such as `1-90`.
pub fn says_range(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::Array(items) => items.iter().all(Value::is_number),
        Value::String(text) => !text.is_empty() && text.chars().all(|char| char.is_ascii_digit() || "-:, ".contains(char)),
        Value::Null | Value::Bool(_) | Value::Object(_) => false,
    }
}
