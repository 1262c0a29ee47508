//! Layers that run when the model calls a tool, such as the compact tool of a harness.

use std::collections::BTreeSet;

use super::{CallState, ReplayRun};
use crate::engine::context::{Cause, Edit};
use crate::engine::layer::When;
use crate::transcript::conversation::{BlockId, BlockKind, PairId};

/// A batch in whose middle a layer edited the history.
pub(super) struct LeftBatch {
    layer: usize,
    /// The calls of the response behind that of the tool. The harness runs none of them.
    later: BTreeSet<PairId>,
}

impl<'a> ReplayRun<'a, '_> {
    /// Runs the layers that wait for a call of a tool in the response before this call, before its results enter.
    pub(super) fn run_within_batch(&mut self, call: &CallState<'a>) -> Option<LeftBatch> {
        let conversation = self.runner.setup.conversation;
        let blocks = &conversation.response_before(call.index)?.blocks;
        let run = |(at, id): (usize, &BlockId)| {
            let layer = self.run_tool_layers(call, *id, |when| matches!(when, When::ToolUse(_)))?;
            let later = blocks[at + 1..].iter().filter_map(|id| match conversation.block(*id).kind {
                BlockKind::ToolUse(pair) => Some(pair),
                _ => None,
            });
            Some(LeftBatch { layer, later: later.collect() })
        };
        blocks.iter().enumerate().find_map(run)
    }

    /// Runs the layers that wait for the results of a tool, if those that answer the response before this call have just entered.
    pub(super) fn run_after_batch(&mut self, call: &CallState<'a>) {
        let conversation = self.runner.setup.conversation;
        if call.messages_read == conversation.new_messages(call.index).start + 1 {
            for id in conversation.response_before(call.index).iter().flat_map(|response| &response.blocks) {
                self.run_tool_layers(call, *id, |when| matches!(when, When::Tool(_)));
            }
        }
    }

    /// Removes, from the newest messages of the history, the results of calls that the harness does not run. Returns how many messages it
    /// removed. What is wrong with the other results is the layer's fault.
    pub(super) fn remove_later_results(&mut self, left: &LeftBatch, appended: usize) -> usize {
        let context = &mut self.history.context;
        let (len, cause) = (context.len(), Cause::Layer(left.layer));
        for message in (len - appended..len).rev() {
            let is_run = |id: &BlockId| match context.block(*id).kind {
                BlockKind::ToolResult(pair) => !left.later.contains(&pair),
                _ => true,
            };
            let blocks = &context.messages()[message].blocks;
            let keep: Vec<_> = blocks.iter().copied().filter(is_run).collect();
            if keep.len() < blocks.len() {
                context.apply(Edit::Retain { message, keep }, cause);
            }
        }
        context.faults(cause);
        len - context.len()
    }

    /// Runs the layers that wait for this call of a tool, at one of the moments at which they may run. Returns the last one that edited
    /// the history.
    fn run_tool_layers(&mut self, call: &CallState<'a>, block: BlockId, is_moment: fn(&When) -> bool) -> Option<usize> {
        let (conversation, layers) = (self.runner.setup.conversation, &self.runner.setup.policy.layers);
        let block = conversation.block(block);
        let BlockKind::ToolUse(pair) = block.kind else { return None };
        let name = &conversation.pair(pair).name;
        let waits = |when: &When| is_moment(when) && when.tool() == Some(name);
        if !layers.iter().any(|layer| waits(&layer.when)) {
            return None;
        }
        let focus = block.field("input").and_then(|input| input.get("focus")?.as_str());
        self.runner.run_layers(&mut self.history, &CallState { focus, ..*call }, waits)
    }
}
