//! A dry run: what a model would be asked, without asking it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::model::{question, summary};
use super::{Ask, Extract, Reply, Summarizer};
use crate::llm::client::{Model, Usage};

/// Answers as the cassette does, and where that has no answer, as `extract` would: what comes later depends on it, so what is asked
/// later is an estimate.
pub struct Rehearsal {
    pub model: Model,
    pub planned: Arc<Planned>,
}

/// What would be asked of one model, by key.
#[derive(Debug, Default)]
pub struct Planned(Mutex<BTreeMap<String, Call>>);

/// One question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Tokens of its text by the report's counter, and the most that its answer may have.
    pub at_most: Usage,
    /// The cassette has the answer.
    pub is_known: bool,
}

impl Planned {
    /// All of them, in the order of the keys.
    pub fn calls(&self) -> Vec<Call> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().copied().collect()
    }
}

impl Summarizer for Rehearsal {
    fn summarize(&self, ask: &Ask) -> Reply {
        let question = question(ask);
        let (key, known) = self.model.known(&question);
        let input = (ask.tokens)(&question.system) + (ask.tokens)(&question.user);
        let at_most = Usage { input, output: question.max_tokens, ..Usage::default() };
        let call = Call { at_most, is_known: known.is_some() };
        self.planned.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, call);
        match known {
            Some(outcome) => summary(ask, outcome).into(),
            None => Extract::default().summarize(ask),
        }
    }
}
