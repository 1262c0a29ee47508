//! Benchmarks a sweep: 64 configurations of one preset over one session, prepared, replayed and evaluated by every metric, in
//! policies times recorded calls per second of wall time, on one core and on all. The search keeps what they add to totals, and replays
//! once what decides the same; the final comparison keeps their rows. Prints a table with the best of a few runs.

#[path = "written/claude_code.rs"]
mod claude_code;
mod clock;
mod session;
mod trace;

use std::hint::black_box;
use std::time::Duration;

use rayon::ThreadPoolBuilder;
use recompact::analysis::study::Study;
use recompact::engine::alike::PolicyForms;
use recompact::engine::policy::{Policy, Setting, preset};
use recompact::metrics::metric;
use recompact::transcript::format::Reading;

use clock::{best, milliseconds};

/// Messages of a session; it has half as many calls.
const MESSAGES: usize = 2_000;
const RUNS: usize = 5;

/// A preset, and two of its settings with eight values each.
type Grid = (&'static str, [(&'static str, [u32; 8]); 2]);

const GRIDS: [Grid; 2] = [
    (
        "lcc-s08",
        [
            ("auto.threshold", [20_000, 35_000, 50_000, 80_000, 120_000, 200_000, 300_000, 600_000]),
            ("micro.keep_recent", [1, 2, 3, 4, 5, 6, 8, 10]),
        ],
    ),
    (
        "anthropic-clear",
        [
            ("clear.threshold", [25_000, 40_000, 50_000, 75_000, 100_000, 125_000, 150_000, 175_000]),
            ("clear.keep_recent", [1, 2, 3, 4, 5, 6, 8, 10]),
        ],
    ),
];

/// A stage of a sweep, and what it does with a session.
type Stage = (&'static str, fn(&Study, &Reading));

const STAGES: [Stage; 2] = [("search", search), ("comparison", compare)];

fn search(study: &Study, reading: &Reading) {
    black_box(study.partial_totals(&PolicyForms::new(&study.policies), reading, &metric::columns(), &|_| {}));
}

fn compare(study: &Study, reading: &Reading) {
    black_box(study.results(vec![study.transcript("synthetic", reading, None)]));
}

fn main() {
    let conversation = session::conversation(MESSAGES);
    let calls = conversation.calls.len();
    let reading = Reading { conversations: vec![conversation], notes: Vec::new() };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "{:<18} {:<10} {:>8} {:>8} {:>6} {:>12} {:>14} {:>7}",
        "preset", "stage", "policies", "calls", "cores", "time", "calls/s", "ratio"
    );
    for (grid, (stage, run)) in GRIDS.into_iter().flat_map(|grid| STAGES.map(|stage| (grid, stage))) {
        let study = Study::new(policies(grid));
        let mut on_one_core: Option<Duration> = None;
        for threads in [1, cores] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let time = pool.install(|| best(RUNS, || run(&study, &reading)));
            let ratio = on_one_core.get_or_insert(time).as_secs_f64() / time.as_secs_f64();
            let replayed = study.policies.len() * calls;
            println!(
                "{:<18} {stage:<10} {:>8} {calls:>8} {threads:>6} {:>9.2} ms {:>14.0} {ratio:>7.2}",
                grid.0,
                study.policies.len(),
                milliseconds(time),
                replayed as f64 / time.as_secs_f64()
            );
        }
    }
}

/// Returns a configuration for each pair of values.
fn policies((name, [(first, firsts), (second, seconds)]): Grid) -> Vec<Policy> {
    let settings =
        |a: u32, b: u32| [format!("{first}={a}"), format!("{second}={b}")].map(|text| text.parse().expect("a setting"));
    let policy = |settings: [Setting; 2]| preset(name).expect("a preset").policy(&settings).expect("a policy");
    firsts.iter().flat_map(|a| seconds.iter().map(move |b| policy(settings(*a, *b)))).collect()
}
