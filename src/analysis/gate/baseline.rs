//! The baseline: the agreed values, one per line, so that a review can show each change.

use serde::{Deserialize, Serialize, Serializer};

use crate::metrics::column::ColumnId;
use crate::metrics::column_map::Values;

use super::measure::Measured;

/// File version that this program writes and reads. In version 1 the uses of `kept.*` were weighed by rarity, not in bits.
const VERSION: u64 = 2;

/// Values of all gated columns, sorted by suite, policy, column and transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    pub version: u64,
    pub values: Vec<BaselineEntry>,
}

/// One value of the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineEntry {
    pub suite: String,
    pub policy: String,
    pub column: ColumnId,
    /// Transcript of the value, relative to the suite file; `None` for the total of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// `None` if the column did not apply.
    #[serde(serialize_with = "as_number")]
    pub value: Option<f64>,
}

/// Writes numbers as results do, so that they are read back exactly.
fn as_number<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(crate::metrics::column_map::JsonNumber).serialize(serializer)
}

/// Why a text is not a baseline that this program can read.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    #[error("not a baseline that `recompact check --update` wrote: {0}")]
    Shape(#[from] serde_json::Error),
    #[error("a baseline of version {0}; this program reads version {VERSION}: `recompact check --update` writes it again")]
    OtherVersion(u64),
}

impl Baseline {
    /// Builds the baseline from the measured values of all suites.
    pub fn new<'a>(suites: impl Iterator<Item = (&'a str, &'a [Measured])>) -> Self {
        let entries =
            |(suite, measured): (&'a str, &'a [Measured])| measured.iter().flat_map(move |measured| entries_of(suite, measured));
        let mut values: Vec<BaselineEntry> = suites.flat_map(entries).collect();
        let key = |entry: &BaselineEntry| {
            let BaselineEntry { suite, policy, column, transcript, .. } = entry.clone();
            (suite, policy, column, transcript)
        };
        values.sort_by_cached_key(key);
        Self { version: VERSION, values }
    }

    /// # Errors
    ///
    /// Fails if the text is not a baseline, or is a baseline of another version.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let baseline: Self = serde_json::from_str(text)?;
        match baseline.version {
            VERSION => Ok(baseline),
            other => Err(BaselineError::OtherVersion(other)),
        }
    }

    /// Returns a total, or the value of a transcript; `None` if the baseline has no entry or the column did not apply.
    pub fn value(&self, suite: &str, policy: &str, column: &str, transcript: Option<&str>) -> Option<f64> {
        let entries = self.of_policy(suite, policy);
        let mut entries = entries.filter(|entry| entry.column == column && entry.transcript.as_deref() == transcript);
        entries.next()?.value
    }

    /// Returns the transcripts with values of a policy, each once; empty if the policy has no values.
    pub fn transcripts(&self, suite: &str, policy: &str) -> Vec<&str> {
        let mut transcripts: Vec<&str> = self.of_policy(suite, policy).filter_map(|entry| entry.transcript.as_deref()).collect();
        transcripts.sort_unstable();
        transcripts.dedup();
        transcripts
    }

    /// Returns `(suite, policy)` pairs with values, each once.
    pub fn policies(&self) -> Vec<(&str, &str)> {
        let mut policies: Vec<_> = self.values.iter().map(|entry| (entry.suite.as_str(), entry.policy.as_str())).collect();
        policies.sort_unstable();
        policies.dedup();
        policies
    }

    fn of_policy(&self, suite: &str, policy: &str) -> impl Iterator<Item = &BaselineEntry> {
        self.values.iter().filter(move |entry| entry.suite == suite && entry.policy == policy)
    }
}

fn entries_of<'a>(suite: &'a str, measured: &'a Measured) -> impl Iterator<Item = BaselineEntry> + 'a {
    let entries = move |transcript: Option<&'a str>, values: &'a Values| {
        values.ids().map(move |id| BaselineEntry {
            suite: suite.to_owned(),
            policy: measured.policy.clone(),
            column: id.to_owned().into(),
            transcript: transcript.map(str::to_owned),
            value: values.get(id),
        })
    };
    let transcripts = measured.transcripts.iter().flat_map(move |one| entries(Some(&one.transcript), &one.values));
    entries(None, &measured.totals).chain(transcripts)
}

#[cfg(test)]
mod tests {
    use super::super::measure::TranscriptValues;
    use super::*;
    use crate::metrics::column_map::ColumnMap;

    #[test]
    fn baseline_values_round_trip_exactly() {
        let values = |value| [("b", Some(value)), ("a", None)].into_iter().collect::<Values>();
        let third = 1.0 / 3.0;
        let one = TranscriptValues { transcript: "t.jsonl".to_owned(), values: values(0.1 + 0.2), adds: ColumnMap::default() };
        let measured = [Measured { policy: "p".to_owned(), totals: values(third), calls: 1, transcripts: vec![one] }];
        let baseline = Baseline::new([("s", &measured[..])].into_iter());
        let places: Vec<_> = baseline.values.iter().map(|entry| (entry.column.as_ref(), entry.transcript.as_deref())).collect();
        assert_eq!(places, [("a", None), ("a", Some("t.jsonl")), ("b", None), ("b", Some("t.jsonl"))]);
        let text = serde_json::to_string(&baseline).expect("plain data");
        let again = Baseline::parse(&text).expect("what was written");
        assert_eq!(again, baseline);
        assert_eq!(again.value("s", "p", "b", None), Some(third));
        assert_eq!((again.value("s", "p", "a", None), again.value("s", "p", "z", None)), (None, None));
        assert_eq!((again.transcripts("s", "p"), again.policies()), (vec!["t.jsonl"], vec![("s", "p")]));
    }

    #[test]
    fn baseline_of_another_version_is_refused() {
        let other = Baseline::parse(r#"{"version": 1, "values": []}"#).expect_err("another version").to_string();
        assert!(other.starts_with("a baseline of version 1"), "{other}");
        assert!(Baseline::parse("[]").expect_err("no baseline").to_string().starts_with("not a baseline that"));
    }
}
