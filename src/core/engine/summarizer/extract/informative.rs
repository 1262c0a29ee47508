//! Selects the sentences with the most informative words.

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::engine::summarizer::digest::{Digest, Sentence};
use crate::engine::summarizer::{InputBlock, SummaryRequest};
use crate::transcript::conversation::{BlockKind, Origin};

/// Returns the sentences with the most informative words, as many as fit into about `tokens`, in the order of the input.
pub(super) fn informative<'a>(request: &'a SummaryRequest, tokens: u64) -> Vec<Cow<'a, str>> {
    let readable =
        |block: &&InputBlock| matches!(block.kind, BlockKind::Text | BlockKind::ToolResult(_)) && block.origin != Origin::User;
    let digest = |block: &'a InputBlock| match block.whole {
        Some(id) => Cow::Borrowed(request.digests.block_digest(id, block.text())),
        None => Cow::Owned(request.digests.text_digest(block.text())),
    };
    let digests: Vec<(&str, Cow<Digest>)> =
        request.blocks.iter().filter(readable).map(|block| (block.text(), digest(block))).collect();
    let all = digests.iter().flat_map(|(text, digest)| digest.sentences(text));
    let (sentences, weights) = TERM_COUNTS.with_borrow_mut(|counts| counts.weigh(all));
    let mut ranks: BinaryHeap<Rank> = weights.into_iter().zip(0..).map(|(weight, at)| Rank { weight, at }).collect();
    // A token has at least three characters, so no more sentences than this can fit.
    let mut room = tokens.saturating_mul(3) as usize;
    let mut chosen: Vec<usize> = Vec::new();
    while let Some(Rank { at, .. }) = ranks.pop() {
        let Some(remaining) = room.checked_sub(sentences[at].text.len() + 3) else { break };
        room = remaining;
        chosen.push(at);
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|at| Cow::Borrowed(sentences[at].text)).collect()
}

/// Orders sentences by weight; of equal weights the first in the input is the greatest.
struct Rank {
    weight: f64,
    /// Index of the sentence.
    at: usize,
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        self.weight.total_cmp(&other.weight).then(other.at.cmp(&self.at))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rank {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Rank {}

thread_local! {
    static TERM_COUNTS: RefCell<TermCounts> = RefCell::default();
}

/// The lines of the current input, and the number of its sentences with each word, by id. Each entry holds the number of the
/// input that wrote it, so entries of earlier inputs are ignored and the lists need no clearing.
#[derive(Default)]
struct TermCounts {
    /// Number of the current input.
    input: u64,
    /// Last input that contained each line.
    lines: Vec<u64>,
    /// Last input that contained each word, and the number of its sentences with the word.
    words: Vec<(u64, u32)>,
}

impl TermCounts {
    /// Returns the distinct sentences, and for each how informative its words are for its length.
    fn weigh<'t, 'd>(&mut self, all: impl Iterator<Item = Sentence<'t, 'd>>) -> (Vec<Sentence<'t, 'd>>, Vec<f64>) {
        self.input += 1;
        let sentences: Vec<Sentence> = all.filter(|sentence| self.is_new(sentence)).collect();
        let mut highest_count = 0;
        for word in sentences.iter().flat_map(|sentence| sentence.words) {
            highest_count = highest_count.max(self.count(*word));
        }
        let total = sentences.len() as f64;
        let informativeness: Vec<f64> =
            (0..=highest_count).map(|count| ((1.0 + total) / (1.0 + f64::from(count))).ln()).collect();
        let weight = |sentence: &Sentence| {
            let sum: f64 = sentence.words.iter().map(|word| informativeness[self.words[*word as usize].1 as usize]).sum();
            sum / (sentence.text.len() as f64).sqrt()
        };
        let weights = sentences.iter().map(weight).collect();
        (sentences, weights)
    }

    fn is_new(&mut self, sentence: &Sentence) -> bool {
        std::mem::replace(entry_mut(&mut self.lines, sentence.id), self.input) != self.input
    }

    /// Counts a sentence with this word; returns the number of such sentences so far.
    fn count(&mut self, word: u32) -> u32 {
        let (input, count) = entry_mut(&mut self.words, word);
        *count = if std::mem::replace(input, self.input) == self.input { *count + 1 } else { 1 };
        *count
    }
}

/// Returns the entry of an id in a list; the list grows if needed.
fn entry_mut<T: Clone + Default>(list: &mut Vec<T>, id: u32) -> &mut T {
    let index = id as usize;
    if list.len() <= index {
        list.resize((index + 1).next_power_of_two(), T::default());
    }
    &mut list[index]
}
