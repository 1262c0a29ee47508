//! Where results come from: the program that computed them, and the dates of what they were computed from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::recording::utc;

/// The program that computed results. Another version may count differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// `recompact`.
    pub name: String,
    /// Its version: `0.2.0`.
    pub version: String,
}

impl Program {
    /// Returns the running program.
    pub fn this() -> Self {
        Self { name: "recompact".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// The dates of what results were computed from. None of them is the time of the run, so that a later run has the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dates {
    /// Times of the first and of the last message of all transcripts, in UTC, to the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recordings: Option<[String; 2]>,
    /// The first and the last day on which the prices of the recorded models were read from their sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<[String; 2]>,
}

impl Dates {
    /// Returns the dates, or `None` if there are none. `times` are milliseconds since 1970, `prices` are days.
    pub fn new(times: Option<[i64; 2]>, prices: Option<[String; 2]>) -> Option<Self> {
        let recordings = times.and_then(|[first, last]| Some([utc(first)?, utc(last)?]));
        (recordings.is_some() || prices.is_some()).then_some(Self { recordings, prices })
    }
}
