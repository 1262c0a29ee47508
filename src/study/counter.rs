//! What counts the tokens of a conversation.

use std::str::FromStr;

use crate::calibrate::{By, Calibration, FEWEST, has_public_tokenizer, model};
use crate::conversation::Conversation;
use crate::meter::{Measure, Meter, RECORDED, UnknownMeter};
use crate::results::{CalibrationRow, ResultNote};
use crate::sizes::Sizes;
use crate::text::many;

/// The counter of models whose tokenizer is public, and of those nobody knows anything of.
pub const DEFAULT_COUNTER: Meter = Meter::of(Measure::O200k);

/// What counts tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Counter {
    /// Each conversation's own: as recorded usage calibrates it for models whose tokenizer is not public, else [`DEFAULT_COUNTER`].
    Own,
    /// As recorded usage calibrates it, whatever the model.
    Recorded,
    /// The same for all.
    Fixed(Meter),
}

/// How one conversation is counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Counting {
    pub meter: Meter,
    pub calibration: Option<Calibration>,
    /// Why something else than the conversation's own usage stands in, where that was wanted.
    stands_in: Option<String>,
}

impl Counter {
    pub fn of(self, conversation: &Conversation) -> Counting {
        let by = |meter| Counting { meter, calibration: None, stands_in: None };
        match (self, model(conversation)) {
            (Counter::Fixed(meter), _) => by(meter),
            (Counter::Own, None) => by(DEFAULT_COUNTER),
            (Counter::Recorded, _) if conversation.calls.is_empty() => by(DEFAULT_COUNTER),
            (Counter::Own, Some(model)) if has_public_tokenizer(model) => by(DEFAULT_COUNTER),
            (Counter::Own | Counter::Recorded, model) => calibrated(conversation, model),
        }
    }
}

fn calibrated(conversation: &Conversation, model: Option<&str>) -> Counting {
    let calibration = Calibration::of(conversation);
    let other = match calibration.as_ref().map(|calibration| calibration.by) {
        Some(By::Itself) => None,
        Some(By::Family(name)) => Some(format!("by the rates of other recordings of {name} models")),
        None => Some(format!("by {DEFAULT_COUNTER}")),
    };
    let stands_in = other.map(|other| {
        let of = model.unwrap_or("a model nobody names");
        let name = &conversation.name;
        format!("conversation {name}: fewer than {FEWEST} calls tell by their recorded usage how {of} counts; counted {other}")
    });
    let meter = calibration.as_ref().map_or(DEFAULT_COUNTER, Calibration::meter);
    Counting { meter, calibration, stands_in }
}

impl Counting {
    /// The sizes of a conversation's blocks by the meter and by other measures.
    pub fn sizes(&self, conversation: &Conversation, others: impl IntoIterator<Item = Measure>) -> Sizes {
        let sizes = Sizes::new(conversation, others.into_iter().chain([self.meter.measure]));
        match &self.calibration {
            Some(calibration) => sizes.with(self.meter.measure, &calibration.sizes),
            None => sizes,
        }
    }

    pub(super) fn row(&self, transcript: &str, conversation: &Conversation) -> Option<CalibrationRow> {
        self.calibration.as_ref().map(|calibration| CalibrationRow::new(transcript, &conversation.name, calibration))
    }
}

/// One note a transcript, however many of its conversations could not be counted by their own usage.
pub(super) fn stand_ins(transcript: &str, countings: &[Counting]) -> Option<ResultNote> {
    let mut all = countings.iter().filter_map(|counting| counting.stands_in.as_deref());
    let first = all.next()?;
    let what = match all.count() {
        0 => first.to_owned(),
        more => format!("{first}; so were {}", many(more, "more conversation")),
    };
    Some(ResultNote { path: transcript.to_owned(), line: None, what })
}

/// What `--tokenizer` takes that counts nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoCounter {
    #[error(transparent)]
    Unknown(UnknownMeter),
    #[error("a meter that counts by itself is needed, without `recorded+`")]
    ByUsage,
}

impl FromStr for Counter {
    type Err = NoCounter;

    /// `own`, `recorded`, or a meter.
    fn from_str(name: &str) -> Result<Self, NoCounter> {
        match name {
            "own" => Ok(Counter::Own),
            name if name == RECORDED.name => Ok(Counter::Recorded),
            name => match name.parse::<Meter>().map_err(NoCounter::Unknown)? {
                meter if meter.recorded => Err(NoCounter::ByUsage),
                meter => Ok(Counter::Fixed(meter)),
            },
        }
    }
}
