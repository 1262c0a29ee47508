//! The input of a rule, [`ReplayView`], and its output, [`Detection`].

use std::cell::OnceCell;

use serde_json::{Map, Value};

use crate::engine::context::Cause;
use crate::engine::journal::Journal;
use crate::engine::layer::LayerTraits;
use crate::engine::policy::Policy;
use crate::facts::references::References;
use crate::findings::Level;
use crate::findings::timeline::user_text::UserText;
use crate::metrics::cost::Cost;
use crate::metrics::retention::Retention;
use crate::transcript::conversation::{Block, BlockId, Conversation};

/// One replay with everything that rules can use.
#[derive(Clone, Copy)]
pub struct ReplayView<'a> {
    pub conversation: &'a Conversation,
    pub policy: &'a Policy,
    pub journal: &'a Journal,
    pub references: &'a References,
    pub retention: &'a Retention,
    /// `None` if the conversation could not be priced.
    pub cost: Option<&'a Cost>,
    /// Context window in tokens.
    pub window: u64,
    /// Returns the tokens of a recorded or synthetic block, by the report's token counter.
    pub tokens: &'a dyn Fn(BlockId) -> u64,
    /// Filled by the first rule that needs it.
    pub user_text: &'a OnceCell<UserText>,
}

impl<'a> ReplayView<'a> {
    /// Returns what was left of the typed messages.
    pub fn user_text(&self) -> &'a UserText {
        self.user_text.get_or_init(|| UserText::new(self))
    }

    /// Returns a block of the conversation, or one that a layer wrote.
    pub fn block(&self, id: BlockId) -> &'a Block {
        self.journal.block(self.conversation, id)
    }

    /// Whether a layer wrote this block.
    pub fn is_made(&self, id: BlockId) -> bool {
        id.index() >= self.conversation.blocks.len()
    }

    /// Whether this is the replay of the recorded session, with the compactions that its harness made.
    pub fn is_record(&self) -> bool {
        self.policy.is_recorded()
    }

    /// Returns the id of a layer.
    pub fn layer(&self, index: usize) -> &'a str {
        &self.policy.layers[index].id
    }

    /// Returns what a layer says about itself.
    pub fn traits(&self, layer: usize) -> LayerTraits<'a> {
        self.policy.layers[layer].spec.traits()
    }

    /// Returns who acted, as a message names it: the layer, or the harness in the recorded session.
    pub fn who(&self, layer: usize) -> &'a str {
        if self.is_record() { "the harness" } else { self.layer(layer) }
    }

    /// Returns the cause of an edit, as a message names it.
    pub fn cause(&self, cause: Cause) -> &'a str {
        match cause {
            Cause::Record => "the record",
            Cause::Layer(index) => self.who(index),
        }
    }

    /// Returns the line of the transcript with the response of a call.
    pub fn line_of(&self, call: usize) -> u32 {
        self.conversation.messages[self.conversation.calls[call].response].line
    }

    /// Returns the line of the transcript that a block was read from. For a block that a layer wrote, this is the line of the block
    /// that it replaces.
    pub fn line_of_block(&self, id: BlockId) -> Option<u32> {
        let recorded = self.journal.recorded_block(self.conversation, id)?;
        Some(self.conversation.block(recorded).line).filter(|line| *line > 0)
    }
}

/// Most edits of one kind by one layer that are reported one by one. We chose the number.
pub const MOST_ONE_BY_ONE: usize = 5;

/// One finding in a replay, before [`detect`](crate::findings::detect) adds path and names.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    pub level: Level,
    /// Line of the transcript; `None` if the finding is about the whole conversation.
    pub line: Option<u32>,
    /// Index of the call before which it happened.
    pub call: Option<usize>,
    /// What happened, in one sentence with numbers.
    pub message: String,
    /// The same numbers for programs.
    pub data: Map<String, Value>,
}

impl Detection {
    /// Creates a detection before a call. Its line is that of the call, until [`at_line`](Self::at_line) sets another.
    pub fn at_call(replay: &ReplayView, level: Level, call: usize, message: String) -> Self {
        Self { level, line: Some(replay.line_of(call)), call: Some(call), message, data: Map::new() }
    }

    /// Creates a detection for each of the edits that a layer made. If there are more than [`MOST_ONE_BY_ONE`], creates only that of the
    /// edit with the largest loss, and adds `many` of their number to its message.
    pub fn of_edits<T>(
        edits: &[T],
        loss: impl Fn(&T) -> u64,
        detection: impl Fn(&T) -> Self,
        many: impl Fn(usize) -> String,
    ) -> Vec<Self> {
        match edits.iter().max_by_key(|edit| loss(edit)) {
            Some(worst) if edits.len() > MOST_ONE_BY_ONE => {
                let detection = detection(worst);
                let message = format!("{}; {}", detection.message, many(edits.len()));
                vec![Self { message, ..detection }.with("folds", edits.len())]
            }
            _ => edits.iter().map(detection).collect(),
        }
    }

    /// Creates a detection about the whole conversation.
    pub fn of_all(level: Level, message: String) -> Self {
        Self { level, line: None, call: None, message, data: Map::new() }
    }

    /// Sets the line, if it is known.
    pub fn at_line(self, line: Option<u32>) -> Self {
        Self { line: line.or(self.line), ..self }
    }

    /// Adds a number or a text for programs.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.data.insert(name.to_owned(), value.into());
        self
    }
}
