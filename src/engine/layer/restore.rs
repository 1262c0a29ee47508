//! `restore`: after a summary, the files the agent read last are put back.
//!
//! A harness reads them from disk; a replay takes the last recorded result of a tool that read the file, which is what the
//! agent saw of it. Files still in sight behind the summary are not put back.
//!
//! ```toml
//! [[layer]]
//! id = "restore"
//! do = "restore"
//! when = { after = ["auto"] }
//! tools = ["Read"]           # whose results hold a file
//! max_files = 5
//! max_tokens_each = 5000
//! max_tokens = 50_000
//! ```

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pick::results_from;
use super::summarize::clip;
use super::{LayerInput, Place, Proposal};
use crate::engine::context::{Edit, NewBlock, NewMessage};
use crate::transcript::conversation::{Kind, Origin, Role, text_wire};
use crate::util::template::fill;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Restore {
    /// Files that these tools read are put back.
    pub tools: Vec<String>,
    /// The files that were read last, so many of them.
    pub max_files: usize,
    /// Of each file, the first so many tokens.
    pub max_tokens_each: u64,
    /// Of all files together.
    pub max_tokens: u64,
    /// How a file stands in the message: `{path}`, `{text}`.
    pub template: String,
}

impl Default for Restore {
    fn default() -> Self {
        Self {
            tools: vec!["Read".to_owned()],
            max_files: 5,
            max_tokens_each: 5_000,
            max_tokens: 50_000,
            template: "{path}, as it was when it was last read:\n{text}".to_owned(),
        }
    }
}

impl Restore {
    pub fn propose(&self, now: &LayerInput) -> Proposal {
        let conversation = now.context.conversation();
        let in_sight = results_from(now.context, Place::default()).into_iter();
        let mut known: BTreeSet<_> = in_sight.filter_map(|picked| super::path_asked_for(now.context, picked.pair)).collect();
        let mut left = self.max_tokens;
        let mut blocks = Vec::new();
        let read = conversation.messages[..now.read].iter().rev().flat_map(|message| message.blocks.iter().rev());
        for block in read.map(|id| conversation.block(*id)) {
            let Kind::ToolResult(pair) = block.kind else { continue };
            if block.is_error() || !self.tools.iter().any(|tool| tool == now.context.tool_name(pair)) {
                continue;
            }
            let Some(path) = super::path_asked_for(now.context, pair).filter(|path| known.insert(path)) else { continue };
            let text = block.text();
            let text = clip(&text, self.max_tokens_each.min(left), &|text| now.tokens(text));
            left -= now.tokens(text).min(left);
            let wire = text_wire(fill(&self.template, &[("path", path), ("text", text)]));
            blocks.push(NewBlock::Made { wire, origin: Origin::Compaction });
            if blocks.len() == self.max_files || left == 0 {
                break;
            }
        }
        let message = NewMessage { role: Role::User, plain: false, blocks };
        let edits =
            if message.blocks.is_empty() { Vec::new() } else { vec![Edit::Insert { at: 1.min(now.context.len()), message }] };
        Proposal { edits, ..Proposal::default() }
    }
}
