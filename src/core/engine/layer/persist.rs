//! `persist`: moves large tool results to disk; a marker with the path and a preview stays.
//!
//! Other name: tool result budget. The model can read the file again, so the cost is a round trip, not the content. A limit
//! for batches does not catch one huge result below it, and a limit for single results does not catch many medium ones.
//!
//! ```toml
//! [[layer]]
//! id = "budget"
//! do = "persist"
//! of = "result"                   # each result alone
//! max_bytes = "50 KB"
//! tool_limits = { Bash = 30_000 } # a lower limit for this tool
//! preview_chars = 2000
//! path = ".task_outputs/tool-results/{id}.txt"
//! marker = "<persisted-output>\nFull output: {path}\nPreview:\n{head}\n</persisted-output>"
//! ```
//!
//! With `of = "result"` and `keep_recent_results = 5`, results go to disk when five newer ones are there.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::result_filter::{Candidate, results_from};
use super::saved_result::SavedResult;
use super::target::Target;
use super::tool_name::value_for;
use super::{
    Action, BlockPosition, LayerInput, LayerTraits, ListContent, Newest, Proposal, Remains, ResultFilter, ScanCursor,
    WrongSetting,
};
use crate::engine::context::Context;
use crate::engine::size::Size;
use crate::tokens::meter::{SizeUnit, python};
use crate::transcript::conversation::Role;
use crate::util::template::fill;

/// Settings of `persist`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Persist {
    #[serde(flatten)]
    pub filter: ResultFilter,
    /// Which results are compared with the limit together.
    pub of: Grouping,
    /// Maximum size of a batch or a result, as `of` says. Results above it are moved to disk.
    #[schemars(extend("x-unit" = "by count"))]
    pub max_bytes: Size,
    /// Size of the context, by the policy's `meter`, at which no more results are moved (only with `of = "context"`, which needs it).
    #[schemars(extend("x-unit" = "by meter"))]
    pub down_to: Option<Size>,
    /// Unit of `max_bytes` and `tool_limits`.
    pub count: CountUnit,
    /// Lower limits for the results of some tools, by tool name (only with `of = "result"`).
    #[schemars(extend("x-unit" = "by count", "x-names" = "tools"))]
    pub tool_limits: BTreeMap<String, u64>,
    /// Characters of the result that stay as a preview.
    #[schemars(extend("x-unit" = "characters"))]
    pub preview_chars: usize,
    /// Path of the file; `{id}` is the tool_use id.
    pub path: String,
    /// `true`: reduce `{id}` to letters, digits, `.`, `_`, `-`, and at most 120 characters.
    pub clean_id: bool,
    /// Text that replaces the result: `{path}`, `{head}` (the preview), `{size}` in KB.
    pub marker: String,
}

/// Which results are compared with the limit together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// All results of the last message together, usually those of one response; the largest are persisted first, until the rest is
    /// within the limit.
    Batch,
    /// All results of the context, the largest first, until the context has the size `down_to`; `max_bytes` does not count, and no
    /// result becomes longer.
    Context,
    /// Each result alone, when it is new, or when it is older than the newest that stay (`keep_recent_results`).
    Result,
}

/// Unit of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountUnit {
    /// Unicode code points, as Python's `len` counts them.
    Chars,
    /// Bytes of UTF-8.
    Bytes,
}

impl Default for Persist {
    fn default() -> Self {
        Self {
            filter: ResultFilter::default(),
            of: Grouping::Batch,
            max_bytes: 200_000.into(),
            down_to: None,
            count: CountUnit::Bytes,
            tool_limits: BTreeMap::new(),
            preview_chars: 2_000,
            path: ".task_outputs/tool-results/{id}.txt".to_owned(),
            clean_id: true,
            marker: "<persisted-output>\nFull output: {path}\nPreview:\n{head}\n</persisted-output>".to_owned(),
        }
    }
}

impl Action for Persist {
    type State = PersistState;

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits {
            remains: Some(Remains::File),
            keeps_parts: true,
            writes_markers: true,
            filter: Some(&self.filter),
            down_to: self.down_to.as_ref(),
            ..LayerTraits::PLAIN
        }
    }

    fn restrict_schema(schema: &mut Value) {
        schema["properties"]["empty_too"]["const"] = false.into();
        schema["if"] = json!({ "properties": { "of": { "const": "context" } }, "required": ["of"] });
        schema["then"] = json!({ "required": ["down_to"] });
        schema["else"] = json!({ "properties": { "down_to": false } });
    }

    fn propose(&self, input: &LayerInput, state: &mut PersistState) -> Proposal {
        let mut proposal = Proposal::default();
        match self.of {
            Grouping::Batch => self.limit_batch(input, &mut proposal),
            Grouping::Context => self.limit_context(input, &mut proposal),
            Grouping::Result if self.filter.keeps_newest() => {
                let old = self.filter.take_old(input, &mut state.newest, 0, |_| false);
                self.limit_each(input, old, &mut proposal);
            }
            Grouping::Result => {
                // A result that is small enough now is not looked at again when the next result of its batch enters.
                let first_new = BlockPosition { message: input.first_new, block: 0 };
                let results = results_from(input.context, state.cursor.start(input.context).max(first_new));
                state.cursor.set(BlockPosition { message: input.context.len(), block: 0 }, input.context);
                self.limit_each(input, results, &mut proposal);
            }
        }
        proposal
    }

    fn check(&self) -> Result<(), WrongSetting> {
        self.filter.refuse_empty_too()?;
        if (self.of == Grouping::Context) != self.down_to.is_some() {
            return Err(WrongSetting::new("down_to", "`down_to` and `of = \"context\"` need each other"));
        }
        if self.of != Grouping::Result && self.filter.keeps_newest() {
            let why = "the newest results stay only where each result is compared alone: write `of = \"result\"`";
            return Err(WrongSetting::new("of", why));
        }
        Ok(())
    }

    fn settle(&self, context: &Context, state: &mut PersistState) {
        state.newest.settle(context);
    }
}

/// Which results were compared with the limit.
#[derive(Debug, Clone, Default)]
pub struct PersistState {
    cursor: ScanCursor,
    newest: Newest,
}

impl Persist {
    fn limit_each<'a>(&self, input: &LayerInput, results: impl IntoIterator<Item = Candidate<'a>>, proposal: &mut Proposal) {
        for candidate in results {
            let limit = value_for(&self.tool_limits, input.context.tool_name(candidate.pair));
            let limit = limit.unwrap_or(u64::MAX).min(self.max_bytes.resolve(input.limits));
            if self.content_size(&candidate) > limit {
                self.persist(input, &candidate, proposal);
            }
        }
    }

    fn limit_batch(&self, input: &LayerInput, proposal: &mut Proposal) {
        let last = match input.context.messages().last() {
            Some(message) if message.role == Role::User && !message.is_string_content => input.context.len() - 1,
            _ => return,
        };
        let limit = self.max_bytes.resolve(input.limits);
        if self.is_surely_within(limit, input.context, last) {
            return;
        }
        let results = results_from(input.context, BlockPosition { message: last, block: 0 });
        let mut by_size: Vec<_> = results.map(|candidate| (self.content_size(&candidate), candidate)).collect();
        let mut total: u64 = by_size.iter().map(|(size, _)| size).sum();
        by_size.sort_by_key(|(size, _)| Reverse(*size));
        for (size, candidate) in by_size {
            if total <= limit {
                break;
            }
            if let Some(marker) = self.persist(input, &candidate, proposal) {
                total = total - size + self.text_size(&marker);
            }
        }
    }

    /// Moves the largest results of the context to disk, until the context is small enough.
    fn limit_context(&self, input: &LayerInput, proposal: &mut Proposal) {
        let Some(target) = &self.down_to else { return };
        let mut target = Target::new(input, target.resolve(input.limits));
        if target.is_reached(input) {
            return;
        }
        let results = results_from(input.context, BlockPosition::default());
        let mut by_size: Vec<_> = results.map(|candidate| (self.content_size(&candidate), candidate)).collect();
        by_size.sort_by_key(|(size, _)| Reverse(*size));
        for (size, candidate) in by_size {
            if target.is_reached(input) {
                break;
            }
            let (edits, files) = (proposal.edits.len(), proposal.files.len());
            match self.persist(input, &candidate, proposal) {
                Some(marker) if self.text_size(&marker) >= size => {
                    proposal.edits.truncate(edits);
                    proposal.files.truncate(files);
                }
                Some(_) => target.count(input, &proposal.edits[edits..]),
                None => {}
            }
        }
    }

    /// Returns whether the results of a message are within a limit for certain, without reading them: Python's repr of a block is
    /// longer than its content in any form. Most batches are far below their limit, so this saves time.
    fn is_surely_within(&self, limit: u64, context: &Context, message: usize) -> bool {
        let message = &context.messages()[message];
        self.count == CountUnit::Chars
            && context.tracks(SizeUnit::PyRepr)
            && context.message_size(message, SizeUnit::PyRepr) <= limit
    }

    /// Moves one result to disk, if the rules allow it, and returns the marker that replaces it.
    fn persist(&self, input: &LayerInput, candidate: &Candidate, proposal: &mut Proposal) -> Option<String> {
        if !self.filter.may_edit(input.context, candidate) {
            return None;
        }
        let saved = SavedResult::new(&self.path, self.clean_id, self.content(candidate), input.context, candidate)?;
        let size = format!("{:.1}KB", saved.text.len() as f64 / 1024.0);
        let values = [("path", &*saved.path), ("head", saved.head(self.preview_chars)), ("size", &size)];
        let marker = fill(&self.marker, &values);
        proposal.files.push(saved.into_file(candidate));
        proposal.edits.push(candidate.position.with_content(marker.clone()));
        Some(marker)
    }

    fn content<'a>(&self, candidate: &Candidate<'a>) -> Cow<'a, str> {
        self.filter.lists.content(candidate.block).unwrap_or_default()
    }

    /// Returns the size of a result's content. The length of Python's repr of a list is computed without building the text.
    fn content_size(&self, candidate: &Candidate) -> u64 {
        match (candidate.block.field("content"), self.filter.lists, self.count) {
            (Some(list @ Value::Array(_)), ListContent::Repr, CountUnit::Chars) => python::repr_len(list),
            _ => self.text_size(&self.content(candidate)),
        }
    }

    fn text_size(&self, content: &str) -> u64 {
        match self.count {
            CountUnit::Chars => SizeUnit::Chars.text(content),
            CountUnit::Bytes => SizeUnit::Bytes.text(content),
        }
    }
}
