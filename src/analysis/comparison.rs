//! Whether two policies send the same requests, and where they first differ: for code that moved to another language or library, or
//! that was changed.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::study::{Study, unanswered_message};
use crate::engine::context::Context;
use crate::engine::journal::Request;
use crate::engine::policy::Policy;
use crate::transcript::conversation::BlockId;
use crate::transcript::format::Reading;

/// The requests of two policies over one transcript.
pub struct Comparison {
    pub transcript: String,
    /// Number of compared conversations.
    pub conversations: usize,
    /// Number of requests of the first policy.
    pub requests: usize,
    /// The first difference of each conversation that has one.
    pub differences: Vec<Difference>,
    /// Why a policy did not answer. The transcript then counts as left out.
    pub unanswered: Option<String>,
}

/// A call at which two policies send different requests.
pub struct Difference {
    pub conversation: String,
    /// Number of the call, from 1.
    pub call: usize,
    /// The messages of the request under each policy; none if it sends nothing.
    pub messages: [Vec<Value>; 2],
}

/// A block with the role of its message. Two messages with one role that follow each other are one to a provider, and so to this.
type Part = (&'static str, usize);

/// The blocks of all requests of a conversation, each content once.
#[derive(Default)]
struct Contents {
    known: HashMap<String, usize>,
    wires: Vec<Value>,
}

impl Comparison {
    /// Replays the conversations of a transcript through both policies.
    pub fn of(study: &Study, transcript: &str, reading: &Reading, policies: [&Policy; 2]) -> Self {
        let mut comparison =
            Self { transcript: transcript.to_owned(), conversations: 0, requests: 0, differences: Vec::new(), unanswered: None };
        for conversation in &reading.conversations {
            let prepared = study.prepare(conversation);
            let mut contents = Contents::default();
            let requests = policies.map(|policy| {
                let (mut requests, mut recorded) = (Vec::new(), HashMap::new());
                let mut observer = |request: &Request, context: &Context| {
                    requests.push((request.call, contents.parts(context, &mut recorded)));
                };
                let (journal, _) = study.evaluate(&prepared, policy, &mut observer);
                let why = journal.unanswered.map(|missing| unanswered_message(&conversation.name, policy, &missing));
                comparison.unanswered = comparison.unanswered.take().or(why);
                requests
            });
            comparison.conversations += 1;
            comparison.requests += requests[0].len();
            let [one, other] = &requests;
            let at = (0..one.len().max(other.len())).find(|&at| one.get(at) != other.get(at));
            comparison.differences.extend(at.map(|at| {
                let found = [one.get(at), other.get(at)];
                let call = found.iter().flatten().map(|(call, _)| call + 1).min().unwrap_or_default();
                let messages = found.map(|request| request.map_or_else(Vec::new, |(_, parts)| contents.messages(parts)));
                Difference { conversation: conversation.name.clone(), call, messages }
            }));
        }
        comparison
    }

    /// Returns the transcript and the reason, if a policy did not answer.
    pub fn unanswered(&self) -> Option<(&str, &str)> {
        Some((&self.transcript, self.unanswered.as_deref()?))
    }
}

/// Returns the messages of a request as they are sent, as Anthropic's Messages API has them.
pub fn sent_messages(context: &Context) -> Vec<Value> {
    let mut contents = Contents::default();
    let parts = contents.parts(context, &mut HashMap::new());
    contents.messages(&parts)
}

impl Contents {
    /// Returns the parts of a request. `recorded` remembers those of the recording, which are in many requests.
    fn parts(&mut self, context: &Context, recorded: &mut HashMap<BlockId, usize>) -> Vec<Part> {
        let blocks = context.messages().iter().flat_map(|message| message.blocks.iter().map(|id| (message.role.as_str(), *id)));
        let parts = blocks.map(|(role, id)| {
            if let Some(&content) = recorded.get(&id) {
                return (role, content);
            }
            let content = self.content(&context.block(id).wire);
            if !context.is_synthetic(id) {
                recorded.insert(id, content);
            }
            (role, content)
        });
        parts.collect()
    }

    fn content(&mut self, wire: &Value) -> usize {
        *self.known.entry(wire.to_string()).or_insert_with(|| {
            self.wires.push(wire.clone());
            self.wires.len() - 1
        })
    }

    fn messages(&self, parts: &[Part]) -> Vec<Value> {
        let message = |parts: &[Part]| {
            let content: Vec<&Value> = parts.iter().map(|(_, content)| &self.wires[*content]).collect();
            json!({ "role": parts[0].0, "content": content })
        };
        parts.chunk_by(|(role, _), (next, _)| role == next).map(message).collect()
    }
}
