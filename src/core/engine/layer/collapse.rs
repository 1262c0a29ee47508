//! `collapse`: removes old tool calls with their results, or puts one text in their place.
//!
//! Other names: tool call compaction, tool result compaction. A group is a response that calls tools, with its text, and the results
//! that answer it. The newest groups stay, and so do all other messages. Unlike `clear`, it leaves no calls behind: the pairs stay
//! whole or are gone, and nothing says that a tool was used but the text.
//!
//! With a `template` the results, or their beginning, stay as a text of the agent's, without the calls that asked for them: their
//! arguments are lost. The prompt changes in front of the newest groups at every call, and is written into the provider's cache anew
//! from there.
//!
//! ```toml
//! [[layer]]
//! id = "tools"
//! do = "collapse"
//! keep_recent_groups = 4
//! template = "[Tool results: {results}]"
//! max_length = 4096
//! ```

use std::collections::VecDeque;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cut::{continues_batch, uses_tools};
use super::{Action, LayerInput, LayerTraits, Proposal, Stability};
use crate::engine::context::{Context, ContextMessage, Edit, NewMessage};
use crate::transcript::conversation::{BlockId, BlockKind, Role};
use crate::util::template::fill;

/// Settings of `collapse`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Collapse {
    /// Number of newest groups to keep; a group is a response that calls tools, with the results that answer it.
    #[schemars(extend("x-unit" = "groups"))]
    pub keep_recent_groups: usize,
    /// Assistant message in place of a group; `{results}` are its results, each behind the name of its tool. Without it there is no
    /// message.
    pub template: Option<String>,
    /// Text between two results.
    pub separator: String,
    /// Text instead of the results if there is none.
    pub no_results: String,
    /// Maximum length of the message; the results are cut to fit, and `cut_marker` ends them. Without it there is no limit.
    #[schemars(extend("x-unit" = "characters"))]
    pub max_length: Option<usize>,
    /// Text behind results that are cut.
    pub cut_marker: String,
}

impl Default for Collapse {
    fn default() -> Self {
        Self {
            keep_recent_groups: 1,
            template: None,
            separator: "; ".to_owned(),
            no_results: "no results".to_owned(),
            max_length: None,
            cut_marker: "... [truncated]".to_owned(),
        }
    }
}

/// What the layer knows of the messages, so that it looks at each once.
#[derive(Debug, Default)]
pub struct CollapseState {
    /// Where the groups begin that are left, oldest first.
    groups: VecDeque<usize>,
    /// Number of messages that were looked at.
    read: usize,
    /// Number of moves of the context that these positions are for.
    moves: u32,
}

impl Action for Collapse {
    type State = CollapseState;

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits { keeps_parts: true, stability: Stability::Alone, ..LayerTraits::PLAIN }
    }

    fn propose(&self, input: &LayerInput, state: &mut CollapseState) -> Proposal {
        let context = input.context;
        if state.moves != context.moves() {
            *state = CollapseState { moves: context.moves(), ..CollapseState::default() };
        }
        let new = context.messages().iter().enumerate().skip(state.read);
        state.groups.extend(new.filter(|(_, message)| uses_tools(context, message)).map(|(at, _)| at));
        // A further call of a response, where each is a message, begins no group.
        state.groups.retain(|at| *at < state.read || !continues_batch(context, *at));
        let old = state.groups.len().saturating_sub(self.keep_recent_groups);
        let starts: Vec<usize> = state.groups.drain(..old).collect();
        let mut edits = Vec::new();
        let len = context.len();
        let mut left = len;
        for start in starts.into_iter().rev() {
            let end = (start + 1..len).find(|at| !continues_batch(context, *at)).unwrap_or(len);
            let of_group = self.replace_group(context, start..end);
            left = left - removed(&of_group) + inserted(&of_group);
            edits.extend(of_group);
        }
        state.groups.iter_mut().for_each(|start| *start = *start + left - len);
        state.read = left;
        Proposal { edits, ..Proposal::default() }
    }

    fn settle(&self, context: &Context, state: &mut CollapseState) {
        state.moves = context.moves();
    }
}

impl Collapse {
    /// Returns the edits that put the text in place of a group, from back to front. What a message of the group holds besides results
    /// stays.
    fn replace_group(&self, context: &Context, group: Range<usize>) -> Vec<Edit> {
        let text = self.template.as_ref().map(|template| self.text(template, &results(context, group.clone())));
        let mut edits: Vec<Edit> = group.clone().rev().map(|message| without_tools(context, message)).collect();
        edits.extend(text.map(|text| Edit::Insert { at: group.start, message: NewMessage::text(Role::Assistant, text) }));
        edits
    }

    /// Returns the text that stays of results.
    fn text(&self, template: &str, results: &[String]) -> String {
        let label = if results.is_empty() { self.no_results.clone() } else { results.join(&self.separator) };
        let text = fill(template, &[("results", &label)]);
        let length = |text: &str| text.chars().count();
        match self.max_length {
            Some(max_length) if length(&text) > max_length => {
                let frame = length(&fill(template, &[("results", &self.cut_marker)]));
                let head: String = label.chars().take(max_length.saturating_sub(frame)).collect();
                fill(template, &[("results", &format!("{}{}", head.trim_end(), self.cut_marker))])
            }
            _ => text,
        }
    }
}

/// Returns the results of a group, each behind the name of its tool.
fn results(context: &Context, group: Range<usize>) -> Vec<String> {
    let blocks = context.messages()[group].iter().flat_map(|message| &message.blocks).map(|id| context.block(*id));
    let results = blocks.filter_map(|block| match block.kind {
        BlockKind::ToolResult(pair) => Some(format!("{}: {}", context.tool_name(pair), block.text()).trim().to_owned()),
        _ => None,
    });
    results.collect()
}

/// Returns the edit that leaves of a message what is no part of its group: the texts beside results.
fn without_tools(context: &Context, message: usize) -> Edit {
    let ContextMessage { role, blocks, .. } = &context.messages()[message];
    let is_result = |id: &BlockId| matches!(context.block(*id).kind, BlockKind::ToolResult(_));
    let keep = blocks.iter().copied().filter(|id| *role == Role::User && !is_result(id)).collect();
    Edit::Retain { message, keep }
}

fn removed(edits: &[Edit]) -> usize {
    edits.iter().filter(|edit| edit.removes_message()).count()
}

fn inserted(edits: &[Edit]) -> usize {
    edits.iter().filter(|edit| matches!(edit, Edit::Insert { .. })).count()
}
