//! Benchmarks statistical inference: confidence intervals and p-values for several policies over several sessions, in all
//! averaged columns. Prints a table with the best of a few runs.

mod clock;

use std::hint::black_box;

use recompact::metrics::metric;
use recompact::results::saved::{Results, Row, summarise};
use recompact::results::stats::{SEED, infer};

use clock::{best, milliseconds};

const SIZES: [(usize, usize); 4] = [(4, 20), (4, 1_000), (200, 20), (200, 100)];
const RUNS: usize = 3;

fn main() {
    println!("{:>8} {:>9} {:>8} {:>12} {:>12}", "policies", "sessions", "columns", "totals", "inference");
    for (policies, sessions) in SIZES {
        let results = results(policies, sessions);
        let averages = results.columns.iter().filter(|column| column.combine.is_average()).count();
        let names: Vec<String> = (1..policies).map(name).collect();
        let compared: Vec<&str> = names.iter().map(String::as_str).collect();
        let totals = best(RUNS, || _ = black_box(summarise(&results.columns, black_box(&results.rows))));
        let inference = best(RUNS, || {
            let mut results = black_box(&results).clone();
            infer(&mut results, &name(0), &compared, SEED);
            black_box(results);
        });
        let [totals, inference] = [totals, inference].map(milliseconds);
        println!("{policies:>8} {sessions:>9} {averages:>8} {totals:>9.1} ms {inference:>9.1} ms");
    }
}

fn name(policy: usize) -> String {
    format!("policy-{policy}")
}

/// Generates results with arbitrary values that are all different.
fn results(policies: usize, sessions: usize) -> Results {
    let columns = metric::columns();
    let row = |session: usize, policy: usize| Row {
        transcript: format!("{session}.jsonl").into(),
        conversation: "main".into(),
        recording: Default::default(),
        policy: name(policy).into(),
        bound_of: None,
        values: columns.iter().enumerate().map(|(at, column)| (column.id.clone(), Some(value(session, policy, at)))).collect(),
    };
    let rows: Vec<Row> =
        (0..sessions).flat_map(|session| (0..policies).map(move |policy| (session, policy))).map(|(s, p)| row(s, p)).collect();
    Results { summary: summarise(&columns, &rows), columns, rows, ..Results::default() }
}

fn value(session: usize, policy: usize, column: usize) -> f64 {
    1.0 + (session * 7_919 + policy * 104_729 + column * 1_299_709).wrapping_mul(0x9E37_79B9) as f64 % 1_000.0
}
