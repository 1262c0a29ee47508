//! Benchmarks the extraction of facts from blocks, in MB per second of the text the model reads, and whether the time grows
//! linearly for texts that are hard on purpose. Prints two tables with the best of a few runs.

#[path = "written/claude_code.rs"]
mod claude_code;
mod clock;
mod session;
mod trace;

use std::hint::black_box;

use recompact::facts::extract::{self, FactKind};
use recompact::transcript::conversation::{Block, BlockKind};

use clock::{best, milliseconds};

const MESSAGES: usize = 4_000;
const RUNS: usize = 9;
/// Bytes of a hostile text. A text of twice the length is still read completely.
const ONCE: usize = 50_000;
/// Names of hostile texts, and the unit that each repeats on one line.
const HOSTILE: [(&str, &str); 14] = [
    ("one word", "a"),
    ("quotes", "\""),
    ("quoted words", "\"a b c d e\" "),
    ("slashes", "/"),
    ("dots and slashes", "./"),
    ("one path", "abc/"),
    ("digits", "7"),
    ("numbers", "12345 "),
    ("numbers and names", "a_name1 12345 "),
    ("one name many times", "same_name.98765."),
    ("a version", "1."),
    ("escapes", "\u{1b}]"),
    ("schemes", "http://a"),
    ("marks out of order", "a\u{301}\u{323}"),
];

fn main() {
    let session = session::conversation(MESSAGES);
    let blocks: Vec<&Block> =
        session.blocks.iter().filter(|block| !matches!(block.kind, BlockKind::Thinking | BlockKind::Media)).collect();
    let bytes: usize = blocks.iter().map(|block| block.text().len()).sum();
    let mut counts = [0_usize; FactKind::ALL.len()];
    let time = best(RUNS, || {
        counts = Default::default();
        for block in &blocks {
            extract::in_block(black_box(block), &mut |seen| counts[seen.kind as usize] += 1);
        }
    });
    println!("a session of {:.1} MB: {:.0} MB/s", bytes as f64 / 1e6, bytes as f64 / 1e6 / time.as_secs_f64());
    println!("{}\n", FactKind::ALL.map(|kind| format!("{} {}", counts[kind as usize], kind.name())).join(", "));

    println!("{:<20} {:>10} {:>10} {:>7} {:>7}", "hostile text", "50 KB", "100 KB", "ratio", "MB/s");
    let mut largest: f64 = 0.0;
    for (name, unit) in HOSTILE {
        let [once, twice] = [ONCE, 2 * ONCE].map(|bytes| {
            let text = unit.repeat(bytes / unit.len());
            best(RUNS, || extract::in_text(black_box(&text), &mut |seen| _ = black_box(seen)))
        });
        let ratio = twice.as_secs_f64() / once.as_secs_f64();
        largest = largest.max(ratio);
        let speed = 2.0 * ONCE as f64 / 1e6 / twice.as_secs_f64();
        println!("{name:<20} {:>7.3} ms {:>7.3} ms {ratio:>7.2} {speed:>7.0}", milliseconds(once), milliseconds(twice));
    }
    println!("the largest ratio is {largest:.2} (2 is linear)");
}
