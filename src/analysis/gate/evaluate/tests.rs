//! Verdicts over two transcripts whose values can be checked on paper.

use super::super::Gate;
use super::*;
use crate::results::saved::{Accumulator, Coverage};

/// Builds a suite `s` with these rules.
fn suite(limits: &str, tolerance: &str) -> Suite {
    let text = format!(
        "[[suite]]\nname = \"s\"\ntranscripts = [\"a\"]\npolicies = [\"p\"]\nlimits = [{limits}]\n[suite.tolerance]\n{tolerance}"
    );
    Gate::parse(&text, "s.toml").expect("a suite").suites.remove(0)
}

/// Builds the measured values of policy `p`: name, value and weight of each transcript.
fn reached(suite: &Suite, transcripts: &[(&str, f64, f64)]) -> Measured {
    let columns = suite.columns();
    let of = |&(transcript, value, weight): &(&str, f64, f64)| {
        let added = |column: &Column| if column.combine.is_average() { (value * weight, weight) } else { (value, 1.0) };
        let adds = columns.iter().map(|column| (column.id.clone(), Some(added(column))));
        TranscriptValues {
            transcript: transcript.to_owned(),
            values: columns.iter().map(|column| (column.id.clone(), Some(value))).collect(),
            adds: adds
                .map(|(id, added)| (id, added.map(|(over, under)| Accumulator { numerator: over, denominator: under })))
                .collect(),
        }
    };
    let transcripts = transcripts.iter().map(of).collect();
    let mut reached = Measured { policy: "p".to_owned(), calls: 1, totals: Default::default(), transcripts };
    reached.totals = columns.iter().map(|column| (column.id.clone(), reached.total(column, |_| true))).collect();
    reached
}

fn baseline(suite: &Suite, transcripts: &[(&str, f64, f64)]) -> Baseline {
    Baseline::new([("s", &[reached(suite, transcripts)][..])].into_iter())
}

/// Returns the first verdict: outcome, allowed value, headroom, and the transcript that moved.
fn first(suite: &Suite, now: &[(&str, f64, f64)], before: Option<&[(&str, f64, f64)]>) -> String {
    let baseline = before.map(|before| baseline(suite, before));
    let verdict = evaluate(suite, &[reached(suite, now)], baseline.as_ref()).remove(0);
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
    let outcome = match verdict.outcome {
        Outcome::Holds => "holds".to_owned(),
        Outcome::Breach => "breach".to_owned(),
        // What to do follows.
        Outcome::Undecided(why) => why.split("; ").next().unwrap_or_default().to_owned(),
    };
    let moved = verdict.moved.map_or(String::new(), |moved| format!(", {}", moved.transcript));
    format!("{outcome}: {}, {}{moved}", number(verdict.allowed), number(verdict.headroom))
}

#[test]
fn limits_ignore_the_baseline() {
    let hit = suite("\"kept.hit >= 0.8\"", "");
    assert_eq!(first(&hit, &[("a", 0.9, 1.0), ("b", 0.8, 1.0)], None), "holds: 0.800, 0.050");
    assert_eq!(first(&hit, &[("a", 0.9, 1.0), ("b", 0.5, 1.0)], None), "breach: 0.800, -0.100, b");
    let broken = suite("\"broken.requests == 0\"", "");
    assert_eq!(first(&broken, &[("a", 0.0, 1.0), ("b", 3.0, 1.0)], None), "breach: 0.000, -3.000, b");
}

#[test]
fn tolerances_are_relative_or_in_the_columns_unit() {
    let before: &[_] = &[("a", 0.9, 1.0), ("b", 0.7, 1.0)];
    for (tolerance, value, expected) in [
        ("\"kept.hit\" = \"1%\"", 0.69, "holds: 0.792, 0.003"),
        ("\"kept.hit\" = \"1%\"", 0.68, "breach: 0.792, -0.002, b"),
        ("\"kept.hit\" = 0.05", 0.6, "holds: 0.750, 0.000"),
        ("\"kept.hit\" = 0", 0.7, "holds: 0.800, 0.000"),
        ("\"kept.hit\" = 0", 0.8, "holds: 0.800, 0.050"),
        ("\"tokens.sent\" = 0.1", 0.9, "breach: 1.700, -0.100, b"),
        ("\"tokens.sent\" = \"50%\"", 0.9, "holds: 2.400, 0.600"),
    ] {
        let suite = suite("", tolerance);
        assert_eq!(first(&suite, &[("a", 0.9, 1.0), ("b", value, 1.0)], Some(before)), expected, "{tolerance} {value}");
    }
}

/// A small transcript that lost everything explains less of a share than a large one that lost a little.
#[test]
fn worst_transcript_is_chosen_by_weighted_change() {
    let suite = suite("", "\"kept.hit\" = 0.01");
    let before: &[_] = &[("small", 1.0, 1.0), ("large", 0.9, 99.0)];
    assert_eq!(first(&suite, &[("small", 0.0, 1.0), ("large", 0.8, 99.0)], Some(before)), "breach: 0.891, -0.099, large");
}

#[test]
fn new_transcripts_are_not_compared_with_the_baseline() {
    let suite = suite("", "\"tokens.sent\" = 0");
    let now = [("a", 5.0, 1.0), ("new", 90.0, 1.0)];
    assert_eq!(first(&suite, &now, Some(&[("a", 5.0, 1.0)])), "holds: 5.000, 0.000");
    let (measured, baseline) = ([reached(&suite, &now)], baseline(&suite, &[("a", 5.0, 1.0), ("old", 1.0, 1.0)]));
    let notes = super::super::notes(&suite, &measured, &baseline);
    assert_eq!(notes, ["suite s, p: not in the baseline, so tolerances leave it out until --update: new"]);
    let mut coverage = Coverage::default();
    let missing = |coverage: &Coverage| super::super::missing(&suite, &measured, &baseline, coverage);
    let advice = "if it is gone on purpose, `--update` removes it";
    let problem = |why: &str| vec![format!("old is in the baseline, but was not analysed: {why}; {advice}")];
    assert_eq!(missing(&coverage), problem("it was not found"));
    coverage.leave_out("old", "the file is empty");
    assert_eq!(missing(&coverage), problem("the file is empty"));
}

#[test]
fn rules_without_values_do_not_pass() {
    let suite = suite("", "\"tokens.sent\" = 0");
    let now: &[_] = &[("a", 5.0, 1.0)];
    assert_eq!(first(&suite, now, None), "there is no baseline: -, -, a");
    let gone = "the baseline includes b, which was not analysed: 10.000, 5.000, a";
    assert_eq!(first(&suite, now, Some(&[("a", 5.0, 1.0), ("b", 5.0, 1.0)])), gone);
    assert_eq!(first(&suite, now, Some(&[])), "the baseline has no value for it: -, -, a");
    assert_eq!(first(&suite, &[], Some(&[])), "it has no value here: -, -", "an update would not help");
    let limit = super::tests::suite("\"kept.hit >= 0\"", "");
    assert_eq!(first(&limit, &[], None), "breach: 0.000, -", "no value is no pass");
}
