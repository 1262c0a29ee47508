//! Text out of messages: the one thing a replay cannot compute. A [`Summarizer`] is asked at the edge. [`ModelSummarizer`] asks a model;
//! the mock ones need none, give the same text every time, and say what kind of bound they are.

mod dialogue;
mod digest;
mod dry_run;
mod extract;
mod input_window;
mod mock;
mod model;
mod names;

pub use dialogue::{Utterance, dialogue};
pub use digest::Digests;
pub use dry_run::{DryRun, PlannedCall, PlannedCalls};
pub use extract::Extract;
pub use input_window::{HiddenInput, InputWindow, Side};
pub use mock::{Failing, Fixed, Stub};
pub use model::ModelSummarizer;
pub use names::{NameCounts, NameIndex};

use std::borrow::Cow;
use std::cell::OnceCell;

use serde::{Deserialize, Serialize};

use crate::llm::client::{PROTOCOLS, Usage};
use crate::llm::prompt::Prompt;
use crate::transcript::conversation::{Block, BlockId, Conversation, Kind, Origin};
use crate::transcript::tool_access;

/// A part of the input: one block, as far as the layer's limits let the summarizer see it.
#[derive(Debug, Clone)]
pub struct InputBlock<'a> {
    pub kind: Kind,
    pub origin: Origin,
    /// Name of the tool, of tool_use and tool_result.
    pub tool: &'a str,
    pub is_error: bool,
    /// The recorded block that it is all of.
    pub whole: Option<BlockId>,
    /// By the report's counter; of a block that was cut, its share.
    pub tokens: u64,
    block: &'a Block,
    /// The call of the tool.
    call: Option<&'a Block>,
    /// Written down when it is first asked for: the inputs of tools are long, and few summarizers read them.
    text: OnceCell<Cow<'a, str>>,
}

impl<'a> InputBlock<'a> {
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| self.block.text())
    }

    /// The file a tool was asked for.
    pub fn path(&self) -> Option<&'a str> {
        tool_access::named(self.call?.field("input")?)
    }
}

/// What a summarizer is asked.
pub struct SummaryRequest<'a> {
    pub pieces: Vec<InputBlock<'a>>,
    /// What a model is told.
    pub prompt: &'a Prompt,
    /// What the model asked to preserve.
    pub focus: Option<&'a str>,
    /// The most tokens the summary may have.
    pub max_tokens: u64,
    /// Index of the recorded call it is made for.
    pub call: usize,
    /// What is known of the conversation's texts.
    pub digests: &'a Digests,
    /// Tokens of a text, by the report's counter.
    pub tokens: &'a dyn Fn(&str) -> u64,
}

impl SummaryRequest<'_> {
    /// How many names a summary says, and how many of them stand in nothing that it was made of.
    pub fn names(&self, conversation: &Conversation, index: &NameIndex, summary: &str) -> NameCounts {
        let pieces = |whole: bool| self.pieces.iter().filter(move |piece| piece.whole.is_some() == whole);
        let told = self.focus.into_iter().chain(pieces(false).flat_map(|piece| [piece.tool, piece.text()]));
        let texts = told.chain(pieces(true).map(InputBlock::text)).map(Cow::Borrowed);
        index.names(conversation, summary, pieces(true).filter_map(|piece| piece.whole), texts)
    }
}

/// Why there is no summary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SummaryError {
    #[error("the summarizer's input and answer ({tokens} tokens) do not fit its window ({window})")]
    TooLong { tokens: u64, window: u64 },
    #[error("the summary was empty")]
    Empty,
    /// With what there is of it.
    #[error("the summary reached its limit of {max_tokens} tokens")]
    OverCap { max_tokens: u64, text: String },
    /// By a model that found its input too long.
    #[error("the summarizer's input was refused for its length: {0}")]
    Refused(String),
    #[error("{0}")]
    Other(String),
    /// Nothing is known of what it would have been: a replay that meets this tells nothing.
    #[error("{0}")]
    Unanswered(String),
}

/// What a summarizer says to one ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub text: Result<String, SummaryError>,
    /// What it took, where a model was asked: now, or when its answer was recorded.
    pub paid: Option<AnswerCost>,
}

/// What an answer took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerCost {
    /// What the question is known by.
    pub key: String,
    pub model: String,
    pub usage: Usage,
    pub seconds: f64,
}

impl From<Result<String, SummaryError>> for Reply {
    /// What nobody paid for.
    fn from(text: Result<String, SummaryError>) -> Self {
        Self { text, paid: None }
    }
}

/// Gives summaries. Implementations must answer the same ask with the same text.
pub trait Summarizer: Send + Sync {
    fn summarize(&self, ask: &SummaryRequest) -> Reply;
}

/// A kind of summarizer, for the catalog and the command line.
pub struct SummarizerKind {
    pub name: &'static str,
    /// What may, or must, follow the name.
    pub argument: &'static str,
    pub about: &'static str,
    pub make: fn(&str) -> Result<Box<dyn Summarizer>, String>,
}

/// Every summarizer that asks no model; the first is the default.
pub const SUMMARIZERS: &[SummarizerKind] = &[
    SummarizerKind {
        name: "extract",
        argument: "[:TOKENS]",
        about: "sentences of the input itself: requests and rules, files touched, last state, then what is most informative; \
                3,000 tokens at most, or TOKENS, within the layer's limit; no model, an honest middle",
        make: |argument| match argument {
            "" => Ok(Box::new(Extract::default())),
            tokens => Ok(Box::new(Extract { tokens: number(tokens)? })),
        },
    },
    SummarizerKind {
        name: "stub",
        argument: ":TOKENS",
        about: "a text of so many tokens that keeps nothing: the lower bound for a summary of that size",
        make: |argument| Ok(Box::new(Stub { tokens: number(argument)? })),
    },
    SummarizerKind {
        name: "fixed",
        argument: ":TEXT",
        about: "always this text: for tests and for comparison with another implementation",
        make: |argument| Ok(Box::new(Fixed { text: argument.to_owned() })),
    },
    SummarizerKind {
        name: "failing",
        argument: "",
        about: "never answers: shows retries, circuit breakers and what a policy does without its summaries",
        make: |argument| match argument {
            "" => Ok(Box::new(Failing)),
            other => Err(format!("it takes no argument, but `{other}` was given")),
        },
    },
];

fn number(tokens: &str) -> Result<u64, String> {
    tokens.parse().map_err(|_| format!("it takes a number of tokens, not `{tokens}`"))
}

/// The summarizer that `NAME[:ARGUMENT]` stands for, where it asks no model ([`ModelSummarizer`] does).
pub fn by_name(written: &str) -> Result<Box<dyn Summarizer>, String> {
    let (name, argument) = written.split_once(':').unwrap_or((written, ""));
    let kind = SUMMARIZERS.iter().find(|kind| kind.name == name).ok_or_else(|| {
        let alone = SUMMARIZERS.iter().map(|kind| kind.name.to_owned());
        let models = PROTOCOLS.iter().map(|protocol| format!("{}{}", protocol.name, protocol.argument));
        let known = alone.chain(models).collect::<Vec<_>>().join(", ");
        format!("there is no summarizer `{name}` (known: {known})")
    })?;
    (kind.make)(argument).map_err(|what| format!("summarizer `{name}`: {what}"))
}
