//! Asks a model, and says beforehand how much that is.

use std::collections::HashSet;
use std::sync::LazyLock;

use rayon::prelude::*;
use serde::Serialize;

use super::{Question, Shown, Spot};
use crate::llm::client;
use crate::llm::client::Model;
use crate::llm::prompt::Prompt;
use crate::tokens::meter::SizeUnit;

/// Tokens an answer may have: the longest fact that is asked for, and some words around it.
const MAX_TOKENS: u64 = 64;

static PROMPT: LazyLock<Prompt> = LazyLock::new(|| toml::from_str(include_str!("question.toml")).unwrap_or_default());

/// A question and what the model said to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnsweredQuestion {
    pub policy: String,
    pub transcript: String,
    pub conversation: String,
    /// The call whose request was shown, from 1.
    pub call: usize,
    /// The line of the transcript that the question is about.
    pub line: u32,
    pub kind: &'static str,
    /// As it stood there.
    pub fact: String,
    pub question: String,
    /// What the kept measure says: `hit`, `soft` or `hard`.
    pub outcome: &'static str,
    /// Whether the request holds the very line, and not only the fact.
    pub line_in_sight: bool,
    /// Of the request.
    pub context: Answer,
    /// Of the same request with nothing compacted, where that is short enough.
    pub everything: Option<Answer>,
    /// Of no context at all.
    pub nothing: Answer,
}

impl AnsweredQuestion {
    pub fn is_hit(&self) -> bool {
        self.outcome == "hit"
    }
}

/// What a model answered, and whether that names the fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    pub answer: String,
    pub right: bool,
}

/// A question to which there was no answer.
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

/// Prompts of one kind, each counted once however often it is needed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Forecast {
    /// A policy's name, or one of the two controls.
    pub of: String,
    pub questions: usize,
    pub contexts: usize,
    /// Tokens of the prompts by o200k_base.
    pub tokens: u64,
    /// Those of them that are new to a server that remembers what it read last.
    pub new_tokens: u64,
}

/// What the two controls are called.
pub const EVERYTHING: &str = "everything in sight";
pub const NOTHING: &str = "no context";

/// Asks every question, those about one request one after another; `each` hears of every question that is done.
pub fn ask(model: &Model, shown: &[Shown], each: &(dyn Fn() + Sync)) -> Result<Vec<AnsweredQuestion>, Unanswered> {
    let asked: Vec<Result<Vec<AnsweredQuestion>, Unanswered>> =
        shown.par_iter().map(|shown| of_spot(model, shown, each)).collect();
    Ok(asked.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

fn of_spot(model: &Model, shown: &Shown, each: &(dyn Fn() + Sync)) -> Result<Vec<AnsweredQuestion>, Unanswered> {
    let Shown { spot, context, everything } = shown;
    let all = |context: &str| -> Result<Vec<Answer>, Unanswered> {
        spot.questions.iter().map(|question| answer(model, spot, question, context)).collect()
    };
    let of_context = all(context)?;
    let of_everything = everything.as_deref().map(all).transpose()?;
    let of_nothing = all("")?;
    let answers = spot.questions.iter().zip(of_context).zip(of_nothing).enumerate();
    let asked = answers.map(|(place, ((question, context_answer), nothing))| {
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
            everything: of_everything.as_ref().map(|answers| answers[place].clone()),
            nothing,
        }
    });
    Ok(asked.collect())
}

fn answer(model: &Model, spot: &Spot, question: &Question, context: &str) -> Result<Answer, Unanswered> {
    let answer = model.ask(&prompt(question, context)).map_err(|trouble| Unanswered {
        transcript: spot.transcript.clone(),
        line: question.line,
        fact: question.cloze.answer.clone(),
        call: spot.call + 1,
        policy: spot.policy.clone(),
        why: trouble.to_string(),
    })?;
    let said = PROMPT.summary(&answer.text);
    let right = question.cloze.is_answered_by(&said, question.kind, &question.fact);
    Ok(Answer { answer: said, right })
}

/// The context first and the question last: prompts about one request begin alike.
fn prompt(question: &Question, context: &str) -> client::Question {
    let user = PROMPT.user(context, Some(&question.cloze.line));
    client::Question { system: PROMPT.system.clone(), user, max_tokens: MAX_TOKENS }
}

/// What [`ask`] would ask: of each policy, then of the controls.
pub fn forecast(shown: &[Shown]) -> Vec<Forecast> {
    let mut forecasts: Vec<Forecast> = Vec::new();
    let mut known = HashSet::new();
    let mut count = |of: &str, spot: &Spot, context: &str| {
        let place = forecasts.iter().position(|forecast| forecast.of == of).unwrap_or_else(|| {
            forecasts.push(Forecast { of: of.to_owned(), ..Forecast::default() });
            forecasts.len() - 1
        });
        let forecast = &mut forecasts[place];
        let tokens = |text: &str| SizeUnit::O200k.text(text);
        let mut same = 0;
        for question in &spot.questions {
            let prompt = prompt(question, context);
            let all = tokens(&prompt.system) + tokens(&prompt.user);
            if !known.insert(prompt.user) {
                continue;
            }
            forecast.questions += 1;
            forecast.tokens += all;
            forecast.new_tokens += all - same;
            if same == 0 {
                forecast.contexts += 1;
                same = tokens(&PROMPT.system) + tokens(&PROMPT.user(context, None));
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
