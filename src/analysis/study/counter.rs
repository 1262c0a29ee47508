//! Chooses the token counter of a conversation.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::results::saved::CalibrationRow;
use crate::tokens::block_sizes::BlockSizes;
use crate::tokens::calibration::{Calibration, main_model, public_tokenizer};
use crate::tokens::meter::{Meter, RECORDED, SizeUnit, UnknownMeter};
use crate::transcript::conversation::Conversation;

/// Counter of models about which nothing is known.
pub const DEFAULT_COUNTER: Meter = Meter::from_unit(SizeUnit::O200k);

/// How tokens are counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum TokenCounter {
    /// Own counter of each conversation: calibrated with recorded usage if the model's tokenizer is not public, else that
    /// tokenizer.
    Own,
    /// Calibrated with recorded usage, whatever the model.
    Recorded,
    /// The same meter for all conversations.
    Fixed(Meter),
}

/// Counter of one conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedCounter {
    pub meter: Meter,
    pub calibration: Option<Calibration>,
    /// Name of the model, if its tokens needed a calibration that was not possible.
    uncalibrated: Option<String>,
}

impl TokenCounter {
    /// Returns the counter for a conversation, which depends on its model unless the counter is fixed.
    pub fn resolve(self, conversation: &Conversation) -> ResolvedCounter {
        let by_meter = |meter| ResolvedCounter { meter, calibration: None, uncalibrated: None };
        match (self, main_model(conversation)) {
            (TokenCounter::Fixed(meter), _) => by_meter(meter),
            (TokenCounter::Own, None) => by_meter(DEFAULT_COUNTER),
            (TokenCounter::Recorded, _) if conversation.calls.is_empty() => by_meter(DEFAULT_COUNTER),
            (TokenCounter::Own, Some(model)) if let Some(unit) = public_tokenizer(model) => by_meter(Meter::from_unit(unit)),
            (TokenCounter::Own | TokenCounter::Recorded, model) => match Calibration::for_conversation(conversation) {
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
    /// Returns the sizes of a conversation's blocks in the unit of the meter and in other units.
    pub fn sizes(&self, conversation: &Conversation, others: impl IntoIterator<Item = SizeUnit>) -> BlockSizes {
        match &self.calibration {
            Some(calibration) => BlockSizes::new(conversation, others).with(self.meter.unit, &calibration.sizes),
            None => BlockSizes::new(conversation, others.into_iter().chain([self.meter.unit])),
        }
    }

    /// Returns the model, if its tokens needed a calibration and are counted by [`DEFAULT_COUNTER`] instead.
    pub(super) fn uncalibrated(&self) -> Option<&str> {
        self.uncalibrated.as_deref()
    }

    pub(super) fn row(&self, transcript: &str, conversation: &Conversation) -> Option<CalibrationRow> {
        // Where the record has the size of every block, none was estimated.
        let is_estimated = conversation.blocks.iter().any(|block| block.recorded_tokens.is_none());
        let calibration = self.calibration.as_ref().filter(|_| is_estimated);
        calibration.map(|calibration| CalibrationRow::new(transcript, &conversation.name, calibration))
    }
}

/// Why a value of `--tokenizer` is not a counter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CounterError {
    #[error(transparent)]
    Unknown(UnknownMeter),
    #[error("needs a meter that counts by itself, without `recorded+`")]
    ByUsage,
    #[error("needs a meter of blocks, and `{0}` counts whole messages")]
    OfMessages(SizeUnit),
}

impl fmt::Display for TokenCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenCounter::Own => f.write_str("own"),
            TokenCounter::Recorded => f.write_str(RECORDED.name),
            TokenCounter::Fixed(meter) => meter.fmt(f),
        }
    }
}

impl From<TokenCounter> for String {
    fn from(counter: TokenCounter) -> Self {
        counter.to_string()
    }
}

impl TryFrom<String> for TokenCounter {
    type Error = CounterError;

    fn try_from(name: String) -> Result<Self, CounterError> {
        name.parse()
    }
}

impl FromStr for TokenCounter {
    type Err = CounterError;

    /// Parses `own`, `recorded`, or a meter.
    fn from_str(name: &str) -> Result<Self, CounterError> {
        match name {
            "own" => Ok(TokenCounter::Own),
            name if name == RECORDED.name => Ok(TokenCounter::Recorded),
            name => match name.parse::<Meter>().map_err(CounterError::Unknown)? {
                meter if meter.recorded => Err(CounterError::ByUsage),
                meter if !meter.unit.adds_up() => Err(CounterError::OfMessages(meter.unit)),
                meter => Ok(TokenCounter::Fixed(meter)),
            },
        }
    }
}
