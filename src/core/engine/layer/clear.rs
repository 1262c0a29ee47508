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
//! `down_to` clears the oldest results until the context has a size: with `threshold = "60%"` and `down_to = "30%"` nothing is cleared
//! before 60 % of the window, and then only as much as is over 30 %.
//!
//! SWE-agent's `polling` is `stride`: with `stride = 5` the boundary moves at every fifth result, and up to four more results stay.
//!
//! Where results are saved in files (`save.to`), the model can read them again, as with `persist`.
//!
//! opencode's `prune` and Gemini CLI's masking keep the newest results by their size (`keep_recent_tokens`), those of the newest turns
//! apart (`protect_turns`), and clear the others when that frees enough (`clear_at_least`).
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

mod calls;
mod edits;
mod save;

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::calls::CallsBefore;
use super::result_filter::{Candidate, result_at, results_from};
use super::target::{Target, before_and_after, freed_by};
use super::{
    Action, BlockPosition, LayerInput, LayerTraits, Newest, Proposal, Remains, ResultFilter, Stability, ThinkingLeft,
    WrongSetting,
};
use crate::engine::context::{Context, Edit};
use crate::engine::size::Size;
use crate::util::template::has_placeholder;
pub use save::Save;

/// Settings of `clear`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Clear {
    #[serde(flatten)]
    pub filter: ResultFilter,
    /// Text that replaces a cleared result; `{tool}` is the name of its tool, `{lines}` the number of its lines. With `save.to`, also
    /// `{path}`, `{head}` and `{tail}`.
    pub placeholder: String,
    /// `true`: a result that is not longer than what replaces it stays. It counts among the newest, unlike those that `min_chars` keeps.
    pub only_if_shorter: bool,
    /// Results in files: those that this layer saves, and those that another one saved.
    pub save: Save,
    /// Minimum tokens, by the report's counter, that must go at once; 0: clear at once, however few.
    #[schemars(extend("x-unit" = "tokens"))]
    pub clear_at_least: Size,
    /// Size of the context, by the policy's `meter`: the oldest results are cleared until it is reached. Without it all old results are.
    #[schemars(extend("x-unit" = "by meter"))]
    pub down_to: Option<Size>,
    /// Clear only when the number of results + 1 is a multiple of this; 1: at every result.
    #[schemars(range(min = 1), extend("x-unit" = "results"))]
    pub stride: usize,
    /// `true`: also replace the inputs of the cleared results' calls by `{}`.
    pub clear_inputs: bool,
}

/// Which results are decided, and which wait until they may be cleared.
#[derive(Debug, Clone, Default)]
pub struct ClearState {
    newest: Newest,
    /// Number of decided results, if there is a stride.
    decided: usize,
    /// The old results that wait, oldest first.
    waiting: VecDeque<BlockPosition>,
    /// Size that clearing them frees, in the counter's unit; negative if the placeholders are longer than the results.
    waiting_size: i64,
}

impl Default for Clear {
    fn default() -> Self {
        Self {
            filter: ResultFilter { keep_recent_results: 3, ..ResultFilter::default() },
            placeholder: "[Old tool result content cleared]".to_owned(),
            only_if_shorter: false,
            save: Save::default(),
            clear_at_least: 0.into(),
            down_to: None,
            stride: 1,
            clear_inputs: false,
        }
    }
}

impl Action for Clear {
    type State = ClearState;

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits {
            remains: Some(if self.save.to.is_some() { Remains::File } else { Remains::Nothing }),
            rewrites_in_place: self.save.to.is_none(),
            keeps_parts: self.save.preview_chars > 0,
            stability: match self.in_batches() || self.down_to.is_some() || self.save.to.is_some() {
                true => Stability::Unstable,
                false => self.filter.stability(),
            },
            writes_markers: true,
            filter: Some(&self.filter),
            down_to: self.down_to.as_ref(),
            waits: Some(self.in_batches() || self.down_to.is_some() || self.stride != 1),
            ..LayerTraits::PLAIN
        }
    }

    fn check(&self) -> Result<(), WrongSetting> {
        if self.save.to.is_some() && !has_placeholder(&self.placeholder, "path") {
            let why = "with `save.to`, the placeholder must name the file: write `{path}` in it";
            return Err(WrongSetting::new("placeholder", why));
        }
        if self.save.preview_chars > 0 && self.save.to.is_none() {
            return Err(WrongSetting::new("save.preview_chars", "`save.preview_chars` needs `save.to`"));
        }
        if self.stride == 0 {
            return Err(WrongSetting::new("stride", "`stride` must be at least 1"));
        }
        if self.stride > 1 && (self.filter.keep_recent_per_tool.is_some() || self.filter.keep_recent_groups.is_some()) {
            return Err(WrongSetting::new("stride", "`stride` counts results, and not those of each tool, nor groups"));
        }
        let waits = [("clear_at_least", self.in_batches()), ("stride", self.stride > 1), ("down_to", self.down_to.is_some())];
        WrongSetting::unless_one_is_given("both say when to clear", waits)
    }

    fn propose(&self, input: &LayerInput, state: &mut ClearState) -> Proposal {
        let candidates = if self.in_batches() {
            self.take_batch(input, state)
        } else if let Some(target) = &self.down_to {
            self.take_down_to(input, state, target.resolve(input.limits))
        } else if self.stride > 1 {
            self.take_by_stride(input, state)
        } else {
            self.take_old(input, state, 0)
        };
        let edits = self.edits(input.context, &candidates, &mut CallsBefore::new(input.context));
        Proposal { edits, files: self.files(input.context, &candidates), ..Proposal::default() }
    }

    fn thinking_left(&self, left: &ThinkingLeft, _state: &mut ClearState) -> Option<Vec<Edit>> {
        left.gone.is_empty().then(Vec::new)
    }

    fn settle(&self, context: &Context, state: &mut ClearState) {
        state.newest.settle(context);
    }
}

impl Clear {
    /// Returns whether results wait until enough can be cleared at once.
    fn in_batches(&self) -> bool {
        !self.clear_at_least.is_zero()
    }

    /// Returns the results that are old. Of those, this many of the newest stay, too.
    fn take_old<'a>(&self, input: &LayerInput<'a>, state: &mut ClearState, more: usize) -> Vec<Candidate<'a>> {
        self.filter.take_old(input, &mut state.newest, more, |candidate| self.is_cleared(input.context, candidate))
    }

    /// Returns the results that are old: those that are over a multiple of the stride stay, too.
    fn take_by_stride<'a>(&self, input: &LayerInput<'a>, state: &mut ClearState) -> Vec<Candidate<'a>> {
        let context = input.context;
        let start = state.newest.decided(context);
        if start == BlockPosition::default() {
            state.decided = 0;
        }
        let undecided: Vec<_> = results_from(context, start).collect();
        let over = (state.decided + undecided.len() + 1) % self.stride;
        let old = self.take_old(input, state, over);
        state.decided += undecided.partition_point(|candidate| candidate.position < state.newest.decided(context));
        old
    }

    /// Adds the results that have become old to those that wait; all of them are new if messages moved.
    fn await_old(&self, input: &LayerInput, state: &mut ClearState) {
        let context = input.context;
        if state.newest.decided(context) == BlockPosition::default() {
            (state.waiting, state.waiting_size) = Default::default();
        }
        let new_results = self.take_old(input, state, 0);
        if self.in_batches() {
            state.waiting_size += self.freed_size(input, &new_results);
        }
        state.waiting.extend(new_results.iter().map(|candidate| candidate.position));
        // Results become old in this order, unless those of each tool are counted.
        if self.filter.keep_recent_per_tool.is_some() {
            state.waiting.make_contiguous().sort_unstable();
        }
    }

    /// Returns a waiting result if it may still be edited: another layer may have changed it in the meantime.
    fn waiting<'a>(&self, input: &LayerInput<'a>, position: BlockPosition) -> Option<Candidate<'a>> {
        result_at(input.context, position).filter(|candidate| self.filter.may_edit(input.context, candidate))
    }

    /// Returns all waiting results if clearing them frees enough; otherwise returns none, and they continue to wait.
    ///
    /// A run adds the size of the new results to the known size of the others, so that waiting costs no time. Another layer may
    /// have shrunk results in the meantime, so all of them are checked again before they are cleared.
    fn take_batch<'a>(&self, input: &LayerInput<'a>, state: &mut ClearState) -> Vec<Candidate<'a>> {
        self.await_old(input, state);
        if !self.is_enough(input, state.waiting_size) {
            return Vec::new();
        }
        let all: Vec<_> = state.waiting.iter().filter_map(|position| self.waiting(input, *position)).collect();
        state.waiting_size = self.freed_size(input, &all);
        if !self.is_enough(input, state.waiting_size) {
            return Vec::new();
        }
        (state.waiting, state.waiting_size) = Default::default();
        all
    }

    /// Returns the oldest waiting results whose clearing brings the context down to a size; the others continue to wait.
    fn take_down_to<'a>(&self, input: &LayerInput<'a>, state: &mut ClearState, target: u64) -> Vec<Candidate<'a>> {
        self.await_old(input, state);
        let (mut taken, mut target) = (Vec::new(), Target::new(input, target));
        let mut calls = CallsBefore::new(input.context);
        while !target.is_reached(input)
            && let Some(position) = state.waiting.pop_front()
        {
            let Some(candidate) = self.waiting(input, position) else { continue };
            target.count(input, &self.edits(input.context, std::slice::from_ref(&candidate), &mut calls));
            taken.push(candidate);
        }
        taken
    }

    fn is_enough(&self, input: &LayerInput, freed_size: i64) -> bool {
        let [before, after] = before_and_after(input.context.sum(input.counter.unit), freed_size, input.counter);
        before.saturating_sub(after) >= self.clear_at_least.resolve(input.limits)
    }

    /// Returns the size that clearing these results frees, in the counter's unit.
    fn freed_size(&self, input: &LayerInput, candidates: &[Candidate]) -> i64 {
        let edits = self.edits(input.context, candidates, &mut CallsBefore::new(input.context));
        freed_by(input.context, &edits, input.counter.unit)
    }
}
