//! A check of the retention metric by a model's surprise: how many bits a fact costs the model under a policy's request, compared with
//! the full one.
//!
//! A recorded response is a text, and a model gives every token of it a probability. If a fact that the agent used is gone from the
//! request, the tokens that name it are less probable than with the full request: the difference of the logarithms is the loss, in bits.
//! If the fact is still there, or if the model guesses it, there is no loss. This needs no answer that somebody must judge, so small
//! models can do it.
//!
//! The steps: [`sample`] reads a transcript and draws uses of facts; [`choose`] takes the requested number of them, from all outcomes,
//! sessions, kinds and gaps; [`trim`] writes the two requests as text, both trimmed to the same parts; [`ask`] asks the model;
//! [`SurpriseResults`] summarises the answers.
//!
//! Two controls: the full request without another block of the same size, which must cost nothing; and another fact of the same kind in
//! the place of the fact, whose surprise the policy must not change.

mod ask;
mod auc;
mod choose;
mod correlation;
mod estimates;
mod excerpt;
mod grouping;
mod prompts;
mod results;
mod run;
mod sample;
mod worth;

use std::sync::Arc;

use serde::Serialize;

use crate::facts::references::{Fact, Provenance};
use crate::metrics::retention::UseOutcome;
use crate::results::saved::Recording;

pub use super::probe::Plan;
pub use ask::{Forecast, ScoredUse, Unanswered, ask, forecast};
pub use choose::choose;
pub use estimates::{BitsGroup, Estimate};
pub use grouping::Grouping;
pub use prompts::{Control, Prompts, trim};
pub use results::{MIN_AUC, MIN_CORRELATION, SurpriseResults};
pub use run::Uses;
pub use sample::{SampledUses, sample};
pub use worth::{LearnedElsewhere, WorthCheck};

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
            UseOutcome::Soft { .. } => Self::Recoverable,
            UseOutcome::Stale => Self::Stale,
            UseOutcome::Hard => Self::Lost,
        }
    }
}

/// A use of a fact under one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledUse {
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
}
