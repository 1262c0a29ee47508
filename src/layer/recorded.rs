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

use serde::{Deserialize, Serialize};

use super::pick::results_from;
use super::{Memory, Moment, Place, Proposal};
use crate::context::{Edit, NewBlock, NewMessage};
use crate::conversation::{Message, PairId, RecordedEdit};

/// It has no settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {}

/// What Claude Code, opencode and qwen-code put in place of a result they cleared.
const CLEARED: &str = "[Old tool result content cleared]";

pub fn propose(now: &Moment, memory: &mut Memory) -> Proposal {
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
                proposal.edits.push(Edit::Fold { messages, into: into.iter().map(kept).collect() });
                memory.done += 1;
                break;
            }
        }
        memory.done += 1;
    }
    proposal
}

fn clear(now: &Moment, pairs: &[PairId]) -> Vec<Edit> {
    let results = results_from(now.context, Place::default()).into_iter();
    let cleared = results.filter(|picked| pairs.contains(&picked.pair)).map(|picked| picked.place.with_content(CLEARED));
    cleared.collect()
}

fn kept(message: &Message) -> NewMessage {
    let blocks = message.blocks.iter().map(|id| NewBlock::Kept(*id)).collect();
    NewMessage { role: message.role, plain: message.plain, blocks }
}
