//! Summarizers that do not read their input.

use super::{Reply, Summarizer, SummaryError, SummaryRequest};

/// Always returns the same text.
pub struct Fixed {
    pub text: String,
}

impl Summarizer for Fixed {
    fn summarize(&self, _: &SummaryRequest) -> Reply {
        Ok(self.text.clone()).into()
    }
}

/// Returns a text of a given size that carries no information.
pub struct Stub {
    /// Tokens of the text.
    pub tokens: u64,
}

/// Each repetition of this word is one token in o200k_base and cl100k_base.
const WORD: &str = " summary";

impl Summarizer for Stub {
    fn summarize(&self, request: &SummaryRequest) -> Reply {
        let words = usize::try_from(self.tokens).unwrap_or(usize::MAX).min(1_000_000);
        let mut text = WORD.repeat(words);
        // Other counters count more or fewer tokens per word: adjust the length.
        let counted = (request.tokens)(&text).max(1);
        if counted != self.tokens {
            text = WORD.repeat((words as f64 * self.tokens as f64 / counted as f64).round() as usize);
        }
        Ok(text).into()
    }
}

/// Never answers.
pub struct Failing;

impl Summarizer for Failing {
    fn summarize(&self, _: &SummaryRequest) -> Reply {
        Err(SummaryError::Other("the summarizer `failing` never answers".to_owned())).into()
    }
}
