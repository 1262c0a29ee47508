//! What counts the tokens of a conversation.

use std::str::FromStr;

use crate::results::saved::CalibrationRow;
use crate::tokens::block_sizes::Sizes;
use crate::tokens::calibration::{Calibration, has_public_tokenizer, model};
use crate::tokens::meter::{Meter, RECORDED, SizeUnit, UnknownMeter};
use crate::transcript::conversation::Conversation;

/// The counter of models whose tokenizer is public, and of those nobody knows anything of.
pub const DEFAULT_COUNTER: Meter = Meter::of(SizeUnit::O200k);

/// What counts tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TokenCounter {
    /// Each conversation's own: as recorded usage calibrates it for models whose tokenizer is not public, else [`DEFAULT_COUNTER`].
    Own,
    /// As recorded usage calibrates it, whatever the model.
    Recorded,
    /// The same for all.
    Fixed(Meter),
}

/// How one conversation is counted.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedCounter {
    pub meter: Meter,
    pub calibration: Option<Calibration>,
    /// The model, where its tokens should have been calibrated and could not.
    uncalibrated: Option<String>,
}

impl TokenCounter {
    pub fn of(self, conversation: &Conversation) -> ResolvedCounter {
        let by_meter = |meter| ResolvedCounter { meter, calibration: None, uncalibrated: None };
        match (self, model(conversation)) {
            (TokenCounter::Fixed(meter), _) => by_meter(meter),
            (TokenCounter::Own, None) => by_meter(DEFAULT_COUNTER),
            (TokenCounter::Recorded, _) if conversation.calls.is_empty() => by_meter(DEFAULT_COUNTER),
            (TokenCounter::Own, Some(model)) if has_public_tokenizer(model) => by_meter(DEFAULT_COUNTER),
            (TokenCounter::Own | TokenCounter::Recorded, model) => match Calibration::of(conversation) {
                Some(calibration) => {
                    let resolved = by_meter(calibration.meter());
                    ResolvedCounter { calibration: Some(calibration), ..resolved }
                }
                None => ResolvedCounter { uncalibrated: Some(model.unwrap_or_default().to_owned()), ..by_meter(DEFAULT_COUNTER) },
            },
        }
    }
}

impl ResolvedCounter {
    /// The sizes of a conversation's blocks by the meter and by other measures.
    pub fn sizes(&self, conversation: &Conversation, others: impl IntoIterator<Item = SizeUnit>) -> Sizes {
        let sizes = Sizes::new(conversation, others.into_iter().chain([self.meter.measure]));
        match &self.calibration {
            Some(calibration) => sizes.with(self.meter.measure, &calibration.sizes),
            None => sizes,
        }
    }

    /// The model, where its tokens should have been calibrated and are counted by [`DEFAULT_COUNTER`].
    pub(super) fn uncalibrated(&self) -> Option<&str> {
        self.uncalibrated.as_deref()
    }

    pub(super) fn row(&self, transcript: &str, conversation: &Conversation) -> Option<CalibrationRow> {
        self.calibration.as_ref().map(|calibration| CalibrationRow::new(transcript, &conversation.name, calibration))
    }
}

/// What `--tokenizer` takes that counts nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CounterError {
    #[error(transparent)]
    Unknown(UnknownMeter),
    #[error("a meter that counts by itself is needed, without `recorded+`")]
    ByUsage,
}

impl FromStr for TokenCounter {
    type Err = CounterError;

    /// `own`, `recorded`, or a meter.
    fn from_str(name: &str) -> Result<Self, CounterError> {
        match name {
            "own" => Ok(TokenCounter::Own),
            name if name == RECORDED.name => Ok(TokenCounter::Recorded),
            name => match name.parse::<Meter>().map_err(CounterError::Unknown)? {
                meter if meter.recorded => Err(CounterError::ByUsage),
                meter => Ok(TokenCounter::Fixed(meter)),
            },
        }
    }
}
