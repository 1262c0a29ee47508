//! Counts what a model would be asked, without a model.

use std::collections::HashSet;

use serde::Serialize;

use super::ask::{Asked, Of, Unanswered, by_request};
use super::{Case, Scorer};
use crate::llm::client::{Answer, Question, Usage};
use crate::tokens::meter::SizeUnit;

/// Number and tokens of the questions about one policy's requests, about full requests, or of one control. Equal questions count once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Forecast {
    /// [`FULL_CONTEXT`], a policy, or a control.
    pub of: String,
    pub questions: usize,
    /// Number of prompts' beginnings; `None` if every question has a prompt of its own, and the same for `new_tokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contexts: Option<usize>,
    /// Tokens of the prompts, and of the texts to score after them, by o200k.
    pub tokens: u64,
    /// Tokens that are new to a server with a cache of the previous prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_tokens: Option<u64>,
}

/// Name of the questions about the request without compaction.
pub const FULL_CONTEXT: &str = "full context";

/// Returns what [`ask`](super::ask()) would ask: first of the requests that it asks about first, and last of the controls.
///
/// # Errors
///
/// Fails if the scorer cannot go on without an answer.
pub fn forecast<S: Scorer>(cases: &[Case<S>]) -> Result<Vec<Forecast>, Unanswered> {
    let requests: Vec<(&str, Vec<Asked>)> = by_request(cases)
        .map(|cases| Ok((cases[0].used.policy.as_str(), questions(cases)?)))
        .collect::<Result<_, Unanswered>>()?;
    let mut forecasts: Vec<Forecast> = Vec::new();
    let mut known = HashSet::new();
    for place in 0..=LAST {
        for (policy, asked) in &requests {
            // Tokens of the beginning that the prompts about this request share.
            let mut cached = 0;
            for asked in asked.iter().filter(|one| place_of(one.of, &asked[0]) == place) {
                let forecast = of_name(&mut forecasts, name_of(asked.of, policy), asked.prefix.is_some());
                if known.insert((&asked.question.user, &asked.question.continuation)) {
                    count(forecast, asked, &mut cached);
                }
            }
        }
    }
    Ok(forecasts)
}

/// Returns the questions about the uses of one request.
fn questions<S: Scorer>(cases: &[Case<S>]) -> Result<Vec<Asked>, Unanswered> {
    let mut questions = Vec::new();
    S::score(cases, &mut |asked| {
        questions.push(asked);
        Ok(Answer { text: String::new(), logprobs: Vec::new(), cut_off: false, usage: Usage::default(), seconds: 0.0 })
    })?;
    Ok(questions)
}

/// Place of the controls.
const LAST: usize = 2;

fn place_of(of: Of, first: &Asked) -> usize {
    match of {
        Of::Control(_) => LAST,
        of => usize::from(of != first.of),
    }
}

fn name_of(of: Of, policy: &str) -> &str {
    match of {
        Of::Full => FULL_CONTEXT,
        Of::Policy => policy,
        Of::Control(name) => name,
    }
}

fn of_name<'f>(forecasts: &'f mut Vec<Forecast>, name: &str, shares_prefix: bool) -> &'f mut Forecast {
    let index = forecasts.iter().position(|forecast| forecast.of == name).unwrap_or_else(|| {
        let (contexts, new_tokens) = (shares_prefix.then_some(0), shares_prefix.then_some(0));
        forecasts.push(Forecast { of: name.to_owned(), contexts, new_tokens, ..Forecast::default() });
        forecasts.len() - 1
    });
    &mut forecasts[index]
}

fn count(forecast: &mut Forecast, asked: &Asked, cached: &mut u64) {
    let Question { system, user, continuation, .. } = &asked.question;
    let tokens = |text: &str| SizeUnit::O200k.text(text);
    let all = tokens(system) + tokens(user) + continuation.as_deref().map_or(0, tokens);
    forecast.questions += 1;
    forecast.tokens += all;
    forecast.new_tokens.iter_mut().for_each(|new| *new += all - *cached);
    if let (Some(prefix), 0) = (asked.prefix, *cached) {
        forecast.contexts.iter_mut().for_each(|contexts| *contexts += 1);
        *cached = tokens(system) + tokens(&user[..prefix]);
    }
}
