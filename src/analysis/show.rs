//! One request of a replay, part by part: what the model gets, what layers wrote or removed, and what was recorded there.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::Error;
use super::comparison::sent_messages;
use super::secrets::Secrets;
use super::study::{Study, unanswered_message};
use crate::engine::context::{Cause, Context};
use crate::engine::journal::Request;
use crate::engine::policy::Policy;
use crate::transcript::conversation::{Block, BlockId, BlockKind, Conversation};
use crate::util::ValueError;
use crate::util::text::did_you_mean;

pub use crate::results::request::{PartState, ShownPart, ShownRequest};

/// Which summary or answer of a program is missing, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unanswered(String);

/// Which request of a transcript is shown.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Name of the conversation; without it, the one with the most calls.
    pub conversation: Option<String>,
    /// Number of the call, from 1; without it, the last one.
    pub call: Option<usize>,
}

impl Wanted {
    /// Returns the conversation.
    ///
    /// # Errors
    ///
    /// Fails if there is none of this name.
    pub fn conversation<'c>(&self, conversations: &'c [Conversation]) -> Result<&'c Conversation, ValueError> {
        let Some(name) = &self.conversation else {
            let longest = conversations.iter().max_by_key(|conversation| conversation.calls.len());
            return longest.ok_or_else(|| ValueError::new("the transcript holds no conversation"));
        };
        let names: Vec<&str> = conversations.iter().map(|conversation| conversation.name.as_str()).collect();
        let found = conversations.iter().find(|conversation| conversation.name == *name);
        let missing = || ValueError::new(format!("--conversation {name}: there is none{}", did_you_mean(name, &names)));
        found.ok_or_else(missing)
    }

    /// Shows the request under a policy, and the one before it.
    ///
    /// # Errors
    ///
    /// Fails if there is no such call, and as [`show`].
    pub fn show(
        &self,
        study: &Study,
        transcript: &str,
        conversation: &Conversation,
        policy: &Policy,
    ) -> Result<(ShownRequest, Option<ShownRequest>), Error> {
        let calls = conversation.calls.len();
        let call = self.call.unwrap_or(calls);
        let missing = || {
            let name = &conversation.name;
            ValueError::new(format!("{transcript}: {name} has no request of call {call}; it has {calls} calls"))
        };
        let shown = show(study, transcript, conversation, policy, call.checked_sub(1).ok_or_else(missing)?)?;
        Ok(shown.ok_or_else(missing)?)
    }
}

/// Shows the request of a call, from 0, and the one before it. `None` if the replay has no such call.
///
/// # Errors
///
/// Fails if a summarizer or a program did not answer by then: the request would be a different one.
pub fn show(
    study: &Study,
    transcript: &str,
    conversation: &Conversation,
    policy: &Policy,
    call: usize,
) -> Result<Option<(ShownRequest, Option<ShownRequest>)>, Unanswered> {
    let prepared = study.prepare(conversation);
    let (mut causes, mut shown, mut before) = (HashMap::new(), None, None);
    let mut observer = |request: &Request, context: &Context| {
        for change in request.edits() {
            let blocks = change.added.iter().copied().chain(change.gone());
            causes.extend(blocks.map(|block| (block, change.cause)));
        }
        if request.call != call && request.call + 1 != call {
            return;
        }
        let parts = Parts { context, policy, causes: &causes, tokens: &|block| prepared.tokens(block) };
        let of_call = ShownRequest {
            transcript: transcript.to_owned(),
            conversation: conversation.name.clone(),
            policy: policy.name.clone(),
            call: request.call + 1,
            calls: conversation.calls.len(),
            tokens: request.tokens,
            messages: request.messages,
            overflows: request.failed,
            parts: parts.list(conversation.calls[request.call].response),
            compared_with: None,
            sent: if request.call == call { sent_messages(context) } else { Vec::new() },
        };
        *(if request.call == call { &mut shown } else { &mut before }) = Some(of_call);
    };
    let (journal, _) = study.evaluate(&prepared, policy, &mut observer);
    match journal.unanswered.filter(|missing| missing.call <= call) {
        Some(missing) => Err(Unanswered(unanswered_message(&conversation.name, policy, &missing))),
        None => {
            let hidden = |mut request: ShownRequest| {
                request.parts.iter_mut().for_each(|part| hide(prepared.secrets(), part));
                request.sent.iter_mut().for_each(|message| hide_in(prepared.secrets(), message));
                request
            };
            Ok(shown.map(|shown| (hidden(shown), before.map(hidden))))
        }
    }
}

fn hide(secrets: &Secrets, part: &mut ShownPart) {
    for text in [&mut part.text].into_iter().chain(&mut part.recorded) {
        *text = secrets.hidden(text);
    }
}

fn hide_in(secrets: &Secrets, value: &mut Value) {
    match value {
        Value::String(text) => *text = secrets.hidden(text),
        Value::Array(values) => values.iter_mut().for_each(|value| hide_in(secrets, value)),
        Value::Object(fields) => fields.values_mut().for_each(|value| hide_in(secrets, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What is needed to list the parts of a request.
struct Parts<'a> {
    context: &'a Context<'a>,
    policy: &'a Policy,
    causes: &'a HashMap<BlockId, Cause>,
    tokens: &'a dyn Fn(BlockId) -> u64,
}

impl Parts<'_> {
    /// Lists the blocks of the request, and in between what was recorded in the first `messages` messages and is not in it.
    fn list(&self, messages: usize) -> Vec<ShownPart> {
        let conversation = self.context.conversation();
        let recorded: Vec<(&'static str, BlockId)> = conversation.messages[..messages]
            .iter()
            .flat_map(|message| message.blocks.iter().map(|block| (message.role.as_str(), *block)))
            .collect();
        let place: HashMap<BlockId, usize> = recorded.iter().enumerate().map(|(at, (_, block))| (*block, at)).collect();
        let sent =
            || self.context.messages().iter().flat_map(|message| message.blocks.iter().map(|id| (message.role.as_str(), *id)));
        let present: HashSet<BlockId> = sent().map(|(_, block)| self.replaces(block).unwrap_or(block)).collect();
        let mut parts = Vec::new();
        let mut next = 0;
        let removed = |from: usize, to: usize, parts: &mut Vec<ShownPart>| {
            for (role, block) in recorded.get(from..to).unwrap_or_default() {
                if !present.contains(block) {
                    parts.push(self.removed(role, *block));
                }
            }
        };
        for (role, block) in sent() {
            if let Some(at) = place.get(&self.replaces(block).unwrap_or(block)).copied().filter(|at| *at >= next) {
                removed(next, at, &mut parts);
                next = at + 1;
            }
            parts.push(self.sent(role, block));
        }
        removed(next, recorded.len(), &mut parts);
        parts
    }

    /// The recorded block that a layer's block replaces.
    fn replaces(&self, block: BlockId) -> Option<BlockId> {
        self.context.is_synthetic(block).then(|| self.context.recorded_block(block)).flatten()
    }

    fn sent(&self, role: &'static str, id: BlockId) -> ShownPart {
        let block = self.context.block(id);
        let original = self.replaces(id);
        let state = match (original, self.context.is_synthetic(id)) {
            (Some(_), _) => PartState::Rewritten,
            (None, true) => PartState::Inserted,
            (None, false) => PartState::Recorded,
        };
        let source = original.map_or(block, |original| self.context.block(original));
        ShownPart {
            role,
            what: self.what(source),
            line: source.line,
            state,
            layer: if state == PartState::Recorded { None } else { self.layer(id) },
            recorded_tokens: (state != PartState::Inserted).then(|| (self.tokens)(original.unwrap_or(id))),
            text: block.text().into_owned(),
            recorded: original.map(|original| self.context.block(original).text().into_owned()),
            changed: false,
            block: original.or((state == PartState::Recorded).then_some(id)).map(|block| block.0),
        }
    }

    fn removed(&self, role: &'static str, id: BlockId) -> ShownPart {
        let block = self.context.block(id);
        ShownPart {
            role,
            what: self.what(block),
            line: block.line,
            state: PartState::Removed,
            layer: self.layer(id),
            recorded_tokens: Some((self.tokens)(id)),
            text: String::new(),
            recorded: Some(block.text().into_owned()),
            changed: false,
            block: Some(id.0),
        }
    }

    fn layer(&self, block: BlockId) -> Option<String> {
        match self.causes.get(&block)? {
            Cause::Layer(layer) => self.policy.layers.get(*layer).map(|layer| layer.id.clone()),
            Cause::Record => None,
        }
    }

    fn what(&self, block: &Block) -> String {
        let tool = |kind: &str, pair| format!("{kind} {}", self.context.tool_name(pair));
        match block.kind {
            BlockKind::Text => "text".to_owned(),
            BlockKind::Thinking => "thinking".to_owned(),
            BlockKind::ToolUse(pair) => tool("tool_use", pair),
            BlockKind::ToolResult(pair) => tool("tool_result", pair),
            BlockKind::Media => "media".to_owned(),
            BlockKind::Other => "other".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
