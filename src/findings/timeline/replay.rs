//! What a finding looks at, and how it says what it found.

use serde_json::{Map, Value};

use crate::engine::context::Cause;
use crate::engine::journal::Journal;
use crate::engine::policy::Policy;
use crate::facts::references::References;
use crate::findings::Level;
use crate::metrics::cost::Cost;
use crate::metrics::retention::Retention;
use crate::transcript::conversation::{Block, BlockId, Conversation};

/// One replay, and what is known of it.
#[derive(Clone, Copy)]
pub struct ReplayView<'a> {
    pub conversation: &'a Conversation,
    pub policy: &'a Policy,
    pub journal: &'a Journal,
    pub references: &'a References,
    pub kept: &'a Retention,
    /// `None` where the conversation could not be priced.
    pub cost: Option<&'a Cost>,
    /// Tokens the model accepts.
    pub window: u64,
    /// Tokens of a block by the report's counter: of the conversation, or of those that layers wrote.
    pub tokens: &'a dyn Fn(BlockId) -> u64,
}

impl<'a> ReplayView<'a> {
    pub fn block(&self, id: BlockId) -> &'a Block {
        self.journal.block(self.conversation, id)
    }

    /// Whether a layer wrote this block.
    pub fn is_made(&self, id: BlockId) -> bool {
        id.index() >= self.conversation.blocks.len()
    }

    /// Whether it is the record itself that is looked at, with the compactions that its harness made.
    pub fn is_record(&self) -> bool {
        self.policy.is_recorded()
    }

    /// The id of a layer.
    pub fn layer(&self, index: usize) -> &'a str {
        &self.policy.layers[index].id
    }

    /// Who did it, as a message names it: the layer; in the record its harness.
    pub fn who(&self, layer: usize) -> &'a str {
        if self.is_record() { "the harness" } else { self.layer(layer) }
    }

    /// Who is to blame, as a message names it.
    pub fn cause(&self, cause: Cause) -> &'a str {
        match cause {
            Cause::Record => "the record",
            Cause::Layer(index) => self.who(index),
        }
    }

    /// Line of the transcript at which a call was answered.
    pub fn line_of(&self, call: usize) -> u32 {
        self.conversation.messages[self.conversation.calls[call].response].line
    }

    /// Line of the transcript that a block was read from; that of the block it stands in place of, where a layer wrote it.
    pub fn line_of_block(&self, id: BlockId) -> Option<u32> {
        let recorded = self.journal.recorded_block(self.conversation, id)?;
        Some(self.conversation.block(recorded).line).filter(|line| *line > 0)
    }
}

/// What was found in one replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    pub level: Level,
    /// Line of the transcript, where it is about one.
    pub line: Option<u32>,
    /// Index of the call before which it happened.
    pub call: Option<usize>,
    /// One sentence: what happened, with its numbers.
    pub message: String,
    /// The numbers again, for programs.
    pub data: Map<String, Value>,
}

impl Detection {
    /// Something that happened before a call; its line is the call's until another is given.
    pub fn at_call(replay: &ReplayView, level: Level, call: usize, message: String) -> Self {
        Self { level, line: Some(replay.line_of(call)), call: Some(call), message, data: Map::new() }
    }

    /// Something about the whole conversation.
    pub fn of_all(level: Level, message: String) -> Self {
        Self { level, line: None, call: None, message, data: Map::new() }
    }

    /// At this line, where it is known.
    pub fn at_line(self, line: Option<u32>) -> Self {
        Self { line: line.or(self.line), ..self }
    }

    /// With a number or a text for programs.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.data.insert(name.to_owned(), value.into());
        self
    }
}
