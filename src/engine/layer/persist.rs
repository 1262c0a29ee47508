//! `persist`: large tool results go to disk; a marker with the path and a preview stay.
//!
//! Known as the tool result budget. The model can read the file again, so what is lost is a round trip, not the content. A
//! batch budget does nothing for one huge result under it, and a limit on single results nothing for a batch of middling ones.
//!
//! ```toml
//! [[layer]]
//! id = "budget"
//! do = "persist"
//! of = "batch"               # the results that answer one response together; "result": each alone
//! max_bytes = "200KB"
//! count = "chars"            # what max_bytes counts
//! min_chars = 30_000         # smaller results stay
//! preview_chars = 2000
//! ```

use std::cmp::Reverse;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pick::{Candidate, results_from};
use super::{LayerInput, ListContent, NewFile, Place, Proposal, ResultFilter};
use crate::engine::context::Context;
use crate::engine::layer::FileKind;
use crate::engine::size::Size;
use crate::tokens::meter::{SizeUnit, python};
use crate::transcript::conversation::Role;
use crate::util::template::fill;
use crate::util::text;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Persist {
    #[serde(flatten)]
    pub pick: ResultFilter,
    /// What is looked at as one.
    pub of: Of,
    /// The most a batch, or a result, may hold.
    pub max_bytes: Size,
    /// What `max_bytes` counts.
    pub count: Count,
    /// Lower limits for the results of some tools (`of = "result"`).
    pub tool_limits: BTreeMap<String, u64>,
    /// Characters of the result that stay.
    pub preview_chars: usize,
    /// Where it goes; `{id}` is the tool_use id.
    pub path: String,
    /// Whether `{id}` is cleaned to letters, digits, `.`, `_`, `-` and cut at 120 characters.
    pub clean_id: bool,
    /// What stays: `{path}`, `{head}`, and `{size}` in KB.
    pub marker: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// All results of the last message, largest first until it is within the limit.
    Batch,
    /// Every result that entered, by itself.
    Result,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// Unicode code points, as Python's `len` counts them.
    Chars,
    /// Bytes of UTF-8.
    Bytes,
}

impl Default for Persist {
    fn default() -> Self {
        Self {
            pick: ResultFilter::default(),
            of: Of::Batch,
            max_bytes: 200_000.into(),
            count: Count::Bytes,
            tool_limits: BTreeMap::new(),
            preview_chars: 2_000,
            path: ".task_outputs/tool-results/{id}.txt".to_owned(),
            clean_id: true,
            marker: "<persisted-output>\nFull output: {path}\nPreview:\n{head}\n</persisted-output>".to_owned(),
        }
    }
}

impl Persist {
    pub fn propose(&self, now: &LayerInput) -> Proposal {
        let mut proposal = Proposal::default();
        match self.of {
            Of::Batch => self.batch(now, &mut proposal),
            Of::Result => {
                for picked in results_from(now.context, Place { message: now.entered, block: 0 }) {
                    let limit = self.tool_limits.get(now.context.tool_name(picked.pair)).copied();
                    let limit = limit.unwrap_or(u64::MAX).min(self.max_bytes.resolve(now.limits));
                    if self.size_of(&picked) > limit && self.may_persist(now, &picked) {
                        self.persist(now, &picked, &mut proposal);
                    }
                }
            }
        }
        proposal
    }

    fn batch(&self, now: &LayerInput, proposal: &mut Proposal) {
        let last = match now.context.messages().last() {
            Some(sent) if sent.role == Role::User && !sent.plain => now.context.len() - 1,
            _ => return,
        };
        let limit = self.max_bytes.resolve(now.limits);
        if self.is_surely_within(limit, now.context, last) {
            return;
        }
        let results = results_from(now.context, Place { message: last, block: 0 });
        let mut by_size: Vec<_> = results.into_iter().map(|picked| (self.size_of(&picked), picked)).collect();
        let mut total: u64 = by_size.iter().map(|(size, _)| size).sum();
        by_size.sort_by_key(|(size, _)| Reverse(*size));
        for (size, picked) in by_size {
            if total <= limit {
                break;
            }
            if self.may_persist(now, &picked) {
                let marker = self.persist(now, &picked, proposal);
                total = total - size + self.size(&marker);
            }
        }
    }

    /// Whether the results of a message are known to be within a limit without a look at them: Python's repr of a block is longer
    /// than its content, however that is read. Most batches are far from their limit.
    fn is_surely_within(&self, limit: u64, context: &Context, message: usize) -> bool {
        let sent = &context.messages()[message];
        self.count == Count::Chars && context.keeps(SizeUnit::PyRepr) && context.message_size(sent, SizeUnit::PyRepr) <= limit
    }

    /// A marker that is itself over the limit must not go where it says that the content is.
    fn may_persist(&self, now: &LayerInput, picked: &Candidate) -> bool {
        let is_marker = now.context.is_made(picked.id) && self.content(picked).contains(&self.path(now, picked));
        self.pick.may_touch(now.context, picked) && !is_marker
    }

    fn path(&self, now: &LayerInput, picked: &Candidate) -> String {
        let id = &now.context.conversation().pair(picked.pair).id;
        let id = if self.clean_id { clean(id) } else { id.clone() };
        fill(&self.path, &[("id", &id)])
    }

    /// Moves one result to disk and gives the marker that stays.
    fn persist(&self, now: &LayerInput, picked: &Candidate, proposal: &mut Proposal) -> String {
        let content = self.content(picked);
        let path = self.path(now, picked);
        let size = format!("{:.1}KB", content.len() as f64 / 1024.0);
        let head = text::head(&content, self.preview_chars);
        let marker = fill(&self.marker, &[("path", &path), ("head", head), ("size", &size)]);
        proposal.files.push(NewFile { kind: FileKind::Persisted, of: Some(picked.id), path, text: content.to_string() });
        proposal.edits.push(picked.place.with_content(marker.clone()));
        marker
    }

    fn content<'a>(&self, picked: &Candidate<'a>) -> std::borrow::Cow<'a, str> {
        self.pick.lists.content(picked.block).unwrap_or_default()
    }

    /// The size of a result's content. Python's repr of a list is measured without writing it down.
    fn size_of(&self, picked: &Candidate) -> u64 {
        match (picked.block.field("content"), self.pick.lists, self.count) {
            (Some(list @ Value::Array(_)), ListContent::Repr, Count::Chars) => python::repr_len(list),
            _ => self.size(&self.content(picked)),
        }
    }

    fn size(&self, content: &str) -> u64 {
        match self.count {
            Count::Chars => SizeUnit::Chars.text(content),
            Count::Bytes => SizeUnit::Bytes.text(content),
        }
    }
}

/// Most characters a cleaned id keeps (learn-claude-code b6b5f33).
const MAX_ID_CHARS: usize = 120;

/// An id as a file name: only ASCII letters, digits, `.`, `_`, `-`.
fn clean(id: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = id.chars().map(|c| if allowed(c) { c } else { '_' }).take(MAX_ID_CHARS).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn ids_become_file_names() {
        assert_eq!(clean("../../etc/passwd"), ".._.._etc_passwd");
        assert_eq!(clean("toolu_01-a.b"), "toolu_01-a.b");
        assert_eq!((clean("").as_str(), clean(&"é".repeat(300)).len()), ("unknown", 120));
    }
}
