//! `dedupe`: of several copies of the same file or the same text, one stays; the others become a pointer to it.
//!
//! Known as removal of duplicate reads. With `key = "text"` nothing is lost. With `key = "path"` an older version of a file is.
//! Keeping the *earliest* identical copy leaves the prefix alone, and with it the provider's cache.
//!
//! ```toml
//! [[layer]]
//! id = "reads"
//! do = "dedupe"
//! key = "path"               # the file a tool was asked for; "text": the very same characters
//! keep = "last"
//! tools = ["Read"]
//! ```

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pick::{Candidate, results_from};
use super::{LayerInput, LayerState, Place, Proposal, ResultFilter};
use crate::engine::context::{Context, Edit};
use crate::transcript::conversation::{BlockId, PairId};
use crate::transcript::tool_access;
use crate::util::template::fill;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Dedupe {
    #[serde(flatten)]
    pub pick: ResultFilter,
    /// What makes a result a copy of another.
    pub key: Key,
    /// Which of the copies stays.
    pub keep: Copy,
    /// What stands in place of a copy; `{path}` is the file's, `{tool}` the tool's name.
    pub placeholder: String,
}

/// What makes two results copies of each other.
#[derive(Debug, Clone, std::marker::Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Key {
    /// The same characters.
    Text,
    /// The same tool was asked for the same file.
    Path,
}

/// Which copy stays.
#[derive(Debug, Clone, std::marker::Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Copy {
    /// The oldest.
    First,
    /// The newest.
    Last,
}

impl Default for Dedupe {
    fn default() -> Self {
        Self {
            pick: ResultFilter { min_chars: 200, ..ResultFilter::default() },
            key: Key::Text,
            keep: Copy::First,
            placeholder: "[The same result stands elsewhere in this conversation.]".to_owned(),
        }
    }
}

impl Dedupe {
    pub fn propose(&self, now: &LayerInput, memory: &mut LayerState) -> Proposal {
        let context = now.context;
        let start = memory.cursor.start(context);
        if start == Place::default() {
            memory.seen.clear();
        }
        memory.cursor.set(Place { message: context.len(), block: 0 }, context);
        let mut newest: HashMap<String, Candidate> = HashMap::new();
        let mut proposal = Proposal::default();
        // Another layer may have cleared it since: a pointer to that would lead nowhere.
        let stands = |before: &BlockId| results_from(context, Place::default()).iter().any(|old| old.id == *before);
        for picked in results_from(context, start).into_iter().filter(|picked| self.pick.may_touch(context, picked)) {
            if picked.block.field("content").and_then(Value::as_str) == Some(&self.pointer(context, &picked)) {
                continue;
            }
            let Some(key) = self.key(context, &picked) else { continue };
            let id = picked.id;
            let copy = match self.keep {
                Copy::First if memory.seen.get(&key).is_some_and(stands) => Some(picked),
                Copy::First => None,
                Copy::Last => newest.insert(key.clone(), picked).or_else(|| {
                    let before = *memory.seen.get(&key)?;
                    results_from(context, Place::default()).into_iter().find(|old| old.id == before)
                }),
            };
            if copy.is_none() || self.keep == Copy::Last {
                memory.seen.insert(key, id);
            }
            proposal.edits.extend(copy.map(|copy| self.replace(context, &copy)));
        }
        proposal
    }

    fn key(&self, context: &Context, picked: &Candidate) -> Option<String> {
        match self.key {
            Key::Text => self.pick.lists.content(picked.block).map(|text| text.into_owned()),
            Key::Path => {
                let path = path_asked_for(context, picked.pair)?;
                Some(format!("{}\n{path}", context.tool_name(picked.pair)))
            }
        }
    }

    fn replace(&self, context: &Context, picked: &Candidate) -> Edit {
        picked.place.with_content(self.pointer(context, picked))
    }

    /// What stands in place of a copy.
    fn pointer(&self, context: &Context, picked: &Candidate) -> String {
        let path = path_asked_for(context, picked.pair).unwrap_or_default();
        fill(&self.placeholder, &[("path", path), ("tool", context.tool_name(picked.pair))])
    }
}

/// The file a tool call asked for.
pub fn path_asked_for<'a>(context: &Context<'a>, pair: PairId) -> Option<&'a str> {
    let conversation = context.conversation();
    tool_access::named(conversation.block(conversation.pair(pair).used?).field("input")?)
}
