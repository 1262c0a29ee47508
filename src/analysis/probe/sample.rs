//! Draws the possible questions of one transcript: for each policy some requests that are short enough, and questions
//! about each.

use std::collections::{BTreeMap, HashSet};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::cloze::{Cloze, is_asked_for};
use super::{Plan, Question, Spot};
use crate::analysis::study::{Prepared, Study, unanswered_message};
use crate::engine::journal::Journal;
use crate::engine::policy::Policy;
use crate::engine::replay::NoObserver;
use crate::facts::extract;
use crate::facts::references::{References, Use};
use crate::metrics::retention::UseOutcome;
use crate::transcript::conversation::{BlockId, Conversation};
use crate::transcript::format::Reading;

/// Maximum number of requests with questions, for one conversation and policy.
const SPOTS: usize = 16;
/// Maximum number of questions about one request for hits, and the same for misses. They are enough to share the prefix, and few enough to
/// spread over sessions.
const EACH: usize = 3;

/// Maximum number of lines of a block that are tried.
const LINES: usize = 4;

/// The possible questions of one transcript.
#[derive(Debug, Clone, Default)]
pub struct SampledQuestions {
    pub transcript: String,
    pub spots: Vec<Spot>,
    /// Number of requests that use a fact again, but are too long to ask about.
    pub too_long: usize,
    /// Why a summarizer had no answer. Then there are no questions about this transcript.
    unanswered: Option<String>,
}

impl SampledQuestions {
    /// Returns the transcript and why there are no questions about it.
    pub fn unanswered(&self) -> Option<(&str, &str)> {
        Some((self.transcript.as_str(), self.unanswered.as_deref()?))
    }
}

/// Draws questions from one transcript under each of the policies.
pub fn sample(study: &Study, policies: &[&Policy], plan: &Plan, transcript: &str, reading: &Reading) -> SampledQuestions {
    let mut sampled = SampledQuestions { transcript: transcript.to_owned(), ..SampledQuestions::default() };
    for conversation in &reading.conversations {
        let prepared = study.prepare(conversation);
        for policy in policies {
            let (journal, retention) = study.evaluate(&prepared, policy, &mut NoObserver);
            if let Some(missing) = &journal.unanswered {
                let unanswered = Some(unanswered_message(&conversation.name, policy, missing));
                return SampledQuestions { unanswered, transcript: sampled.transcript, ..SampledQuestions::default() };
            }
            let mut sampler = QuestionSampler::new(&prepared, &retention.outcomes, plan, &policy.name);
            let calls = sampler.calls(&journal, plan.max_context, &mut sampled.too_long);
            let spots = calls.into_iter().filter_map(|call| {
                let questions = sampler.questions(call);
                let (policy, conversation) = (policy.name.clone(), conversation.name.clone());
                let spot = Spot { policy, transcript: transcript.to_owned(), conversation, call: call as usize, questions };
                (!spot.questions.is_empty()).then_some(spot)
            });
            sampled.spots.extend(spots.take(SPOTS));
        }
    }
    sampled
}

/// Draws questions from the uses of one conversation.
struct QuestionSampler<'a> {
    conversation: &'a Conversation,
    references: &'a References,
    /// Uses with their outcomes, by call.
    uses: BTreeMap<u32, Vec<(&'a Use, UseOutcome)>>,
    random: ChaCha8Rng,
    /// Facts that already have a question.
    asked: HashSet<u32>,
}

impl<'a> QuestionSampler<'a> {
    fn new(prepared: &'a Prepared, outcomes: &[UseOutcome], plan: &Plan, policy: &str) -> Self {
        let (conversation, references) = (prepared.conversation, &prepared.references);
        let mut uses: BTreeMap<u32, Vec<(&Use, UseOutcome)>> = BTreeMap::new();
        for (used, outcome) in references.uses.iter().zip(outcomes) {
            if is_asked_for(references.facts[used.fact as usize].kind) {
                uses.entry(used.call).or_default().push((used, *outcome));
            }
        }
        let seed = xxh3_64_with_seed(format!("{policy}\n{}", conversation.name).as_bytes(), plan.seed);
        Self { conversation, references, uses, random: ChaCha8Rng::seed_from_u64(seed), asked: HashSet::new() }
    }

    /// Returns the calls whose requests are short enough. Those with most questions come first, otherwise the order is random.
    fn calls(&mut self, journal: &Journal, max_context: u64, too_long: &mut usize) -> Vec<u32> {
        let mut calls = Vec::new();
        for request in &journal.requests {
            let call = request.call as u32;
            if !self.uses.contains_key(&call) {
                continue;
            }
            if request.tokens.saturating_sub(journal.overhead) <= max_context {
                calls.push(call);
            } else {
                *too_long += 1;
            }
        }
        calls.shuffle(&mut self.random);
        let possible_questions = |call: &u32| {
            let hits = self.uses[call].iter().filter(|(_, outcome)| matches!(outcome, UseOutcome::Hit { .. })).count();
            hits.min(EACH) + (self.uses[call].len() - hits).min(EACH)
        };
        calls.sort_by_key(|call| std::cmp::Reverse(possible_questions(call)));
        calls
    }

    /// Draws questions about one request: hits, then soft and hard misses in turn.
    fn questions(&mut self, call: u32) -> Vec<Question> {
        let mut uses = self.uses.remove(&call).unwrap_or_default();
        uses.shuffle(&mut self.random);
        let with = |wanted: fn(&UseOutcome) -> bool| uses.iter().filter(move |(_, outcome)| wanted(outcome)).collect::<Vec<_>>();
        let hits = with(|outcome| matches!(outcome, UseOutcome::Hit { .. }));
        let soft = with(|outcome| matches!(outcome, UseOutcome::Soft { .. }));
        let hard = with(|outcome| matches!(outcome, UseOutcome::Stale | UseOutcome::Hard));
        let mut questions = self.questions_about(hits, call);
        questions.extend(self.questions_about(alternate(soft, hard), call));
        questions
    }

    fn questions_about(&mut self, uses: Vec<&(&Use, UseOutcome)>, call: u32) -> Vec<Question> {
        let mut questions = Vec::new();
        for (used, outcome) in uses {
            if questions.len() < EACH
                && !self.asked.contains(&used.fact)
                && let Some(question) = self.question(used, *outcome, call)
            {
                self.asked.insert(used.fact);
                questions.push(question);
            }
        }
        questions
    }

    /// Creates a question from a line of the block where the agent had the fact from. If none of its lines is good, or the block is a
    /// recorded summary, uses another block that held the fact before the call.
    fn question(&self, used: &Use, outcome: UseOutcome, call: u32) -> Option<Question> {
        let (fact, sources) = (&self.references.facts[used.fact as usize], self.references.sources(used.fact));
        let origin = sources.iter().filter(|block| **block == used.origin);
        let others = sources.iter().filter(|block| **block != used.origin && self.references.after(**block) <= call);
        origin.chain(others).find_map(|source| {
            let block = self.conversation.block(*source);
            let mut clozes = Vec::new();
            extract::texts(block, &mut |text| clozes.extend(Cloze::candidates(text, fact).take(LINES)));
            let cloze = clozes.into_iter().take(LINES).find(|cloze| !self.is_ambiguous(cloze, call))?;
            Some(Question { line: block.line, kind: fact.kind, fact: fact.text.clone(), cloze, outcome })
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

/// Takes one item of each list in turn.
fn alternate<T>(first: Vec<T>, second: Vec<T>) -> Vec<T> {
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut all = Vec::new();
    loop {
        let before = all.len();
        all.extend(first.next());
        all.extend(second.next());
        if all.len() == before {
            return all;
        }
    }
}
