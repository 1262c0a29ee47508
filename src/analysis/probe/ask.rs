//! Asks a model about uses, request by request.

use rayon::prelude::*;

use super::{Case, Scorer};
use crate::llm::client::{Answer, Model, Question};

/// A question about a use.
pub struct Asked {
    pub of: Of,
    pub question: Question,
    /// Bytes of the prompt that are the same in all questions about this request; `None` if each has a prompt of its own.
    pub prefix: Option<usize>,
    /// What an error says if there is no answer; the reason follows.
    pub failure: String,
}

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The request without compaction.
    Full,
    /// The policy's request.
    Policy,
    /// A control, with its name in a forecast.
    Control(&'static str),
}

/// Asks a question. The answer is empty while questions are only counted, so what is asked must not depend on answers.
pub type Ask<'a> = &'a mut dyn FnMut(Asked) -> Result<Answer, Unanswered>;

/// A question without an answer, because the model failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{failure}: {why}")]
pub struct Unanswered {
    failure: String,
    why: String,
}

/// Asks about every use, and returns them in order. Calls `each` after every one.
///
/// # Errors
///
/// Fails with the first question that has no answer.
pub fn ask<S: Scorer>(model: &Model, cases: &[Case<S>], each: &(dyn Fn() + Sync)) -> Result<Vec<S::Scored>, Unanswered> {
    let requests: Vec<&[Case<S>]> = by_request(cases).collect();
    let scored = requests.par_iter().map(|cases| {
        let scored = S::score(cases, &mut |Asked { question, failure, .. }| {
            model.ask(&question).map_err(|error| Unanswered { failure, why: error.to_string() })
        });
        cases.iter().for_each(|_| each());
        scored
    });
    let scored: Vec<Result<Vec<S::Scored>, Unanswered>> = scored.collect();
    Ok(scored.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Returns the uses of each request.
pub(super) fn by_request<S: Scorer>(cases: &[Case<S>]) -> impl Iterator<Item = &[Case<S>]> {
    cases.chunk_by(|one, next| one.used.is_beside(&next.used))
}
