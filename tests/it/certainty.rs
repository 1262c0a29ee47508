//! Intervals and p-values, held against what they promise: on invented studies in which the truth is known.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use recompact::results::{Better, Column, Combine, Id, Results, Row, Unit, VERSION, summarise};
use recompact::stats::{FEWEST, SEED, certainty};

use crate::program::run;

const SENT: Id = Id::Borrowed("sent");
const WHOLE: Id = Id::Borrowed("whole");

fn columns() -> Vec<Column> {
    let saved = Combine::Saving { over: SENT, under: WHOLE };
    vec![
        Column::counted("sent", Unit::Tokens, Better::Lower, Combine::Sum, "Sent."),
        Column::counted("whole", Unit::Tokens, Better::Neither, Combine::Sum, "Sent by keep-all."),
        Column::counted("saved", Unit::Share, Better::Higher, saved, "1 − sent ÷ whole."),
        Column::counted("peak", Unit::Tokens, Better::Lower, Combine::Max, "The largest."),
        Column::counted("mean", Unit::Share, Better::Higher, Combine::Mean, "Saved, every session alike."),
    ]
}

/// One session of one policy: what was sent of the whole.
fn row(session: usize, policy: &str, sent: f64, whole: f64) -> Row {
    let values = [sent, whole, 1.0 - sent / whole, sent, 1.0 - sent / whole].map(Some);
    Row {
        transcript: format!("{session}.jsonl"),
        conversation: "main".into(),
        policy: policy.into(),
        bound_of: None,
        values: columns().into_iter().map(|column| column.id).zip(values).collect(),
    }
}

fn results(rows: Vec<Row>) -> Results {
    Results { version: VERSION, summary: summarise(&columns(), &rows), columns: columns(), rows, ..Results::default() }
}

/// What is found of a policy against `a`, in `saved`.
fn judged(rows: Vec<Row>, asked: &[&str], seed: u64) -> Results {
    let mut results = results(rows);
    certainty(&mut results, "a", asked, seed);
    results
}

/// A number with mean 0 and variance 1, by Box and Muller.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let [one, other]: [f64; 2] = [random.random(), random.random()];
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

/// Sizes of sessions are log-normal, with the spread that recorded ones have; the longer a session, the more is saved of it.
fn session(random: &mut ChaCha8Rng) -> (f64, f64) {
    const SPREAD: f64 = 1.3;
    let whole = (SPREAD * normal(random)).exp();
    (whole, whole / (whole + 1.0))
}

/// Two policies that are as good as each other, and each session a little better or worse under either of them.
fn study(sessions: usize, seed: u64) -> Vec<Row> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut rows = Vec::new();
    for number in 0..sessions {
        let (whole, saved) = session(&mut random);
        for policy in ["a", "b"] {
            let saved = saved + 0.1 * normal(&mut random);
            rows.push(row(number, policy, whole * (1.0 - saved), whole));
        }
    }
    rows
}

/// How often, of so many studies, …
#[derive(Debug, Clone, Copy, Default)]
struct Rates {
    /// … two policies that are alike differ at the level of .05.
    rejected: f64,
    /// … the interval of their difference holds 0.
    covers_none: f64,
    /// … the interval of what is saved holds what is saved of all sessions there could be.
    covers_total: f64,
}

fn rates(sessions: usize, studies: u64, truth: f64) -> Rates {
    let is_in = |value: f64, ends: [f64; 2]| ends[0] <= value && value <= ends[1];
    let one = |number: u64| {
        let results = judged(study(sessions, number), &["b"], number);
        let row = results.comparisons.iter().find(|row| row.column == "saved").expect("a comparison");
        let of_a = results.summary[0].intervals.entry("saved").expect("an interval");
        [row.p.expect("a p-value") <= 0.05, is_in(0.0, row.interval.expect("an interval")), is_in(truth, *of_a)]
    };
    let counts = (0..studies).into_par_iter().map(one).map(|is| is.map(usize::from));
    let counts = counts.reduce(|| [0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
    let [rejected, covers_none, covers_total] = counts.map(|count| count as f64 / studies as f64);
    Rates { rejected, covers_none, covers_total }
}

/// What is saved of very many sessions.
fn saved_of_all() -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let [saved, whole] = (0..1_000_000).fold([0.0; 2], |[sum, of], _| {
        let (whole, saved) = session(&mut random);
        [sum + whole * saved, of + whole]
    });
    saved / whole
}

fn check(sizes: &[usize], studies: u64) {
    let truth = saved_of_all();
    println!("{studies} studies each      rejected at .05   interval of the difference   of the total");
    let error = (0.05 * 0.95 / studies as f64).sqrt();
    for sessions in sizes {
        let rates = rates(*sessions, studies, truth);
        let percent = [rates.rejected, rates.covers_none, rates.covers_total].map(|rate| rate * 100.0);
        println!("{sessions:>4} sessions  {:>21.1} % {:>25.1} % {:>15.1} %", percent[0], percent[1], percent[2]);
        assert!((rates.rejected - 0.05).abs() <= 3.0 * error || *sessions < 10 && rates.rejected < 0.05, "{sessions}: {rates:?}");
        assert!(rates.covers_none > 0.75 && rates.covers_total > 0.65, "{sessions}: {rates:?}");
    }
}

#[test]
fn policies_that_are_alike_seldom_differ() {
    check(&[12, 40], 500);
}

#[test]
fn they_seldom_do_in_many_studies() {
    if std::env::var_os("RECOMPACT_LONG").or(std::env::var_os("CI")).is_none() {
        println!("skipped: a long run; set RECOMPACT_LONG=1 for it");
        return;
    }
    check(&[6, 10, 20, 40, 100], 2_000);
}

/// Every session saves about .2 more under `c`.
fn three_policies(sessions: usize) -> Vec<Row> {
    let mut rows = study(sessions, 3);
    let others: Vec<Row> = (0..sessions)
        .map(|number| {
            let of_a = &rows[2 * number].values;
            let (sent, whole) = (of_a.get("sent").expect("a value"), of_a.get("whole").expect("a value"));
            row(number, "c", sent - 0.2 * whole, whole)
        })
        .collect();
    rows.extend(others);
    rows
}

#[test]
fn a_policy_that_is_better_is_found_so() {
    let results = judged(three_policies(12), &["b", "c"], 1);
    let row = |policy: &str| results.comparisons.iter().find(|row| row.policy == policy && row.column == "saved").expect(policy);
    let (b, c) = (row("b"), row("c"));
    assert_eq!((c.sessions, c.p, c.p_holm), (12, Some(2.0 / 4_096.0), Some(4.0 / 4_096.0)));
    assert!((c.difference - 0.2).abs() < 1e-9);
    assert!(b.p > Some(0.05) && b.interval.is_some_and(|[low, high]| low < 0.0 && high > 0.0), "{b:?}");
    let statistics = results.statistics.expect("enough sessions");
    assert_eq!((statistics.sessions, statistics.seed), (12, 1));
    assert!(results.comparisons.iter().all(|row| row.against == "a" && ["saved", "mean"].contains(&&*row.column)));
}

#[test]
fn the_order_of_policies_and_their_scale_change_nothing() {
    let rows = three_policies(15);
    let found = judged(rows.clone(), &["b", "c"], 1);
    let mut sorted = rows.clone();
    sorted.sort_by(|one, other| other.policy.cmp(&one.policy));
    let other = judged(sorted, &["c", "b"], 1);
    for row in &found.comparisons {
        assert!(other.comparisons.contains(row), "{row:?}");
    }
    for summary in &found.summary {
        assert!(other.summary.contains(summary), "{}", summary.policy);
    }
    // Powers of two change no digit.
    let mut scaled = rows;
    for row in &mut scaled {
        for id in ["sent", "whole"] {
            row.values.set(id, row.values.get(id).map(|value| value * 1_024.0));
        }
    }
    let scaled = judged(scaled, &["b", "c"], 1);
    assert_eq!(scaled.comparisons, found.comparisons);
    assert_ne!(judged(three_policies(15), &["b", "c"], 2).comparisons, found.comparisons, "another seed, other draws");
}

#[test]
fn what_is_alike_everywhere_is_no_difference() {
    let twice = |number: usize| ["a", "b"].map(|policy| row(number, policy, 0.1 * number as f64, 0.3 * number as f64 + 1.0));
    let results = judged((0..20).flat_map(twice).collect(), &["b"], 1);
    for row in &results.comparisons {
        assert_eq!((row.difference, row.interval, row.p, row.p_holm), (0.0, Some([0.0; 2]), Some(1.0), Some(1.0)), "{row:?}");
    }
}

/// Sessions, not conversations, are counted; a column that only few sessions have is not judged; a largest value never is.
#[test]
fn few_sessions_say_nothing() {
    assert_eq!(judged(study(FEWEST - 1, 1), &["b"], 1), results(study(FEWEST - 1, 1)));
    let mut rows = study(8, 1);
    for row in rows.iter_mut().filter(|row| row.transcript > "2.jsonl".to_owned()) {
        row.values.set("mean", None);
    }
    let results = judged(rows, &["b"], 1);
    let row = |column: &str| results.comparisons.iter().find(|row| row.column == column);
    let mean = row("mean").expect("a difference");
    assert_eq!((mean.sessions, mean.interval, mean.p, mean.p_holm), (3, None, None, None));
    assert!(row("saved").is_some_and(|row| row.p_holm.is_some()) && row("peak").is_none());
    assert!(results.summary.iter().all(|summary| summary.intervals.ids().eq(["saved"])));

    let of_one_session = |mut rows: Vec<Row>| {
        for row in &mut rows {
            row.transcript = format!("s/subagents/{}", row.transcript);
        }
        rows
    };
    assert_eq!(judged(of_one_session(study(8, 1)), &["b"], 1).statistics, None);
}

#[test]
fn a_seed_may_be_given() {
    let replay = ["replay", "messages", "-p", "lcc-s06", "-o", "json"];
    assert_eq!(run(replay).printed(), run(replay.iter().chain(&["--seed", "7"])).printed(), "too few sessions to draw from");
    assert_eq!(run(replay.iter().chain(&["--seed", "x"])).code, 2);
}
