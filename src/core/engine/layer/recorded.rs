//! `recorded`: repeats the compactions of the recording, at the calls where they happened.
//!
//! The whole context becomes the recorded summary, the kept tail and the restored content; results that were cleared become a
//! placeholder. The requests of such a replay should have the recorded usage: the difference is this program's own error.
//!
//! ```toml
//! [[layer]]
//! id = "recorded"
//! do = "recorded"
//! ```

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::result_filter::results_from;
use super::{Action, BlockPosition, LayerInput, LayerTraits, Proposal, Remains, ScanCursor};
use crate::engine::context::{Edit, NewBlock, NewMessage};
use crate::engine::layer::{RepeatedCompaction, RestoredSummary};
use crate::transcript::conversation::{Block, BlockKind, Conversation, Message, Origin, PairId, RecordedEdit};

/// The layer `recorded`; it has no settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {}

/// Which compactions were repeated, and where the results are.
#[derive(Debug, Clone, Default)]
pub struct RecordedState {
    /// Number of recorded compactions that were repeated.
    done: usize,
    /// Positions of the results before the cursor.
    results: FxHashMap<PairId, Vec<BlockPosition>>,
    cursor: ScanCursor,
}

/// Placeholder of Claude Code, opencode and qwen-code for a cleared result.
const CLEARED: &str = "[Old tool result content cleared]";

/// Part of the line that Claude Code itself writes behind a summary.
const POINTER: &str = "read the full transcript at: ";
/// Begin of the line that learn-claude-code writes before its summary (s06), or behind it (the last s08).
const POINTERS: [&str; 2] = ["[Conversation compressed. Transcript: ", "Full transcript: "];

/// Returns whether a line next to a summary is the harness's own pointer to the transcript, and not part of the summary.
pub fn is_pointer(line: &str) -> bool {
    line.contains(POINTER) || POINTERS.iter().any(|begin| line.starts_with(begin))
}

impl Action for Recorded {
    type State = RecordedState;

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits { remains: Some(Remains::Nothing), keeps_parts: true, repeats_record: true, ..LayerTraits::PLAIN }
    }

    fn propose(&self, input: &LayerInput, state: &mut RecordedState) -> Proposal {
        let compactions = &input.context.conversation().compactions;
        let mut proposal = Proposal::default();
        while let Some(compaction) =
            compactions.get(state.done).filter(|compaction| compaction.message_index <= input.messages_read)
        {
            match &compaction.edit {
                RecordedEdit::Clear { pairs } => proposal.edits.extend(clear_edits(input, pairs, state)),
                // Replacing messages moves positions, so it is never proposed with other edits: it waits for the next request.
                RecordedEdit::Fold { .. } if !proposal.edits.is_empty() => break,
                RecordedEdit::Fold { into } => {
                    let after = input.messages_read - compaction.message_index;
                    let messages = 0..input.context.len().saturating_sub(after);
                    proposal.restored.extend(restored_summary(input, state.done, messages.clone()));
                    proposal.repeated.extend(repeated_compaction(input, state.done, messages.clone()));
                    proposal.edits.push(Edit::Replace { messages, into: into.iter().map(existing_message).collect() });
                    state.done += 1;
                    break;
                }
            }
            state.done += 1;
        }
        proposal
    }
}

/// Returns the recorded summary, compared with the messages that it replaced; `None` if it has no text, or only the provider can
/// read it.
fn restored_summary(input: &LayerInput, compaction: usize, span: Range<usize>) -> Option<RestoredSummary> {
    let (context, conversation) = (input.context, input.context.conversation());
    let edit = &conversation.compactions[compaction].edit;
    let text = summary_of(conversation, edit).filter(|_| !edit.is_encrypted(conversation))?.text();
    let blocks = || context.messages()[span.clone()].iter().flat_map(|message| &message.blocks).copied();
    let (synthetic, recorded): (Vec<_>, Vec<_>) = blocks().partition(|id| context.is_synthetic(*id));
    let system = conversation.system.as_deref().map(Cow::Borrowed);
    let texts = system.into_iter().chain(synthetic.iter().chain(&recorded).map(|id| context.block(*id).text()));
    let summary_lines: Vec<&str> = text.lines().filter(|line| !is_pointer(line)).collect();
    let names = input.shared.names.count_names(conversation, &summary_lines.join("\n"), recorded.iter().copied(), texts);
    Some(RestoredSummary { compaction, tokens: input.tokens(&text), names })
}

/// Returns the call that wrote the recorded summary; `None` if there is neither a summary nor a bill for one: then no model was
/// asked.
fn repeated_compaction(input: &LayerInput, compaction: usize, span: Range<usize>) -> Option<RepeatedCompaction> {
    let (context, conversation) = (input.context, input.context.conversation());
    let recorded = &conversation.compactions[compaction];
    let summary = summary_of(conversation, &recorded.edit);
    if summary.is_none() && recorded.summary_usage.is_none() {
        return None;
    }
    let blocks = context.messages()[span].iter().flat_map(|message| &message.blocks);
    let tokens_in = blocks.map(|id| input.counter.apply(context.block_size(*id, input.counter.unit))).sum();
    Some(RepeatedCompaction { compaction, tokens_in, tokens_out: summary.map_or(0, |summary| input.tokens(&summary.text())) })
}

/// Returns the first text that a compaction itself wrote: restored content comes behind it.
fn summary_of<'a>(conversation: &'a Conversation, edit: &'a RecordedEdit) -> Option<&'a Block> {
    let mut blocks = edit.messages().iter().flat_map(|message| &message.blocks).map(|id| conversation.block(*id));
    blocks.find(|block| block.kind == BlockKind::Text && block.origin == Origin::Compaction)
}

/// Returns the edits that clear these results. Results are indexed once, until messages move.
fn clear_edits(input: &LayerInput, pairs: &[PairId], state: &mut RecordedState) -> Vec<Edit> {
    let begin = state.cursor.start(input.context);
    if begin == BlockPosition::default() {
        state.results.clear();
    }
    for candidate in results_from(input.context, begin) {
        state.results.entry(candidate.pair).or_default().push(candidate.position);
    }
    state.cursor.set(BlockPosition { message: input.context.len(), block: 0 }, input.context);
    let pairs: BTreeSet<PairId> = pairs.iter().copied().collect();
    let mut positions: Vec<BlockPosition> = pairs.iter().filter_map(|pair| state.results.get(pair)).flatten().copied().collect();
    positions.sort_unstable();
    positions.into_iter().map(|position| position.with_content(CLEARED)).collect()
}

fn existing_message(message: &Message) -> NewMessage {
    let blocks = message.blocks.iter().map(|id| NewBlock::Existing(*id)).collect();
    NewMessage { role: message.role, is_string_content: message.is_string_content, blocks }
}
