//! What a study found, as plain data: columns with units, a row of values for every conversation under every policy, and
//! their totals. This is also the saved form, version 1: what `-o json` writes and `recompact report` reads.

mod calibration;
mod comparison;
mod cost;
mod retention;
mod session;
mod spending;
mod summarizer;
mod sweep;
mod total;
mod trace;
mod unfinished;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::findings::Finding;
use crate::transcript::format::jsonl::replace_lone_surrogates;

pub use crate::metrics::column::{Aggregation, Column, ColumnId, Direction, Unit};
pub use crate::metrics::column_map::{ColumnMap, Intervals, Values};
pub use calibration::CalibrationRow;
pub use comparison::{ComparisonRow, Statistics};
pub use cost::{BreakRow, CheckRow, CostlyBreak};
pub use retention::{KeptRow, MissRow};
pub use session::Session;
pub use spending::{SpendingRow, of_answers, of_cassette};
pub use summarizer::{Spread, SummarizerRow};
pub use sweep::{ConfigurationRow, Neighbour, Objective, ParameterRow, Recommendation, RungRow, SensitivityRow, Sweep};
pub use total::Accumulator;
pub use trace::{EventMark, TraceLine, TraceRow};
pub use unfinished::{SavedTranscript, Unfinished};

/// The version this program writes and reads.
pub const VERSION: u64 = 1;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    pub version: u64,
    pub columns: Vec<Column>,
    /// By transcript, then conversation, then policy.
    pub rows: Vec<Row>,
    /// One a policy, in the order of the policies.
    pub summary: Vec<Summary>,
    /// How the intervals of the summary and the comparisons were drawn; none where there are too few sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistics: Option<Statistics>,
    /// Every policy against the baseline, by policy and column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<ComparisonRow>,
    /// What the answers of models took.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spending: Vec<SpendingRow>,
    /// What a sweep found; the rows are then of the policies on its front.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<LayerRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptRow>,
    /// Where several summarizers are compared, by policy, then summarizer; those of the record last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summarizers: Vec<SummarizerRow>,
    /// The worst hard misses of each policy, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misses: Vec<MissRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<BreakRow>,
    /// The dearest breaks of each policy, the dearest first.
    #[serde(default, rename = "dear_breaks", skip_serializing_if = "Vec::is_empty")]
    pub costliest_breaks: Vec<CostlyBreak>,
    /// One a conversation with recorded usage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckRow>,
    /// By transcript, then conversation: those whose tokens were counted as recorded usage tells them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calibrations: Vec<CalibrationRow>,
    /// Tokens per call, one a conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<TraceRow>,
    /// The ids of the findings that were looked for, in the rows of the policies that were asked for; none where nobody asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looked_for: Vec<String>,
    /// What is wrong, by transcript, then conversation, then policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    #[serde(default)]
    pub policies: Vec<PolicyText>,
    #[serde(default)]
    pub notes: Vec<ResultNote>,
    /// None where the study came to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
}

/// One conversation under one policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub transcript: String,
    pub conversation: String,
    pub policy: String,
    /// The policy this is a bound of: what could have been done with what that policy sent, by someone who knows what comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_of: Option<String>,
    pub values: Values,
}

/// All conversations under one policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub policy: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_of: Option<String>,
    /// How many transcripts the values are of; one transcript may hold several conversations.
    pub transcripts: usize,
    pub values: Values,
    #[serde(default, skip_serializing_if = "ColumnMap::is_empty")]
    pub intervals: Intervals,
}

/// What one layer of one policy did over the whole study.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerRow {
    pub policy: String,
    /// The layer's id.
    pub layer: String,
    /// Calls at which it made an edit.
    pub fired: u64,
    /// Calls at which it could not be evaluated: an idle trigger on a record without a clock.
    pub skipped: u64,
    /// Calls at which it was due and did not reach what it is for: no span to cut, a summarizer without an answer.
    pub failed: u64,
    pub edits: u64,
    /// Tokens the edits took out of the context; negative for a layer that attaches.
    pub tokens_freed: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A policy as it was replayed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyText {
    pub name: String,
    /// The effective policy, settings from the command line included.
    pub toml: String,
    /// What the original does that one would not expect, and that is replayed as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quirks: Vec<String>,
}

/// Something to know about a place in a transcript: a line that was skipped, a branch that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultNote {
    pub path: String,
    #[serde(default)]
    pub line: Option<u32>,
    pub what: String,
}

/// Why a text is not saved results that this program reads.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    #[error("not JSON: {0}")]
    NotJson(serde_json::Error),
    #[error("saved results begin with a \"version\"; this has none (are these results of `-o json`?)")]
    NoVersion,
    #[error("saved results of version {0}; this program reads version {VERSION}")]
    OtherVersion(String),
    #[error("not saved results of version {VERSION}: {0}")]
    Shape(serde_json::Error),
    #[error("the column {0:?} is described twice")]
    TwiceDescribed(String),
    #[error("{place} has a value for {column:?}, which is not among the columns")]
    UnknownColumn { place: String, column: String },
}

impl Row {
    /// A bound of this row's policy in the same conversation, named after both.
    pub fn bound(&self, name: &str, values: Values) -> Self {
        let policy = format!("{} · {name}", self.policy);
        Self { policy, bound_of: Some(self.policy.clone()), values, ..self.clone() }
    }
}

impl Results {
    /// The column with this id.
    pub fn column(&self, id: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.id == id)
    }

    /// Reads saved results. Fields of other versions are skipped; values come in the order of the columns.
    pub fn from_json(text: &str) -> Result<Self, ResultsError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: Option<serde_json::Value>,
        }

        let text = replace_lone_surrogates(Cow::Borrowed(text.trim_start_matches('\u{feff}')));
        let Versioned { version } = serde_json::from_str(&text).map_err(unreadable)?;
        match version {
            None => return Err(ResultsError::NoVersion),
            Some(version) if version.as_u64() == Some(VERSION) => {}
            Some(other) => return Err(ResultsError::OtherVersion(other.to_string())),
        }
        let mut results: Self = serde_json::from_str(&text).map_err(unreadable)?;
        results.sort_values()?;
        Ok(results)
    }

    /// Puts all values in the order of the columns.
    fn sort_values(&mut self) -> Result<(), ResultsError> {
        let mut places = HashMap::new();
        for (place, column) in self.columns.iter().enumerate() {
            if places.insert(column.id.as_ref(), place).is_some() {
                return Err(ResultsError::TwiceDescribed(column.id.to_string()));
            }
        }
        let unknown = |place: String, column: &str| ResultsError::UnknownColumn { place, column: column.to_owned() };
        let place = |id: &str| places.get(id).copied().unwrap_or(usize::MAX);
        for (number, row) in self.rows.iter_mut().enumerate() {
            if let Some(id) = row.values.ids().find(|id| !places.contains_key(id)) {
                let row = format!("row {} ({:?}, policy {:?})", number + 1, row.transcript, row.policy);
                return Err(unknown(row, id));
            }
            row.values.sort_by_place(place);
        }
        for summary in &mut self.summary {
            if let Some(id) = summary.values.ids().chain(summary.intervals.ids()).find(|id| !places.contains_key(id)) {
                return Err(unknown(format!("the summary of policy {:?}", summary.policy), id));
            }
            summary.values.sort_by_place(place);
            summary.intervals.sort_by_place(place);
        }
        Ok(())
    }
}

fn unreadable(error: serde_json::Error) -> ResultsError {
    if error.is_data() { ResultsError::Shape(error) } else { ResultsError::NotJson(error) }
}

/// Totals of the rows of every policy, policies in the order of their first rows, each with its bounds right below it.
/// Intervals stay empty.
pub fn summarise(columns: &[Column], rows: &[Row]) -> Vec<Summary> {
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    let mut places = HashMap::new();
    for row in rows {
        let place = *places.entry((row.policy.as_str(), row.bound_of.as_deref())).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[place].push(row);
    }
    // A bound whose policy has no row stays where it came.
    let own_place = |group: &Vec<&Row>| {
        let bound_of = group.first()?.bound_of.as_deref()?;
        places.get(&(bound_of, None)).copied()
    };
    let mut below: Vec<_> = groups.iter().enumerate().map(|(place, group)| (own_place(group).unwrap_or(place), place)).collect();
    below.sort_by_key(|(policy, place)| (*policy, policy != place, *place));
    below.into_iter().filter_map(|(_, place)| summarise_policy(columns, &groups[place])).collect()
}

fn summarise_policy(columns: &[Column], rows: &[&Row]) -> Option<Summary> {
    let first = rows.first()?;
    let transcripts: HashSet<&str> = rows.iter().map(|row| row.transcript.as_str()).collect();
    Some(Summary {
        policy: first.policy.clone(),
        bound_of: first.bound_of.clone(),
        transcripts: transcripts.len(),
        values: columns.iter().map(|column| (column.id.clone(), column.total(rows.iter().map(|row| &row.values)))).collect(),
        intervals: Intervals::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: ColumnId = ColumnId::Borrowed("tokens.sent");
    const BASELINE: ColumnId = ColumnId::Borrowed("tokens.baseline");

    fn columns() -> Vec<Column> {
        vec![
            Column::estimated("tokens.baseline", Unit::Tokens, Direction::Neither, Aggregation::Sum, "Sent by keep-all."),
            Column::estimated("tokens.sent", Unit::Tokens, Direction::Lower, Aggregation::Sum, "Sent."),
            Column::estimated(
                "tokens.saved",
                Unit::Share,
                Direction::Higher,
                Aggregation::Saving { over: SENT, under: BASELINE },
                "1 − sent ÷ baseline.",
            ),
            Column::estimated("tokens.peak", Unit::Tokens, Direction::Lower, Aggregation::Max, "Largest request."),
            Column::estimated("tokens.final", Unit::Tokens, Direction::Lower, Aggregation::Mean, "Last request."),
            Column::counted("kept.hit", Unit::Share, Direction::Higher, Aggregation::Weighted { by: BASELINE }, "Still there."),
        ]
    }

    fn row(transcript: &str, policy: &str, values: [Option<f64>; 6]) -> Row {
        let values = columns().into_iter().map(|column| column.id).zip(values).collect();
        Row { transcript: transcript.into(), conversation: "main".into(), policy: policy.into(), bound_of: None, values }
    }

    #[test]
    fn every_column_is_totalled_in_its_own_way() {
        let rows = [
            row("a", "p", [Some(100.0), Some(50.0), Some(0.5), Some(40.0), Some(11.0), Some(1.0)]),
            row("b", "p", [Some(300.0), Some(50.0), Some(0.8), Some(70.0), Some(14.0), Some(0.2)]),
            row("b", "p", [None, None, None, None, None, None]),
            row("b", "q", [None, None, None, None, None, Some(0.3)]),
        ];
        let summary = summarise(&columns(), &rows);
        assert_eq!(summary.iter().map(|s| (s.policy.as_str(), s.transcripts)).collect::<Vec<_>>(), [("p", 2), ("q", 1)]);
        let values = |s: &Summary| columns().iter().map(|c| s.values.get(&c.id)).collect::<Vec<_>>();
        // 1 − 100/400; the larger peak; 12.5 rounded; (1·100 + 0.2·300) / 400.
        assert_eq!(values(&summary[0]), [400.0, 100.0, 0.75, 70.0, 13.0, 0.4].map(Some));
        assert_eq!(values(&summary[1]), [None; 6]);
    }

    #[test]
    fn bounds_stand_below_their_policy() {
        let none = [None; 6];
        let of = |policy: &str, bound: &str| row("a", policy, none).bound(bound, Values::default());
        // The bound of `r`, which was not replayed, and a policy that is named like a bound.
        let rows = [row("a", "p", none), of("r", "best"), of("q", "best"), of("p", "best"), row("a", "q", none)];
        let rows = [&rows[..], &[row("a", "p · best", none), of("p", "limit"), of("p", "best")]].concat();
        let summary = summarise(&columns(), &rows);
        let names: Vec<_> = summary.iter().map(|s| (s.policy.as_str(), s.bound_of.as_deref())).collect();
        let expected = [
            ("p", None),
            ("p · best", Some("p")),
            ("p · limit", Some("p")),
            ("r · best", Some("r")),
            ("q", None),
            ("q · best", Some("q")),
            ("p · best", None),
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let rows = vec![row("a.jsonl", "p", [Some(4.0), Some(1.0), Some(0.75), None, Some(1.0), Some(0.5)])];
        let results = Results {
            version: VERSION,
            summary: summarise(&columns(), &rows),
            columns: columns(),
            rows,
            layers: vec![LayerRow { policy: "p".into(), layer: "micro".into(), fired: 3, ..LayerRow::default() }],
            kept: vec![KeptRow { policy: "p".into(), by: "gap".into(), of: "2–3".into(), hit: 0.1, ..KeptRow::default() }],
            misses: vec![MissRow { policy: "p".into(), fact: "\u{202e}".into(), weight: 1e-9, ..MissRow::default() }],
            calibrations: vec![CalibrationRow { model: "m".into(), result: 0.35, ..CalibrationRow::default() }],
            policies: vec![PolicyText { name: "p".into(), toml: "window = 200000\n".into(), quirks: vec![] }],
            notes: vec![ResultNote { path: "a.jsonl".into(), line: Some(3), what: "not JSON".into() }],
            ..Results::default()
        };
        let json = serde_json::to_string(&results).expect("results are JSON");
        assert!(json.starts_with(r#"{"version":1,"columns":[{"id":"tokens.baseline","unit":"tokens","better":"neither","#));
        assert!(json.contains(r#""values":{"tokens.baseline":4,"tokens.sent":1,"tokens.saved":0.75,"tokens.peak":null,"#));
        assert!(!json.contains("intervals"), "empty intervals are left out");
        assert_eq!(Results::from_json(&json).expect("what was written"), results);
    }

    #[test]
    fn values_are_read_into_the_order_of_the_columns() {
        let json = r#"{"version": 1, "extra": {}, "columns": [
            {"id": "a", "unit": "count", "better": "lower", "about": ""}, {"id": "b", "unit": "usd", "better": "higher", "about": ""}],
            "rows": [{"transcript": "t", "conversation": "main", "policy": "p", "values": {"b": 2, "a": 1}}], "summary": []}"#;
        let results = Results::from_json(json).expect("the least a version 1 has");
        assert_eq!(results.rows[0].values.ids().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(results.columns[0].combine, Aggregation::Nothing);
    }

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        let error = |json: &str| Results::from_json(json).expect_err("not results").to_string();
        assert_eq!(error("{\n  oops"), "not JSON: key must be a string at line 2 column 3");
        assert_eq!(error(r#"{"version":1"#), "not JSON: EOF while parsing an object at line 1 column 12");
        assert_eq!(error("{}"), "saved results begin with a \"version\"; this has none (are these results of `-o json`?)");
        assert_eq!(error(r#"{"version":2}"#), "saved results of version 2; this program reads version 1");
        assert_eq!(error(r#"{"version":1}"#), "not saved results of version 1: missing field `columns` at line 1 column 13");
        let row = r#"{"transcript":"t","conversation":"main","policy":"p","values":{"x":1}}"#;
        assert_eq!(
            error(&format!(r#"{{"version":1,"columns":[],"rows":[{row}],"summary":[]}}"#)),
            r#"row 1 ("t", policy "p") has a value for "x", which is not among the columns"#
        );
    }
}
