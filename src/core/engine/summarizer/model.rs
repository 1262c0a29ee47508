//! Asks a model for summaries.
//!
//! The input that the layer's limits allow is written block by block, each under the name of its speaker, and inserted into the
//! layer's [prompt](crate::llm::prompt) as data. The prompt also defines which part of the answer is the summary.

use super::dialogue::{Utterance, dialogue};
use super::{AnswerCost, InputBlock, Reply, Summarizer, SummaryError, SummaryRequest};
use crate::llm::client::{AskError, Model, Outcome, Question};

/// A summarizer that asks a model, as the harness asks its own.
pub struct ModelSummarizer {
    pub model: Model,
}

impl Summarizer for ModelSummarizer {
    fn summarize(&self, request: &SummaryRequest) -> Reply {
        let question = build_question(request);
        match self.model.look_up(&question) {
            Err(error) => Reply { text: Err(to_summary_error(error)), cost: None },
            Ok(asked) => {
                let (usage, seconds) = asked.took();
                let paid = AnswerCost { key: asked.key, model: self.model.name().to_owned(), usage, seconds };
                Reply { text: extract_summary(request, asked.outcome), cost: Some(paid) }
            }
        }
    }
}

/// Builds the question to the model.
pub(super) fn build_question(request: &SummaryRequest) -> Question {
    Question {
        system: request.prompt.system.clone(),
        user: request.prompt.user(&dialogue(request.blocks.iter().map(InputBlock::utterance)), request.focus),
        max_tokens: request.max_tokens,
        continuation: None,
    }
}

/// Extracts the summary from the answer.
pub(super) fn extract_summary(request: &SummaryRequest, outcome: Outcome) -> Result<String, SummaryError> {
    let answer = outcome.map_err(SummaryError::Refused)?;
    let text = request.prompt.summary(&answer.text);
    match (text.is_empty(), answer.cut_off) {
        (true, _) => Err(SummaryError::Empty),
        (false, true) => Err(SummaryError::OverCap { max_tokens: request.max_tokens, text }),
        (false, false) => Ok(text),
    }
}

fn to_summary_error(error: AskError) -> SummaryError {
    match error {
        AskError::TooLong(what) => SummaryError::Refused(what),
        AskError::Unanswered(what) => SummaryError::Unanswered(what),
    }
}

impl InputBlock<'_> {
    fn utterance(&self) -> Utterance<'_> {
        let Self { kind, origin, tool, is_error, .. } = *self;
        Utterance { kind, origin, tool, is_error, text: self.text().into() }
    }
}
