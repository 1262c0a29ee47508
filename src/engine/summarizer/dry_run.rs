//! A dry run: what a model would be asked, without asking it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::model::{question, summary};
use super::{Extract, Reply, Summarizer, SummaryRequest};
use crate::llm::client::{Model, Usage};

/// Answers as the cassette does, and where that has no answer, as `extract` would: what comes later depends on it, so what is asked
/// later is an estimate.
pub struct DryRun {
    pub model: Model,
    pub planned: Arc<PlannedCalls>,
}

/// What would be asked of one model, by key.
#[derive(Debug, Default)]
pub struct PlannedCalls(Mutex<BTreeMap<String, PlannedCall>>);

/// One question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedCall {
    /// Tokens of its text by the report's counter, and the most that its answer may have.
    pub at_most: Usage,
    /// The cassette has the answer.
    pub is_known: bool,
}

impl PlannedCalls {
    /// All of them, in the order of the keys.
    pub fn calls(&self) -> Vec<PlannedCall> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().copied().collect()
    }
}

impl Summarizer for DryRun {
    fn summarize(&self, ask: &SummaryRequest) -> Reply {
        let question = question(ask);
        let (key, known) = self.model.known(&question);
        let input = (ask.tokens)(&question.system) + (ask.tokens)(&question.user);
        let at_most = Usage { input, output: question.max_tokens, ..Usage::default() };
        let call = PlannedCall { at_most, is_known: known.is_some() };
        self.planned.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, call);
        match known {
            Some(outcome) => summary(ask, outcome).into(),
            None => Extract::default().summarize(ask),
        }
    }
}
