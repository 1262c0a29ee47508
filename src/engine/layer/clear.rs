//! `clear`: old tool results become a placeholder; the call that made them stays.
//!
//! Known as micro-compaction, observation masking, clearing of tool uses. It keeps the shape of the conversation, so it never
//! breaks a pair, and it loses the text of results for good unless they were persisted.
//!
//! Each clearing changes the prompt from the first cleared result on, and a provider writes what stands behind that place into
//! its cache again. Without `clear_at_least` that happens at nearly every call. With it, results that are old wait until enough
//! can go at once: few large clearings are cheaper than many small ones, and until one is due the requests hold more. Batches
//! want a history that remembers them: with `scope = "request"` every request is decided anew, and once enough is old, each
//! further result is cleared when its time comes. With `scope = "server"` the provider clears what it has cached, and nothing
//! is written again.
//!
//! ```toml
//! [[layer]]
//! id = "micro"
//! do = "clear"
//! keep_recent = 3            # the newest results stay
//! min_chars = 100            # so do short ones: the placeholder would hardly be shorter
//! preserve_tools = ["read_file"]
//! placeholder = "[Previous: used {tool}]"
//! clear_at_least = "10k"     # nothing happens unless so many tokens go
//! clear_inputs = true        # the calls stay, without what they asked for
//! ```

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::pick::{Candidate, results_from};
use super::{LayerInput, LayerState, Place, Proposal, ResultFilter};
use crate::engine::context::{Context, Edit};
use crate::engine::size::Size;
use crate::transcript::conversation::{Block, Kind, Role};
use crate::util::template::fill;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Clear {
    #[serde(flatten)]
    pub pick: ResultFilter,
    /// What stands in place of a cleared result; `{tool}` is its tool's name.
    pub placeholder: String,
    /// A result with a line that begins so was persisted; the rest of the line is `{path}` in `placeholder_saved`.
    pub saved_line: String,
    /// What stands in place of a persisted result; `placeholder`, where this is empty.
    pub placeholder_saved: String,
    /// Nothing is cleared unless at least so many tokens, by the report's counter, go at once; 0: however few.
    pub clear_at_least: Size,
    /// The calls of the cleared results lose their inputs: `{}` stays.
    pub clear_inputs: bool,
}

/// Old results that stay until enough can be cleared at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct Waiting {
    /// Results from here up to the layer's cursor wait.
    since: Place,
    /// What clearing them frees, by the counter's measure; less than nothing where placeholders are longer than results.
    size: i64,
}

impl Default for Clear {
    fn default() -> Self {
        Self {
            pick: ResultFilter { keep_recent: 3, ..ResultFilter::default() },
            placeholder: "[Old tool result content cleared]".to_owned(),
            saved_line: "Full output: ".to_owned(),
            placeholder_saved: String::new(),
            clear_at_least: 0.into(),
            clear_inputs: false,
        }
    }
}

impl Clear {
    pub fn propose(&self, now: &LayerInput, memory: &mut LayerState) -> Proposal {
        let picked = match self.in_batches() {
            true => self.batch(now, memory),
            false => self.pick.results(now.context, &mut memory.cursor),
        };
        Proposal { edits: self.edits(now.context, &picked), ..Proposal::default() }
    }

    /// Whether results wait for each other.
    pub fn in_batches(&self) -> bool {
        self.clear_at_least != Size::from(0)
    }

    /// All that waits, where clearing it frees enough; else nothing, and it waits on.
    ///
    /// A run adds what is new to what it knows of the rest, so that waiting costs nothing. Another layer may have made results
    /// smaller meanwhile: all of them are looked at again before they are cleared.
    fn batch<'a>(&self, now: &LayerInput<'a>, memory: &mut LayerState) -> Vec<Candidate<'a>> {
        let context = now.context;
        if memory.cursor.start(context) == Place::default() {
            memory.waiting = Waiting::default();
        }
        let new = self.pick.results(context, &mut memory.cursor);
        memory.waiting.size += self.freed(now, &new);
        if !self.is_enough(now, memory.waiting.size) {
            return Vec::new();
        }
        let end = memory.cursor.start(context);
        let mut all = results_from(context, memory.waiting.since);
        all.retain(|picked| picked.place < end && self.pick.may_touch(context, picked));
        memory.waiting.size = self.freed(now, &all);
        if !self.is_enough(now, memory.waiting.size) {
            return Vec::new();
        }
        memory.waiting = Waiting { since: end, size: 0 };
        all
    }

    fn is_enough(&self, now: &LayerInput, freed: i64) -> bool {
        let whole = now.context.sum(now.counter.measure);
        let [before, after] = [whole, whole.saturating_add_signed(-freed)].map(|size| now.counter.apply(size));
        before.saturating_sub(after) >= self.clear_at_least.resolve(now.limits)
    }

    /// What clearing these results frees, by the counter's measure.
    fn freed(&self, now: &LayerInput, picked: &[Candidate]) -> i64 {
        let (context, measure) = (now.context, now.counter.measure);
        let of_edit = |edit: Edit| {
            let Edit::Rewrite { message, block, field, value } = edit else { return 0 };
            let sent = &context.messages()[message];
            let id = sent.blocks[block];
            let after = context.written_size(&context.rewritten(id, field, value, sent.plain), measure);
            context.block_size(id, measure).cast_signed() - after.cast_signed()
        };
        self.edits(context, picked).into_iter().map(of_edit).sum()
    }

    /// What clears these results; nothing for those that are cleared.
    fn edits(&self, context: &Context, picked: &[Candidate]) -> Vec<Edit> {
        let mut inputs = BTreeSet::new();
        let mut edits = Vec::new();
        for picked in picked {
            // Two results may name one call.
            let call = if self.clear_inputs { call_with_input(context, picked) } else { None };
            edits.extend(call.filter(|call| inputs.insert(*call)).map(without_input));
            edits.extend(self.without_content(context, picked));
        }
        edits
    }

    fn without_content(&self, context: &Context, picked: &Candidate) -> Option<Edit> {
        let placeholder = self.placeholder_for(context.tool_name(picked.pair), picked.block);
        let is_there = picked.block.field("content").and_then(Value::as_str) == Some(&placeholder);
        (!is_there).then(|| picked.place.with_content(placeholder))
    }

    fn placeholder_for(&self, tool: &str, block: &Block) -> String {
        if self.placeholder_saved.is_empty() {
            return fill(&self.placeholder, &[("tool", tool)]);
        }
        let content = self.pick.lists.content(block).unwrap_or_default();
        match content.lines().find_map(|line| line.strip_prefix(&*self.saved_line)) {
            Some(path) => fill(&self.placeholder_saved, &[("path", path), ("tool", tool)]),
            None => fill(&self.placeholder, &[("tool", tool)]),
        }
    }
}

/// The call that a result answers, if it stands in the turn before and its input is not yet empty.
fn call_with_input(context: &Context, picked: &Candidate) -> Option<Place> {
    let before = context.messages()[..picked.place.message].iter().enumerate().rev();
    let mut turn = before.skip_while(|(_, sent)| sent.role == Role::User).take_while(|(_, sent)| sent.role == Role::Assistant);
    turn.find_map(|(message, sent)| {
        let block = sent.blocks.iter().position(|id| context.block(*id).kind == Kind::ToolUse(picked.pair))?;
        let input = context.block(sent.blocks[block]).field("input")?;
        input.as_object().is_none_or(|fields| !fields.is_empty()).then_some(Place { message, block })
    })
}

fn without_input(call: Place) -> Edit {
    let Place { message, block } = call;
    Edit::Rewrite { message, block, field: "input", value: Value::Object(Map::new()) }
}
