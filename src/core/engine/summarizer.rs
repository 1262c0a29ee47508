//! Summarizers turn messages into a summary text, the one thing that a replay cannot compute.
//!
//! [`ModelSummarizer`] asks a model. The other implementations of [`Summarizer`] need no model and return the same text every
//! time; their descriptions say which kind of bound they are.

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

use crate::llm::client::{Purpose, Usage};
use crate::llm::prompt::Prompt;
use crate::transcript::conversation::{Block, BlockId, BlockKind, Conversation, Origin};
use crate::transcript::tool_access;
use crate::util::ValueError;

/// One block of the input, or the part of it that the layer's limits let the summarizer see.
#[derive(Debug, Clone)]
pub struct InputBlock<'a> {
    pub kind: BlockKind,
    pub origin: Origin,
    /// Name of the tool, for tool_use and tool_result; else empty.
    pub tool: &'a str,
    pub is_error: bool,
    /// The recorded block, if the input shows all of it; `None` for a part of a block or a block that a layer wrote.
    pub whole: Option<BlockId>,
    /// Tokens by the report's counter; for a part of a block, its share.
    pub tokens: u64,
    block: &'a Block,
    /// The tool_use, for tool_use and tool_result.
    call: Option<&'a Block>,
    /// Computed on first use: tool inputs are long, and few summarizers read them.
    text: OnceCell<Cow<'a, str>>,
}

impl<'a> InputBlock<'a> {
    /// Returns the text of the block, as the summarizer reads it.
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| self.block.text())
    }

    /// Returns the path of the file that a tool was asked for.
    pub fn path(&self) -> Option<&'a str> {
        tool_access::named_path(self.call?.field("input")?)
    }
}

/// A request for a summary.
pub struct SummaryRequest<'a> {
    /// The blocks to summarise.
    pub blocks: Vec<InputBlock<'a>>,
    /// Prompt for a model.
    pub prompt: &'a Prompt,
    /// What the agent asked the compact tool to preserve.
    pub focus: Option<&'a str>,
    /// Maximum tokens of the summary.
    pub max_tokens: u64,
    /// Index of the recorded call that needs the summary.
    pub call: usize,
    /// Shared digests of the conversation's texts.
    pub digests: &'a Digests,
    /// Counts the tokens of a text, by the report's counter.
    pub tokens: &'a dyn Fn(&str) -> u64,
}

impl SummaryRequest<'_> {
    /// Counts the names in a summary, and those of them that are nowhere in its input.
    pub fn count_names(&self, conversation: &Conversation, index: &NameIndex, summary: &str) -> NameCounts {
        let blocks = |whole: bool| self.blocks.iter().filter(move |block| block.whole.is_some() == whole);
        let partial = self.focus.into_iter().chain(blocks(false).flat_map(|block| [block.tool, block.text()]));
        let texts = partial.chain(blocks(true).map(InputBlock::text)).map(Cow::Borrowed);
        index.count_names(conversation, summary, blocks(true).filter_map(|block| block.whole), texts)
    }
}

/// Why there is no summary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SummaryError {
    #[error("the summarizer's input and answer ({tokens} tokens) do not fit its window ({window})")]
    TooLong { tokens: u64, window: u64 },
    #[error("the summary was empty")]
    Empty,
    /// `text` is the beginning of the summary.
    #[error("the summary reached its limit of {max_tokens} tokens")]
    OverCap { max_tokens: u64, text: String },
    /// The model refused its input as too long.
    #[error("the model refused the summarizer's input as too long: {0}")]
    Refused(String),
    #[error("{0}")]
    Other(String),
    /// No answer, for reasons outside of the policy: the rest of the replay is meaningless.
    #[error("{0}")]
    Unanswered(String),
}

/// The answer of a summarizer to one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub text: Result<String, SummaryError>,
    /// Cost of the answer of a model, now or when its answer was recorded; `None` if no model was asked.
    pub cost: Option<AnswerCost>,
}

/// Cost of one answer of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerCost {
    /// Hash of the question, its key on the cassette.
    pub key: String,
    pub model: String,
    pub usage: Usage,
    /// Duration of the call.
    pub seconds: f64,
}

impl From<Result<String, SummaryError>> for Reply {
    /// Returns a reply without cost.
    fn from(text: Result<String, SummaryError>) -> Self {
        Self { text, cost: None }
    }
}

/// Writes summaries. Implementations must return the same text for the same request.
pub trait Summarizer: Send + Sync {
    /// Answers a request for a summary. Errors are part of the reply, because a failed attempt may cost money too.
    fn summarize(&self, request: &SummaryRequest) -> Reply;
}

/// A kind of summarizer, for the catalog and the command line.
pub struct SummarizerKind {
    pub name: &'static str,
    /// Syntax of the optional or required argument behind the name.
    pub argument: &'static str,
    pub about: &'static str,
    pub make: fn(&str) -> Result<Box<dyn Summarizer>, String>,
}

/// All summarizers that ask no model; the first is the default.
pub const SUMMARIZERS: &[SummarizerKind] = &[
    SummarizerKind {
        name: "extract",
        argument: "[:TOKENS]",
        about: "sentences of the input itself: requests and rules, files touched, last state, then the most informative \
                sentences; at most 3,000 tokens, or TOKENS, and at most the layer's limit; asks no model, \
                a realistic value between the bounds",
        make: |argument| match argument {
            "" => Ok(Box::new(Extract::default())),
            tokens => Ok(Box::new(Extract { tokens: parse_tokens(tokens)? })),
        },
    },
    SummarizerKind {
        name: "stub",
        argument: ":TOKENS",
        about: "a text of this many tokens that keeps no information: the lower bound for a summary of this size",
        make: |argument| Ok(Box::new(Stub { tokens: parse_tokens(argument)? })),
    },
    SummarizerKind {
        name: "fixed",
        argument: ":TEXT",
        about: "always this text: for tests and for comparison with other implementations",
        make: |argument| Ok(Box::new(Fixed { text: argument.to_owned() })),
    },
    SummarizerKind {
        name: "failing",
        argument: "",
        about: "never answers: shows retries, circuit breakers, and how a policy works without its summaries",
        make: |argument| match argument {
            "" => Ok(Box::new(Failing)),
            other => Err(format!("it takes no argument, but `{other}` was given")),
        },
    },
];

fn parse_tokens(tokens: &str) -> Result<u64, String> {
    tokens.parse().map_err(|_| format!("it takes a number of tokens, not `{tokens}`"))
}

/// Creates the summarizer `NAME[:ARGUMENT]`; only those that ask no model (for the others see [`ModelSummarizer`]).
///
/// # Errors
///
/// Fails if there is no such summarizer (the error lists those that exist), or if it does not take the argument.
pub fn by_name(written: &str) -> Result<Box<dyn Summarizer>, ValueError> {
    let (name, argument) = written.split_once(':').unwrap_or((written, ""));
    let kind = SUMMARIZERS.iter().find(|kind| kind.name == name).ok_or_else(|| {
        let without_model = SUMMARIZERS.iter().map(|kind| kind.name.to_owned());
        let known = without_model.chain([Purpose::Write.forms()]).collect::<Vec<_>>().join(", ");
        format!("there is no summarizer `{name}` (known: {known})")
    })?;
    (kind.make)(argument).map_err(|what| ValueError::new(format!("summarizer `{name}`: {what}")))
}
