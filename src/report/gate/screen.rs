//! The first screen of a gate: whether all rules hold, and what to do if not.

use super::{failures, rules};
use crate::analysis::gate::{GateReport, Outcome, WrittenBaseline};
use crate::report::Layout;
use crate::report::screen::{Check, Prose, Screen, ScreenTable, Step};
use crate::report::table_model::Tone;
use crate::util::text::plural;

/// Most rules in the table.
const SHOWN: usize = 12;

pub fn screen(gate: &GateReport, layout: &Layout) -> Option<Screen> {
    Some(Screen {
        scope: scope(gate),
        answer: [Prose::new(answer(gate))].into_iter().chain(gate.written.as_ref().map(written)).collect(),
        table: table(gate),
        checks: checks(gate),
        changes: Vec::new(),
        next: next(gate, layout),
    })
}

fn scope(gate: &GateReport) -> Prose {
    let mut policies: Vec<(&str, &str)> =
        gate.verdicts.iter().map(|verdict| (verdict.suite.as_str(), verdict.policy.as_str())).collect();
    policies.dedup();
    let mut suites: Vec<&str> = policies.iter().map(|(suite, _)| *suite).collect();
    suites.dedup();
    let policies = if policies.len() == 1 { "1 policy".to_owned() } else { format!("{} policies", policies.len()) };
    let (suites, rules) = (plural(suites.len(), "suite"), plural(gate.verdicts.len(), "rule"));
    Prose::new(format!("{suites}, {policies}, {rules}: ")).name(gate.file.as_str())
}

/// `2 of 9 rules do not hold.`, and what could not be judged.
fn answer(gate: &GateReport) -> String {
    let all = plural(gate.verdicts.len(), "rule");
    let holds = |count: usize| if count == 1 { "does" } else { "do" };
    let (breaches, undecided) = (gate.breaches(), gate.undecided());
    let mut parts = Vec::new();
    if breaches > 0 {
        parts.push(format!("{breaches} of {all} {} not hold.", holds(breaches)));
    }
    if undecided > 0 {
        parts.push(format!("{undecided} of {all} could not be judged."));
    }
    if !gate.problems.is_empty() {
        parts.push(format!("{} kept transcripts or suites from being analysed.", plural(gate.problems.len(), "problem")));
    }
    match (parts.is_empty(), gate.verdicts.len()) {
        (true, 1) => "The rule holds.".to_owned(),
        (true, _) => format!("All {all} hold."),
        (false, _) => parts.join(" "),
    }
}

/// ``recompact.baseline.json` was written with 24 values: commit it.`
fn written(baseline: &WrittenBaseline) -> Prose {
    Prose::default()
        .name(baseline.file.as_str())
        .words(format!(" was written with {}: commit it.", plural(baseline.values, "value")))
}

/// What does not hold, with the reasons; if all holds, the rules.
fn table(gate: &GateReport) -> ScreenTable {
    let failing = failures(gate);
    if !failing.rows.is_empty() {
        let tones = vec![Tone::Unfit; failing.rows.len()];
        return ScreenTable { tones, ..ScreenTable::new(failing, vec![0, 0], "failures") };
    }
    let mut model = rules(gate);
    model.rows.truncate(SHOWN);
    if gate.verdicts.len() > SHOWN {
        model.footnotes.push(format!("the first {SHOWN} of {}", plural(gate.verdicts.len(), "rule")));
    }
    ScreenTable::new(model, vec![5, 4, 3, 0, 1, 0, 2, 6], "rules")
}

fn checks(gate: &GateReport) -> Vec<Check> {
    gate.notes.iter().map(|note| Check { text: Prose::default().name(note.as_str()), section: "notes" }).collect()
}

fn next(gate: &GateReport, layout: &Layout) -> Vec<Step> {
    let invocation = &layout.invocation;
    let mut steps = Vec::new();
    if gate.verdicts.iter().any(|verdict| verdict.outcome != Outcome::Holds) {
        steps.push(Step::new(invocation.again("--show rules"), "every rule with its value and what is allowed"));
        steps.push(Step::new(invocation.again("--update"), "takes today's values as the baseline, to be committed"));
    }
    steps
}
