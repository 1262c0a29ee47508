//! The verdicts of the gate as a document.

mod screen;
mod sentence;

use serde::Serialize;
use serde_json::{Map, Value};

use super::screen::Screen;
use super::table_model::{ColumnHeader, TableModel};
use super::{Document, Layout, Section, json, number_format};
use crate::analysis::gate::{Baseline, GateReport, Moved, Outcome, Problem, RuleKind, Verdict, WrittenBaseline};
use crate::findings::{Case, Finding, Level};
use crate::metrics::column_map::JsonNumber;
use crate::results::saved::Unit;
use crate::util::text::{in_one_line, plural};

pub use sentence::sentence;

impl Document for GateReport {
    const CASES: Option<fn(&Self) -> Vec<Case>> = Some(cases);

    const SECTIONS: &'static [Section<Self>] = &[
        Section::new("rules", "every rule with its value and what is allowed", |gate, _| vec![rules(gate)]),
        Section::new("failures", "rules that do not hold, and why", |gate, _| vec![failures(gate)]),
        Section::new("notes", "remarks about suites and baseline", |gate, _| vec![notes(gate)]),
    ];

    fn screen(&self, layout: &Layout) -> Option<Screen> {
        screen::screen(self, layout)
    }

    fn json(&self) -> Vec<u8> {
        json::write(&GateJson::new(self))
    }
}

/// Renders the baseline file, one line per value.
pub fn render_baseline(baseline: &Baseline) -> Vec<u8> {
    json::write(baseline)
}

/// Returns one case for each rule and policy, and one for each suite in which something could not be analysed.
pub fn cases(gate: &GateReport) -> Vec<Case> {
    let of_verdict = |verdict: &Verdict| Case {
        group: verdict.suite.clone(),
        name: format!("{}: {}", verdict.policy, verdict.rule.describe()),
        findings: finding(gate, verdict).into_iter().collect(),
    };
    let mut cases: Vec<Case> = gate.verdicts.iter().map(of_verdict).collect();
    for problem in &gate.problems {
        let finding = Finding {
            id: "suite".to_owned(),
            level: Level::Error,
            path: gate.file.clone(),
            line: line(problem.line),
            call: None,
            message: problem.what.clone(),
            data: Map::new(),
            conversation: None,
            policy: None,
        };
        match cases.iter_mut().find(|case| case.group == problem.suite && case.name == ANALYSED) {
            Some(case) => case.findings.push(finding),
            None => cases.push(Case { group: problem.suite.clone(), name: ANALYSED.to_owned(), findings: vec![finding] }),
        }
    }
    cases
}

/// Name of the case for a suite in which something could not be analysed.
const ANALYSED: &str = "everything was analysed";

fn line(line: Option<usize>) -> Option<u32> {
    line.and_then(|line| u32::try_from(line).ok())
}

fn finding(gate: &GateReport, verdict: &Verdict) -> Option<Finding> {
    let id = match (&verdict.outcome, &verdict.rule.kind) {
        (Outcome::Holds, _) => return None,
        (_, RuleKind::Limit(_)) => "limit",
        (_, RuleKind::Tolerance(_)) => "tolerance",
    };
    let data = match serde_json::to_value(VerdictRow::new(verdict)) {
        Ok(Value::Object(data)) => data,
        _ => Map::new(),
    };
    Some(Finding {
        id: id.to_owned(),
        level: Level::Error,
        path: gate.file.clone(),
        line: line(verdict.rule.line),
        call: None,
        message: sentence(verdict),
        data,
        conversation: None,
        policy: Some(verdict.policy.clone()),
    })
}

/// The JSON that `-o json` writes.
#[derive(Serialize)]
struct GateJson<'a> {
    file: &'a str,
    holds: bool,
    rules: usize,
    breaches: usize,
    unjudged: usize,
    verdicts: Vec<VerdictRow<'a>>,
    problems: &'a [Problem],
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<&'a WrittenBaseline>,
}

impl<'a> GateJson<'a> {
    fn new(gate: &'a GateReport) -> Self {
        let (breaches, unjudged) = (gate.breaches(), gate.undecided());
        Self {
            file: &gate.file,
            holds: breaches + unjudged + gate.problems.len() == 0,
            rules: gate.verdicts.len(),
            breaches,
            unjudged,
            verdicts: gate.verdicts.iter().map(VerdictRow::new).collect(),
            problems: &gate.problems,
            notes: &gate.notes,
            written: gate.written.as_ref(),
        }
    }
}

#[derive(Serialize)]
struct VerdictRow<'a> {
    suite: &'a str,
    policy: &'a str,
    column: &'a str,
    unit: Unit,
    rule: String,
    line: Option<usize>,
    outcome: &'static str,
    before: Option<JsonNumber>,
    after: Option<JsonNumber>,
    allowed: Option<JsonNumber>,
    headroom: Option<JsonNumber>,
    moved: Option<&'a Moved>,
    message: Option<String>,
}

impl<'a> VerdictRow<'a> {
    fn new(verdict: &'a Verdict) -> Self {
        Self {
            suite: &verdict.suite,
            policy: &verdict.policy,
            column: &verdict.rule.column.id,
            unit: verdict.rule.column.unit,
            rule: verdict.rule.describe(),
            line: verdict.rule.line,
            outcome: outcome_name(&verdict.outcome),
            before: verdict.before.map(JsonNumber),
            after: verdict.after.map(JsonNumber),
            allowed: verdict.allowed.map(JsonNumber),
            headroom: verdict.headroom.map(JsonNumber),
            moved: verdict.moved.as_ref(),
            message: (verdict.outcome != Outcome::Holds).then(|| sentence(verdict)),
        }
    }
}

/// The name of an outcome in JSON and in tables.
fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::Breach => "breach",
        Outcome::Undecided(_) => "unjudged",
    }
}

/// Lists every rule with its value and its headroom.
fn rules(gate: &GateReport) -> TableModel {
    let row = |verdict: &Verdict| {
        let unit = verdict.rule.column.unit;
        // Fractions of tokens and bytes do not help a reader.
        let rounded = |value: f64| if unit.is_whole() && value.abs() >= 10.0 { value.round() } else { value };
        let outcome = if verdict.outcome == Outcome::Breach { "BREACH" } else { outcome_name(&verdict.outcome) };
        let mut cells = vec![outcome.to_owned(), verdict.suite.clone(), verdict.policy.clone(), verdict.rule.describe()];
        cells
            .extend([verdict.before, verdict.after, verdict.allowed].map(|value| number_format::value(unit, value.map(rounded))));
        let headroom = verdict.headroom.map(|headroom| sentence::difference(unit, rounded(headroom)));
        cells.push(headroom.unwrap_or_else(|| number_format::MISSING.to_owned()));
        cells
    };
    let held = gate.count(|outcome| *outcome == Outcome::Holds);
    let title = match gate.verdicts.len() {
        all if all == held => format!("Gate: {} {}", plural(all, "rule"), if all == 1 { "holds" } else { "hold" }),
        all => format!("Gate: {held} of {} {}", plural(all, "rule"), if all == 1 || held == 1 { "holds" } else { "hold" }),
    };
    let mut headers = Vec::from(["verdict", "suite", "policy", "must hold"].map(ColumnHeader::names));
    headers.extend(["baseline", "now", "allowed", "headroom"].map(ColumnHeader::numbers));
    let footnotes = "headroom: how far the value may still move; shares in percentage points";
    let rows = gate.verdicts.iter().map(row).collect();
    TableModel { title, subject: gate.file.clone(), headers, rows, footnotes: vec![footnotes.to_owned()] }
}

/// Lists the rules that do not hold or could not be judged, with their lines in the suite file.
fn failures(gate: &GateReport) -> TableModel {
    let location = |line: Option<usize>| line.map_or(gate.file.clone(), |line| format!("{}:{line}", gate.file));
    let failing = gate.verdicts.iter().filter(|verdict| verdict.outcome != Outcome::Holds);
    let problem =
        |problem: &Problem| vec![location(problem.line), format!("suite {}: {}", problem.suite, in_one_line(&problem.what))];
    let rows = failing.map(|verdict| vec![location(verdict.rule.line), sentence(verdict)]);
    let rows = rows.chain(gate.problems.iter().map(problem)).collect();
    let headers = vec![ColumnHeader::names("location"), ColumnHeader::prose("message")];
    TableModel { title: "What does not hold".to_owned(), subject: String::new(), headers, rows, footnotes: Vec::new() }
}

fn notes(gate: &GateReport) -> TableModel {
    let rows = gate.notes.iter().map(|note| vec![note.clone()]).collect();
    TableModel {
        title: "Notes".to_owned(),
        subject: String::new(),
        headers: vec![ColumnHeader::prose("note")],
        rows,
        footnotes: Vec::new(),
    }
}
