//! The two requests of a recorded call, from which a scorer writes what a model is shown.

use std::borrow::Cow;
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
    /// The text of the policy's request, if [`Scorer::SHOWS_TEXTS`]; `None` also if it is longer than the plan allows.
    pub text: Option<Arc<str>>,
    /// The same of the request without compaction.
    pub full_text: Option<Arc<str>>,
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
    let full = S::SHOWS_TEXTS.then_some((&keep_all, true));
    let mut shown: Vec<Option<S::Shown>> = uses.iter().map(|_| None).collect();
    for conversation in &reading.conversations {
        let here: Vec<usize> = (0..uses.len()).filter(|at| uses[*at].conversation == conversation.name).collect();
        if here.is_empty() {
            continue;
        }
        let prepared = study.prepare(conversation);
        let mut full_texts: HashMap<usize, Arc<str>> = HashMap::new();
        for (policy, is_full) in full.into_iter().chain(policies.iter().map(|policy| (*policy, false))) {
            let mut at_call: HashMap<usize, Vec<usize>> = HashMap::new();
            for at in here.iter().filter(|at| is_full || uses[**at].policy == policy.name) {
                at_call.entry(uses[*at].call as usize).or_default().push(*at);
            }
            if at_call.is_empty() {
                continue;
            }
            let mut observer = |request: &Request, context: &Context| {
                let Some(here) = at_call.get(&request.call) else { return };
                let is_short = request.tokens.saturating_sub(prepared.overhead()) <= plan.max_context;
                let text: Option<Arc<str>> = (S::SHOWS_TEXTS && is_short).then(|| text_of(context).into());
                if is_full {
                    full_texts.extend(text.map(|text| (request.call, text)));
                } else {
                    let full_text = full_texts.get(&request.call).cloned();
                    let requests = Requests { prepared: &prepared, plan, context, text, full_text };
                    here.iter().for_each(|at| shown[*at] = S::show(&requests, uses[*at]));
                }
            };
            study.evaluate(&prepared, policy, &mut observer);
        }
    }
    let cases = uses.iter().zip(shown);
    cases.filter_map(|(used, shown)| Some(Case { used: (*used).clone(), shown: shown? })).collect()
}
