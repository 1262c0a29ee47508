//! Benchmarks whether the time of a replay grows linearly with its conversation: twice the messages should take about twice the
//! time, for every preset. Prints a table with the best of a few runs.

#[path = "written/claude_code.rs"]
mod claude_code;
mod clock;
mod prepared;
mod session;
mod trace;

use std::hint::black_box;

use clock::{best, milliseconds};
use prepared::{Prepared, policies};

const MESSAGES: usize = 10_000;
const RUNS: usize = 5;

fn main() {
    let counter = "chars/4".parse().expect("a meter");
    let [once, twice] = [MESSAGES, 2 * MESSAGES].map(|messages| Prepared::new(messages, counter));
    println!("{:<20} {:>12} {:>12} {:>7}", "preset", format!("{MESSAGES} msg"), format!("{} msg", 2 * MESSAGES), "ratio");
    let mut largest: f64 = 0.0;
    for policy in policies() {
        let [short, long] = [&once, &twice].map(|prepared| best(RUNS, || _ = black_box(prepared.replay(&policy))));
        let ratio = long.as_secs_f64() / short.as_secs_f64();
        largest = largest.max(ratio);
        println!("{:<20} {:>9.2} ms {:>9.2} ms {ratio:>7.2}", policy.name, milliseconds(short), milliseconds(long));
    }
    println!("the largest ratio is {largest:.2} (2 is linear)");
}
