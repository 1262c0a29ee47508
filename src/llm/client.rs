//! Models that answer: the one place where the library leaves the process.
//!
//! A [`Model`] is asked a [`Question`]. Answers are kept on a [`Cassette`], so that every later run has the same ones for nothing;
//! what is not on it is asked of a [`Provider`], within the [limits](Limits) that were set, as often as it takes. Who asks sees
//! an answer, or why there is none: never a half one, and never a key.

mod address;
mod anthropic;
mod base_url;
mod cassette;
mod command;
mod health;
mod http;
mod key;
mod limits;
mod model;
mod openai;
mod secrets;
mod too_long;

use std::time::{Duration, Instant};

pub use address::{Address, Connection, PROTOCOLS, Protocol};
pub use cassette::{Cassette, CassetteError, Entry, Mode, Outcome};
pub use limits::{Budget, Limits};
pub use model::{Asked, FIRST_WAIT, Model, Price, Setup};

use serde::{Deserialize, Serialize};

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Empty: none.
    pub system: String,
    pub user: String,
    /// The most tokens the answer may have.
    pub max_tokens: u64,
}

/// What it answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub text: String,
    /// It ended at `max_tokens`, in the middle of something.
    pub cut_off: bool,
    pub usage: Usage,
    /// How long it took when it was asked.
    pub seconds: f64,
}

/// Tokens as the provider counted them; 0 where it did not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Neither read from a cache nor written to one.
    pub input: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_read: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write: u64,
    pub output: u64,
}

impl Usage {
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

/// Why one attempt gave no answer: what it says of the next one, and whether it may have to be paid all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// The question is longer than the model takes. Nothing is paid.
    TooLong(String),
    /// It was turned away, and may be taken later: after so long where the provider says so. Nothing is paid.
    Again { what: String, after: Option<Duration> },
    /// Nobody is there. Nothing is paid.
    Unreachable(String),
    /// An answer may have been written, and did not come, or not as one: what it cost is not known.
    Lost(String),
    /// The question was turned away, and would be again. Nothing is paid.
    Never(String),
    /// There is an answer, and it is none: the model declined, or what it says is of no use. It may have to be paid.
    Declined(String),
    /// Every question would be turned away, as without a key. Nothing is paid.
    Gone(String),
}

impl Rejection {
    /// What is said of it.
    pub fn what(&self) -> &str {
        match self {
            Self::TooLong(what) | Self::Unreachable(what) | Self::Lost(what) => what,
            Self::Again { what, .. } | Self::Never(what) | Self::Declined(what) | Self::Gone(what) => what,
        }
    }

    /// Whether the provider may ask for money.
    pub fn may_cost(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Declined(_))
    }
}

/// Someone who answers: a protocol and where it is spoken, or a program.
pub trait Provider: Send + Sync {
    /// One attempt.
    fn ask(&self, question: &Question) -> Result<Answer, Rejection>;
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The model refuses it for its length: the same in every run, and so kept on the cassette like an answer.
    #[error("{0}")]
    TooLong(String),
    /// Nothing is known of what the answer would have been.
    #[error("{0}")]
    Unanswered(String),
}

/// How long it took, to a tenth of a second.
fn seconds_since(began: Instant) -> f64 {
    (began.elapsed().as_secs_f64() * 10.0).round() / 10.0
}

/// A count of tokens in an answer; what is no count is none. No model counts to 2³², and sums must not run over.
fn tokens(answer: &serde_json::Value, at: &str) -> u64 {
    answer.pointer(at).and_then(serde_json::Value::as_u64).unwrap_or(0).min(u32::MAX.into())
}
