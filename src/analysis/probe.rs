//! An optional check of the retention metric with a model: does a model need the facts that `kept.hit` counts as gone?
//!
//! The steps are the same for every [`Scorer`], which says how a model is asked about a fact and what its answers mean: [`sample`]
//! replays a transcript and draws uses of facts; [`choose`] takes the requested number of them, the same number for each policy;
//! [`show`] writes what the model is shown, from the policy's request and the one without compaction; [`ask`] asks the model, and
//! [`forecast`] counts what it would be asked; [`Scorer::results`] summarises the answers.
//!
//! There are two scorers: [`questions`] leaves a blank in a line, and an answer is right or wrong; [`surprise`] measures in bits how
//! improbable the recorded response becomes. A new one implements [`Scorer`], and its results are a document of their own.

mod ask;
mod choose;
mod estimate;
mod forecast;
pub mod questions;
mod requests;
mod run;
mod sample;
pub mod surprise;

use std::sync::Arc;

use serde::Serialize;

use crate::facts::references::{Fact, Provenance};
use crate::llm::client::Purpose;
use crate::metrics::retention::UseOutcome;
use crate::results::saved::{Coverage, Recording, Session};

pub use ask::{Ask, Asked, Of, Unanswered, ask};
pub use choose::choose;
pub use estimate::Estimate;
pub use forecast::{FULL_CONTEXT, Forecast, forecast};
pub use requests::{Requests, show};
pub use run::Cases;
pub use sample::{Evaluated, Memory, SampledUses, sample};

/// How a model is asked about uses of facts, and what its answers mean.
pub trait Scorer: Sized + 'static {
    /// What a question needs from the conversation, beside the use.
    type Hint: Clone + Send + Sync;
    /// What the model is shown for one use.
    type Shown: Send + Sync;
    /// A use with what the answers say about it.
    type Scored: Send;
    /// Everything that a report shows.
    type Results;

    /// What the model must be able to do.
    const PURPOSE: Purpose;
    /// Usual [`Plan::max_context`].
    const MAX_CONTEXT: u64;
    /// Whether the model is shown [`Requests::text`] and [`Requests::full_text`], which takes another replay.
    const SHOWS_TEXTS: bool;

    /// Draws uses of one conversation under one policy, as indices in `References::uses`.
    fn draw(from: &Evaluated, memory: &mut Memory) -> Vec<(u32, Self::Hint)>;

    /// Divides the uses of one policy into groups of indices. The same number of uses is asked about in each group, and the first ones of
    /// a group are asked first. If the number cannot be divided evenly, the first groups get the remainder.
    fn groups(drawn: &[&SampledUse<Self::Hint>], seed: u64) -> Vec<Vec<usize>>;

    /// Says why there is nothing to ask.
    fn nothing_to_ask(left_out: usize, plan: &Plan) -> String;

    /// Writes what the model is shown for a use; `None` if it cannot be asked about.
    fn show(requests: &Requests, used: &SampledUse<Self::Hint>) -> Option<Self::Shown>;

    /// Asks about the uses of one request. Questions whose prompts begin alike follow each other, so that a server has them in its cache.
    ///
    /// # Errors
    ///
    /// Fails with the first question that has no answer.
    fn score(cases: &[Case<Self>], ask: Ask) -> Result<Vec<Self::Scored>, Unanswered>;

    /// Summarises the answers. `left_out` is what [`Memory::left_out`] counted; policies are in the order of the report.
    fn results(about: About, left_out: usize, policies: &[&str], scored: Vec<Self::Scored>) -> Self::Results;
}

/// The size of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Maximum number of questions, or of uses, in all.
    pub questions: usize,
    /// Maximum tokens of a request's messages: by the report's token counter, or by o200k if requests are trimmed.
    pub max_context: u64,
    pub seed: u64,
}

/// What the results of a probe are about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct About {
    pub model: String,
    /// The transcripts that were found but from which no use could be drawn, and why.
    #[serde(skip_serializing_if = "Coverage::is_complete")]
    pub coverage: Coverage,
    #[serde(flatten)]
    pub plan: Plan,
}

impl About {
    /// Returns the header of results of all transcripts.
    pub fn new(model: &str, plan: Plan) -> Self {
        Self { model: model.to_owned(), coverage: Coverage::default(), plan }
    }
}

/// A use of a fact under one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledUse<H> {
    pub policy: String,
    pub transcript: String,
    pub conversation: String,
    pub recording: Arc<Recording>,
    /// Index of the recorded call.
    pub call: u32,
    /// Index in `References::uses` of the conversation.
    pub index: u32,
    pub fact: Fact,
    /// Calls since the fact was last seen.
    pub gap: u32,
    pub provenance: Provenance,
    pub outcome: Outcome,
    /// Share of the other sessions of the repository that have the fact too; `None` if no other session is known.
    pub shared: Option<f64>,
    pub hint: H,
}

impl<H> SampledUse<H> {
    /// Returns the session of the use.
    pub fn session(&self) -> Session<'_> {
        Session::named(&self.recording.session)
    }

    /// Whether two uses are in the same request.
    fn is_beside(&self, other: &Self) -> bool {
        self.call == other.call
            && self.policy == other.policy
            && self.conversation == other.conversation
            && self.transcript == other.transcript
    }
}

/// A use with what the model is shown.
pub struct Case<S: Scorer> {
    pub used: SampledUse<S::Hint>,
    pub shown: S::Shown,
}

/// What happened to a fact under a policy, by the retention metric.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The request contains the fact.
    #[default]
    InContext,
    /// The request names a file or page from which the agent can get the fact again.
    Recoverable,
    /// It does, but the file was written since.
    Stale,
    /// Neither.
    Lost,
}

impl Outcome {
    /// All outcomes, in the order of reports.
    pub const ALL: [Outcome; 4] = [Self::InContext, Self::Recoverable, Self::Stale, Self::Lost];

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::InContext => "in context",
            Self::Recoverable => "recoverable",
            Self::Stale => "stale",
            Self::Lost => "lost",
        }
    }

    /// Whether the fact is not in the request.
    pub fn is_gone(self) -> bool {
        self != Self::InContext
    }
}

impl From<UseOutcome> for Outcome {
    fn from(outcome: UseOutcome) -> Self {
        match outcome {
            UseOutcome::Hit { .. } => Self::InContext,
            UseOutcome::Soft { .. } | UseOutcome::Reworded => Self::Recoverable,
            UseOutcome::Stale => Self::Stale,
            UseOutcome::Hard => Self::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::extract::FactKind;

    /// Returns a use for tests.
    pub fn used<H>(policy: &str, transcript: &str, call: u32, outcome: Outcome, hint: H) -> SampledUse<H> {
        SampledUse {
            policy: policy.to_owned(),
            transcript: transcript.to_owned(),
            conversation: "main".to_owned(),
            recording: Arc::new(Recording { session: transcript.to_owned(), ..Recording::default() }),
            call,
            index: 0,
            fact: Fact::plain(FactKind::Identifier, "pool_size"),
            gap: 2,
            provenance: Provenance::Tool,
            outcome,
            shared: None,
            hint,
        }
    }
}
