//! Joins the requests of a log to conversations.
//!
//! Each request repeats what was said before it. One that begins with all messages of an earlier one continues it. One that does not, and
//! has the same system prompt and some of its messages, continues it after an edit of the context.

use std::collections::HashMap;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::super::Note;
use super::super::notes::Notes;
use super::envelope::{Exchange, Response};
use super::said::{Said, Who};

/// A request of a conversation.
pub struct Step {
    pub line: u32,
    pub time: Option<i64>,
    /// How many messages of the request before it begins with.
    pub kept: usize,
    /// The others.
    pub new: Vec<Said>,
    pub response: Response,
}

/// The requests of a conversation.
pub struct Chain {
    pub system: String,
    pub has_tools: bool,
    pub steps: Vec<Step>,
    /// A hash of every beginning of the last request.
    beginnings: Vec<u64>,
    first: u64,
}

impl Chain {
    /// Returns the line of its first request.
    pub fn name(&self) -> String {
        self.steps.first().map_or(0, |step| step.line).to_string()
    }

    fn is_of(&self, exchange: &Exchange) -> bool {
        self.system == exchange.system && self.has_tools == exchange.has_tools
    }
}

/// The conversations of a log.
#[derive(Default)]
pub struct Chains {
    chains: Vec<Chain>,
    /// Index of the chain whose last request has these messages.
    ends: HashMap<u64, usize>,
    /// Index of the chain that has this response.
    responses: HashMap<String, usize>,
    /// Index of the chain that says this.
    telling: HashMap<u64, usize>,
    /// The last request had no tools, so it may have asked for a summary; its response.
    asked: Option<Option<String>>,
}

impl Chains {
    /// Adds a request.
    pub fn add(&mut self, exchange: Exchange, line: u32, notes: &mut Notes) {
        if exchange.said.is_empty() {
            return notes.kind(Note::skipped(line, "the request has no messages; it was skipped"));
        }
        let continued = exchange.previous.as_ref().and_then(|id| self.responses.get(id).copied());
        if exchange.previous.is_some() && continued.is_none() {
            notes.kind(Note::info(line, "the response that this request continues is not in the log; its beginning is missing"));
        }
        let mut exchange = exchange;
        let (index, kept, hashes) = match continued {
            // It sends only what is new.
            Some(index) => {
                let chain = &mut self.chains[index];
                let answer = chain.steps.last().and_then(|step| step.response.said.clone());
                exchange.said.splice(0..0, answer);
                let mut hashes = std::mem::take(&mut chain.beginnings);
                let kept = hashes.len();
                if let Some(end) = hashes.last().filter(|end| self.ends.get(*end) == Some(&index)) {
                    self.ends.remove(end);
                }
                hashes.extend(exchange.said.iter().map(|said| said.hash));
                (index, kept, hashes)
            }
            None => {
                let hashes = beginnings(&exchange.said);
                let index = self.extended(&exchange, &hashes).or_else(|| self.edited(&exchange)).unwrap_or(self.chains.len());
                let before = self.chains.get(index).map_or(&[][..], |chain| &chain.beginnings);
                let kept = before.iter().zip(&hashes).take_while(|(a, b)| a == b).count();
                exchange.said.drain(..kept);
                (index, kept, hashes)
            }
        };
        self.asked = (!exchange.has_tools).then(|| exchange.response.said.as_ref().map(Said::text));
        self.push(exchange, index, kept, hashes, line);
    }

    fn push(&mut self, exchange: Exchange, index: usize, kept: usize, hashes: Vec<u64>, line: u32) {
        let Exchange { system, said, has_tools, response, time, .. } = exchange;
        if index == self.chains.len() {
            let first = hashes.first().copied().unwrap_or_default();
            let (steps, beginnings) = (Vec::new(), Vec::new());
            self.chains.push(Chain { system, has_tools, steps, beginnings, first });
        }
        let chain = &mut self.chains[index];
        if let Some(end) = chain.beginnings.last().filter(|end| self.ends.get(*end) == Some(&index)) {
            self.ends.remove(end);
        }
        self.ends.extend(hashes.last().map(|end| (*end, index)));
        self.responses.extend(response.id.iter().map(|id| (id.clone(), index)));
        self.telling.extend(said.iter().filter(|said| said.is_telling()).map(|said| (said.hash, index)));
        chain.beginnings = hashes;
        chain.steps.push(Step { line, time, kept, new: said, response });
    }

    /// Returns the chain whose last request has the longest beginning of these messages. One message alone may also be of a request for a
    /// title.
    fn extended(&self, exchange: &Exchange, hashes: &[u64]) -> Option<usize> {
        let chains = hashes.iter().enumerate().rev().filter_map(|(at, hash)| Some((at, *self.ends.get(hash)?)));
        let mut fitting = chains.filter(|(at, chain)| *at > 0 || self.chains[*chain].is_of(exchange)).map(|(_, chain)| chain);
        fitting.next()
    }

    /// Returns the chain whose context was edited before this request.
    fn edited(&self, exchange: &Exchange) -> Option<usize> {
        let is_of = |chain: &usize| self.chains[*chain].is_of(exchange);
        let telling = exchange.said.iter().rev().filter_map(|said| self.telling.get(&said.hash).copied()).find(is_of);
        // A new run of the same task begins with it alone.
        let is_begun = exchange.said.iter().any(|said| said.who == Who::Assistant);
        let first = exchange.said.first().map(|said| beginning(said.hash));
        let begins = |chain: &usize| is_begun && Some(self.chains[*chain].first) == first;
        let newest = || (0..self.chains.len()).rev().filter(is_of);
        let summed_up = || {
            let summary = self.asked.as_ref()?;
            let is_in = |summary: &String| exchange.said.iter().any(|said| said.text().contains(summary.trim()));
            newest().next().filter(|_| exchange.has_tools && summary.as_ref().is_none_or(is_in))
        };
        telling.or_else(|| newest().find(begins)).or_else(summed_up)
    }

    /// Returns the conversations, in the order of their first requests. Where some have tools, those without are requests for a summary
    /// or a title.
    pub fn finish(self, notes: &mut Notes) -> Vec<Chain> {
        let have_tools = self.chains.iter().any(|chain| chain.has_tools);
        let (agents, others): (Vec<_>, Vec<_>) = self.chains.into_iter().partition(|chain| chain.has_tools || !have_tools);
        for step in others.iter().flat_map(|chain| &chain.steps) {
            notes.kind(Note::info(step.line, ASIDE));
        }
        agents
    }
}

/// What is noted of a request that the agent did not make.
pub const ASIDE: &str = "a request for a summary or a title is no call of the agent; it was left out";

/// Returns a hash of every beginning of these messages.
pub fn beginnings(said: &[Said]) -> Vec<u64> {
    let mut hasher = Xxh3::new();
    let hash = |said: &Said| {
        hasher.update(&said.hash.to_le_bytes());
        hasher.digest()
    };
    said.iter().map(hash).collect()
}

fn beginning(hash: u64) -> u64 {
    xxh3_64(&hash.to_le_bytes())
}
