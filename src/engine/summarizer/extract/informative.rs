//! Which sentences have the most informative words.

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::engine::summarizer::digest::{Digest, Sentence};
use crate::engine::summarizer::{InputBlock, SummaryRequest};
use crate::transcript::conversation::{Kind, Origin};

/// The sentences with the most informative words, as many as about `tokens` hold, in the order of the input.
pub(super) fn informative<'a>(ask: &'a SummaryRequest, tokens: u64) -> Vec<Cow<'a, str>> {
    let readable = |piece: &&InputBlock| matches!(piece.kind, Kind::Text | Kind::ToolResult(_)) && piece.origin != Origin::User;
    let digest = |piece: &'a InputBlock| match piece.whole {
        Some(block) => Cow::Borrowed(ask.digests.of_block(block, piece.text())),
        None => Cow::Owned(ask.digests.of_text(piece.text())),
    };
    let read: Vec<(&str, Cow<Digest>)> = ask.pieces.iter().filter(readable).map(|piece| (piece.text(), digest(piece))).collect();
    let all = read.iter().flat_map(|(text, digest)| digest.sentences(text));
    let (sentences, weights) = COUNTS.with_borrow_mut(|counts| counts.weigh(all));
    let mut ranks: BinaryHeap<Rank> = weights.into_iter().zip(0..).map(|(weight, at)| Rank { weight, at }).collect();
    // Three characters a token at the least: no more sentences are looked at than can possibly fit.
    let mut room = tokens.saturating_mul(3) as usize;
    let mut chosen: Vec<usize> = Vec::new();
    while let Some(Rank { at, .. }) = ranks.pop() {
        let Some(left) = room.checked_sub(sentences[at].text.len() + 3) else { break };
        room = left;
        chosen.push(at);
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|at| Cow::Borrowed(sentences[at].text)).collect()
}

/// The greatest is the heaviest, and the first where weights are equal.
struct Rank {
    weight: f64,
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
    static COUNTS: RefCell<Counts> = RefCell::default();
}

/// Which lines stand in an input, and how many of its sentences hold each word, by their numbers. What was counted for another
/// input counts no more: nothing is ever cleared.
#[derive(Default)]
struct Counts {
    input: u64,
    /// The last input that each line stood in.
    lines: Vec<u64>,
    /// The last input that each word stood in, and in how many sentences.
    words: Vec<(u64, u32)>,
}

impl Counts {
    /// The sentences, each once, and how informative the words of each are for its length.
    fn weigh<'t, 'd>(&mut self, all: impl Iterator<Item = Sentence<'t, 'd>>) -> (Vec<Sentence<'t, 'd>>, Vec<f64>) {
        self.input += 1;
        let sentences: Vec<Sentence> = all.filter(|sentence| self.is_new(sentence)).collect();
        let mut most = 0;
        for word in sentences.iter().flat_map(|sentence| sentence.words) {
            most = most.max(self.count(*word));
        }
        let total = sentences.len() as f64;
        let informs: Vec<f64> = (0..=most).map(|count| ((1.0 + total) / (1.0 + f64::from(count))).ln()).collect();
        let weight = |sentence: &Sentence| {
            let sum: f64 = sentence.words.iter().map(|word| informs[self.words[*word as usize].1 as usize]).sum();
            sum / (sentence.text.len() as f64).sqrt()
        };
        let weights = sentences.iter().map(weight).collect();
        (sentences, weights)
    }

    fn is_new(&mut self, sentence: &Sentence) -> bool {
        std::mem::replace(at(&mut self.lines, sentence.number), self.input) != self.input
    }

    /// Counts a sentence that holds a word; gives how many do.
    fn count(&mut self, word: u32) -> u32 {
        let (input, count) = at(&mut self.words, word);
        *count = if std::mem::replace(input, self.input) == self.input { *count + 1 } else { 1 };
        *count
    }
}

/// The place of a number in a list, which grows to it.
fn at<T: Clone + Default>(list: &mut Vec<T>, number: u32) -> &mut T {
    let place = number as usize;
    if list.len() <= place {
        list.resize((place + 1).next_power_of_two(), T::default());
    }
    &mut list[place]
}
