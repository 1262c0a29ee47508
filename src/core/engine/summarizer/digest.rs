//! Digests of texts for `extract`: the lines that a summary may repeat, and their words, as numeric ids.
//!
//! A block is in the spans of many summaries of many policies, so it is read once for all of them.

use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use recompact_text::sentences;
use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use crate::transcript::conversation::{BlockId, Conversation};

/// The digests of one conversation's blocks. Each is computed on first use, by any thread.
#[derive(Debug)]
pub struct Digests {
    by_block: Box<[OnceLock<Digest>]>,
    ids: Mutex<TermIds>,
}

/// Ids of lines and words, by their hashes; equal hashes count as equal texts. Summaries repeat lines, so the words of each line
/// are extracted once.
#[derive(Debug, Default)]
struct TermIds {
    /// By line: its id, and the range of its words in `line_words`.
    lines: FxHashMap<u64, (u32, Range<usize>)>,
    words: FxHashMap<u64, u32>,
    /// Ids of the distinct words of each line, all lines concatenated.
    line_words: Vec<u32>,
}

/// The distinct lines of a text that a summary may repeat, in order.
#[derive(Debug, Clone)]
pub(super) struct Digest {
    lines: Box<[DigestLine]>,
    /// Ids of the distinct words of each line, all lines concatenated.
    words: Box<[u32]>,
}

#[derive(Debug, Clone, Copy)]
struct DigestLine {
    id: u32,
    /// Length in bytes.
    len: u32,
    /// Byte offset in the text.
    start: usize,
    /// End of its words in the digest's `words`.
    words_end: usize,
}

/// A line of a text, with its id and the ids of its words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sentence<'t, 'd> {
    pub text: &'t str,
    pub id: u32,
    pub words: &'d [u32],
}

impl Digests {
    /// Prepares the digests of a conversation's blocks; each is computed when it is first asked for.
    pub fn new(conversation: &Conversation) -> Self {
        Self { by_block: conversation.blocks.iter().map(|_| OnceLock::new()).collect(), ids: Mutex::default() }
    }

    /// Returns the digest of a recorded block with this text.
    pub(super) fn block_digest(&self, block: BlockId, text: &str) -> &Digest {
        self.by_block[block.index()].get_or_init(|| self.text_digest(text))
    }

    pub(super) fn text_digest(&self, text: &str) -> Digest {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        ids.digest(text)
    }
}

impl TermIds {
    fn digest(&mut self, text: &str) -> Digest {
        let (mut lines, mut words): (Vec<DigestLine>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut known = FxHashSet::default();
        for line in sentences::of(text) {
            let (id, line_words) = self.line_ids(line);
            if known.insert(id) {
                words.extend(line_words);
                let start = line.as_ptr() as usize - text.as_ptr() as usize;
                lines.push(DigestLine { id, len: line.len() as u32, start, words_end: words.len() });
            }
        }
        Digest { lines: lines.into(), words: words.into() }
    }

    /// Returns the id of a line and the ids of its words.
    fn line_ids(&mut self, line: &str) -> (u32, &[u32]) {
        let next_line = self.lines.len() as u32;
        let (id, words) = self.lines.entry(xxh3_64(line.as_bytes())).or_insert_with(|| {
            let start = self.line_words.len();
            for word in sentences::words_of(line) {
                let next_word = self.words.len() as u32;
                let id = *self.words.entry(xxh3_64(word.as_bytes())).or_insert(next_word);
                if !self.line_words[start..].contains(&id) {
                    self.line_words.push(id);
                }
            }
            (next_line, start..self.line_words.len())
        });
        (*id, &self.line_words[words.clone()])
    }
}

impl Digest {
    /// Iterates over the sentences; `text` must be the text of this digest.
    pub fn sentences<'t, 'd>(&'d self, text: &'t str) -> impl Iterator<Item = Sentence<'t, 'd>> {
        let mut from = 0;
        self.lines.iter().map(move |line| {
            let words = &self.words[std::mem::replace(&mut from, line.words_end)..line.words_end];
            Sentence { text: &text[line.start..][..line.len as usize], id: line.id, words }
        })
    }
}
