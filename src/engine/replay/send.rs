//! Sending a request: the view made for it, the layers that mend an overflow, the entry in the journal.

use super::layer_runner::LastSent;
use super::{CallState, ContextState, Run};
use crate::engine::context::{Cause, Change, Context};
use crate::engine::journal::{Request, RequestDelta, SentBlock};
use crate::engine::layer::When;

/// Where the messages of the last request end, to tell the next one by what differs.
#[derive(Debug, Default)]
pub(super) struct LastMessages {
    /// How many blocks the request had up to the end of each message.
    ends: Vec<usize>,
    /// The first message that the layers of the view have touched since it was made.
    viewed: Option<usize>,
}

impl LastMessages {
    /// What the request that is about to be sent has in common with the last one, and what follows.
    fn delta(&mut self, sent: &Context, changes: &[Change], view: &[Change], view_rebuilt: bool) -> RequestDelta {
        let first = |changes: &[Change]| changes.iter().map(|change| change.at).min();
        let earlier = self.viewed;
        let unviewed = if view_rebuilt { earlier } else { None };
        self.viewed = [first(view), if view_rebuilt { None } else { earlier }].into_iter().flatten().min();
        let touched = [first(changes), first(view), unviewed, Some(sent.len())].into_iter().flatten().min();
        self.ends.truncate(touched.unwrap_or_default());
        let shared_prefix = self.ends.last().copied().unwrap_or_default();
        let mut appended = Vec::new();
        for message in &sent.messages()[self.ends.len()..] {
            let opens = |place: usize| (place == 0).then_some(message.role);
            appended
                .extend(message.blocks.iter().enumerate().map(|(place, block)| SentBlock { block: *block, opens: opens(place) }));
            self.ends.push(shared_prefix + appended.len());
        }
        RequestDelta { shared_prefix, appended }
    }
}

impl<'a> Run<'a, '_> {
    pub(super) fn send(&mut self, now: &CallState<'a>) {
        let mut view_rebuilt = self.make_view(now);
        let overflowed = self.tokens() > self.runner.setup.window;
        if overflowed {
            view_rebuilt |= self.mend(now);
        }
        let setup = self.runner.setup;
        let tokens = self.tokens();
        let changes = self.history.context.take_changes();
        let view = self.view.as_mut().map(|view| view.context.take_changes()).unwrap_or_default();
        self.lend_to_view();
        let sent = self.view.as_mut().map_or(&mut self.history.context, |view| &mut view.context);
        let delta = self.last.delta(sent, &changes, &view, view_rebuilt);
        let request = Request {
            call: now.call,
            tokens,
            estimate: setup.policy.meter.map_or(tokens, |meter| self.runner.estimate(meter, sent)),
            messages: sent.len(),
            delta,
            overflowed,
            failed: tokens > setup.window,
            faults: sent.faults(Cause::Record).to_vec(),
            changes,
            view,
            view_rebuilt,
        };
        self.runner.observer.request(&request, sent);
        self.runner.last_sent = Some(LastSent { call: now.call, tokens: tokens - setup.overhead, appended: sent.all_appended() });
        self.runner.journal.requests.push(request);
        self.lend_to_view();
    }

    /// Tokens of what would be sent now, overhead included.
    fn tokens(&self) -> u64 {
        let (context, counter) = (&self.view.as_ref().unwrap_or(&self.history).context, self.runner.setup.counter);
        counter.apply(context.size(counter.measure)) + self.runner.setup.overhead
    }

    /// Runs the layers for this request only; gives whether the view was made anew.
    ///
    /// A view made anew for every request would cost the whole history at every call. As long as nothing but appending
    /// happens to the history, the view of the request before is the beginning of this one: its layers decided on what is
    /// old, and would decide the same again. So it is kept and appended to, and made anew only after an edit of the history.
    fn make_view(&mut self, now: &CallState<'a>) -> bool {
        let policy = self.runner.setup.policy;
        let mut layers =
            policy.layers.iter().enumerate().filter(|(_, layer)| layer.enabled && layer.for_request_only()).peekable();
        if layers.peek().is_none() {
            return false;
        }
        let anew = self.view.is_none() || self.history.context.has_changes() || !policy.view_is_extendable();
        if anew {
            self.view = Some(ContextState::new(self.history.context.view(), self.runner.setup));
        }
        self.lend_to_view();
        if let Some(view) = &mut self.view {
            for (index, layer) in layers {
                self.runner.run_if_due(view, index, layer, now);
            }
        }
        self.lend_to_view();
        anew
    }

    /// Hands the blocks that layers wrote from the history to the view, or back.
    fn lend_to_view(&mut self) {
        if let Some(view) = &mut self.view {
            view.context.swap_synthetic_blocks(&mut self.history.context);
        }
    }

    /// Runs the overflow layers, each up to its retries, until the request fits; gives whether the view was made anew.
    fn mend(&mut self, now: &CallState<'a>) -> bool {
        let (setup, now) = (self.runner.setup, CallState { overflows: true, ..*now });
        let mut anew = false;
        for (index, layer) in setup.policy.layers.iter().enumerate() {
            if !layer.enabled || layer.when != When::Overflow {
                continue;
            }
            for _ in 0..layer.spec.max_retries() {
                if self.tokens() <= setup.window || !self.runner.run(&mut self.history, index, layer, &now) {
                    break;
                }
                anew |= self.make_view(&now);
            }
        }
        anew
    }
}
