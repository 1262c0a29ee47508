//! Draws the possible questions of one conversation under one policy: some requests that are short enough, and questions about each.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Hint;
use super::cloze::{Cloze, is_asked_for};
use crate::analysis::probe::choose::in_turn;
use crate::analysis::probe::{Evaluated, Memory, Outcome};
use crate::facts::extract;
use crate::facts::references::References;
use crate::transcript::conversation::{BlockId, Conversation};

/// Maximum number of requests with questions, for one conversation and policy.
const REQUESTS: usize = 16;
/// Maximum number of questions about one request for hits, and the same for misses. They are enough to share the prefix, and few enough to
/// spread over sessions.
const EACH: usize = 3;

/// Maximum number of lines of a block that are tried.
const LINES: usize = 4;

/// Draws uses, those of one request after another. Counts requests that are too long as left out.
pub(super) fn draw(from: &Evaluated, memory: &mut Memory) -> Vec<(u32, Hint)> {
    let mut sampler = QuestionSampler::new(from);
    let calls = sampler.calls(from, &mut memory.left_out);
    let requests = calls.into_iter().map(|call| sampler.questions(call)).filter(|questions| !questions.is_empty());
    requests.take(REQUESTS).flatten().collect()
}

struct QuestionSampler<'a> {
    conversation: &'a Conversation,
    references: &'a References,
    outcomes: &'a [Outcome],
    /// Indices of uses, by call.
    uses: BTreeMap<u32, Vec<u32>>,
    random: ChaCha8Rng,
    /// Facts that already have a question.
    asked: HashSet<u32>,
}

impl<'a> QuestionSampler<'a> {
    fn new(from: &'a Evaluated) -> Self {
        let (conversation, references) = (from.prepared.conversation, &from.prepared.references);
        let mut uses: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (index, used) in (0..).zip(&references.uses) {
            if used.refetch.is_none() && is_asked_for(references.facts[used.fact as usize].kind) {
                uses.entry(used.call).or_default().push(index);
            }
        }
        let seed = xxh3_64_with_seed(format!("{}\n{}", from.policy, conversation.name).as_bytes(), from.plan.seed);
        let random = ChaCha8Rng::seed_from_u64(seed);
        Self { conversation, references, outcomes: from.outcomes, uses, random, asked: HashSet::new() }
    }

    fn is_hit(&self, index: u32) -> bool {
        self.outcomes[index as usize] == Outcome::InContext
    }

    /// Returns the calls whose requests are short enough. Those with most questions come first, otherwise the order is random.
    fn calls(&mut self, from: &Evaluated, too_long: &mut usize) -> Vec<u32> {
        let mut calls = Vec::new();
        for request in &from.journal.requests {
            let call = request.call as u32;
            if !self.uses.contains_key(&call) {
                continue;
            }
            if request.tokens.saturating_sub(from.journal.overhead) <= from.plan.max_context {
                calls.push(call);
            } else {
                *too_long += 1;
            }
        }
        calls.shuffle(&mut self.random);
        let possible_questions = |call: &u32| {
            let hits = self.uses[call].iter().filter(|index| self.is_hit(**index)).count();
            hits.min(EACH) + (self.uses[call].len() - hits).min(EACH)
        };
        calls.sort_by_key(|call| Reverse(possible_questions(call)));
        calls
    }

    /// Draws questions about one request: hits, then soft and hard misses in turn.
    fn questions(&mut self, call: u32) -> Vec<(u32, Hint)> {
        let mut uses = self.uses.remove(&call).unwrap_or_default();
        uses.shuffle(&mut self.random);
        let [hits, soft, hard] = ["hit", "soft", "hard"].map(|id| {
            let is_such = |index: &u32| self.outcomes[*index as usize].id() == id;
            uses.iter().copied().filter(is_such).collect::<Vec<u32>>()
        });
        let mut questions = self.questions_about(hits);
        questions.extend(self.questions_about(in_turn(vec![soft, hard], |_| 0)));
        questions
    }

    fn questions_about(&mut self, uses: Vec<u32>) -> Vec<(u32, Hint)> {
        let mut questions = Vec::new();
        for index in uses {
            let fact = self.references.uses[index as usize].fact;
            if questions.len() < EACH
                && !self.asked.contains(&fact)
                && let Some(hint) = self.question(index)
            {
                self.asked.insert(fact);
                questions.push((index, hint));
            }
        }
        questions
    }

    /// Creates a question from a line of the block where the agent had the fact from. If none of its lines is good, or the block is a
    /// recorded summary, uses another block that held the fact before the call.
    fn question(&self, index: u32) -> Option<Hint> {
        let used = &self.references.uses[index as usize];
        let (fact, sources) = (&self.references.facts[used.fact as usize], self.references.sources(used.fact));
        let origin = sources.iter().filter(|block| **block == used.origin);
        let others = sources.iter().filter(|block| **block != used.origin && self.references.after(**block) <= used.call);
        origin.chain(others).find_map(|source| {
            let block = self.conversation.block(*source);
            let mut clozes = Vec::new();
            extract::texts(block, &mut |text| clozes.extend(Cloze::candidates(text, fact).take(LINES)));
            let cloze = clozes.into_iter().take(LINES).find(|cloze| !self.is_ambiguous(cloze, used.call))?;
            Some(Hint { line: block.line, cloze })
        })
    }

    /// Whether an earlier text has the same line with something else in the blank.
    fn is_ambiguous(&self, cloze: &Cloze, call: u32) -> bool {
        let before = &self.conversation.messages[..self.conversation.calls[call as usize].response];
        let is_ambiguous = |id: &BlockId| {
            let mut is_ambiguous = false;
            extract::texts(self.conversation.block(*id), &mut |text| {
                is_ambiguous = is_ambiguous || cloze.is_ambiguous_in(text);
            });
            is_ambiguous
        };
        before.iter().flat_map(|message| &message.blocks).any(is_ambiguous)
    }
}
