//! Benchmarks the parsing of transcripts in every format, in MB of transcript per second.

mod trace;
mod written;

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use recompact::transcript::format::{self, ReadOptions};

use trace::Trace;
use written::WRITERS;

const MESSAGES: usize = 3_000;

fn reading(criterion: &mut Criterion) {
    let trace = Trace::new(1, MESSAGES);
    let mut group = criterion.benchmark_group("reading");
    for writer in WRITERS {
        let bytes = (writer.write)(&trace).into_bytes();
        let format = format::sniff(&bytes).expect("a known format");
        assert_eq!(format.name, writer.format);
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(writer.name, |bencher| {
            bencher.iter(|| (format.read)(black_box(&bytes), &ReadOptions::default()));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = reading
}
criterion_main!(benches);
