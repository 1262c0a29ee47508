//! Benchmarks the cost computation of a replay.
//!
//! The first table has the time for prices and token calibration of a conversation, in MB per second of the text the model
//! reads. The second has, for every preset, the simulation of the prompt cache in recorded calls per second on a session of
//! 1,000 calls, and whether its time grows linearly with the session. Times are the best of a few runs.
//!
//! The work of a simulation is proportional to the blocks that requests append, so their ratio is shown beside the ratio of the
//! times. The time may grow faster when a session no longer fits into the processor's caches.

#[path = "written/claude_code.rs"]
mod claude_code;
mod clock;
mod prepared;
mod session;
mod trace;

use std::hint::black_box;
use std::time::Duration;

use recompact::engine::context::size_of;
use recompact::engine::policy::Policy;
use recompact::facts::references::References;
use recompact::metrics::cost::{CostSetup, Tariff, cost};
use recompact::metrics::prices::Prices;
use recompact::metrics::prompt_cache::{self, InitialState};
use recompact::metrics::retention::evaluate;
use recompact::tokens::calibration::Calibration;
use recompact::transcript::conversation::BlockId;

use clock::{best, milliseconds};
use prepared::{Prepared, policies};

/// Messages of a session; it has half as many calls.
const MESSAGES: [usize; 3] = [2_000, 10_000, 20_000];
const RUNS: usize = 15;

fn main() {
    let counter = "chars/4".parse().expect("a meter");
    let prices = Prices::built_in();
    let sessions = MESSAGES.map(|messages| Session::new(Prepared::new(messages, counter), &prices));
    println!("{:<10} {:>8} {:>12} {:>12} {:>8}", "calls", "MB", "prices", "calibration", "MB/s");
    for Session { prepared, .. } in &sessions {
        let conversation = &prepared.conversation;
        let bytes: usize = conversation.blocks.iter().map(|block| block.text().len()).sum();
        let priced = best(RUNS, || _ = black_box(Tariff::new(black_box(conversation), &prices, None)));
        let calibrated = best(RUNS, || _ = black_box(Calibration::for_conversation(black_box(conversation))));
        println!(
            "{:<10} {:>8.2} {:>9.2} ms {:>9.2} ms {:>8.0}",
            conversation.calls.len(),
            bytes as f64 / 1e6,
            milliseconds(priced),
            milliseconds(calibrated),
            bytes as f64 / 1e6 / calibrated.as_secs_f64()
        );
    }
    let [short, once, twice] = MESSAGES.map(|messages| format!("{messages} msg"));
    println!("\n{:<22} {short:>12} {:>12} {once:>12} {twice:>12} {:>7} {:>7}", "preset", "calls/s", "ratio", "blocks");
    let mut largest: f64 = 0.0;
    for policy in policies() {
        let [(short, _), (once, blocks), (twice, blocks_twice)] = sessions.each_ref().map(|session| session.time(&policy));
        let ratio = twice.as_secs_f64() / once.as_secs_f64();
        largest = largest.max(ratio);
        println!(
            "{:<22} {:>9.2} ms {:>12.0} {:>9.2} ms {:>9.2} ms {ratio:>7.2} {:>7.2}",
            policy.name,
            milliseconds(short),
            sessions[0].prepared.conversation.calls.len() as f64 / short.as_secs_f64(),
            milliseconds(once),
            milliseconds(twice),
            blocks_twice as f64 / blocks as f64
        );
    }
    println!("the largest ratio is {largest:.2} (2 is linear)");
}

/// A conversation, and the data that the costs of all its replays share.
struct Session {
    prepared: Prepared,
    references: References,
    tariff: Tariff,
    outputs: Vec<u64>,
}

impl Session {
    fn new(prepared: Prepared, prices: &Prices) -> Self {
        let conversation = &prepared.conversation;
        let references = References::new(conversation, |block| prepared.sizes.size(block, prepared.counter.unit));
        let tariff = Tariff::new(conversation, prices, None);
        assert!(tariff.is_known(), "no prices for {:?}", tariff.unknown_models());
        let outputs = conversation.calls.iter().map(|call| call.usage.map_or(0, |usage| usage.output)).collect();
        Self { references, tariff, outputs, prepared }
    }

    /// Returns the time to compute the cost of one replay (without the replay itself), and the number of appended blocks.
    fn time(&self, policy: &Policy) -> (Duration, usize) {
        let Prepared { conversation, sizes, counter, .. } = &self.prepared;
        let journal = self.prepared.replay(policy);
        let slot = sizes.slot(counter.unit).expect("the counter's sizes are kept");
        let size = |block: BlockId| size_of(conversation, sizes, &journal.synthetic_blocks, block, slot);
        let kept = evaluate(conversation, &self.references, &journal, &size);
        let before = InitialState::from_record(conversation, journal.overhead);
        let cache = prompt_cache::CacheSetup {
            conversation,
            policy,
            journal: &journal,
            request_tokens: &journal.request_tokens(),
            terms: self.tariff.terms(),
            initial: before,
            events: &[],
            size: &size,
        };
        let setup = CostSetup { cache, tariff: &self.tariff, outputs: &self.outputs, retention: &kept };
        let time = best(RUNS, || _ = black_box(cost(black_box(&setup))));
        (time, journal.requests.iter().map(|request| request.delta.appended.len()).sum())
    }
}
