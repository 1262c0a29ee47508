//! What `extract` needs to know of a text: its lines that a summary may repeat, and their words, as numbers.
//!
//! A block stands in the spans of many summaries of many policies: it is read once for all of them.

use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use crate::transcript::conversation::{BlockId, Conversation};
use crate::util::text;

/// A sentence is at least and at most so long, in bytes and in characters; what is longer (minified code, data) is no sentence.
const MIN_BYTES: usize = 20;
pub(super) const MAX_CHARS: usize = 300;

/// The digests of one conversation's blocks, each made when it is first asked for, by whatever thread.
#[derive(Debug)]
pub struct Digests {
    of_blocks: Box<[OnceLock<Digest>]>,
    numbers: Mutex<Numbers>,
}

/// Numbers of lines and words, by their hashes: two with one hash are taken for the same. Summaries repeat lines, so the words
/// of each are looked for once.
#[derive(Debug, Default)]
struct Numbers {
    lines: FxHashMap<u64, (u32, Range<usize>)>,
    words: FxHashMap<u64, u32>,
    /// The distinct words of all lines, one line after the other.
    of_lines: Vec<u32>,
}

/// The lines of a text that may be repeated, each once, in order.
#[derive(Debug, Clone)]
pub(super) struct Digest {
    lines: Box<[Line]>,
    /// The distinct words of all lines, one line after the other.
    words: Box<[u32]>,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    number: u32,
    len: u32,
    start: usize,
    /// Where its words end among those of the digest.
    words: usize,
}

/// A line of a text, with the numbers of itself and its words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sentence<'t, 'd> {
    pub text: &'t str,
    pub number: u32,
    pub words: &'d [u32],
}

impl Digests {
    pub fn new(conversation: &Conversation) -> Self {
        Self { of_blocks: conversation.blocks.iter().map(|_| OnceLock::new()).collect(), numbers: Mutex::default() }
    }

    /// That of a recorded block, whose text is given.
    pub(super) fn of_block(&self, block: BlockId, text: &str) -> &Digest {
        self.of_blocks[block.index()].get_or_init(|| self.of_text(text))
    }

    pub(super) fn of_text(&self, text: &str) -> Digest {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.digest(text)
    }
}

impl Numbers {
    fn digest(&mut self, text: &str) -> Digest {
        let (mut lines, mut words): (Vec<Line>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut known = FxHashSet::default();
        for line in text.lines().flat_map(|line| line.split('\r')).map(str::trim).filter(|line| is_sentence(line)) {
            let (number, of_line) = self.line(line);
            if known.insert(number) {
                words.extend(of_line);
                let start = line.as_ptr() as usize - text.as_ptr() as usize;
                lines.push(Line { number, len: line.len() as u32, start, words: words.len() });
            }
        }
        Digest { lines: lines.into(), words: words.into() }
    }

    /// The number of a line, and those of its words.
    fn line(&mut self, line: &str) -> (u32, &[u32]) {
        let next = self.lines.len() as u32;
        let (number, place) = self.lines.entry(xxh3_64(line.as_bytes())).or_insert_with(|| {
            let start = self.of_lines.len();
            for word in words_of(line) {
                let next = self.words.len() as u32;
                let number = *self.words.entry(xxh3_64(word.as_bytes())).or_insert(next);
                if !self.of_lines[start..].contains(&number) {
                    self.of_lines.push(number);
                }
            }
            (next, start..self.of_lines.len())
        });
        (*number, &self.of_lines[place.clone()])
    }
}

impl Digest {
    /// Its sentences, of the text it was made of.
    pub fn sentences<'t, 'd>(&'d self, text: &'t str) -> impl Iterator<Item = Sentence<'t, 'd>> {
        let mut from = 0;
        self.lines.iter().map(move |line| {
            let words = &self.words[std::mem::replace(&mut from, line.words)..line.words];
            Sentence { text: &text[line.start..][..line.len as usize], number: line.number, words }
        })
    }
}

fn is_sentence(line: &str) -> bool {
    line.len() >= MIN_BYTES && text::head(line, MAX_CHARS).len() == line.len()
}

/// The words of a sentence that can tell something: four bytes or more. What is not ASCII belongs to words.
fn words_of(sentence: &str) -> impl Iterator<Item = &str> {
    let splits = |c: char| c.is_ascii() && !(c.is_ascii_alphanumeric() || c == '_');
    sentence.split(splits).filter(|word| word.len() >= 4)
}
