//! An optional check of the retention metric: asks a model about facts in the compacted request, and compares its
//! answers with `kept.hit`.
//!
//! Questions come from the facts that the recorded agent used: a line that contains the fact, in the block where the
//! agent had it from, with the fact left [blank](Cloze). One question is one prompt. The context comes first in it, so
//! that questions about one request share a prefix. Each question is asked three times: about the request that a policy
//! would have sent, about the request with [everything](Shown::everything) in it, and without any context, which shows
//! what a model guesses.
//!
//! The steps: [`sample`] reads a transcript and draws [`Spot`]s; [`choose`] takes the requested number of questions,
//! half of them hits as far as possible; [`show`] writes the content of those requests as text; [`ask`] asks the model;
//! [`ProbeResults`] summarises the answers.
//!
//! Limits: an answer in other words, or one that repeats the whole line, counts as wrong, and a name that is guessed
//! well counts as right. A hit whose line was summarised is harder for a model than reading a line. And a model that
//! answers wrongly may be a poor reader: compare the hits with the same questions about the request with everything in
//! it.

mod ask;
mod choose;
mod cloze;
mod findings;
mod run;
mod sample;
mod score;
mod show;

use serde::Serialize;

use crate::facts::extract::FactKind;
use crate::metrics::retention::UseOutcome;

pub use ask::{Answer, AnsweredQuestion, EVERYTHING, Forecast, NOTHING, Unanswered, ask, forecast};
pub use choose::choose;
pub use cloze::Cloze;
pub use findings::{AnswerShare, Answers, KindAnswers, PolicyAnswers, ProbeResults};
pub use run::Questions;
pub use sample::{SampledQuestions, sample};
pub use score::{Agreement, Estimate, Table};
pub use show::{Shown, show};

/// The size of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Maximum number of questions in all.
    pub questions: usize,
    /// Maximum tokens of a request's messages by the report's token counter; longer requests are left out.
    pub max_context: u64,
    pub seed: u64,
}

/// One request of one conversation under one policy, with the questions about it.
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
    /// Line of the transcript that the fact's block was read from.
    pub line: u32,
    pub kind: FactKind,
    /// The fact in its canonical form.
    pub fact: String,
    pub cloze: Cloze,
    /// Outcome of the use in the retention metric.
    pub outcome: UseOutcome,
}

impl Question {
    /// Returns whether the fact is in the context.
    pub fn is_hit(&self) -> bool {
        matches!(self.outcome, UseOutcome::Hit { .. })
    }

    /// Returns `hit`, `soft` or `hard`; a stale fact is asked about like a lost one.
    pub fn outcome_name(&self) -> &'static str {
        match self.outcome {
            UseOutcome::Hit { .. } => "hit",
            UseOutcome::Soft { .. } => "soft",
            UseOutcome::Stale | UseOutcome::Hard => "hard",
        }
    }
}
