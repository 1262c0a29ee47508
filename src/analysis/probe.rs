//! An optional check of the kept measure: does a model that sees only the compacted request find what `kept.hit` says is there,
//! and miss what it says is gone?
//!
//! Questions are drawn from the facts that the recorded agent went on to use: a line that holds the fact, in the block where the
//! agent had it from, with the fact left [blank](Cloze). One question is one prompt; the context stands first in it, so that
//! questions about one request share a prefix. Each is asked three times: of the request that a policy would have sent, of the
//! request with [everything](Shown::everything) in it, and of no context at all, which tells what a model guesses.
//!
//! The steps: [`sample`] reads a transcript and draws [`Spot`]s; [`choose`] takes as many as were asked for, half of them hits as far
//! as possible; [`show`] writes down what those requests hold; [`ask`] asks; [`Findings`] says what came of it.
//!
//! What it cannot tell: an answer in other words, or one that repeats the whole line, counts as wrong, and a name that is guessed
//! well counts as right. A hit whose line was summarised away asks more of a model than to read. And a model that answers wrongly
//! may be a poor reader: hold the hits against the same questions with everything in sight.

mod ask;
mod choose;
mod cloze;
mod findings;
mod sample;
mod score;
mod show;

use serde::Serialize;

use crate::facts::extract::FactKind;
use crate::metrics::retention::UseOutcome;

pub use ask::{Answer, AnsweredQuestion, EVERYTHING, Forecast, NOTHING, Unanswered, ask, forecast};
pub use choose::choose;
pub use cloze::Cloze;
pub use findings::{Answers, Findings, KindAnswers, PolicyAnswers, Share};
pub use sample::{SampledQuestions, sample};
pub use score::{Agreement, Estimate, Table};
pub use show::{Shown, show};

/// What is asked, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// At most so many questions in all.
    pub questions: usize,
    /// Tokens of a request's messages by the report's counter; longer ones are left out.
    pub max_context: u64,
    pub seed: u64,
}

/// One request of one conversation under one policy, and what is asked about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Spot {
    pub policy: String,
    pub transcript: String,
    pub conversation: String,
    /// Index of the recorded call.
    pub call: usize,
    pub questions: Vec<Question>,
}

/// A question with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The line of the transcript on which the fact's block was read.
    pub line: u32,
    pub kind: FactKind,
    /// In its canonical form.
    pub fact: String,
    pub cloze: Cloze,
    /// What the kept measure says.
    pub outcome: UseOutcome,
}

impl Question {
    pub fn is_hit(&self) -> bool {
        matches!(self.outcome, UseOutcome::Hit { .. })
    }

    /// `hit`, `soft` or `hard`.
    pub fn outcome_name(&self) -> &'static str {
        match self.outcome {
            UseOutcome::Hit { .. } => "hit",
            UseOutcome::Soft => "soft",
            UseOutcome::Hard { .. } => "hard",
        }
    }
}
