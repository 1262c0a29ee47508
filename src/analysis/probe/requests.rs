//! The two requests of a recorded call, from which a scorer writes what a model is shown.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::{Case, Plan, SampledUse, Scorer};
use crate::analysis::study::{Prepared, Study};
use crate::engine::context::Context;
use crate::engine::journal::Request;
use crate::engine::policy::Policy;
use crate::engine::summarizer::{Utterance, dialogue};
use crate::transcript::conversation::{Block, BlockKind, Conversation};
use crate::transcript::format::Reading;

/// The requests of a recorded call: the policy's, and the one without compaction.
pub struct Requests<'a> {
    pub prepared: &'a Prepared<'a>,
    pub plan: &'a Plan,
    /// The policy's request.
    pub context: &'a Context<'a>,
    /// Tokens of the policy's messages.
    tokens: u64,
    text: OnceCell<Option<Arc<str>>>,
    full_text: Option<Arc<str>>,
}

impl<'a> Requests<'a> {
    fn new(prepared: &'a Prepared, plan: &'a Plan, request: &Request, context: &'a Context) -> Self {
        let tokens = request.tokens.saturating_sub(prepared.overhead());
        Self { prepared, plan, context, tokens, text: OnceCell::new(), full_text: None }
    }

    /// Returns the text of the policy's request; `None` if it is longer than the plan allows.
    pub fn text(&self) -> Option<Arc<str>> {
        let write = || (self.tokens <= self.plan.max_context).then(|| text_of(self.context).into());
        self.text.get_or_init(write).clone()
    }

    /// Returns the text of the request without compaction; `None` if it is longer than the plan allows.
    pub fn full_text(&self) -> Option<Arc<str>> {
        self.full_text.clone()
    }
}

fn text_of(context: &Context) -> String {
    let blocks = context.messages().iter().flat_map(|message| &message.blocks).map(|id| context.block(*id));
    dialogue(blocks.map(|block| utterance(context.conversation(), block, block.text())))
}

/// Returns a text, which is a part of a block, under the name of the block's speaker.
pub(super) fn utterance<'a>(conversation: &'a Conversation, block: &Block, text: impl Into<Cow<'a, str>>) -> Utterance<'a> {
    let tool = match block.kind {
        BlockKind::ToolUse(pair) | BlockKind::ToolResult(pair) => conversation.pair(pair).name.as_str(),
        _ => "",
    };
    Utterance { kind: block.kind, origin: block.origin, tool, is_error: block.is_error(), text: text.into() }
}

/// Writes what the model is shown for uses of one transcript, in their order. Leaves out uses that cannot be asked about.
pub fn show<S: Scorer>(
    study: &Study,
    policies: &[&Policy],
    plan: &Plan,
    uses: &[&SampledUse<S::Hint>],
    reading: &Reading,
) -> Vec<Case<S>> {
    let keep_all = Policy::keep_all();
    let mut shown: Vec<Option<S::Shown>> = uses.iter().map(|_| None).collect();
    for conversation in &reading.conversations {
        let here: Vec<usize> = (0..uses.len()).filter(|at| uses[*at].conversation == conversation.name).collect();
        if here.is_empty() {
            continue;
        }
        let prepared = study.prepare(conversation);
        let replay = |policy: &Policy, wanted: &[usize], write: &mut dyn FnMut(&[usize], Requests)| {
            let mut at_call: HashMap<usize, Vec<usize>> = HashMap::new();
            wanted.iter().for_each(|at| at_call.entry(uses[*at].call as usize).or_default().push(*at));
            let mut observer = |request: &Request, context: &Context| {
                if let Some(here) = at_call.get(&request.call) {
                    write(here, Requests::new(&prepared, plan, request, context));
                }
            };
            if !wanted.is_empty() {
                study.evaluate(&prepared, policy, &mut observer);
            }
        };
        let mut full_texts: HashMap<u32, Arc<str>> = HashMap::new();
        if S::SHOWS_FULL_TEXT {
            replay(&keep_all, &here, &mut |here, requests| {
                full_texts.extend(requests.text().map(|text| (uses[here[0]].call, text)));
            });
        }
        for policy in policies {
            let of_policy: Vec<usize> = here.iter().copied().filter(|at| uses[*at].policy == policy.name).collect();
            replay(policy, &of_policy, &mut |here, requests| {
                let full_text = full_texts.get(&uses[here[0]].call).cloned();
                let requests = Requests { full_text, ..requests };
                here.iter().for_each(|at| shown[*at] = S::show(&requests, uses[*at]));
            });
        }
    }
    let cases = uses.iter().zip(shown);
    cases.filter_map(|(used, shown)| Some(Case { used: (*used).clone(), shown: shown? })).collect()
}
