//! Writes the content of the requests with questions as text.

use std::collections::HashMap;

use super::{Plan, Spot};
use crate::analysis::study::Study;
use crate::engine::context::Context;
use crate::engine::journal::Request;
use crate::engine::policy::Policy;
use crate::engine::replay::Observer;
use crate::engine::summarizer::{Utterance, dialogue};
use crate::transcript::conversation::BlockKind;
use crate::transcript::format::Reading;

/// A spot with the text of its request.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    pub spot: Spot,
    pub context: String,
    /// Text of the request without compaction, if it is short enough.
    pub everything: Option<String>,
}

/// Writes the requests of the spots of one transcript, in the order of `spots`.
pub fn show(study: &Study, policies: &[&Policy], plan: &Plan, spots: &[Spot], reading: &Reading) -> Vec<Shown> {
    let keep_all = Policy::keep_all();
    let mut shown = Vec::new();
    for conversation in &reading.conversations {
        let here: Vec<&Spot> = spots.iter().filter(|spot| spot.conversation == conversation.name).collect();
        if here.is_empty() {
            continue;
        }
        let prepared = study.prepare(conversation);
        let request_texts = |policy: &Policy, wanted: &[&Spot]| {
            let texts = wanted.iter().map(|spot| (spot.call, String::new())).collect();
            let mut writer = RequestWriter { texts };
            let (journal, _) = study.evaluate(&prepared, policy, &mut writer);
            let is_short = |request: &&Request| request.tokens.saturating_sub(journal.overhead) <= plan.max_context;
            let short = journal.requests.iter().filter(is_short).map(|request| request.call);
            short.filter_map(|call| writer.texts.remove_entry(&call)).collect::<HashMap<_, _>>()
        };
        let everything = request_texts(&keep_all, &here);
        for policy in policies {
            let of_policy: Vec<&Spot> = here.iter().copied().filter(|spot| spot.policy == policy.name).collect();
            let mut contexts = if of_policy.is_empty() { HashMap::new() } else { request_texts(policy, &of_policy) };
            shown.extend(of_policy.into_iter().filter_map(|spot| {
                let (context, everything) = (contexts.remove(&spot.call)?, everything.get(&spot.call).cloned());
                Some(Shown { spot: spot.clone(), context, everything })
            }));
        }
    }
    shown
}

/// Writes the text of some requests during a replay.
struct RequestWriter {
    /// Texts by call; only these calls are written.
    texts: HashMap<usize, String>,
}

impl Observer for RequestWriter {
    fn request(&mut self, request: &Request, context: &Context) {
        if let Some(text) = self.texts.get_mut(&request.call) {
            let blocks = context.messages().iter().flat_map(|message| &message.blocks).map(|id| context.block(*id));
            *text = dialogue(blocks.map(|block| {
                let tool = match block.kind {
                    BlockKind::ToolUse(pair) | BlockKind::ToolResult(pair) => context.tool_name(pair),
                    _ => "",
                };
                Utterance { kind: block.kind, origin: block.origin, tool, is_error: block.is_error(), text: block.text() }
            }));
        }
    }
}
