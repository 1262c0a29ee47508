//! Asks a model for the log-probability of facts, and forecasts the number and the tokens of the questions.

use std::collections::HashSet;
use std::f64::consts::LN_2;

use rayon::prelude::*;
use serde::Serialize;

use super::Outcome;
use super::excerpt::tokens;
use super::prompts::{Control, Prompts};
use crate::llm::client::{Model, Question};

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

/// A question without an answer, because the model failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{transcript}: the log-probability of `{fact}` (call {call}, {policy}) is not known: {why}")]
pub struct Unanswered {
    transcript: String,
    fact: String,
    call: u32,
    policy: String,
    why: String,
}

/// Number and tokens of the questions of one sort. Equal questions count once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Forecast {
    /// `full context`, a policy, or a control.
    pub of: String,
    pub questions: usize,
    /// Tokens of the prompts and the facts by o200k.
    pub tokens: u64,
}

/// Asks about every use. Calls `each` after every one.
pub fn ask(model: &Model, prompts: &[Prompts], each: &(dyn Fn() + Sync)) -> Result<Vec<ScoredUse>, Unanswered> {
    let scored = prompts.par_iter().map(|prompts| {
        let scored = score(model, prompts);
        each();
        scored
    });
    scored.collect::<Vec<_>>().into_iter().collect()
}

fn score(model: &Model, prompts: &Prompts) -> Result<ScoredUse, Unanswered> {
    let Prompts { used, fact, full, policy, control, request_tokens } = prompts;
    let bits = |prompt: &str, fact: &str| -> Result<(f64, usize), Unanswered> {
        let answer = model.ask(&question(prompt, fact)).map_err(|error| Unanswered {
            transcript: used.transcript.clone(),
            fact: fact.to_owned(),
            call: used.call + 1,
            policy: used.policy.clone(),
            why: error.to_string(),
        })?;
        Ok((surprise(&answer.logprobs), answer.logprobs.len()))
    };
    // The questions about one prompt follow each other, so that the server has it in its cache.
    let (of_full, tokens_of_fact) = bits(full, fact)?;
    let other_full = match control {
        Control::OtherFact(other) => Some(bits(full, other)?.0),
        _ => None,
    };
    let (of_policy, _) = bits(policy, fact)?;
    let (other_block, other_fact) = match (control, other_full) {
        (Control::OtherBlock(without), _) => (Some(bits(without, fact)?.0 - of_full), None),
        (Control::OtherFact(other), Some(other_full)) => (None, Some(bits(policy, other)?.0 - other_full)),
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

/// Name of the questions about the request without compaction.
const FULL: &str = "full context";
const OTHER_BLOCK: &str = "control: without another block";
const OTHER_FACT: &str = "control: another fact";

/// Returns what [`ask`] would ask: about the full request, then for each policy, then for the controls.
pub fn forecast(prompts: &[Prompts]) -> Vec<Forecast> {
    let mut questions: Vec<(&str, &str, &str)> = Vec::new();
    questions.extend(prompts.iter().map(|prompts| (FULL, prompts.full.as_str(), prompts.fact.as_str())));
    questions
        .extend(prompts.iter().map(|prompts| (prompts.used.policy.as_str(), prompts.policy.as_str(), prompts.fact.as_str())));
    for Prompts { fact, full, policy, control, .. } in prompts {
        match control {
            Control::OtherBlock(without) => questions.push((OTHER_BLOCK, without, fact)),
            Control::OtherFact(other) => questions.extend([(OTHER_FACT, &**full, &**other), (OTHER_FACT, policy, other)]),
            Control::None => {}
        }
    }
    let mut forecasts: Vec<Forecast> = Vec::new();
    let mut known = HashSet::new();
    for (of, prompt, fact) in questions {
        let index = forecasts.iter().position(|forecast| forecast.of == of).unwrap_or_else(|| {
            forecasts.push(Forecast { of: of.to_owned(), ..Forecast::default() });
            forecasts.len() - 1
        });
        if known.insert((prompt, fact)) {
            forecasts[index].questions += 1;
            forecasts[index].tokens += tokens(prompt) + tokens(fact);
        }
    }
    forecasts
}
