//! Asks a model the questions of a probe, and forecasts their number and tokens.

use std::collections::HashSet;
use std::sync::LazyLock;

use rayon::prelude::*;
use serde::Serialize;

use super::{Question, Shown, Spot};
use crate::llm::client;
use crate::llm::client::Model;
use crate::llm::prompt::Prompt;
use crate::tokens::meter::SizeUnit;

/// Maximum tokens of an answer: the longest fact that is asked for, and some words around it.
const MAX_TOKENS: u64 = 64;

static PROMPT: LazyLock<Prompt> =
    LazyLock::new(|| toml::from_str(include_str!("question.toml")).expect("it is part of the program, and a test parses it"));

/// A question with the model's answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnsweredQuestion {
    pub policy: String,
    pub transcript: String,
    pub conversation: String,
    /// Number of the call whose request was shown, from 1.
    pub call: usize,
    /// Line of the transcript that the question is about.
    pub line: u32,
    pub kind: &'static str,
    /// The fact as that line had it.
    pub fact: String,
    pub question: String,
    /// Outcome in the retention metric: `hit`, `soft` or `hard`.
    pub outcome: &'static str,
    /// Whether the request contains the whole line, not only the fact.
    pub line_in_sight: bool,
    /// Answer with the request.
    pub context: Answer,
    /// Answer with the same request without compaction, if that is short enough.
    pub everything: Option<Answer>,
    /// Answer without any context.
    pub nothing: Answer,
}

impl AnsweredQuestion {
    /// Returns whether the fact is in the context.
    pub fn is_hit(&self) -> bool {
        self.outcome == "hit"
    }
}

/// An answer of the model, and whether it names the fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    pub answer: String,
    pub right: bool,
}

/// A question without an answer, because the model failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{transcript}:{line}: the question for `{fact}` (call {call}, {policy}) has no answer: {why}")]
pub struct Unanswered {
    transcript: String,
    line: u32,
    fact: String,
    call: usize,
    policy: String,
    why: String,
}

/// Number and tokens of the prompts for one policy or control. Equal prompts count once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Forecast {
    /// Name of the policy, or of one of the two controls.
    pub of: String,
    pub questions: usize,
    pub contexts: usize,
    /// Tokens of the prompts by o200k_base.
    pub tokens: u64,
    /// Tokens that are new to a server with a cache of the previous prompt.
    pub new_tokens: u64,
}

/// Names of the two controls.
pub const EVERYTHING: &str = "full context";
/// Name of the control that gives the model no context.
pub const NOTHING: &str = "no context";

/// Asks every question; those about one request one after another. Calls `each` after every question.
pub fn ask(model: &Model, shown: &[Shown], each: &(dyn Fn() + Sync)) -> Result<Vec<AnsweredQuestion>, Unanswered> {
    let asked: Vec<Result<Vec<AnsweredQuestion>, Unanswered>> =
        shown.par_iter().map(|shown| ask_about(model, shown, each)).collect();
    Ok(asked.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

fn ask_about(model: &Model, shown: &Shown, each: &(dyn Fn() + Sync)) -> Result<Vec<AnsweredQuestion>, Unanswered> {
    let Shown { spot, context, everything } = shown;
    let answer_all = |context: &str| -> Result<Vec<Answer>, Unanswered> {
        spot.questions.iter().map(|question| answer(model, spot, question, context)).collect()
    };
    let with_context = answer_all(context)?;
    let with_everything = everything.as_deref().map(answer_all).transpose()?;
    let with_nothing = answer_all("")?;
    let answers = spot.questions.iter().zip(with_context).zip(with_nothing).enumerate();
    let asked = answers.map(|(index, ((question, context_answer), nothing))| {
        each();
        AnsweredQuestion {
            policy: spot.policy.clone(),
            transcript: spot.transcript.clone(),
            conversation: spot.conversation.clone(),
            call: spot.call + 1,
            line: question.line,
            kind: question.kind.name(),
            fact: question.cloze.answer.clone(),
            question: question.cloze.line.clone(),
            outcome: question.outcome_name(),
            line_in_sight: question.cloze.is_in(context),
            context: context_answer,
            everything: with_everything.as_ref().map(|answers| answers[index].clone()),
            nothing,
        }
    });
    Ok(asked.collect())
}

fn answer(model: &Model, spot: &Spot, question: &Question, context: &str) -> Result<Answer, Unanswered> {
    let answer = model.ask(&prompt(question, context)).map_err(|error| Unanswered {
        transcript: spot.transcript.clone(),
        line: question.line,
        fact: question.cloze.answer.clone(),
        call: spot.call + 1,
        policy: spot.policy.clone(),
        why: error.to_string(),
    })?;
    let answer = PROMPT.summary(&answer.text);
    let right = question.cloze.is_answered_by(&answer, question.kind, &question.fact);
    Ok(Answer { answer, right })
}

/// Puts the context first and the question last, so that prompts about one request share a prefix.
fn prompt(question: &Question, context: &str) -> client::Question {
    let user = PROMPT.user(context, Some(&question.cloze.line));
    client::Question { system: PROMPT.system.clone(), user, max_tokens: MAX_TOKENS, continuation: None }
}

/// Returns what [`ask`] would ask: for each policy, then for the controls.
pub fn forecast(shown: &[Shown]) -> Vec<Forecast> {
    let mut forecasts: Vec<Forecast> = Vec::new();
    let mut known = HashSet::new();
    let mut count = |name: &str, spot: &Spot, context: &str| {
        let index = forecasts.iter().position(|forecast| forecast.of == name).unwrap_or_else(|| {
            forecasts.push(Forecast { of: name.to_owned(), ..Forecast::default() });
            forecasts.len() - 1
        });
        let forecast = &mut forecasts[index];
        let tokens = |text: &str| SizeUnit::O200k.text(text);
        // Tokens of the prefix that the prompts about this request share.
        let mut cached = 0;
        for question in &spot.questions {
            let prompt = prompt(question, context);
            let prompt_tokens = tokens(&prompt.system) + tokens(&prompt.user);
            if !known.insert(prompt.user) {
                continue;
            }
            forecast.questions += 1;
            forecast.tokens += prompt_tokens;
            forecast.new_tokens += prompt_tokens - cached;
            if cached == 0 {
                forecast.contexts += 1;
                cached = tokens(&PROMPT.system) + tokens(&PROMPT.user(context, None));
            }
        }
    };
    shown.iter().for_each(|shown| count(&shown.spot.policy, &shown.spot, &shown.context));
    for shown in shown {
        shown.everything.iter().for_each(|everything| count(EVERYTHING, &shown.spot, everything));
    }
    shown.iter().for_each(|shown| count(NOTHING, &shown.spot, ""));
    forecasts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_question_can_be_asked() {
        assert!(!PROMPT.system.is_empty() && PROMPT.user("TALK", Some("LINE")).contains("LINE"));
    }
}
