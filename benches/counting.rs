//! Benchmarks the sizes of blocks in every unit, in MB per second of the text the model reads, and tokens against tiktoken-rs.
//!
//! *Cold* counts with an empty cache, as for the first transcript of a run; *warm* counts the same text again. The vocabulary is
//! loaded before both. The ratio is also printed for each folder of recordings in `$RECOMPACT_TRANSCRIPTS`, separated as in PATH.

#[path = "written/claude_code.rs"]
mod claude_code;
mod session;
mod trace;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use recompact::analysis::corpus::{Corpus, FileCorpus};
use recompact::text::tokens::Vocabulary;
use recompact::tokens::block_sizes::BlockSizes;
use recompact::tokens::meter::SizeUnit;
use recompact::transcript::conversation::{Block, Conversation};
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
    for (vocabulary, measure) in [(Vocabulary::O200k, SizeUnit::O200k), (Vocabulary::Cl100k, SizeUnit::Cl100k)] {
        let count = || BlockSizes::new(black_box(&conversation), [measure]);
        group.bench_function(BenchmarkId::new("cold", measure), |bencher| {
            bencher.iter_custom(|times| (0..times).map(|_| cold(vocabulary, count)).sum());
        });
    }
    group.bench_function("tiktoken-rs/o200k", |bencher| {
        bencher.iter(|| black_box(&conversation).blocks.iter().map(|block| tiktoken_tokens(&block.text())).sum::<usize>());
    });
    group.finish();
    ratio("an invented session", &[conversation]);
    for folder in std::env::split_paths(&std::env::var_os("RECOMPACT_TRANSCRIPTS").unwrap_or_default()) {
        let corpus = FileCorpus::at(&folder);
        let readings = (0..corpus.names().len()).filter_map(|at| corpus.read(at).ok());
        ratio(&folder.display().to_string(), &readings.flat_map(|reading| reading.conversations).collect::<Vec<_>>());
    }
}

/// Prints how many times faster the texts of all blocks are counted than by tiktoken-rs, by the best of a few runs each.
fn ratio(name: &str, conversations: &[Conversation]) {
    let texts: Vec<_> = conversations.iter().flat_map(|conversation| &conversation.blocks).map(Block::text).collect();
    let best = |run: &dyn Fn() -> Duration| (0..3).map(|_| run()).min().unwrap_or_default();
    let tiktoken = best(&|| {
        let start = Instant::now();
        black_box(texts.iter().map(|text| tiktoken_tokens(text)).sum::<usize>());
        start.elapsed()
    });
    let ours = best(&|| cold(Vocabulary::O200k, || texts.iter().map(|text| Vocabulary::O200k.count(text)).sum::<u64>()));
    println!("counting o200k, cold, {name}: {:.1} × tiktoken-rs", tiktoken.as_secs_f64() / ours.as_secs_f64());
}

/// Returns the time to count in a new thread, because every thread has its own cache.
fn cold<T>(vocabulary: Vocabulary, count: impl Fn() -> T + Sync) -> Duration {
    let timed = || {
        vocabulary.count("the vocabulary and its expression, for qxzj, are loaded");
        let start = Instant::now();
        black_box(count());
        start.elapsed()
    };
    std::thread::scope(|scope| scope.spawn(timed).join().expect("counting does not panic"))
}

fn tiktoken_tokens(text: &str) -> usize {
    o200k_base_singleton().encode_ordinary(text).len()
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = counting
}
criterion_main!(benches);
