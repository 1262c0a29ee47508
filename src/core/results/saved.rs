//! The results of a study, as plain data: columns with units, a row of values for each conversation and policy, and totals.
//!
//! This is also the saved form, version 2: `-o json` writes it and `recompact report` reads it, as it reads version 1.

mod calibration;
mod comparison;
mod cost;
mod coverage;
mod families;
mod origin;
mod read;
mod recording;
mod retention;
mod schema;
mod session;
mod sharing;
mod spending;
mod study;
mod summarizer;
mod summary;
mod sweep;
mod total;
mod trace;
mod unfinished;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::ShownRequest;
use crate::engine::policy::DecidedBy;
use crate::findings::Finding;
use crate::transcript::format::Note;

pub use crate::metrics::column::{Aggregation, Column, ColumnId, Direction, Unit};
pub use crate::metrics::column_map::{ColumnMap, Intervals, Values};
pub use calibration::CalibrationRow;
pub use comparison::{ComparisonRow, Statistics};
pub use cost::{CheckRow, CostlyInvalidation, EventCounts, InvalidationRow};
pub use coverage::{Coverage, LeftOut};
pub use families::{Families, Kinship};
pub use origin::{Dates, Program};
pub use read::ResultsError;
pub use recording::{Recording, move_to};
pub use retention::{KeptRow, MissRow};
pub use schema::schema;
pub use session::Session;
pub use sharing::Sharing;
pub use spending::{SpendingRow, answer_spending, cassette_spending};
pub use study::StudyRecord;
pub use summarizer::{Spread, SummarizerRow};
pub use summary::summarise;
pub use sweep::{
    ConfigurationRow, Neighbour, Objective, ParameterRow, Recommendation, ReferenceRow, RungRow, SensitivityRow, Sweep,
};
pub use total::Accumulator;
pub use trace::{EventMark, TraceLine, TraceRow};
pub use unfinished::{SavedTranscript, Unfinished};

/// Version of the saved form that this program writes. It reads the earlier ones, too.
pub const VERSION: u64 = 2;

/// The results of a study, as they are saved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Results {
    /// Version of the saved form.
    pub version: u64,
    /// The program that computed these results; unknown in results of version 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// The study that gave these results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<StudyRecord>,
    /// The dates of the recordings and of the prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dates: Option<Dates>,
    pub columns: Vec<Column>,
    /// Rows, ordered by transcript, then conversation, then policy.
    pub rows: Vec<Row>,
    /// One summary for each policy, in the order of the policies.
    pub summary: Vec<Summary>,
    /// How the intervals and comparisons were computed; `None` if there are too few sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistics: Option<Statistics>,
    /// Every policy compared with the baseline, by policy and column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<ComparisonRow>,
    /// Tokens, time and money that answers of models took, by model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spending: Vec<SpendingRow>,
    /// The results of a sweep; `rows` then holds the policies on its Pareto front.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// What each layer of each policy did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<LayerRow>,
    /// Retention of earlier facts, by policy and group of uses.
    #[serde(alias = "kept", default, skip_serializing_if = "Vec::is_empty")]
    pub retention: Vec<KeptRow>,
    /// Comparison of summarizers, by policy, then summarizer; recorded summaries come last. Empty unless several are compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summarizers: Vec<SummarizerRow>,
    /// The worst hard misses of each policy, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misses: Vec<MissRow>,
    /// Cache invalidations, by policy and layer.
    #[serde(alias = "breaks", default, skip_serializing_if = "Vec::is_empty")]
    pub invalidations: Vec<InvalidationRow>,
    /// The most expensive cache invalidations of each policy, the most expensive first.
    #[serde(alias = "dear_breaks", default, skip_serializing_if = "Vec::is_empty")]
    pub costliest_invalidations: Vec<CostlyInvalidation>,
    /// The cost check of each conversation with recorded usage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckRow>,
    /// Conversations whose token counts are calibrated to recorded usage, ordered by transcript, then conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calibrations: Vec<CalibrationRow>,
    /// Tokens per call, one row for each conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<TraceRow>,
    /// Ids of the findings that the study looked for; empty if it looked for none.
    #[serde(alias = "looked_for", default)]
    pub checked_findings: Vec<String>,
    /// Findings, ordered by transcript, then conversation, then policy.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// The replayed policies.
    #[serde(default)]
    pub policies: Vec<PolicyText>,
    #[serde(default)]
    pub notes: Vec<ResultNote>,
    /// Some requests, for a report that shows them. They are not saved, because transcripts hold them.
    #[serde(skip)]
    pub requests: Vec<ShownRequest>,
    /// The transcripts that were found but are not in these results, and why.
    #[serde(default)]
    pub coverage: Coverage,
    /// What `--resume` needs; `None` if the study is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
}

/// One conversation under one policy. Rows of one study share their texts: large studies have hundreds of thousands of rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    pub transcript: Arc<str>,
    pub conversation: Arc<str>,
    /// What the record says about the conversation: stored once for all of its rows.
    #[serde(flatten)]
    pub recording: Arc<Recording>,
    pub policy: Arc<str>,
    /// Set on rows of a bound: the policy that it bounds. An oracle that knows the future gets the bound with the tokens that the
    /// policy sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_of: Option<Arc<str>>,
    pub values: Values,
}

/// All conversations under one policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    pub policy: String,
    /// Set on summaries of a bound: the policy that it bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_of: Option<String>,
    /// Number of transcripts; one transcript may hold several conversations.
    pub transcripts: usize,
    pub values: Values,
    #[serde(default, skip_serializing_if = "ColumnMap::is_empty")]
    pub intervals: Intervals,
    /// Where the values of as many further sessions would be, in 95 of 100 cases.
    #[serde(default, skip_serializing_if = "ColumnMap::is_empty")]
    pub predictions: Intervals,
}

/// What one layer of one policy did over the whole study.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayerRow {
    pub policy: String,
    /// The layer's id.
    pub layer: String,
    /// Calls at which the layer made an edit.
    pub fired: u64,
    /// Calls at which the layer could not be evaluated, such as an idle trigger on a record without times.
    pub skipped: u64,
    /// Calls at which the layer was due but failed: no span to cut, or no answer from the summarizer.
    pub failed: u64,
    pub edits: u64,
    /// Tokens that the edits removed from the context; negative for a layer that adds content.
    pub tokens_freed: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A policy as it was replayed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyText {
    pub name: String,
    /// The policy as TOML, with the settings from the command line.
    pub toml: String,
    /// Who decides whether the policy acts, if its user cannot: it is never recommended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<DecidedBy>,
    /// Known bugs of the original, which the policy reproduces.
    #[serde(alias = "quirks", default, skip_serializing_if = "Vec::is_empty")]
    pub known_bugs: Vec<String>,
}

/// A note about a place in a transcript: a skipped line, a branch that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResultNote {
    pub path: String,
    /// Line of the file, from 1.
    #[serde(default)]
    pub line: Option<u32>,
    /// The text of the note.
    pub what: String,
}

impl ResultNote {
    /// What was noticed when a transcript was read.
    pub fn of_reading(transcript: &str, note: &Note) -> Self {
        Self { path: transcript.to_owned(), line: note.line, what: note.what.clone() }
    }

    /// A transcript that was left out, because another one has its calls.
    pub fn of_copy(copy: &str, original: &str) -> Self {
        let what = format!("a copy: its calls are in {original} too, and count only there");
        Self { path: copy.to_owned(), line: None, what }
    }
}

impl Row {
    /// Returns a row for a bound of this row's policy in the same conversation. Its name is `POLICY · NAME`.
    pub fn bound(&self, name: &str, values: Values) -> Self {
        let policy = format!("{} · {name}", self.policy).into();
        Self { policy, bound_of: Some(self.policy.clone()), values, ..self.clone() }
    }
}

impl Results {
    /// Returns empty results of this program.
    pub fn of_this_program() -> Self {
        Self { version: VERSION, program: Some(Program::this()), ..Self::default() }
    }

    /// Returns the column with this id.
    pub fn column(&self, id: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.id == id)
    }

    /// Returns a policy's value of a column over all conversations; `None` if there is no such policy or column, or no value.
    pub fn total(&self, policy: &str, column: &str) -> Option<f64> {
        let summary = self.summary.iter().find(|summary| summary.policy == policy && summary.bound_of.is_none())?;
        summary.values.get(column)
    }
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
        let recording = Recording { session: transcript.into(), model: Some("m".into()), ..Recording::default() };
        Row {
            transcript: transcript.into(),
            conversation: "main".into(),
            recording: recording.into(),
            policy: policy.into(),
            bound_of: None,
            values,
        }
    }

    #[test]
    fn summary_totals_each_column_by_its_aggregation() {
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
    fn bounds_follow_their_policy() {
        let none = [None; 6];
        let bound = |policy: &str, name: &str| row("a", policy, none).bound(name, Values::default());
        // There is a bound of `r`, which has no row, and a policy that is named like a bound.
        let rows = [row("a", "p", none), bound("r", "best"), bound("q", "best"), bound("p", "best"), row("a", "q", none)];
        let rows = [&rows[..], &[row("a", "p · best", none), bound("p", "limit"), bound("p", "best")]].concat();
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
    fn saved_results_round_trip() {
        let rows = vec![row("a.jsonl", "p", [Some(4.0), Some(1.0), Some(0.75), None, Some(1.0), Some(0.5)])];
        let results = Results {
            summary: summarise(&columns(), &rows),
            columns: columns(),
            rows,
            layers: vec![LayerRow { policy: "p".into(), layer: "micro".into(), fired: 3, ..LayerRow::default() }],
            retention: vec![KeptRow {
                policy: "p".into(),
                grouped_by: "gap".into(),
                group: "2–3".into(),
                hit: 0.1,
                ..KeptRow::default()
            }],
            misses: vec![MissRow { policy: "p".into(), fact: "\u{202e}".into(), weight: 1e-9, ..MissRow::default() }],
            calibrations: vec![CalibrationRow { model: "m".into(), result: 0.35, ..CalibrationRow::default() }],
            policies: vec![PolicyText { name: "p".into(), toml: "window = 200000\n".into(), ..PolicyText::default() }],
            notes: vec![ResultNote { path: "a.jsonl".into(), line: Some(3), what: "not JSON".into() }],
            ..Results::of_this_program()
        };
        let json = serde_json::to_string(&results).expect("results are JSON");
        assert!(json.starts_with(r#"{"version":2,"program":{"name":"recompact","version":""#));
        let begin = r#"{"transcript":"a.jsonl","conversation":"main","session":"a.jsonl","model":"m","policy":"p","values":"#;
        assert!(json.contains(begin), "{json}");
        assert!(json.contains(r#""values":{"tokens.baseline":4,"tokens.sent":1,"tokens.saved":0.75,"tokens.peak":null,"#));
        assert!(!json.contains("intervals"), "empty intervals are left out");
        assert_eq!(Results::from_json(&json).expect("what was written"), results);
    }

    #[test]
    fn saved_values_are_read_in_column_order() {
        let json = r#"{"version": 1, "extra": {}, "columns": [
            {"id": "a", "unit": "count", "better": "lower", "about": ""}, {"id": "b", "unit": "usd", "better": "higher", "about": ""}],
            "rows": [{"transcript": "t", "conversation": "main", "policy": "p", "values": {"b": 2, "a": 1}}], "summary": []}"#;
        let results = Results::from_json(json).expect("the least a version 1 has");
        assert_eq!(results.rows[0].values.ids().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(results.columns[0].combine, Aggregation::Nothing);
    }

    #[test]
    fn saved_results_errors_name_problem_and_place() {
        let error = |json: &str| Results::from_json(json).expect_err("not results").to_string();
        assert_eq!(error("{\n  oops"), "not JSON: key must be a string at line 2 column 3");
        assert_eq!(error(r#"{"version":1"#), "not JSON: EOF while parsing an object at line 1 column 12");
        assert_eq!(error("{}"), "saved results begin with a \"version\"; this has none (are these results of `-o json`?)");
        assert_eq!(error(r#"{"version":3}"#), "saved results of version 3; this program reads versions 1 to 2");
        assert_eq!(error(r#"{"version":1}"#), "not saved results of version 1 or 2: missing field `columns` at line 1 column 13");
        let row = r#"{"transcript":"t","conversation":"main","policy":"p","values":{"x":1}}"#;
        assert_eq!(
            error(&format!(r#"{{"version":1,"columns":[],"rows":[{row}],"summary":[]}}"#)),
            r#"row 1 ("t", policy "p") has a value for "x", which is not among the columns"#
        );
    }
}
