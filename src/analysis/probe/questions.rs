//! Asks about facts by questions: a line that contains the fact, in the block where the agent had it from, with the fact left
//! [blank](Cloze). The answer is right or wrong, and is compared with `kept.hit`.
//!
//! One question is one prompt. The context comes first in it, so that questions about one request share a prefix. Each question is asked
//! three times: about the request that a policy would have sent, about the request with everything in it, and without any context,
//! which shows what a model guesses. Half of the questions are about facts in the context, as far as possible.
//!
//! Limits: an answer in other words, or one that repeats the whole line, counts as wrong, and a name that is guessed
//! well counts as right. A hit whose line was summarised is harder for a model than reading a line. And a model that
//! answers wrongly may be a poor reader: compare the hits with the same questions about the request with everything in
//! it.

mod agreement;
mod answered;
mod cloze;
mod draw;
mod results;

use std::cmp::Reverse;
use std::sync::Arc;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::choose::{by_session, in_turn};
use super::{About, Ask, Case, Evaluated, Memory, Outcome, Plan, Requests, SampledUse, Scorer, Unanswered};
use crate::llm::client::Purpose;

pub use agreement::{Agreement, Table};
pub use answered::{Answer, AnsweredQuestion, NOTHING};
pub use cloze::Cloze;
pub use results::{AnswerShare, Answers, KindAnswers, PolicyAnswers, ProbeResults};

/// The probe by questions.
pub struct Questions;

/// What a question needs beside its use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// Line of the transcript that the fact's block was read from.
    pub line: u32,
    pub cloze: Cloze,
}

/// The texts that a model is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub context: Arc<str>,
    /// Text of the request without compaction, if it is short enough.
    pub everything: Option<Arc<str>>,
}

impl Scorer for Questions {
    type Hint = Hint;
    type Shown = Shown;
    type Scored = AnsweredQuestion;
    type Results = ProbeResults;

    const PURPOSE: Purpose = Purpose::Write;
    const MAX_CONTEXT: u64 = 8_000;
    const SHOWS_TEXTS: bool = true;

    fn draw(from: &Evaluated, memory: &mut Memory) -> Vec<(u32, Hint)> {
        draw::draw(from, memory)
    }

    /// Returns misses and hits. One request of each session comes in turn, those with most questions first.
    fn groups(drawn: &[&SampledUse<Hint>], seed: u64) -> Vec<Vec<usize>> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let all: Vec<usize> = (0..drawn.len()).collect();
        let requests = all.chunk_by(|one, next| drawn[*one].is_beside(drawn[*next]));
        let mut sessions = by_session(requests.map(|request| (drawn[request[0]].session(), request)));
        for session in &mut sessions {
            session.shuffle(&mut random);
            // Several questions about one request cost little more than one, because they share its prefix.
            session.sort_by_key(|request| Reverse(request.len()));
        }
        sessions.shuffle(&mut random);
        let order = in_turn(sessions, |_| 0).concat();
        let (misses, hits) = order.into_iter().partition(|at| drawn[*at].outcome.is_gone());
        vec![misses, hits]
    }

    fn nothing_to_ask(too_long: usize, plan: &Plan) -> String {
        let why = match too_long {
            0 => "no call uses a fact last seen two or more calls before".to_owned(),
            some => format!(
                "{some} requests in which a fact was used again are over {} tokens; --max-context allows longer ones",
                plan.max_context
            ),
        };
        format!("no question could be drawn: {why}")
    }

    fn show(requests: &Requests, _: &SampledUse<Hint>) -> Option<Shown> {
        Some(Shown { context: requests.text.clone()?, everything: requests.full_text.clone() })
    }

    fn score(cases: &[Case<Self>], ask: Ask) -> Result<Vec<AnsweredQuestion>, Unanswered> {
        answered::ask_about(cases, ask)
    }

    fn results(about: About, too_long: usize, policies: &[&str], asked: Vec<AnsweredQuestion>) -> ProbeResults {
        ProbeResults::new(about, too_long, policies, asked)
    }
}

impl Outcome {
    /// Returns `hit`, `soft` or `hard`; a stale fact is asked about like a lost one.
    pub fn id(self) -> &'static str {
        match self {
            Self::InContext => "hit",
            Self::Recoverable => "soft",
            Self::Stale | Self::Lost => "hard",
        }
    }
}

#[cfg(test)]
mod tests;
