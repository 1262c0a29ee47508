//! `restore`: puts the files that the agent read last back into the context after a summary.
//!
//! A harness reads them from disk; a replay takes the last recorded result of a tool that read the file, which is what the
//! agent saw of it. Files that are still in the context behind the summary are not put back.
//!
//! ```toml
//! [[layer]]
//! id = "restore"
//! do = "restore"
//! when = { after = ["auto"] }     # the layers that it follows; required
//! tools = ["Read"]
//! max_files = 5
//! max_tokens_each = 5000
//! max_tokens = 50_000
//! ```

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::result_filter::results_from;
use super::tool_name::is_listed;
use super::{Action, BlockPosition, LayerInput, LayerTraits, Proposal, Timing};
use crate::engine::context::{Edit, NewBlock, NewMessage};
use crate::transcript::conversation::{BlockKind, Origin, Role, text_wire};
use crate::util::template::fill;
use crate::util::text;

/// Settings of `restore`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Restore {
    /// Tools whose results are files that are put back.
    #[schemars(extend("x-names" = "tools"))]
    pub tools: Vec<String>,
    /// Maximum number of files, the most recently read first.
    #[schemars(extend("x-unit" = "files"))]
    pub max_files: usize,
    /// Maximum tokens of each file: the rest is cut off.
    #[schemars(extend("x-unit" = "tokens"))]
    pub max_tokens_each: u64,
    /// Maximum tokens of all files together.
    #[schemars(extend("x-unit" = "tokens"))]
    pub max_tokens: u64,
    /// Text of each file in the message: `{path}`, `{text}`.
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

impl Action for Restore {
    type State = ();

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits { timing: Timing::AfterLayers, keeps_parts: true, restores: true, ..LayerTraits::PLAIN }
    }

    fn propose(&self, input: &LayerInput, _state: &mut ()) -> Proposal {
        let conversation = input.context.conversation();
        let results = results_from(input.context, BlockPosition::default());
        let mut known: BTreeSet<_> =
            results.filter_map(|candidate| super::path_asked_for(input.context, candidate.pair)).collect();
        let mut tokens_left = self.max_tokens;
        let mut blocks = Vec::new();
        let newest_first =
            conversation.messages[..input.messages_read].iter().rev().flat_map(|message| message.blocks.iter().rev());
        for block in newest_first.map(|id| conversation.block(*id)) {
            let BlockKind::ToolResult(pair) = block.kind else { continue };
            if block.is_error() || !is_listed(&self.tools, input.context.tool_name(pair)) {
                continue;
            }
            let Some(path) = super::path_asked_for(input.context, pair).filter(|path| known.insert(path)) else { continue };
            let whole = block.text();
            let text = text::clip(&whole, self.max_tokens_each.min(tokens_left), &|text| input.tokens(text));
            tokens_left -= input.tokens(text).min(tokens_left);
            let wire = text_wire(fill(&self.template, &[("path", path), ("text", text)]));
            blocks.push(NewBlock::Synthetic { wire, origin: Origin::Compaction });
            if blocks.len() == self.max_files || tokens_left == 0 {
                break;
            }
        }
        let message = NewMessage { role: Role::User, is_string_content: false, blocks };
        let edits =
            if message.blocks.is_empty() { Vec::new() } else { vec![Edit::Insert { at: 1.min(input.context.len()), message }] };
        Proposal { edits, ..Proposal::default() }
    }
}
