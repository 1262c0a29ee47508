//! Models that answer: the one place where the library leaves the process.
//!
//! A [`Model`] is asked a [`Question`]. Answers are kept on a [`Cassette`], so that every later run has the same ones for nothing;
//! what is not on it is asked of a [`Provider`], within the [limits](Limits) that were set, as often as it takes. Who asks sees
//! an answer, or why there is none: never a half one, and never a key.

mod address;
mod cassette;
mod http;
mod key;
mod limits;
mod model;
mod openai;

use std::time::Duration;

pub use address::{Address, Connection, PROTOCOLS, Protocol};
pub use cassette::{Cassette, CassetteError, Entry, Mode, Outcome};
pub use limits::{Limits, Spent};
pub use model::{Asked, Model, Price, Setup};

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

/// Why one attempt gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The question is longer than the model takes.
    TooLong(String),
    /// The next attempt may do better, after so long where the provider says so.
    Again { what: String, after: Option<Duration> },
    /// No further attempt would do better.
    Never(String),
}

/// Someone who answers: a protocol and where it is spoken, or a program.
pub trait Provider: Send + Sync {
    /// One attempt.
    fn ask(&self, question: &Question) -> Result<Answer, Refusal>;
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The model refuses it for its length: the same in every run, and so kept on the cassette like an answer.
    #[error("{0}")]
    TooLong(String),
    /// Nothing is known of what the answer would have been.
    #[error("{0}")]
    Unanswered(String),
}
