//! Benchmarks the sizes of blocks in every unit, in MB per second of the text the model reads, and tokens against tiktoken-rs.
//!
//! *Cold* counts with an empty cache, as for the first transcript of a run; *warm* counts the same text again. The vocabulary is
//! loaded before both. The ratio is also printed for each folder of recordings in `$RECOMPACT_TRANSCRIPTS`, separated as in PATH.

#[path = "written/claude_code.rs"]
mod claude_code;
mod session;
mod trace;

use std::hint::black_box;
use std::slice;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use recompact::analysis::corpus::{Corpus, FileCorpus};
use recompact::tokens::block_sizes::BlockSizes;
use recompact::tokens::meter::SizeUnit;
use recompact::transcript::conversation::Conversation;
use tiktoken_rs::o200k_base_singleton;

const MESSAGES: usize = 1_000;

fn counting(criterion: &mut Criterion) {
    let conversation = session::conversation(MESSAGES);
    let bytes = BlockSizes::new(&conversation, [SizeUnit::Bytes]);
    let bytes = conversation.messages.iter().flat_map(|message| &message.blocks).map(|id| bytes.block_sizes(*id)[0]).sum();
    let mut group = criterion.benchmark_group("counting");
    group.throughput(Throughput::Bytes(bytes));
    for (measure, name) in SizeUnit::ALL {
        let count = || BlockSizes::new(black_box(&conversation), [measure]);
        group.bench_function(BenchmarkId::new("warm", name), |bencher| bencher.iter(count));
    }
    for measure in [SizeUnit::O200k, SizeUnit::Cl100k] {
        group.bench_function(BenchmarkId::new("cold", measure), |bencher| {
            bencher.iter_custom(|times| (0..times).map(|_| cold(slice::from_ref(&conversation), measure)).sum());
        });
    }
    group.bench_function("tiktoken-rs/o200k", |bencher| bencher.iter(|| plain(black_box(&conversation))));
    group.finish();
    ratio("an invented session", &[conversation]);
    for folder in std::env::split_paths(&std::env::var_os("RECOMPACT_TRANSCRIPTS").unwrap_or_default()) {
        let corpus = FileCorpus::at(&folder);
        let readings = (0..corpus.names().len()).filter_map(|at| corpus.read(at).ok());
        ratio(&folder.display().to_string(), &readings.flat_map(|reading| reading.conversations).collect::<Vec<_>>());
    }
}

/// Prints how many times faster the token count is than tiktoken-rs alone, by the best of a few runs each.
fn ratio(name: &str, conversations: &[Conversation]) {
    let best = |run: &dyn Fn() -> Duration| (0..3).map(|_| run()).min().unwrap_or_default();
    let tiktoken = best(&|| {
        let start = Instant::now();
        black_box(conversations.iter().map(plain).sum::<usize>());
        start.elapsed()
    });
    let ours = best(&|| cold(conversations, SizeUnit::O200k));
    println!("counting o200k, cold, {name}: {:.1} × tiktoken-rs", tiktoken.as_secs_f64() / ours.as_secs_f64());
}

/// Returns the time to count in a new thread, because every thread has its own cache.
fn cold(conversations: &[Conversation], measure: SizeUnit) -> Duration {
    let count = || {
        measure.text("the vocabulary and its expression, for qxzj, are loaded");
        let start = Instant::now();
        for conversation in conversations {
            black_box(BlockSizes::new(black_box(conversation), [measure]));
        }
        start.elapsed()
    };
    std::thread::scope(|scope| scope.spawn(count).join().expect("counting does not panic"))
}

/// Counts the tokens of all blocks with tiktoken-rs alone.
fn plain(conversation: &Conversation) -> usize {
    let bpe = o200k_base_singleton();
    conversation.blocks.iter().map(|block| bpe.encode_ordinary(&block.text()).len()).sum()
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = counting
}
criterion_main!(benches);
