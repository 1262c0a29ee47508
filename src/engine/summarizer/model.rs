//! Summaries by a model.
//!
//! What the layer's limits let through is written down block by block, under the name of who said it, and put into the layer's
//! [prompt](crate::llm::prompt) as data. What of the answer is the summary, the prompt says, too.

use super::dialogue::{Utterance, dialogue};
use super::{AnswerCost, InputBlock, Reply, Summarizer, SummaryError, SummaryRequest};
use crate::llm::client::{AskError, Model, Outcome, Question};

/// A model in the place of the harness's own.
pub struct ModelSummarizer {
    pub model: Model,
}

impl Summarizer for ModelSummarizer {
    fn summarize(&self, ask: &SummaryRequest) -> Reply {
        let question = question(ask);
        match self.model.look_up(&question) {
            Err(trouble) => Reply { text: Err(failure(trouble)), paid: None },
            Ok(asked) => {
                let (usage, seconds) = asked.took();
                let paid = AnswerCost { key: asked.key, model: self.model.name().to_owned(), usage, seconds };
                Reply { text: summary(ask, asked.outcome), paid: Some(paid) }
            }
        }
    }
}

/// What the model is asked.
pub(super) fn question(ask: &SummaryRequest) -> Question {
    Question {
        system: ask.prompt.system.clone(),
        user: ask.prompt.user(&dialogue(ask.pieces.iter().map(InputBlock::said)), ask.focus),
        max_tokens: ask.max_tokens,
    }
}

/// What of the answer is the summary.
pub(super) fn summary(ask: &SummaryRequest, outcome: Outcome) -> Result<String, SummaryError> {
    let answer = outcome.map_err(SummaryError::Refused)?;
    let text = ask.prompt.summary(&answer.text);
    match (text.is_empty(), answer.cut_off) {
        (true, _) => Err(SummaryError::Empty),
        (false, true) => Err(SummaryError::OverCap { max_tokens: ask.max_tokens, text }),
        (false, false) => Ok(text),
    }
}

fn failure(trouble: AskError) -> SummaryError {
    match trouble {
        AskError::TooLong(what) => SummaryError::Refused(what),
        AskError::Unanswered(what) => SummaryError::Unanswered(what),
    }
}

impl InputBlock<'_> {
    fn said(&self) -> Utterance<'_> {
        let Self { kind, origin, tool, is_error, .. } = *self;
        Utterance { kind, origin, tool, is_error, text: self.text().into() }
    }
}
