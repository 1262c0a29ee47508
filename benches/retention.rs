//! Benchmarks the retention of facts.
//!
//! The first table has the search for a conversation's references, in MB per second of the text the model reads. The second has,
//! for every preset, the lookup and the bounds on a session of 1,000 calls and on one twice as long. Times are the best of a few
//! runs.

#[path = "written/claude_code.rs"]
mod claude_code;
mod clock;
mod prepared;
mod session;
mod trace;

use std::hint::black_box;
use std::time::Duration;

use recompact::engine::policy::Policy;
use recompact::facts::references::References;
use recompact::metrics::retention::{Grain, bounds, evaluate, oracle_instance};
use recompact::transcript::conversation::BlockId;

use clock::{best, milliseconds};
use prepared::{Prepared, policies};

/// Messages of a session; it has half as many calls.
const MESSAGES: usize = 2_000;
const RUNS: usize = 15;

fn main() {
    let counter = "chars/4".parse().expect("a meter");
    let both = [MESSAGES, 2 * MESSAGES].map(|messages| Prepared::new(messages, counter));
    println!("{:<10} {:>8} {:>8} {:>8} {:>10} {:>8}", "calls", "MB", "facts", "uses", "time", "MB/s");
    for prepared in &both {
        let conversation = &prepared.conversation;
        let bytes: usize = conversation.blocks.iter().map(|block| block.text().len()).sum();
        let references = References::new(conversation, |_| 1);
        let time = best(RUNS, || _ = black_box(References::new(black_box(conversation), |_| 1)));
        println!(
            "{:<10} {:>8.2} {:>8} {:>8} {:>7.2} ms {:>8.0}",
            conversation.calls.len(),
            bytes as f64 / 1e6,
            references.facts.len(),
            references.uses.len(),
            milliseconds(time),
            bytes as f64 / 1e6 / time.as_secs_f64()
        );
    }
    println!(
        "\n{:<20} {:>12} {:>12} {:>7} {:>12} {:>12} {:>7}",
        "preset", "lookup", "twice", "ratio", "bounds", "twice", "ratio"
    );
    let mut largest: f64 = 0.0;
    for policy in policies() {
        let [once, twice] = both.each_ref().map(|prepared| times(prepared, &policy));
        let ratios = [0, 1].map(|part| twice[part].as_secs_f64() / once[part].as_secs_f64());
        largest = ratios.into_iter().fold(largest, f64::max);
        let part = |part: usize| {
            format!("{:>9.2} ms {:>9.2} ms {:>7.2}", milliseconds(once[part]), milliseconds(twice[part]), ratios[part])
        };
        println!("{:<20} {} {}", policy.name, part(0), part(1));
    }
    println!("the largest ratio is {largest:.2} (2 is linear)");
}

/// Returns the times of the lookup in a policy's requests, and of the greedy bound at the same budget, line by line.
fn times(prepared: &Prepared, policy: &Policy) -> [Duration; 2] {
    let conversation = &prepared.conversation;
    let sizes: Vec<u64> = conversation.blocks.iter().map(|block| block.text().len() as u64 / 4).collect();
    let tokens = |block: BlockId| sizes[block.index()];
    let references = References::new(conversation, tokens);
    let instance = oracle_instance(conversation, &references, Grain::Lines, &tokens);
    let journal = prepared.replay(policy);
    [
        best(RUNS, || _ = black_box(evaluate(conversation, &references, black_box(&journal), &tokens))),
        best(RUNS, || _ = black_box(bounds(&instance, black_box(&journal), false))),
    ]
}
