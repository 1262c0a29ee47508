//! Benchmarks replays of every preset, in recorded calls per second. Sizes are precomputed, so this measures only the work of the
//! policy: its edits, the sizes of the blocks it writes, its summaries.

#[path = "written/claude_code.rs"]
mod claude_code;
mod prepared;
mod session;
mod trace;

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};

use prepared::{Prepared, policies};

/// The report's counter, and the lengths of the sessions in messages. A token vocabulary is slower only when a layer writes text.
const SERIES: [(&str, &[usize]); 2] = [("chars/4", &[100, 1_000, 3_000, 10_000, 30_000]), ("o200k", &[3_000])];

fn replay(criterion: &mut Criterion) {
    for (counter, lengths) in SERIES {
        let mut group = criterion.benchmark_group(format!("replay by {counter}"));
        group.sampling_mode(SamplingMode::Flat);
        for &messages in lengths {
            let prepared = Prepared::new(messages, counter.parse().expect("a meter"));
            group.throughput(Throughput::Elements(prepared.conversation.calls.len() as u64));
            for policy in policies() {
                let id = BenchmarkId::new(&policy.name, messages);
                group.bench_function(id, |bencher| bencher.iter(|| prepared.replay(&policy)));
            }
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .nresamples(1_000)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400));
    targets = replay
}
criterion_main!(benches);
