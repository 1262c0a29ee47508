//! `clear`: old tool results become a placeholder; the call that made them stays.
//!
//! Known as micro-compaction, observation masking, clearing of tool uses. It keeps the shape of the conversation, so it never
//! breaks a pair, and it loses the text of results for good unless they were persisted. Each result it clears changes the
//! prompt from there on: a provider's prefix cache is written again behind that place, at every call where one is cleared.
//!
//! ```toml
//! [[layer]]
//! id = "micro"
//! do = "clear"
//! keep_recent = 3            # the newest results stay
//! min_chars = 100            # so do short ones: the placeholder would hardly be shorter
//! preserve_tools = ["read_file"]
//! placeholder = "[Previous: used {tool}]"
//! ```

use serde::{Deserialize, Serialize};

use super::pick::with_content;
use super::{Memory, Moment, Pick, Proposal};
use crate::context::Edit;
use crate::conversation::Block;
use crate::template::fill;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clear {
    #[serde(flatten)]
    pub pick: Pick,
    /// What stands in place of a cleared result; `{tool}` is its tool's name.
    pub placeholder: String,
    /// A result with a line that begins so was persisted; the rest of the line is `{path}` in `placeholder_saved`.
    pub saved_line: String,
    /// What stands in place of a persisted result; `placeholder`, where this is empty.
    pub placeholder_saved: String,
}

impl Default for Clear {
    fn default() -> Self {
        Self {
            pick: Pick { keep_recent: 3, ..Pick::default() },
            placeholder: "[Old tool result content cleared]".to_owned(),
            saved_line: "Full output: ".to_owned(),
            placeholder_saved: String::new(),
        }
    }
}

impl Clear {
    pub fn propose(&self, now: &Moment, memory: &mut Memory) -> Proposal {
        let picked = self.pick.results(now.context, &mut memory.cursor);
        let rewrite = |picked: &super::pick::Picked| {
            let placeholder = self.placeholder_for(now.context.tool_name(picked.pair), picked.block);
            let is_there = picked.block.field("content").and_then(|c| c.as_str()) == Some(&placeholder);
            let wire = (!is_there).then(|| with_content(picked.block, placeholder))?;
            Some(Edit::Rewrite { message: picked.place.message, block: picked.place.block, wire })
        };
        Proposal { edits: picked.iter().filter_map(rewrite).collect(), ..Proposal::default() }
    }

    fn placeholder_for(&self, tool: &str, block: &Block) -> String {
        let content = self.pick.lists.content(block).unwrap_or_default();
        let saved = || content.lines().find_map(|line| line.strip_prefix(&*self.saved_line));
        match if self.placeholder_saved.is_empty() { None } else { saved() } {
            Some(path) => fill(&self.placeholder_saved, &[("path", path), ("tool", tool)]),
            None => fill(&self.placeholder, &[("tool", tool)]),
        }
    }
}
