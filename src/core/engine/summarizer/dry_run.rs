//! A dry run: collects the questions to a model without asking it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::model::{build_question, extract_summary};
use super::{Extract, Reply, Summarizer, SummaryRequest};
use crate::llm::client::{Model, Usage};

/// Answers from the cassette; without an answer there, answers as `extract` does. Later questions depend on these answers, so
/// they are an estimate.
pub struct DryRun {
    pub model: Model,
    pub planned: Arc<PlannedCalls>,
}

/// The questions to one model, by key.
#[derive(Debug, Default)]
pub struct PlannedCalls(Mutex<BTreeMap<String, PlannedCall>>);

/// One question to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedCall {
    /// Maximum usage: the tokens of the question by the report's counter, and the maximum tokens of the answer.
    pub at_most: Usage,
    /// The cassette already has the answer.
    pub is_known: bool,
}

impl PlannedCalls {
    /// Returns all questions, sorted by key.
    pub fn calls(&self) -> Vec<PlannedCall> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().copied().collect()
    }
}

impl Summarizer for DryRun {
    fn summarize(&self, request: &SummaryRequest) -> Reply {
        let question = build_question(request);
        let (key, known) = self.model.known(&question);
        let input = (request.tokens)(&question.system) + (request.tokens)(&question.user);
        let at_most = Usage { input, output: question.max_tokens, ..Usage::default() };
        let call = PlannedCall { at_most, is_known: known.is_some() };
        self.planned.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, call);
        match known {
            Some(outcome) => extract_summary(request, outcome).into(),
            None => Extract::default().summarize(request),
        }
    }
}
