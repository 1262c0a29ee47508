//! Checks for continuous integration: evaluates suites with limits and a baseline, and gives a verdict per rule.
//!
//! ```text
//!  recompact.toml ──load──▶ Gate: suites with rules (a limit, or how much worse than the baseline)
//!  study ──▶ Results ──measure──▶ totals of the gated columns, and of each transcript
//!  recompact.baseline.json ──▶ Baseline ──evaluate──▶ Verdicts: before, after, what is allowed, the transcript that moved most
//! ```
//!
//! A rule that could not be evaluated never passes: a missing value, here or in the baseline, has its own verdict.

mod baseline;
mod column;
mod draft;
mod evaluate;
mod file;
mod load;
mod measure;
mod run;
mod schema;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Serialize;
use toml::{Table, Value};

use crate::metrics::column::Column;
use crate::results::condition::Condition;
use crate::results::saved::Coverage;
use crate::util::toml_span::TomlSpans;

pub use baseline::{Baseline, BaselineEntry, BaselineError};
pub use column::without_value;
pub use draft::{Draft, DraftLimit, draft_file, draft_limits};
pub use evaluate::{Moved, Outcome, Verdict, evaluate};
pub use file::{SuiteFile, SuiteTable, Tolerance};
pub use measure::{Measured, measure};
pub use run::SuiteResult;
pub use schema::schema;

/// A parsed and checked suite file, with line numbers for errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Path of the baseline, relative to the suite file.
    pub baseline: String,
    pub suites: Vec<Suite>,
}

/// Policies, the transcripts they are replayed on, and the rules for each policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// The suite as written.
    pub table: SuiteTable,
    pub lines: SuiteLines,
    pub rules: Vec<Rule>,
}

/// Where the keys of a suite are in its file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SuiteLines(BTreeMap<String, KeyLines>);

/// Lines of a key, and of the members of its list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct KeyLines {
    key: Option<usize>,
    items: Vec<Option<usize>>,
}

impl SuiteLines {
    fn new(suite: &Table, index: usize, spans: &TomlSpans) -> Self {
        let lines = |(key, value): (&String, &Value)| {
            let items = 0..value.as_array().map_or(0, Vec::len);
            let items = items.map(|item| spans.line_of_item(index, key, item)).collect();
            (key.clone(), KeyLines { key: spans.line(Some(index), key), items })
        };
        Self(suite.iter().map(lines).collect())
    }

    /// Returns the line of a key, or of a member of its list. For a key that is not written, that of `name`.
    pub fn line(&self, key: &str, item: Option<usize>) -> Option<usize> {
        let lines = self.0.get(key).or_else(|| self.0.get("name"))?;
        item.and_then(|item| *lines.items.get(item)?).or(lines.key)
    }
}

/// A rule about one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    pub column: Column,
    pub kind: RuleKind,
    /// Its line in the suite file.
    pub line: Option<usize>,
}

/// What a rule of a suite compares.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleKind {
    /// Limit of the value, whatever the baseline has.
    Limit(Condition),
    /// How much worse than the baseline the value may be.
    Tolerance(Tolerance),
}

impl Suite {
    /// Returns the name of the suite, as in its file.
    pub fn name(&self) -> &str {
        &self.table.name
    }

    /// Returns a problem with a key of the suite, or with a member of its list.
    pub fn problem(&self, key: &str, item: Option<usize>, what: String) -> Problem {
        Problem { suite: self.name().to_owned(), line: self.lines.line(key, item), what }
    }

    /// Returns the columns of all rules, each once, in the order of the rules.
    pub fn columns(&self) -> Vec<&Column> {
        let mut columns: Vec<&Column> = Vec::new();
        for rule in &self.rules {
            if !columns.iter().any(|column| column.id == rule.column.id) {
                columns.push(&rule.column);
            }
        }
        columns
    }
}

impl Rule {
    /// Returns the rule as reports show it: `kept.hit >= 0.85`, `kept.hit at most 1% worse`.
    pub fn describe(&self) -> String {
        match &self.kind {
            RuleKind::Limit(condition) => condition.to_string(),
            RuleKind::Tolerance(tolerated) => format!("{} at most {tolerated} worse", self.column.id),
        }
    }
}

/// Result of a run of the gate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GateReport {
    /// The suite file, as the user named it.
    pub file: String,
    /// By suite, policy and rule.
    pub verdicts: Vec<Verdict>,
    /// What could not be analysed.
    pub problems: Vec<Problem>,
    /// Remarks about suites and baseline.
    pub notes: Vec<String>,
    /// The baseline that `--update` wrote.
    pub written: Option<WrittenBaseline>,
}

/// A baseline that was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrittenBaseline {
    /// Its path, as the user would name it.
    pub file: String,
    /// Number of values.
    pub values: usize,
}

/// Why a suite, or a part of it, was not analysed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Problem {
    pub suite: String,
    /// Line of the suite file.
    pub line: Option<usize>,
    pub what: String,
}

impl GateReport {
    /// Returns the number of rules with this outcome.
    pub fn count(&self, is_counted: impl Fn(&Outcome) -> bool) -> usize {
        self.verdicts.iter().filter(|verdict| is_counted(&verdict.outcome)).count()
    }

    /// Returns the number of verdicts whose rule does not hold.
    pub fn breaches(&self) -> usize {
        self.count(|outcome| *outcome == Outcome::Breach)
    }

    /// Returns the number of verdicts that could not be decided.
    pub fn undecided(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Undecided(_)))
    }
}

/// Returns a remark for each policy about transcripts that the baseline does not have.
pub fn notes(suite: &Suite, measured: &[Measured], baseline: &Baseline) -> Vec<String> {
    let note = |measured: &Measured| {
        let known: HashSet<&str> = baseline.transcripts(suite.name(), &measured.policy).into_iter().collect();
        let analysed = measured.transcripts.iter().map(|one| one.transcript.as_str());
        let new: Vec<&str> = analysed.filter(|one| !known.is_empty() && !known.contains(one)).collect();
        let what = "not in the baseline, so tolerances leave it out until --update";
        (!new.is_empty()).then(|| format!("suite {}, {}: {what}: {}", suite.name(), measured.policy, new.join(", ")))
    };
    measured.iter().filter_map(note).collect()
}

/// Returns a problem for each transcript of the baseline that was not analysed, with the reason if it is known.
pub fn missing(suite: &Suite, measured: &[Measured], baseline: &Baseline, coverage: &Coverage) -> Vec<String> {
    let mut missing: BTreeSet<&str> = BTreeSet::new();
    for measured in measured {
        let analysed: HashSet<&str> = measured.transcripts.iter().map(|one| one.transcript.as_str()).collect();
        let known = baseline.transcripts(suite.name(), &measured.policy).into_iter();
        missing.extend(known.filter(|known| !analysed.contains(known)));
    }
    let why = |path: &str| coverage.left_out.iter().find(|left_out| left_out.path == path).map(|left_out| left_out.why.as_str());
    let problem = |path: &str| {
        let why = why(path).unwrap_or("it was not found");
        format!("{path} is in the baseline, but was not analysed: {why}; if it is gone on purpose, `--update` removes it")
    };
    missing.into_iter().map(problem).collect()
}

/// Returns a remark about the transcripts of a suite that were left out.
pub fn left_out(suite: &Suite, coverage: &Coverage) -> Option<String> {
    let each: Vec<String> = coverage.left_out.iter().map(ToString::to_string).collect();
    (!each.is_empty())
        .then(|| format!("suite {}: {} analysed; left out: {}", suite.name(), coverage.line_were(), each.join("; ")))
}

/// Returns remarks about entries of the baseline that no suite uses any more.
pub fn left_behind(baseline: &Baseline, asked: &[(String, String)]) -> Vec<String> {
    let is_asked = |of: &(&str, &str)| asked.iter().any(|(suite, policy)| (suite.as_str(), policy.as_str()) == *of);
    let left = baseline.policies().into_iter().filter(|of| !is_asked(of));
    left.map(|(suite, policy)| format!("suite {suite}, {policy}: in the baseline, but no suite uses it; --update removes it"))
        .collect()
}
