//! `extract`: a summary made of the input's own sentences. No model, no chance, never over the layer's limit, and no longer
//! than recorded summaries are.
//!
//! In this order, while there is room: what the person asked for and the rules they set, the files that tools were asked for,
//! the last thing the agent said and the last error, then the sentences with the most informative words for their length.
//! A word is informative where few sentences hold it (the logarithm of their share), as in classic extractive summaries.

mod informative;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use super::digest::MAX_CHARS;
use super::{InputBlock, Reply, Summarizer, SummaryRequest};
use crate::transcript::conversation::{Kind, Origin};
use crate::util::text;
use informative::informative;

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

/// Of one request, so many characters are repeated.
const MAX_REQUEST_CHARS: usize = 2_000;
/// The last words of the agent, and the last error, are repeated up to this length.
const MAX_STATE_CHARS: usize = 1_200;
/// Words that mark a rule in what a person types.
const RULE_WORDS: [&str; 6] = ["never", "must", "always", "do not", "don't", "only"];

impl Summarizer for Extract {
    fn summarize(&self, ask: &SummaryRequest) -> Reply {
        let mut page = Page { ask, text: String::new(), left: ask.max_tokens.min(self.tokens) };
        page.section("Focus:", ask.focus.map(Cow::Borrowed));
        page.section("Rules:", rules(&ask.pieces));
        page.section("Requests, newest first:", requests(&ask.pieces));
        page.section("Files, last used first:", files(&ask.pieces));
        page.section("Last state:", last_state(&ask.pieces));
        page.section("Notes:", informative(ask, page.left));
        Ok(page.text).into()
    }
}

/// A text that grows line by line within a number of tokens.
struct Page<'a, 'b> {
    ask: &'a SummaryRequest<'b>,
    text: String,
    left: u64,
}

impl Page<'_, '_> {
    fn section<'l>(&mut self, title: &str, lines: impl IntoIterator<Item = Cow<'l, str>>) {
        let mut title = Some(title);
        for line in lines.into_iter().filter(|line| !line.trim().is_empty()) {
            let start = self.text.len();
            let head = title.take().map_or([""; 2], |title| [title, "\n"]);
            self.text.extend(head.into_iter().chain(["- ", &*line, "\n"]));
            // One more for tokens that form where two lines meet.
            let tokens = (self.ask.tokens)(&self.text[start..]) + 1;
            if tokens > self.left {
                self.text.truncate(start);
                return;
            }
            self.left -= tokens;
        }
    }
}

fn typed<'a>(pieces: &'a [InputBlock]) -> impl DoubleEndedIterator<Item = &'a str> {
    pieces.iter().filter(|piece| piece.origin == Origin::User).map(InputBlock::text)
}

fn rules<'a>(pieces: &'a [InputBlock]) -> Vec<Cow<'a, str>> {
    let is_rule = |line: &&str| {
        let lower = line.to_lowercase();
        RULE_WORDS.iter().any(|word| lower.contains(word))
    };
    let lines = typed(pieces).flat_map(str::lines).filter(is_rule);
    let mut known = HashSet::new();
    lines.filter(|line| known.insert(*line)).map(|line| text::head(line.trim(), MAX_CHARS).into()).collect()
}

fn requests<'a>(pieces: &'a [InputBlock]) -> impl Iterator<Item = Cow<'a, str>> {
    typed(pieces).rev().map(|request| text::head(request.trim(), MAX_REQUEST_CHARS).into())
}

fn files(pieces: &[InputBlock]) -> Vec<Cow<'static, str>> {
    let mut tools_of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut order = Vec::new();
    let uses = pieces.iter().rev().filter(|piece| matches!(piece.kind, Kind::ToolUse(_)));
    for (path, tool) in uses.filter_map(|piece| Some((piece.path()?, piece.tool))) {
        let tools = tools_of.entry(path).or_insert_with(|| {
            order.push(path);
            Vec::new()
        });
        if !tools.contains(&tool) {
            tools.push(tool);
        }
    }
    order.into_iter().map(|path| format!("{path} ({})", tools_of[path].join(", ")).into()).collect()
}

fn last_state<'a>(pieces: &'a [InputBlock]) -> impl Iterator<Item = Cow<'a, str>> {
    let said = pieces.iter().rev().find(|piece| piece.origin == Origin::Agent && piece.kind == Kind::Text);
    let error = pieces.iter().rev().find(|piece| piece.is_error);
    said.into_iter().chain(error).map(|piece| text::tail(piece.text().trim(), MAX_STATE_CHARS).into())
}
