//! `extract`: a summary made of the input's own sentences. No model, no chance, never over the layer's limit, and no longer
//! than recorded summaries are.
//!
//! In this order, while there is room: what the person asked for and the rules they set, the files that tools were asked for,
//! the last thing the agent said and the last error, then the sentences with the most informative words for their length.
//! A word is informative where few sentences hold it (the logarithm of their share), as in classic extractive summaries.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Ask, Failure, Piece, Summarizer};
use crate::conversation::{Kind, Origin};
use crate::text;

pub struct Extract {
    /// It stops there, however much the layer allows: a summary that fills a limit of 20,000 tokens is nobody's.
    pub tokens: u64,
}

/// What summaries have on average: 3.0 k tokens for 82.9 k, by characters ÷ 4, over the 35 compactions that 40 public Claude
/// Code sessions hold.
const USUAL_TOKENS: u64 = 3_000;

impl Default for Extract {
    fn default() -> Self {
        Self { tokens: USUAL_TOKENS }
    }
}

/// A sentence of the input is at most this long; what is longer (minified code, data) is no sentence.
const MAX_SENTENCE_CHARS: usize = 300;
/// Of one request, so many characters are repeated.
const MAX_REQUEST_CHARS: usize = 2_000;
/// The last words of the agent, and the last error, are repeated up to this length.
const MAX_STATE_CHARS: usize = 1_200;
/// Words that mark a rule in what a person types.
const RULE_WORDS: [&str; 6] = ["never", "must", "always", "do not", "don't", "only"];

impl Summarizer for Extract {
    fn summarize(&self, ask: &Ask) -> Result<String, Failure> {
        let mut page = Page { ask, text: String::new(), left: ask.max_tokens.min(self.tokens) };
        page.section("Focus:", ask.focus.map(str::to_owned));
        page.section("Rules:", rules(&ask.pieces));
        page.section("Requests, newest first:", requests(&ask.pieces));
        page.section("Files, last used first:", files(&ask.pieces));
        page.section("Last state:", last_state(&ask.pieces));
        page.section("Notes:", informative(&ask.pieces, page.left));
        Ok(page.text)
    }
}

/// A text that grows line by line within a number of tokens.
struct Page<'a, 'b> {
    ask: &'a Ask<'b>,
    text: String,
    left: u64,
}

impl Page<'_, '_> {
    fn section(&mut self, title: &str, lines: impl IntoIterator<Item = String>) {
        let mut title = Some(title);
        for line in lines.into_iter().filter(|line| !line.trim().is_empty()) {
            let head = title.map(|title| format!("{title}\n")).unwrap_or_default();
            let entry = format!("{head}- {line}\n");
            // One more for tokens that form where two lines meet.
            let tokens = (self.ask.tokens)(&entry) + 1;
            if tokens > self.left {
                return;
            }
            self.left -= tokens;
            self.text.push_str(&entry);
            title = None;
        }
    }
}

fn typed<'a>(pieces: &'a [Piece]) -> impl DoubleEndedIterator<Item = &'a str> {
    pieces.iter().filter(|piece| piece.origin == Origin::Typed).map(|piece| &*piece.text)
}

fn rules(pieces: &[Piece]) -> Vec<String> {
    let is_rule = |line: &&str| {
        let lower = line.to_lowercase();
        RULE_WORDS.iter().any(|word| lower.contains(word))
    };
    let lines = typed(pieces).flat_map(str::lines).filter(is_rule);
    let mut known = HashSet::new();
    lines.filter(|line| known.insert(*line)).map(|line| text::head(line.trim(), MAX_SENTENCE_CHARS).to_owned()).collect()
}

fn requests(pieces: &[Piece]) -> Vec<String> {
    typed(pieces).rev().map(|request| text::head(request.trim(), MAX_REQUEST_CHARS).to_owned()).collect()
}

fn files(pieces: &[Piece]) -> Vec<String> {
    let mut tools_of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut order = Vec::new();
    let uses = pieces.iter().rev().filter(|piece| matches!(piece.kind, Kind::ToolUse(_)));
    for (path, tool) in uses.filter_map(|piece| Some((piece.path?, piece.tool))) {
        let tools = tools_of.entry(path).or_insert_with(|| {
            order.push(path);
            Vec::new()
        });
        if !tools.contains(&tool) {
            tools.push(tool);
        }
    }
    order.into_iter().map(|path| format!("{path} ({})", tools_of[path].join(", "))).collect()
}

fn last_state(pieces: &[Piece]) -> Vec<String> {
    let said = pieces.iter().rev().find(|piece| piece.origin == Origin::Agent && piece.kind == Kind::Text);
    let error = pieces.iter().rev().find(|piece| piece.is_error);
    let end = |piece: &Piece| text::tail(piece.text.trim(), MAX_STATE_CHARS).to_owned();
    said.into_iter().chain(error).map(end).collect()
}

/// The sentences with the most informative words, as many as about `tokens` hold, in the order of the input.
fn informative(pieces: &[Piece], tokens: u64) -> Vec<String> {
    let sentences = sentences(pieces);
    let mut ranked: Vec<(f64, usize)> = weights(&sentences).into_iter().zip(0..).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // Three characters a token at the least: no more sentences are looked at than can possibly fit.
    let mut room = tokens.saturating_mul(3) as usize;
    let mut chosen: Vec<usize> = Vec::new();
    for (_, at) in ranked {
        let Some(left) = room.checked_sub(sentences[at].len() + 3) else { break };
        room = left;
        chosen.push(at);
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|at| sentences[at].to_owned()).collect()
}

/// The lines that may be repeated, each once.
fn sentences<'a>(pieces: &'a [Piece]) -> Vec<&'a str> {
    let readable = |piece: &&Piece| matches!(piece.kind, Kind::Text | Kind::ToolResult(_)) && piece.origin != Origin::Typed;
    let lines = pieces.iter().filter(readable).flat_map(|piece| piece.text.lines()).flat_map(|line| line.split('\r'));
    let is_sentence = |line: &&str| line.len() >= 20 && text::head(line, MAX_SENTENCE_CHARS).len() == line.len();
    let mut known = HashSet::new();
    lines.map(str::trim).filter(is_sentence).filter(|line| known.insert(*line)).collect()
}

/// How informative the words of each sentence are, for its length.
fn weights(sentences: &[&str]) -> Vec<f64> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    // Of each word, by its number: how many sentences hold it, and the last that does.
    let mut holding: Vec<(u32, usize)> = Vec::new();
    // The distinct words of all sentences, one sentence after the other, and where each ends.
    let (mut held, mut ends) = (Vec::new(), Vec::with_capacity(sentences.len()));
    for (at, sentence) in sentences.iter().enumerate() {
        for word in words(sentence) {
            let number = *numbers.entry(word).or_insert(holding.len());
            if number == holding.len() {
                holding.push((0, usize::MAX));
            }
            let (count, last) = &mut holding[number];
            if std::mem::replace(last, at) != at {
                *count += 1;
                held.push(number);
            }
        }
        ends.push(held.len());
    }
    let total = sentences.len() as f64;
    let informs: Vec<f64> = holding.iter().map(|(count, _)| ((1.0 + total) / (1.0 + f64::from(*count))).ln()).collect();
    let mut start = 0;
    let weight = |(sentence, end): (&&str, usize)| {
        let sum: f64 = held[std::mem::replace(&mut start, end)..end].iter().map(|number| informs[*number]).sum();
        sum / (sentence.len() as f64).sqrt()
    };
    sentences.iter().zip(ends).map(weight).collect()
}

/// The words of a sentence that can tell something: four bytes or more. What is not ASCII belongs to words.
fn words(sentence: &str) -> impl Iterator<Item = &str> {
    let splits = |c: char| c.is_ascii() && !(c.is_ascii_alphanumeric() || c == '_');
    sentence.split(splits).filter(|word| word.len() >= 4)
}
