//! Collects what is unknown about models, to report it once per model and not once per transcript.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::metrics::prices::RATIOS;
use crate::results::saved::ResultNote;
use crate::tokens::calibration::MIN_DELTAS;
use crate::util::text::plural;

use super::counter::DEFAULT_COUNTER;

/// Something that is unknown about a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum UnknownFact {
    Price,
    Tokenizer,
    /// What of the calls of a model has no price; the name says both.
    Service,
}

/// By model (its name is empty if the record has none): the first transcript, and the number of conversations.
#[derive(Debug, Default)]
pub struct UnknownModels(BTreeMap<(UnknownFact, String), (String, usize)>);

impl UnknownModels {
    pub fn add(&mut self, unknown: UnknownFact, model: &str, transcript: &str) {
        let of_model = self.0.entry((unknown, model.to_owned())).or_insert_with(|| (transcript.to_owned(), 0));
        of_model.1 += 1;
    }

    pub fn notes(self) -> impl Iterator<Item = ResultNote> {
        self.0.into_iter().map(|((unknown, model), (path, conversations))| {
            let subject = if model.is_empty() { "calls without a model".to_owned() } else { model };
            let what = match unknown {
                UnknownFact::Price => format!(
                    "the prices of {subject} are unknown: costs are ratios to the price of input (cache write {}, cache read {}, output {}), \
                     and sums in USD leave them out; --prices takes a model or a file",
                    RATIOS.cache_write_5m, RATIOS.cache_read, RATIOS.output
                ),
                UnknownFact::Service => format!(
                    "the price of {subject} is unknown: costs leave it out, so they are too low; --prices takes a file that has it"
                ),
                UnknownFact::Tokenizer => format!(
                    "the tokenizer of {subject} is unknown: fewer than {MIN_DELTAS} calls have a usage to calibrate with, and there are no other \
                     recordings of such models; tokens are counted by {DEFAULT_COUNTER}"
                ),
            };
            let what = if conversations > 1 { format!("{what} (the first of {})", plural(conversations, "conversation")) } else { what };
            ResultNote { path, line: None, what }
        })
    }
}
