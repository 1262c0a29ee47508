//! Removes the thinking of earlier turns, as providers do. The view of the request before follows where its layers allow it: it would
//! take time with the square of the turns to make each view anew.

use super::{ContextState, ReplayRun, ReplaySetup};
use crate::engine::context::{Cause, Context, Edit};
use crate::engine::layer::ThinkingLeft;
use crate::transcript::conversation::{BlockId, BlockKind};

impl ReplayRun<'_, '_> {
    /// Removes the thinking of earlier turns: a new one begins.
    pub(super) fn drop_thinking(&mut self) {
        let left = drop_thinking(&mut self.history.context);
        let Some(view) = &mut self.view else { return };
        view.context.swap_synthetic_blocks(&mut self.history.context);
        // The layers did not cause the faults of new messages.
        view.context.faults(Cause::Record);
        let gone_from_view = drop_thinking(&mut view.context).unwrap_or_default();
        if let Some(gone) = left {
            view.is_outdated |= !gone.is_empty() || !view.follow(self.runner.setup, &gone_from_view);
        }
        view.context.swap_synthetic_blocks(&mut self.history.context);
    }
}

impl ContextState<'_> {
    /// Lets the layers of a view follow thinking that left it, and the messages that had nothing else. Returns whether all could.
    fn follow(&mut self, setup: &ReplaySetup, gone: &[usize]) -> bool {
        let meter = setup.policy.meter.unwrap_or(setup.counter);
        let layers = setup.policy.layers.iter().zip(&mut self.layers).enumerate();
        for (index, (_, running)) in layers.filter(|(_, (layer, _))| layer.enabled && layer.for_request_only()) {
            let left = ThinkingLeft { context: &self.context, gone, meter, limits: setup.limits() };
            let Some(edits) = running.thinking_left(&left) else { return false };
            for edit in edits {
                self.context.apply(edit, Cause::Layer(index));
            }
            self.context.faults(Cause::Layer(index));
        }
        true
    }
}

/// Removes all thinking. Returns the positions of the messages that had nothing else, newest first; `None` if there was no thinking.
fn drop_thinking(context: &mut Context) -> Option<Vec<usize>> {
    context.release_thinking();
    let mut gone = None;
    while let Some(message) = context.with_thinking().last().copied() {
        let stays = |id: &BlockId| context.block(*id).kind != BlockKind::Thinking;
        let keep: Vec<_> = context.messages()[message].blocks.iter().copied().filter(stays).collect();
        gone.get_or_insert_with(Vec::new).extend(keep.is_empty().then_some(message));
        context.apply(Edit::Retain { message, keep }, Cause::Record);
    }
    gone
}
