//! Summarizers that do not read their input.

use super::{Reply, Summarizer, SummaryError, SummaryRequest};

/// Always the same text.
pub struct Fixed {
    pub text: String,
}

impl Summarizer for Fixed {
    fn summarize(&self, _: &SummaryRequest) -> Reply {
        Ok(self.text.clone()).into()
    }
}

/// A text of a given size that says nothing.
pub struct Stub {
    pub tokens: u64,
}

/// One token in o200k_base and cl100k_base wherever it stands in a row of itself.
const WORD: &str = " summary";

impl Summarizer for Stub {
    fn summarize(&self, ask: &SummaryRequest) -> Reply {
        let words = usize::try_from(self.tokens).unwrap_or(usize::MAX).min(1_000_000);
        let mut text = WORD.repeat(words);
        // Other counters see more or fewer tokens in a word: shorten or lengthen to what they see.
        let counted = (ask.tokens)(&text).max(1);
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
