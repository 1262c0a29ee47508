//! What the requests that are asked about hold, written down.

use std::collections::HashMap;

use super::{Plan, Spot};
use crate::analysis::study::Study;
use crate::engine::context::Context;
use crate::engine::journal::Request;
use crate::engine::policy::{Policy, preset};
use crate::engine::replay::Observer;
use crate::engine::summarizer::{Utterance, dialogue};
use crate::transcript::conversation::Kind;
use crate::transcript::format::Reading;

/// A spot, with what its request holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    pub spot: Spot,
    pub context: String,
    /// What the request would hold if nothing had been compacted, where that is short enough.
    pub everything: Option<String>,
}

/// The policy that keeps everything in sight.
const EVERYTHING: &str = "keep-all";

/// Shows the spots of one transcript, in the order of `spots`.
pub fn show(study: &Study, policies: &[&Policy], plan: &Plan, spots: &[Spot], reading: &Reading) -> Vec<Shown> {
    let keep_all = preset(EVERYTHING).and_then(|preset| preset.policy(&[]).ok());
    let mut shown = Vec::new();
    for conversation in &reading.conversations {
        let here: Vec<&Spot> = spots.iter().filter(|spot| spot.conversation == conversation.name).collect();
        if here.is_empty() {
            continue;
        }
        let prepared = study.prepare(conversation);
        let written = |policy: &Policy, wanted: &[&Spot]| {
            let texts = wanted.iter().map(|spot| (spot.call, String::new())).collect();
            let mut writer = Writer { texts };
            let (journal, _) = study.evaluate(&prepared, policy, &mut writer);
            let is_short = |request: &&Request| request.tokens.saturating_sub(journal.overhead) <= plan.max_context;
            let short = journal.requests.iter().filter(is_short).map(|request| request.call);
            short.filter_map(|call| writer.texts.remove_entry(&call)).collect::<HashMap<_, _>>()
        };
        let everything = keep_all.as_ref().map(|policy| written(policy, &here)).unwrap_or_default();
        for policy in policies {
            let of_policy: Vec<&Spot> = here.iter().copied().filter(|spot| spot.policy == policy.name).collect();
            let mut contexts = if of_policy.is_empty() { HashMap::new() } else { written(policy, &of_policy) };
            shown.extend(of_policy.into_iter().filter_map(|spot| {
                let (context, everything) = (contexts.remove(&spot.call)?, everything.get(&spot.call).cloned());
                Some(Shown { spot: spot.clone(), context, everything })
            }));
        }
    }
    shown
}

/// Writes some of the requests down, by call.
struct Writer {
    texts: HashMap<usize, String>,
}

impl Observer for Writer {
    fn request(&mut self, request: &Request, context: &Context) {
        if let Some(text) = self.texts.get_mut(&request.call) {
            let blocks = context.messages().iter().flat_map(|message| &message.blocks).map(|id| context.block(*id));
            *text = dialogue(blocks.map(|block| {
                let tool = match block.kind {
                    Kind::ToolUse(pair) | Kind::ToolResult(pair) => context.tool_name(pair),
                    _ => "",
                };
                Utterance { kind: block.kind, origin: block.origin, tool, is_error: block.is_error(), text: block.text() }
            }));
        }
    }
}
