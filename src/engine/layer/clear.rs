//! `clear`: replaces old tool results with a placeholder and keeps their calls.
//!
//! Other names: micro-compaction, observation masking, clearing of tool uses. The conversation keeps its shape, so no pair of
//! tool_use and tool_result breaks. The text of a cleared result is lost for good unless it was persisted.
//!
//! Each clearing changes the prompt from the first cleared result on, and the provider writes everything behind that position
//! into its cache again. Without `clear_at_least` this happens at nearly every call. With it, old results wait until enough
//! tokens can go at once: a few large clearings are cheaper than many small ones, but the requests are larger until the next
//! clearing. Batches need a history that remembers them: with `scope = "request"` every request is decided anew, and once
//! enough is old, each further result is cleared as soon as it is old. With `scope = "server"` the provider clears inside its
//! cache, and nothing is written again.
//!
//! SWE-agent's `polling` is `stride`: with `stride = 5` the boundary moves at every fifth result, and up to four more results stay.
//!
//! ```toml
//! [[layer]]
//! id = "micro"
//! do = "clear"
//! keep_recent_results = 5         # the five newest results stay
//! min_chars = 100                 # and so do short ones
//! preserve_tools = ["read_file"]  # and those of this tool; they count among the five
//! clear_at_least = "10k"          # wait until 10,000 tokens can go at once
//! placeholder = "[Previous: used {tool}]"
//! ```

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::result_filter::{Candidate, results_from};
use super::{
    Action, BlockPosition, LayerInput, LayerTraits, Proposal, Remains, ResultFilter, ScanCursor, Stability, Timing, WrongSetting,
};
use crate::engine::context::{Context, Edit};
use crate::engine::size::Size;
use crate::tokens::meter::python_text;
use crate::transcript::conversation::{Block, BlockKind, Role};
use crate::util::template::{fill, has_placeholder};

/// Settings of `clear`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Clear {
    #[serde(flatten)]
    pub filter: ResultFilter,
    /// Text that replaces a cleared result; `{tool}` is the name of its tool, `{lines}` the number of its lines.
    pub placeholder: String,
    /// A result with a line that begins with this text was persisted; the rest of the line is `{path}` in `placeholder_saved`.
    pub saved_line: String,
    /// Text that replaces a persisted result; empty: `placeholder`.
    pub placeholder_saved: String,
    /// Minimum tokens, by the report's counter, that must go at once; 0: clear at once, however few.
    #[schemars(extend("x-unit" = "tokens"))]
    pub clear_at_least: Size,
    /// Clear only when the number of results, the task counted as the first, is a multiple of this; 1: at every result.
    #[schemars(range(min = 1), extend("x-unit" = "results"))]
    pub stride: usize,
    /// `true`: also replace the inputs of the cleared results' calls by `{}`.
    pub clear_inputs: bool,
}

/// Which results are decided, and which wait until enough can be cleared at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClearState {
    cursor: ScanCursor,
    /// Number of results before the cursor, if there is a stride.
    decided: usize,
    /// The results from this position up to the cursor wait.
    waiting_since: BlockPosition,
    /// Size that clearing them frees, in the counter's unit; negative if the placeholders are longer than the results.
    waiting_size: i64,
}

impl Default for Clear {
    fn default() -> Self {
        Self {
            filter: ResultFilter { keep_recent_results: 3, ..ResultFilter::default() },
            placeholder: "[Old tool result content cleared]".to_owned(),
            saved_line: "Full output: ".to_owned(),
            placeholder_saved: String::new(),
            clear_at_least: 0.into(),
            stride: 1,
            clear_inputs: false,
        }
    }
}

impl Action for Clear {
    type State = ClearState;

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits {
            timing: Timing::Requests,
            remains: Some(Remains::Nothing),
            rewrites_in_place: true,
            keeps_parts: false,
            stability: if self.in_batches() { Stability::Unstable } else { Stability::Stable },
            max_messages: None,
            writes_markers: true,
            restores: false,
            repeats_record: false,
            filter: Some(&self.filter),
            selects_by_age: true,
            summarizer: None,
            archive_path: None,
            program: None,
        }
    }

    fn check(&self) -> Result<(), WrongSetting> {
        match self.stride {
            0 => Err(WrongSetting::new("stride", "`stride` must be at least 1")),
            2.. if self.in_batches() => {
                Err(WrongSetting::new("stride", "`stride` and `clear_at_least` both say when to clear: give one of them"))
            }
            _ => Ok(()),
        }
    }

    fn propose(&self, input: &LayerInput, state: &mut ClearState) -> Proposal {
        let candidates = if self.in_batches() {
            self.take_batch(input, state)
        } else if self.stride > 1 {
            self.take_by_stride(input.context, state)
        } else {
            self.filter.results(input.context, &mut state.cursor)
        };
        Proposal { edits: self.edits(input.context, &candidates), ..Proposal::default() }
    }
}

impl Clear {
    /// Returns whether results wait until enough can be cleared at once.
    fn in_batches(&self) -> bool {
        self.clear_at_least != Size::from(0)
    }

    /// Returns the results that are old: those that are over a multiple of the stride stay, too.
    fn take_by_stride<'a>(&self, context: &'a Context, state: &mut ClearState) -> Vec<Candidate<'a>> {
        let start = state.cursor.start(context);
        if start == BlockPosition::default() {
            state.decided = 0;
        }
        let undecided = results_from(context, start);
        let over = (state.decided + undecided.len() + 1) % self.stride;
        let old = self.filter.results_before_newest(context, &mut state.cursor, self.filter.keep_recent_results + over);
        state.decided += undecided.partition_point(|candidate| candidate.position < state.cursor.start(context));
        old
    }

    /// Returns all waiting results if clearing them frees enough; otherwise returns none, and they continue to wait.
    ///
    /// A run adds the size of the new results to the known size of the others, so that waiting costs no time. Another layer may
    /// have shrunk results in the meantime, so all of them are checked again before they are cleared.
    fn take_batch<'a>(&self, input: &LayerInput<'a>, state: &mut ClearState) -> Vec<Candidate<'a>> {
        let context = input.context;
        if state.cursor.start(context) == BlockPosition::default() {
            *state = ClearState::default();
        }
        let new_results = self.filter.results(context, &mut state.cursor);
        state.waiting_size += self.freed_size(input, &new_results);
        if !self.is_enough(input, state.waiting_size) {
            return Vec::new();
        }
        let end = state.cursor.start(context);
        let mut all = results_from(context, state.waiting_since);
        all.retain(|candidate| candidate.position < end && self.filter.may_edit(context, candidate));
        state.waiting_size = self.freed_size(input, &all);
        if !self.is_enough(input, state.waiting_size) {
            return Vec::new();
        }
        (state.waiting_since, state.waiting_size) = (end, 0);
        all
    }

    fn is_enough(&self, input: &LayerInput, freed_size: i64) -> bool {
        let total = input.context.sum(input.counter.unit);
        let [before, after] = [total, total.saturating_add_signed(-freed_size)].map(|size| input.counter.apply(size));
        before.saturating_sub(after) >= self.clear_at_least.resolve(input.limits)
    }

    /// Returns the size that clearing these results frees, in the counter's unit.
    fn freed_size(&self, input: &LayerInput, candidates: &[Candidate]) -> i64 {
        let (context, unit) = (input.context, input.counter.unit);
        let freed_by_edit = |edit: Edit| {
            let Edit::Rewrite { message, block, field, value } = edit else { return 0 };
            let message = &context.messages()[message];
            let id = message.blocks[block];
            let after = context.rewritten_size(&context.rewritten(id, field, value, message.is_string_content), unit);
            context.block_size(id, unit).cast_signed() - after.cast_signed()
        };
        self.edits(context, candidates).into_iter().map(freed_by_edit).sum()
    }

    /// Returns the edits that clear these results; none for results that are already cleared.
    fn edits(&self, context: &Context, candidates: &[Candidate]) -> Vec<Edit> {
        let mut cleared_calls = BTreeSet::new();
        let mut edits = Vec::new();
        for candidate in candidates {
            // Two results may belong to one call.
            let call = if self.clear_inputs { find_call_with_input(context, candidate) } else { None };
            edits.extend(call.filter(|call| cleared_calls.insert(*call)).map(clear_input));
            edits.extend(self.clear_content(context, candidate));
        }
        edits
    }

    fn clear_content(&self, context: &Context, candidate: &Candidate) -> Option<Edit> {
        let tool = context.tool_name(candidate.pair);
        let placeholder = self.placeholder_for(tool, candidate.block);
        let is_cleared = |content: &str| content == placeholder || self.is_placeholder_with_lines(content, tool);
        let is_cleared = candidate.block.field("content").and_then(Value::as_str).is_some_and(is_cleared);
        (!is_cleared).then(|| candidate.position.with_content(placeholder))
    }

    /// Returns whether a content is the placeholder, filled in for a result whose number of lines is not known any more.
    fn is_placeholder_with_lines(&self, content: &str, tool: &str) -> bool {
        let Some((before, after)) = self.placeholder.split_once("{lines}") else { return false };
        let [before, after] = [before, after].map(|part| fill(part, &[("tool", tool)]));
        let lines = content.strip_prefix(&*before).and_then(|rest| rest.strip_suffix(&*after));
        lines.is_some_and(|lines| !lines.is_empty() && lines.bytes().all(|byte| byte.is_ascii_digit()))
    }

    fn placeholder_for(&self, tool: &str, block: &Block) -> String {
        let states_lines = has_placeholder(&self.placeholder, "lines");
        if self.placeholder_saved.is_empty() && !states_lines {
            return fill(&self.placeholder, &[("tool", tool)]);
        }
        let content = self.filter.lists.content(block).unwrap_or_default();
        let path = content.lines().find_map(|line| line.strip_prefix(&*self.saved_line));
        if let Some(path) = path.filter(|_| !self.placeholder_saved.is_empty()) {
            return fill(&self.placeholder_saved, &[("path", path), ("tool", tool)]);
        }
        let lines = if states_lines { python_text::line_count(&content).to_string() } else { String::new() };
        fill(&self.placeholder, &[("tool", tool), ("lines", &lines)])
    }
}

/// Returns the position of the call that a result answers, if the call is in the turn before and its input is not empty yet.
fn find_call_with_input(context: &Context, candidate: &Candidate) -> Option<BlockPosition> {
    let before = context.messages()[..candidate.position.message].iter().enumerate().rev();
    let mut turn =
        before.skip_while(|(_, message)| message.role == Role::User).take_while(|(_, message)| message.role == Role::Assistant);
    turn.find_map(|(index, message)| {
        let block = message.blocks.iter().position(|id| context.block(*id).kind == BlockKind::ToolUse(candidate.pair))?;
        let input = context.block(message.blocks[block]).field("input")?;
        input.as_object().is_none_or(|fields| !fields.is_empty()).then_some(BlockPosition { message: index, block })
    })
}

fn clear_input(call: BlockPosition) -> Edit {
    let BlockPosition { message, block } = call;
    Edit::Rewrite { message, block, field: "input", value: Value::Object(Map::new()) }
}
