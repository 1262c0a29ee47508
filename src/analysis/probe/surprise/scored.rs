//! Uses with the surprise of a model.

use std::f64::consts::LN_2;

use serde::Serialize;

use super::excerpt::tokens;
use super::prompts::{Control, Prompts};
use super::{Surprise, is_at_fetch};
use crate::analysis::probe::{Ask, Asked, Case, Of, Outcome, Unanswered};
use crate::llm::client::Question;

/// Names of the controls.
const OTHER_BLOCK: &str = "control: without another block";
const OTHER_FACT: &str = "control: another fact";

/// How a call needs a fact: its response names it, or it fetches the fact again.
pub const NEEDS: [&str; 2] = ["named", "fetched again"];

/// A use with the model's surprise, in bits. Fields of a control are `None` if the use has the other one.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ScoredUse {
    pub policy: String,
    pub transcript: String,
    pub conversation: String,
    pub session: String,
    /// Working directory of the session, as recorded.
    pub project: Option<String>,
    /// Id of the transcript's format.
    pub format: String,
    /// The model that answered most of the recorded calls.
    pub recorded_model: Option<String>,
    /// Number of the call, from 1.
    pub call: usize,
    pub kind: &'static str,
    pub fact: String,
    /// Calls since the fact was last seen.
    pub gap: u32,
    /// One of [`NEEDS`].
    pub need: &'static str,
    pub provenance: &'static str,
    pub outcome: Outcome,
    /// Weight of the fact in the retention metric, in bits.
    pub weight: f64,
    /// The logarithm of the rarity of the fact in its conversation.
    pub rarity: f64,
    /// Share of the other sessions of the repository that have the fact too; `None` if no other session is known.
    pub shared: Option<f64>,
    /// Bytes of the fact in its canonical form, and its tokens by the model.
    pub bytes: usize,
    pub tokens: usize,
    /// Surprise with the full request, with the policy's, and the difference of the two: the loss.
    pub full: f64,
    pub compacted: f64,
    pub lost: f64,
    /// Loss if another block of the same size is taken out of the full request.
    pub other_block: Option<f64>,
    /// Surprise of another fact of the same kind with the full request, and how much more it is with the policy's.
    pub other_fact_full: Option<f64>,
    pub other_fact: Option<f64>,
    /// Tokens of the trimmed full prompt (o200k) and of the whole request.
    pub prompt_tokens: u64,
    pub request_tokens: u64,
}

/// Asks about a use: the fact after the full request and after the policy's, and the control.
pub(super) fn score(case: &Case<Surprise>, ask: Ask) -> Result<ScoredUse, Unanswered> {
    let Case { used, shown: Prompts { fact, full, policy, control, request_tokens } } = case;
    let mut bits = |of: Of, prompt: &str, fact: &str| {
        let call = used.call + 1;
        let failure = format!("{}: the log-probability of `{fact}` (call {call}, {}) is not known", used.transcript, used.policy);
        let answer = ask(Asked { of, question: question(prompt, fact), prefix: None, failure })?;
        Ok((surprise(&answer.logprobs), answer.logprobs.len()))
    };
    // The questions about one prompt follow each other, so that the server has it in its cache.
    let (of_full, tokens_of_fact) = bits(Of::Full, full, fact)?;
    let other_full = match control {
        Control::OtherFact(other) => Some(bits(Of::Control(OTHER_FACT), full, other)?.0),
        _ => None,
    };
    let (of_policy, _) = bits(Of::Policy, policy, fact)?;
    let (other_block, other_fact) = match (control, other_full) {
        (Control::OtherBlock(without), _) => (Some(bits(Of::Control(OTHER_BLOCK), without, fact)?.0 - of_full), None),
        (Control::OtherFact(other), Some(full)) => (None, Some(bits(Of::Control(OTHER_FACT), policy, other)?.0 - full)),
        _ => (None, None),
    };
    Ok(ScoredUse {
        policy: used.policy.clone(),
        transcript: used.transcript.clone(),
        conversation: used.conversation.clone(),
        session: used.recording.session.clone(),
        project: used.recording.project.clone(),
        format: used.recording.format.to_string(),
        recorded_model: used.recording.model.clone(),
        call: used.call as usize + 1,
        kind: used.fact.kind.name(),
        fact: fact.clone(),
        gap: used.gap,
        need: NEEDS[usize::from(is_at_fetch(used))],
        provenance: used.provenance.name(),
        outcome: used.outcome,
        weight: rounded(used.fact.weight),
        rarity: rounded(used.fact.rarity),
        shared: used.shared.map(rounded),
        bytes: fact.len(),
        tokens: tokens_of_fact,
        full: rounded(of_full),
        compacted: rounded(of_policy),
        lost: rounded(of_policy - of_full),
        other_block: other_block.map(rounded),
        other_fact_full: other_full.map(rounded),
        other_fact: other_fact.map(rounded),
        prompt_tokens: tokens(full),
        request_tokens: *request_tokens,
    })
}

fn question(prompt: &str, fact: &str) -> Question {
    Question {
        system: String::new(),
        user: prompt.to_owned(),
        max_tokens: fact.len() as u64,
        continuation: Some(fact.to_owned()),
    }
}

/// Returns −Σ log₂ of the probabilities.
fn surprise(logprobs: &[f64]) -> f64 {
    -logprobs.iter().sum::<f64>() / LN_2
}

/// Rounds to a thousandth of a bit: models are not more exact.
fn rounded(bits: f64) -> f64 {
    // Adding 0 makes −0 to 0.
    (bits * 1e3).round() / 1e3 + 0.0
}
