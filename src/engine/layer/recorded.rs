//! `recorded`: the compactions that the record holds, made again at the calls where they were made.
//!
//! Everything became the recorded summary, the kept tail and what was restored; results that were cleared become a
//! placeholder. A replay of this layer should have the recorded usage: the difference is the tool's own error.
//!
//! ```toml
//! [[layer]]
//! id = "recorded"
//! do = "recorded"
//! ```

use std::borrow::Cow;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pick::results_from;
use super::{LayerInput, LayerState, Place, Proposal};
use crate::engine::context::{Edit, NewBlock, NewMessage};
use crate::engine::layer::RestoredSummary;
use crate::transcript::conversation::{Kind, Message, Origin, PairId, RecordedEdit};

/// It has no settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {}

/// What Claude Code, opencode and qwen-code put in place of a result they cleared.
const CLEARED: &str = "[Old tool result content cleared]";

/// In the line that Claude Code itself writes behind a summary.
const POINTER: &str = "read the full transcript at: ";
/// What learn-claude-code begins the line before its summary with (s06), or the one behind it (the last s08).
const POINTERS: [&str; 2] = ["[Conversation compressed. Transcript: ", "Full transcript: "];

/// Whether a line beside a summary is the harness's own, and tells where the transcript lies: no summarizer said that.
pub(crate) fn is_pointer(line: &str) -> bool {
    line.contains(POINTER) || POINTERS.iter().any(|begin| line.starts_with(begin))
}

pub fn propose(now: &LayerInput, memory: &mut LayerState) -> Proposal {
    let compactions = &now.context.conversation().compactions;
    let mut proposal = Proposal::default();
    while let Some(compaction) = compactions.get(memory.done).filter(|compaction| compaction.at <= now.read) {
        match &compaction.edit {
            RecordedEdit::Clear { pairs } => proposal.edits.extend(clear(now, pairs)),
            // The positions of later edits depend on this one: they wait for the next request.
            RecordedEdit::Fold { .. } if !proposal.edits.is_empty() => break,
            RecordedEdit::Fold { into } => {
                let after = now.read - compaction.at;
                let messages = 0..now.context.len().saturating_sub(after);
                proposal.restored.extend(summary(now, memory.done, messages.clone()));
                proposal.edits.push(Edit::Replace { messages, into: into.iter().map(kept).collect() });
                memory.done += 1;
                break;
            }
        }
        memory.done += 1;
    }
    proposal
}

/// The recorded summary, held against what it replaced: the first text of its own that a compaction left, for what was restored
/// stands behind it. None where only the provider can read it.
fn summary(now: &LayerInput, compaction: usize, span: Range<usize>) -> Option<RestoredSummary> {
    let (context, conversation) = (now.context, now.context.conversation());
    let edit = &conversation.compactions[compaction].edit;
    let left = edit.messages().iter().flat_map(|message| &message.blocks).map(|id| conversation.block(*id));
    let mut own = left.filter(|block| block.kind == Kind::Text && block.origin == Origin::Compaction);
    let text = own.next().filter(|_| !edit.is_encrypted(conversation))?.text();
    let blocks = || context.messages()[span.clone()].iter().flat_map(|sent| &sent.blocks).copied();
    let (made, whole): (Vec<_>, Vec<_>) = blocks().partition(|id| context.is_made(*id));
    let system = conversation.system.as_deref().map(Cow::Borrowed);
    let texts = system.into_iter().chain(made.iter().chain(&whole).map(|id| context.block(*id).text()));
    let said: Vec<&str> = text.lines().filter(|line| !is_pointer(line)).collect();
    let names = now.shared.names.names(conversation, &said.join("\n"), whole.iter().copied(), texts);
    Some(RestoredSummary { compaction, tokens: now.tokens(&text), names })
}

fn clear(now: &LayerInput, pairs: &[PairId]) -> Vec<Edit> {
    let results = results_from(now.context, Place::default()).into_iter();
    let cleared = results.filter(|picked| pairs.contains(&picked.pair)).map(|picked| picked.place.with_content(CLEARED));
    cleared.collect()
}

fn kept(message: &Message) -> NewMessage {
    let blocks = message.blocks.iter().map(|id| NewBlock::Kept(*id)).collect();
    NewMessage { role: message.role, plain: message.plain, blocks }
}
