//! The client that asks language models questions, with retries, limits and recorded answers.
//!
//! A [`Model`] answers a [`Question`]. It first looks in a [`Cassette`], which records answers, so a later run gets the same
//! answers at no cost. Otherwise it asks a [`Provider`], retries failed attempts and respects the [`Limits`]. The caller gets a
//! complete answer or an error message, never a partial answer. No message contains an API key.

mod address;
#[cfg(feature = "models")]
mod anthropic;
#[cfg(feature = "models")]
mod base_url;
mod cassette;
mod command;
#[cfg(feature = "models")]
mod completions;
mod health;
#[cfg(feature = "models")]
mod http;
mod key;
mod limits;
#[cfg(feature = "models")]
mod llama_server;
#[cfg(feature = "models")]
mod logprobs;
mod model;
#[cfg(feature = "models")]
mod openai;
mod protocol;
mod secrets;
mod too_long;

use std::time::{Duration, Instant};

pub use address::{Address, ConnectError, Connection};
#[cfg(feature = "models")]
pub(super) use base_url::BaseUrl;
pub use cassette::{Cassette, CassetteEntry, CassetteError, CassetteMode, EntryError, Outcome};
pub use command::{LineError, LineProgram, MAX_LINE_BYTES, end_programs, split_words};
pub use limits::{Limits, Spending};
pub use model::{FIRST_WAIT, KeyedOutcome, Model, ModelConfig, Price};
pub use protocol::{PROTOCOLS, Protocol, Purpose};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A question to a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// System prompt; empty if there is none.
    pub system: String,
    pub user: String,
    /// Maximum tokens of the answer.
    pub max_tokens: u64,
    /// The text whose log-probabilities after `user` are asked for, instead of an answer. Then `user` is the raw prompt, without
    /// a chat template, `system` is empty, and `max_tokens` is the length of this text in bytes: no text has more tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continuation: Option<String>,
}

/// A model's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What the model wrote, or the continuation that was asked about.
    pub text: String,
    /// Natural logarithms of the probabilities of the continuation's tokens, in order, rounded to four decimals. If a token
    /// begins before the continuation and ends in it, it is the first of them. Empty if the model wrote an answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logprobs: Vec<f64>,
    /// The model stopped because it reached `max_tokens`.
    pub cut_off: bool,
    pub usage: Usage,
    /// Seconds the model took when the question was asked (not when the answer was read from a cassette).
    pub seconds: f64,
}

/// Tokens as the provider counted them; 0 if it did not report them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Input tokens that were neither read from a prompt cache nor written to one.
    pub input: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_read: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write: u64,
    pub output: u64,
}

impl Usage {
    /// Adds the tokens of another usage.
    pub fn add(&mut self, other: &Self) {
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.output += other.output;
    }
}

fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

/// Why one attempt gave no answer. The variant says whether a retry makes sense and whether the attempt may cost money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// The question exceeds the model's input limit. The attempt costs nothing.
    TooLong(String),
    /// The provider rejected the question for now; `after` is the wait it asks for, if it names one. The attempt costs nothing.
    RetryLater { message: String, after: Option<Duration> },
    /// No connection to the server. The attempt costs nothing.
    Unreachable(String),
    /// The model may have written an answer, but it did not arrive or cannot be read. The cost is unknown.
    Lost(String),
    /// The provider rejected the question and would reject it again. The attempt costs nothing.
    Invalid(String),
    /// The answer is useless: the model declined, or the answer is too large. The attempt may cost money.
    Declined(String),
    /// The provider would reject every question, for example because a key is missing. The attempt costs nothing.
    ProviderFailed(String),
}

impl Rejection {
    /// Returns the message for the user.
    pub fn message(&self) -> &str {
        match self {
            Self::TooLong(message) | Self::Unreachable(message) | Self::Lost(message) => message,
            Self::RetryLater { message, .. } | Self::Invalid(message) => message,
            Self::Declined(message) | Self::ProviderFailed(message) => message,
        }
    }

    /// Whether the provider may bill the attempt.
    pub fn may_cost(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Declined(_))
    }
}

/// Something that answers questions: a server that speaks a protocol, or a program.
pub trait Provider: Send + Sync {
    /// Makes one attempt to get an answer.
    fn ask(&self, question: &Question) -> Result<Answer, Rejection>;

    /// Reads the bytes of an answer: the body that a server sent, or what a program wrote. Its time is not known here, so it is 0.
    fn read(&self, answer: &[u8]) -> Result<Answer, Rejection>;
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The question is too long for the model. This is the same in every run, so the cassette records it like an answer.
    #[error("{0}")]
    TooLong(String),
    /// Every attempt failed, or no attempt was made.
    #[error("{0}")]
    Unanswered(String),
}

/// Returns the seconds since `began`, rounded to a tenth.
fn seconds_since(began: Instant) -> f64 {
    (began.elapsed().as_secs_f64() * 10.0).round() / 10.0
}

/// Reads a token count of an answer; 0 if the value at `at` is not a count. No model counts to 2³², so the count is capped
/// there: sums cannot overflow.
#[cfg(feature = "models")]
fn token_count(answer: &serde_json::Value, at: &str) -> u64 {
    answer.pointer(at).and_then(serde_json::Value::as_u64).unwrap_or(0).min(u32::MAX.into())
}
