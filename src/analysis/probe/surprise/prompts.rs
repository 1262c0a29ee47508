//! Writes the two requests of a use as text, both trimmed to the same parts.
//!
//! Kept are: the beginning of the system prompt and of the first message, the block that held the fact with the call that it answers,
//! another block of the same size, and the newest blocks. What a policy changed is shown as the policy left it, what it removed is
//! missing, and a message that it added is shown if it has the fact or if the block that held the fact is gone.
//!
//! The response of a call that fetches a fact again does not name it. There the response is that of the next call that does, put behind
//! the request of the call that fetched: how probable is the fact, had the agent gone on without fetching?

mod select;

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use self::select::{Selection, percent};
use super::WritingCall;
use super::draw::rank;
use super::excerpt::{Part, excerpt, find};
use crate::analysis::probe::requests::utterance;
use crate::analysis::probe::{Plan, Requests, SampledUse};
use crate::analysis::study::Prepared;
use crate::engine::context::Context;
use crate::engine::summarizer::dialogue;
use crate::facts::references::{References, Use};
use crate::transcript::conversation::{Block, BlockId, BlockKind, Conversation};

/// The prompts about one use. The model is asked how probable the fact is after each of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompts {
    /// The fact in its canonical form, which the response has literally.
    pub fact: String,
    pub full: String,
    pub policy: String,
    pub control: Control,
    /// Tokens of the whole request without compaction, by the report's counter.
    pub request_tokens: u64,
}

/// A question whose answer the policy should not change. Each use has one of the two.
#[derive(Debug, Clone, PartialEq)]
pub enum Control {
    /// The full prompt without a block that does not hold the fact, of the same size.
    OtherBlock(String),
    /// A fact of the same kind that neither prompt contains.
    OtherFact(String),
    /// The conversation has neither.
    None,
}

/// Writes the prompts of a use; `None` if it cannot be asked about.
pub(super) fn trim(requests: &Requests, used: &SampledUse<WritingCall>) -> Option<Prompts> {
    let Requests { prepared, plan, context, .. } = *requests;
    Writer { prepared, plan, used, context }.prompts()
}

/// Returns the blocks of the request without compaction that hold the fact of a use, newest first.
pub(super) fn holders<'a>(references: &'a References, used: &Use) -> impl Iterator<Item = BlockId> + 'a {
    let call = used.call;
    references.sources(used.fact).iter().rev().copied().filter(move |id| references.after(*id) <= call)
}

/// Returns the recorded response up to the first place of the fact; `None` if it does not have the fact literally.
pub(super) fn response_until(conversation: &Conversation, call: u32, fact: &str) -> Option<String> {
    let response = &conversation.messages[conversation.calls[call as usize].response];
    let blocks = response.blocks.iter().map(|id| conversation.block(*id)).filter(|block| is_shown(block));
    let text = dialogue(blocks.map(|block| utterance(conversation, block, block.text())));
    find(&text, fact).map(|place| text[..place.start].to_owned())
}

fn is_shown(block: &Block) -> bool {
    !matches!(block.kind, BlockKind::Thinking | BlockKind::Media)
}

struct Writer<'a> {
    prepared: &'a Prepared<'a>,
    plan: &'a Plan,
    used: &'a SampledUse<WritingCall>,
    /// The policy's request.
    context: &'a Context<'a>,
}

impl Writer<'_> {
    fn prompts(&self) -> Option<Prompts> {
        let Self { prepared, used, .. } = *self;
        let conversation = prepared.conversation;
        let fact = used.fact.text.as_str();
        let response = excerpt(&response_until(conversation, used.hint, fact)?, Part::End, fact, self.share(percent::RESPONSE));
        let before = conversation.calls[used.call as usize].response;
        let blocks: Vec<BlockId> = conversation.messages[..before]
            .iter()
            .flat_map(|message| message.blocks.iter().copied())
            .filter(|id| is_shown(conversation.block(*id)))
            .collect();
        let position: HashMap<BlockId, usize> = blocks.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        let sent = self.sent(&position);
        let (selection, other) = self.select(fact, &blocks, &position, &sent)?;
        let full = self.full(fact, &selection, &response);
        let policy = self.compacted(fact, &selection, &sent, &response);
        // The hash of a use decides which control it has, whatever the policy.
        let is_even = rank(&used.conversation, used.index, self.plan).is_multiple_of(2);
        let without_other = other.filter(|_| is_even).map(|other| {
            let mut selection = selection.clone();
            selection.remove(&other);
            Control::OtherBlock(self.full(fact, &selection, &response))
        });
        let control =
            without_other.or_else(|| self.other_fact(fact, &[&full, &policy]).map(Control::OtherFact)).unwrap_or(Control::None);
        let request_tokens = blocks.iter().map(|id| prepared.tokens(*id)).sum();
        Some(Prompts { fact: fact.to_owned(), full, policy, control, request_tokens })
    }

    fn share(&self, percent: u64) -> u64 {
        self.plan.max_context * percent / 100
    }

    /// Returns the blocks of the policy's request by the position of the recorded block; `None` for messages that it added.
    fn sent(&self, position: &HashMap<BlockId, usize>) -> Vec<(Option<usize>, BlockId)> {
        let sent = self.context.messages().iter().flat_map(|message| message.blocks.iter().copied());
        let shown = sent.filter(|id| is_shown(self.context.block(*id)));
        shown.map(|id| (self.context.recorded_block(id).and_then(|block| position.get(&block).copied()), id)).collect()
    }

    /// Writes the request without compaction.
    fn full(&self, fact: &str, selection: &Selection, response: &str) -> String {
        let conversation = self.prepared.conversation;
        let shown = selection.values().map(|(id, part, max)| {
            let block = conversation.block(*id);
            utterance(conversation, block, excerpt(&block.text(), *part, fact, *max))
        });
        self.prompt(fact, dialogue(shown), response)
    }

    /// Writes the policy's request.
    fn compacted(&self, fact: &str, selection: &Selection, sent: &[(Option<usize>, BlockId)], response: &str) -> String {
        let conversation = self.prepared.conversation;
        let holds = |id: BlockId| find(&self.context.block(id).text(), fact).is_some();
        let shows_fact = sent.iter().any(|(at, id)| at.is_some_and(|at| selection.contains_key(&at)) && holds(*id));
        let added = sent.iter().rev().filter(|(at, _)| at.is_none()).map(|(_, id)| *id);
        // The newest message that has the fact, or else the newest.
        let added = if shows_fact { None } else { added.clone().find(|id| holds(*id)).or(added.clone().next()) };
        let shown = sent.iter().filter_map(|(at, id)| {
            let block = self.context.block(*id);
            let text = match at.and_then(|at| selection.get(&at)) {
                Some((recorded, part, max)) => {
                    let part = if recorded == id { *part } else { Part::AroundFact };
                    excerpt(&block.text(), part, fact, *max)
                }
                None if added == Some(*id) => excerpt(&block.text(), Part::AroundFact, fact, self.share(percent::HOLDER)),
                None => return None,
            };
            Some(utterance(conversation, block, text))
        });
        self.prompt(fact, dialogue(shown), response)
    }

    fn prompt(&self, fact: &str, requests: String, response: &str) -> String {
        let system = self.prepared.conversation.system.as_deref().map_or_else(String::new, |system| {
            format!("[system]\n{}\n\n", excerpt(system, Part::Beginning, fact, self.share(percent::SYSTEM)))
        });
        format!("{system}{requests}\n\n{response}")
    }

    /// Returns a fact of the same kind and a similar length that no prompt contains.
    fn other_fact(&self, fact: &str, prompts: &[&str]) -> Option<String> {
        let facts = &self.prepared.references.facts;
        let rank = |text: &str| xxh3_64_with_seed(text.as_bytes(), self.used.index.into());
        let like = facts.iter().filter(|other| {
            other.kind == self.used.fact.kind
                && other.text.len() * 2 >= fact.len()
                && other.text.len() <= fact.len() * 2
                && !prompts.iter().any(|prompt| prompt.contains(&other.text))
                && !other.text.contains(fact)
        });
        like.min_by_key(|other| rank(&other.text)).map(|other| other.text.clone())
    }
}
