//! Layers that run when the model calls a tool, such as the compact tool of a harness.

use super::{CallState, ReplayRun};
use crate::engine::context::{Cause, Edit};
use crate::engine::layer::When;
use crate::transcript::conversation::{BlockId, BlockKind, Message};

/// A batch in whose middle a layer edited the history.
pub(super) struct LeftBatch<'a> {
    layer: usize,
    /// The blocks of the response behind the call of the tool. The harness runs none of these calls.
    later: &'a [BlockId],
}

impl<'a> ReplayRun<'a, '_> {
    /// Runs the layers that wait for a call of a tool in the response before this call, before its results enter.
    pub(super) fn run_within_batch(&mut self, call: &CallState<'a>) -> Option<LeftBatch<'a>> {
        let blocks = &self.response_before(call)?.blocks;
        let run = |(at, id): (usize, &BlockId)| {
            let layer = self.run_tool_layers(call, *id, |when| matches!(when, When::ToolUse(_)))?;
            Some(LeftBatch { layer, later: &blocks[at + 1..] })
        };
        blocks.iter().enumerate().find_map(run)
    }

    /// Runs the layers that wait for the results of a tool, if those that answer the response before this call have just entered.
    pub(super) fn run_after_batch(&mut self, call: &CallState<'a>) {
        let conversation = self.runner.setup.conversation;
        let answers = |before: usize| call.messages_read == conversation.calls[before].response + 2;
        if call.index.checked_sub(1).is_some_and(answers) {
            for id in self.response_before(call).iter().flat_map(|response| &response.blocks) {
                self.run_tool_layers(call, *id, |when| matches!(when, When::Tool(_)));
            }
        }
    }

    /// Removes, from the newest messages of the history, the results of calls that the harness does not run. Returns how many messages it
    /// removed. What is wrong with the other results is the layer's fault.
    pub(super) fn remove_later_results(&mut self, left: &LeftBatch, appended: usize) -> usize {
        let (conversation, context) = (self.runner.setup.conversation, &mut self.history.context);
        let (len, cause) = (context.len(), Cause::Layer(left.layer));
        for message in (len - appended..len).rev() {
            let is_run = |id: &BlockId| match context.block(*id).kind {
                BlockKind::ToolResult(pair) => {
                    left.later.iter().all(|id| conversation.block(*id).kind != BlockKind::ToolUse(pair))
                }
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

    fn response_before(&self, call: &CallState<'a>) -> Option<&'a Message> {
        let conversation = self.runner.setup.conversation;
        Some(&conversation.messages[conversation.calls[call.index.checked_sub(1)?].response])
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
