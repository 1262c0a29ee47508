//! `restore`: puts the files that the agent read last back into the context after a summary.
//!
//! A harness reads them from disk; a replay takes the last recorded result of a tool that read the file, which is what the
//! agent saw of it. Files that are still in the context behind the summary are not put back.
//!
//! Of the tools in `inputs` the input of the newest call is put back, such as a todo list: `inputs = ["TodoWrite"]`.
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

mod sources;

use std::borrow::Cow;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::result_filter::results_from;
use super::tool_name::is_listed;
use super::{Action, BlockPosition, LayerInput, LayerTraits, Proposal, Timing};
use crate::engine::context::{Context, Edit, NewBlock, NewMessage};
use crate::transcript::conversation::{Block, BlockKind, Conversation, Origin, Role, text_wire};
use crate::util::template::fill;
use crate::util::text;
use sources::Sources;

/// Settings of `restore`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Restore {
    /// Tools whose results are files that are put back.
    #[schemars(extend("x-names" = "tools"))]
    pub tools: Vec<String>,
    /// Names of tools. The input of the newest call of each tool is put back.
    #[schemars(extend("x-names" = "tools"))]
    pub inputs: Vec<String>,
    /// Maximum number of files and inputs, the most recent first.
    #[schemars(extend("x-unit" = "files"))]
    pub max_files: usize,
    /// Maximum tokens of each file or input: the rest is cut off.
    #[schemars(extend("x-unit" = "tokens"))]
    pub max_tokens_each: u64,
    /// Maximum tokens of all of them together.
    #[schemars(extend("x-unit" = "tokens"))]
    pub max_tokens: u64,
    /// Text of each file or input in the message: `{path}`, of an input the name of its tool, and `{text}`.
    pub template: String,
}

impl Default for Restore {
    fn default() -> Self {
        Self {
            tools: vec!["Read".to_owned()],
            inputs: Vec::new(),
            max_files: 5,
            max_tokens_each: 5_000,
            max_tokens: 50_000,
            template: "{path}, as it was when it was last read:\n{text}".to_owned(),
        }
    }
}

impl Action for Restore {
    type State = Sources;

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits { timing: Timing::AfterLayers, keeps_parts: true, restores: true, ..LayerTraits::PLAIN }
    }

    fn propose(&self, input: &LayerInput, sources: &mut Sources) -> Proposal {
        sources.read(self, input.context, input.messages_read);
        let conversation = input.context.conversation();
        let known = self.known(input.context);
        let mut tokens_left = self.max_tokens;
        let mut blocks = Vec::new();
        for block in sources.newest_first().map(|id| conversation.block(id)) {
            if blocks.len() == self.max_files || tokens_left == 0 {
                break;
            }
            let Some((name, whole)) = self.source(input.context, block).filter(|(name, _)| !known.contains(name)) else {
                continue;
            };
            let text = text::clip(&whole, self.max_tokens_each.min(tokens_left), &|text| input.tokens(text));
            tokens_left -= input.tokens(text).min(tokens_left);
            let wire = text_wire(fill(&self.template, &[("path", name), ("text", text)]));
            blocks.push(NewBlock::Synthetic { wire, origin: Origin::Compaction });
        }
        let message = NewMessage { role: Role::User, is_string_content: false, blocks };
        let edits =
            if message.blocks.is_empty() { Vec::new() } else { vec![Edit::Insert { at: 1.min(input.context.len()), message }] };
        Proposal { edits, ..Proposal::default() }
    }
}

impl Restore {
    /// Returns what is not put back: the paths of files whose results are in the context, and the tools whose newest input is.
    fn known<'a>(&self, context: &Context<'a>) -> BTreeSet<&'a str> {
        let results = results_from(context, BlockPosition::default());
        let mut known: BTreeSet<_> = results.filter_map(|result| super::path_asked_for(context, result.pair)).collect();
        let calls = context.messages().iter().flat_map(|message| &message.blocks).map(|id| context.block(*id));
        known.extend(calls.filter_map(|block| self.tool_of_input(context.conversation(), block)));
        known
    }

    /// Returns the name and the text of what a block would put back: a file that a result shows, or the input of a call.
    fn source<'a>(&self, context: &Context<'a>, block: &'a Block) -> Option<(&'a str, Cow<'a, str>)> {
        if let Some(tool) = self.tool_of_input(context.conversation(), block) {
            return Some((tool, Cow::Owned(block.field("input")?.to_string())));
        }
        let BlockKind::ToolResult(pair) = block.kind else { return None };
        let is_file = !block.is_error() && is_listed(&self.tools, context.tool_name(pair));
        super::path_asked_for(context, pair).filter(|_| is_file).map(|path| (path, block.text()))
    }

    /// Returns the tool of a call whose input is put back.
    fn tool_of_input<'a>(&self, conversation: &'a Conversation, block: &Block) -> Option<&'a str> {
        let BlockKind::ToolUse(pair) = block.kind else { return None };
        Some(&*conversation.pair(pair).name).filter(|tool| is_listed(&self.inputs, tool))
    }
}
