//! `dedupe`: keeps one copy of the same file or text and replaces the others with a placeholder.
//!
//! Other name: removal of duplicate reads. With `key = "text"` nothing is lost. With `key = "path"` older versions of a file are
//! lost; ranges of a file are contents of their own, and with `writes` a file that was written later is an older version, too. If the *earliest* identical copy stays, the prefix does not change, and the provider's cache stays valid.
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
//! With `keep_recent_results = 5`, copies among the five newest results stay until they are older.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::result_filter::{Candidate, results_from};
use super::{Action, BlockPosition, LayerInput, LayerTraits, Newest, Proposal, Remains, ResultFilter, ScanCursor, WrongSetting};
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
    /// `true`: what was read of a file is out of date when a later call writes the file, also where nothing reads it again (only with
    /// `key = "path"` and `keep = "last"`).
    pub writes: bool,
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
            writes: false,
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
    /// The keys in `last_copies` of each file, if writes count.
    parts: HashMap<String, Vec<String>>,
    ages: Option<Ages>,
}

/// The ages of results, if the newest ones stay.
#[derive(Debug, Clone, Default)]
struct Ages {
    newest: Newest,
    old: HashSet<BlockId>,
    /// Copies that stay because they are not old yet.
    waiting: HashSet<BlockId>,
}

impl Action for Dedupe {
    type State = DedupeState;

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits {
            remains: Some(if self.writes { Remains::Nothing } else { Remains::Copy(self.key) }),
            rewrites_in_place: true,
            writes_markers: true,
            filter: Some(&self.filter),
            ..LayerTraits::PLAIN
        }
    }

    fn check(&self) -> Result<(), WrongSetting> {
        if self.writes && (self.key != DuplicateKey::Path || self.keep != KeptCopy::Last) {
            return Err(WrongSetting::new("writes", "`writes` needs `key = \"path\"` and `keep = \"last\"`"));
        }
        if self.writes && self.placeholder == Self::default().placeholder {
            let why = "with `writes` there may be no other copy: write a `placeholder` that does not promise one";
            return Err(WrongSetting::new("placeholder", why));
        }
        Ok(())
    }

    fn restrict_schema(schema: &mut Value) {
        schema["if"] = json!({ "properties": { "writes": { "const": true } }, "required": ["writes"] });
        let compared = json!({ "key": { "const": "path" }, "keep": { "const": "last" } });
        schema["then"] = json!({ "properties": compared, "required": ["key", "keep", "placeholder"] });
    }

    fn propose(&self, input: &LayerInput, state: &mut DedupeState) -> Proposal {
        let context = input.context;
        let start = state.cursor.start(context);
        if start == BlockPosition::default() {
            *state = DedupeState { ages: self.filter.keeps_newest().then(Ages::default), ..DedupeState::default() };
        }
        state.cursor.set(BlockPosition { message: context.len(), block: 0 }, context);
        let mut copies = Vec::new();
        for candidate in results_from(context, start) {
            if self.writes {
                copies.extend(state.outdated_by(context.conversation(), &candidate));
            }
            if self.filter.may_edit(context, &candidate) {
                copies.extend(self.copy_found_at(context, &candidate, state));
            }
        }
        if let Some(ages) = &mut state.ages {
            let old = self.filter.take_old(input, &mut ages.newest, 0, |_| false);
            copies = ages.take_old_copies(copies, old.iter().map(|candidate| candidate.id));
        }
        Proposal { edits: self.replace(context, state, &copies), ..Proposal::default() }
    }

    fn settle(&self, context: &Context, state: &mut DedupeState) {
        state.ages.iter_mut().for_each(|ages| ages.newest.settle(context));
    }
}

impl DedupeState {
    /// Forgets, and returns, what was read of the files that the call of a result has written.
    fn outdated_by(&mut self, conversation: &Conversation, result: &Candidate) -> Vec<BlockId> {
        let Some(input) = conversation.input_of(result.pair).filter(|_| !self.parts.is_empty() && !result.block.is_error())
        else {
            return Vec::new();
        };
        let writes = tool_access::access_of(&conversation.pair(result.pair).name, input).writes;
        let parts = writes.iter().filter_map(|path| self.parts.remove(&**path)).flatten();
        parts.filter_map(|part| self.last_copies.remove(&part)).collect()
    }
}

impl Ages {
    /// Returns the copies that may be replaced: those that are old, and the earlier ones that have become old.
    fn take_old_copies(&mut self, copies: Vec<BlockId>, became_old: impl Iterator<Item = BlockId>) -> Vec<BlockId> {
        let mut taken = Vec::new();
        for id in became_old {
            self.old.insert(id);
            taken.extend(self.waiting.take(&id));
        }
        let (old, new): (Vec<_>, Vec<_>) = copies.into_iter().partition(|id| self.old.contains(id));
        self.waiting.extend(new);
        taken.extend(old);
        taken
    }
}

impl Dedupe {
    fn key_of(&self, context: &Context, candidate: &Candidate) -> Option<String> {
        match self.key {
            DuplicateKey::Text => self.filter.lists.content(candidate.block).map(|text| text.into_owned()),
            DuplicateKey::Path => file_part_asked_for(context.conversation(), candidate.pair),
        }
    }

    /// Returns the copy that a result makes superfluous: itself if the first copy stays, or else the one before. Remembers the result.
    fn copy_found_at(&self, context: &Context, candidate: &Candidate, state: &mut DedupeState) -> Option<BlockId> {
        if candidate.block.field("content").and_then(Value::as_str) == Some(&self.placeholder_for(context, candidate)) {
            return None;
        }
        let key = self.key_of(context, candidate)?;
        // Another layer may have cleared the copy since; then a placeholder that refers to it would be wrong.
        let is_in_context = |before: &BlockId| results_from(context, BlockPosition::default()).any(|old| old.id == *before);
        if self.keep == KeptCopy::First && state.last_copies.get(&key).is_some_and(is_in_context) {
            return Some(candidate.id);
        }
        if self.writes
            && let Some(path) = path_asked_for(context, candidate.pair)
        {
            state.parts.entry(path.to_owned()).or_default().push(key.clone());
        }
        state.last_copies.insert(key, candidate.id).filter(|_| self.keep == KeptCopy::Last)
    }

    /// Returns the edits that replace copies; none for a copy that is not in the context any more, or has lost the other one while it
    /// waited.
    fn replace(&self, context: &Context, state: &DedupeState, copies: &[BlockId]) -> Vec<Edit> {
        if copies.is_empty() {
            return Vec::new();
        }
        let all: HashMap<BlockId, Candidate> =
            results_from(context, BlockPosition::default()).map(|result| (result.id, result)).collect();
        let has_other = |copy: &Candidate| {
            let first = self.key_of(context, copy).and_then(|key| state.last_copies.get(&key));
            self.keep == KeptCopy::Last || first.is_some_and(|first| all.contains_key(first))
        };
        let replaced = copies.iter().filter_map(|id| all.get(id).copied().filter(has_other));
        replaced.map(|copy| copy.position.with_content(self.placeholder_for(context, &copy))).collect()
    }

    /// Returns the text that replaces a copy.
    fn placeholder_for(&self, context: &Context, candidate: &Candidate) -> String {
        let path = path_asked_for(context, candidate.pair).unwrap_or_default();
        fill(&self.placeholder, &[("path", path), ("tool", context.tool_name(candidate.pair))])
    }
}

/// Returns the path of the file that a tool call asked for.
pub fn path_asked_for<'a>(context: &Context<'a>, pair: PairId) -> Option<&'a str> {
    tool_access::named_path(context.conversation().input_of(pair)?)
}

/// Returns the name of the part of a file that a tool call asked for: tool, path, and the numbers of the input, which say the range. `None` for
/// a call that names no file.
pub fn file_part_asked_for(conversation: &Conversation, pair: PairId) -> Option<String> {
    let input = conversation.input_of(pair)?;
    let mut part = format!("{}\n{}", conversation.pair(pair).name, tool_access::named_path(input)?);
    for (name, value) in input.as_object()?.iter().filter(|(_, value)| says_range(value)) {
        part += &format!("\n{name}: {value}");
    }
    Some(part)
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
