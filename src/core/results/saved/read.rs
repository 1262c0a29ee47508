//! Reads saved results, of this version and of earlier ones.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;

use super::{Results, Sharing, VERSION};
use crate::transcript::format::jsonl::replace_lone_surrogates;

/// The first version of the saved form. Its names are aliases of today's, and it says nothing about the program or the recordings.
const OLDEST: u64 = 1;

/// Why saved results cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    #[error("not JSON: {0}")]
    NotJson(serde_json::Error),
    #[error("saved results begin with a \"version\"; this has none (are these results of `-o json`?)")]
    NoVersion,
    #[error("saved results of version {0}; this program reads versions {OLDEST} to {VERSION}")]
    OtherVersion(String),
    #[error("not saved results of version {OLDEST} or {VERSION}: {0}")]
    Shape(serde_json::Error),
    #[error("the column {0:?} is described twice")]
    TwiceDescribed(String),
    #[error("{place} has a value for {column:?}, which is not among the columns")]
    UnknownColumn { place: String, column: String },
}

impl Results {
    /// Reads saved results of any version; what it returns has today's. Ignores unknown fields and sorts values into the order of
    /// the columns.
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON, not of a known version, or has values of columns that it does not describe.
    pub fn from_json(text: &str) -> Result<Self, ResultsError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: Option<serde_json::Value>,
        }

        let text = replace_lone_surrogates(Cow::Borrowed(text.trim_start_matches('\u{feff}')));
        let Versioned { version } = serde_json::from_str(&text).map_err(json_error)?;
        match version {
            None => return Err(ResultsError::NoVersion),
            Some(version) if version.as_u64().is_some_and(|version| (OLDEST..=VERSION).contains(&version)) => {}
            Some(other) => return Err(ResultsError::OtherVersion(other.to_string())),
        }
        let mut results: Self = serde_json::from_str(&text).map_err(json_error)?;
        results.version = VERSION;
        results.sort_values()?;
        Sharing::default().add(&mut results.rows);
        Ok(results)
    }

    /// Sorts all values into the order of the columns.
    fn sort_values(&mut self) -> Result<(), ResultsError> {
        let mut positions = HashMap::new();
        for (position, column) in self.columns.iter().enumerate() {
            if positions.insert(column.id.as_ref(), position).is_some() {
                return Err(ResultsError::TwiceDescribed(column.id.to_string()));
            }
        }
        let unknown = |place: String, column: &str| ResultsError::UnknownColumn { place, column: column.to_owned() };
        let position = |id: &str| positions.get(id).copied().unwrap_or(usize::MAX);
        for (number, row) in self.rows.iter_mut().enumerate() {
            if let Some(id) = row.values.ids().find(|id| !positions.contains_key(id)) {
                let row = format!("row {} ({:?}, policy {:?})", number + 1, row.transcript, row.policy);
                return Err(unknown(row, id));
            }
            row.values.sort_by_place(position);
        }
        for summary in &mut self.summary {
            let intervals = summary.intervals.ids().chain(summary.predictions.ids());
            if let Some(id) = summary.values.ids().chain(intervals).find(|id| !positions.contains_key(id)) {
                return Err(unknown(format!("the summary of policy {:?}", summary.policy), id));
            }
            summary.values.sort_by_place(position);
            summary.intervals.sort_by_place(position);
            summary.predictions.sort_by_place(position);
        }
        Ok(())
    }
}

fn json_error(error: serde_json::Error) -> ResultsError {
    if error.is_data() { ResultsError::Shape(error) } else { ResultsError::NotJson(error) }
}
