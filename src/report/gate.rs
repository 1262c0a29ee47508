//! Renders the verdicts of the gate, by report name.

mod sentence;

use serde::Serialize;
use serde_json::{Map, Value};

use super::table_model::{ColumnHeader, TableModel};
use super::{Style, ci, json, markdown, number_format, table};
use crate::analysis::gate::{Baseline, GateReport, Moved, Outcome, Problem, RuleKind, Verdict};
use crate::findings::{Case, Finding, Level};
use crate::metrics::column_map::Number;
use crate::results::saved::Unit;
use crate::util::text::plural;

pub use sentence::sentence;

/// The reports that can show verdicts.
pub fn shown_as() -> Vec<&'static str> {
    ["table", "json", "markdown"].into_iter().chain(ci::SHOWN_AS).collect()
}

/// Renders verdicts in the report with this name.
pub fn render(report: &str, checked: &GateReport, style: &Style) -> Vec<u8> {
    match report {
        "json" => json::write(&Saved::of(checked)),
        "markdown" => markdown::draw_all(&sheets(checked)),
        "table" => table::draw_all(&sheets(checked), style),
        report => ci::render(report, &cases(checked)),
    }
}

/// Renders the baseline file, one line per value.
pub fn render_baseline(baseline: &Baseline) -> Vec<u8> {
    json::write(baseline)
}

/// Returns one case for each rule and policy, and one for each suite in which something could not be analysed.
pub fn cases(checked: &GateReport) -> Vec<Case> {
    let of_verdict = |verdict: &Verdict| Case {
        group: verdict.suite.clone(),
        name: format!("{}: {}", verdict.policy, verdict.rule.written()),
        findings: finding(checked, verdict).into_iter().collect(),
    };
    let mut cases: Vec<Case> = checked.verdicts.iter().map(of_verdict).collect();
    for problem in &checked.problems {
        let finding = Finding {
            id: "suite".to_owned(),
            level: Level::Error,
            path: checked.file.clone(),
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

fn finding(checked: &GateReport, verdict: &Verdict) -> Option<Finding> {
    let id = match (&verdict.outcome, &verdict.rule.demand) {
        (Outcome::Holds, _) => return None,
        (_, RuleKind::Limit(_)) => "limit",
        (_, RuleKind::Tolerance(_)) => "tolerance",
    };
    let data = match serde_json::to_value(Row::of(verdict)) {
        Ok(Value::Object(data)) => data,
        _ => Map::new(),
    };
    Some(Finding {
        id: id.to_owned(),
        level: Level::Error,
        path: checked.file.clone(),
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
struct Saved<'a> {
    file: &'a str,
    holds: bool,
    rules: usize,
    breaches: usize,
    unjudged: usize,
    verdicts: Vec<Row<'a>>,
    problems: &'a [Problem],
    notes: &'a [String],
}

impl<'a> Saved<'a> {
    fn of(checked: &'a GateReport) -> Self {
        let (breaches, unjudged) = (checked.breaches(), checked.undecided());
        Self {
            file: &checked.file,
            holds: breaches + unjudged + checked.problems.len() == 0,
            rules: checked.verdicts.len(),
            breaches,
            unjudged,
            verdicts: checked.verdicts.iter().map(Row::of).collect(),
            problems: &checked.problems,
            notes: &checked.notes,
        }
    }
}

#[derive(Serialize)]
struct Row<'a> {
    suite: &'a str,
    policy: &'a str,
    column: &'a str,
    unit: Unit,
    rule: String,
    line: Option<usize>,
    outcome: &'static str,
    before: Option<Number>,
    after: Option<Number>,
    allowed: Option<Number>,
    headroom: Option<Number>,
    moved: Option<&'a Moved>,
    message: Option<String>,
}

impl<'a> Row<'a> {
    fn of(verdict: &'a Verdict) -> Self {
        Self {
            suite: &verdict.suite,
            policy: &verdict.policy,
            column: &verdict.rule.column.id,
            unit: verdict.rule.column.unit,
            rule: verdict.rule.written(),
            line: verdict.rule.line,
            outcome: word(&verdict.outcome),
            before: verdict.before.map(Number),
            after: verdict.after.map(Number),
            allowed: verdict.allowed.map(Number),
            headroom: verdict.headroom.map(Number),
            moved: verdict.moved.as_ref(),
            message: (verdict.outcome != Outcome::Holds).then(|| sentence(verdict)),
        }
    }
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::Breach => "breach",
        Outcome::Undecided(_) => "unjudged",
    }
}

fn sheets(checked: &GateReport) -> Vec<TableModel> {
    let all = [rules(checked), wrong(checked), notes(checked)];
    all.into_iter().filter(|sheet| !sheet.rows.is_empty()).collect()
}

/// Lists every rule with its value and its headroom.
fn rules(checked: &GateReport) -> TableModel {
    let row = |verdict: &Verdict| {
        let unit = verdict.rule.column.unit;
        // Fractions of tokens and bytes do not help a reader.
        let rounded = |value: f64| if unit.is_whole() && value.abs() >= 10.0 { value.round() } else { value };
        let word = if verdict.outcome == Outcome::Breach { "BREACH" } else { word(&verdict.outcome) };
        let mut cells = vec![word.to_owned(), verdict.suite.clone(), verdict.policy.clone(), verdict.rule.written()];
        cells
            .extend([verdict.before, verdict.after, verdict.allowed].map(|value| number_format::value(unit, value.map(rounded))));
        let headroom = verdict.headroom.map(|headroom| sentence::difference(unit, rounded(headroom)));
        cells.push(headroom.unwrap_or_else(|| number_format::MISSING.to_owned()));
        cells
    };
    let held = checked.count(|outcome| *outcome == Outcome::Holds);
    let title = match checked.verdicts.len() {
        all if all == held => format!("Gate: {} {}", plural(all, "rule"), if all == 1 { "holds" } else { "hold" }),
        all => format!("Gate: {held} of {} hold", plural(all, "rule")),
    };
    let mut heads = Vec::from(["verdict", "suite", "policy", "must hold"].map(ColumnHeader::names));
    heads.extend(["baseline", "now", "allowed", "headroom"].map(ColumnHeader::numbers));
    let below = "headroom: how far the value may still move; shares in percentage points";
    let rows = checked.verdicts.iter().map(row).collect();
    TableModel { title, measure: checked.file.clone(), heads, rows, below: vec![below.to_owned()] }
}

/// Lists the rules that do not hold or could not be judged, with their lines in the suite file.
fn wrong(checked: &GateReport) -> TableModel {
    let place = |line: Option<usize>| line.map_or(checked.file.clone(), |line| format!("{}:{line}", checked.file));
    let failing = checked.verdicts.iter().filter(|verdict| verdict.outcome != Outcome::Holds);
    let problem = |problem: &Problem| vec![place(problem.line), format!("suite {}: {}", problem.suite, problem.what)];
    let rows = failing.map(|verdict| vec![place(verdict.rule.line), sentence(verdict)]);
    let rows = rows.chain(checked.problems.iter().map(problem)).collect();
    let heads = vec![ColumnHeader::names("place"), ColumnHeader::prose("what")];
    TableModel { title: "What does not hold".to_owned(), measure: String::new(), heads, rows, below: Vec::new() }
}

fn notes(checked: &GateReport) -> TableModel {
    let rows = checked.notes.iter().map(|note| vec![note.clone()]).collect();
    TableModel {
        title: "Notes".to_owned(),
        measure: String::new(),
        heads: vec![ColumnHeader::prose("note")],
        rows,
        below: Vec::new(),
    }
}
