//! Sends a request: prepares its view, runs the overflow layers if it is too large, and writes it to the journal.

use super::layer_runner::LastSent;
use super::{CallState, ContextState, ReplayRun};
use crate::engine::context::{Cause, Change, Context, Fault};
use crate::engine::journal::{FaultDelta, Request, RequestDelta, SentBlock, SentCopy};
use crate::engine::layer::{Layer, When};

/// The message boundaries of the previous request, to encode the next request as a difference.
#[derive(Debug, Default)]
pub(super) struct PreviousRequest {
    /// Number of blocks of the request up to the end of each message.
    ends: Vec<usize>,
    /// Index of the first message that layers have edited in the view since it was made.
    first_edited: Option<usize>,
    faults: Vec<Fault>,
}

impl PreviousRequest {
    /// Encodes the next request as the difference from the previous one, and stores its boundaries.
    fn delta(&mut self, context: &Context, changes: &[Change], view: &[Change], sent: SentCopy) -> RequestDelta {
        let first_changed = |changes: &[Change]| changes.iter().map(|change| change.at).min();
        let first_of = |places: [Option<usize>; 3]| places.into_iter().flatten().min();
        let earlier = self.first_edited.take();
        let first_different = if sent == SentCopy::SameView {
            first_changed(view)
        } else {
            // A new view discards the earlier edits, so the messages that they changed differ again.
            first_of([first_changed(changes), first_changed(view), earlier])
        };
        let earlier = earlier.filter(|_| sent == SentCopy::SameView);
        if earlier.is_some() || view.iter().any(Change::is_of_layer) {
            self.first_edited = first_of([first_changed(view), earlier, None]);
        }
        self.ends.truncate(first_different.map_or(context.len(), |first| first.min(context.len())));
        let shared_prefix = self.ends.last().copied().unwrap_or_default();
        let mut appended = Vec::new();
        for message in &context.messages()[self.ends.len()..] {
            let opens = |index: usize| (index == 0).then_some(message.role);
            appended
                .extend(message.blocks.iter().enumerate().map(|(index, block)| SentBlock { block: *block, opens: opens(index) }));
            self.ends.push(shared_prefix + appended.len());
        }
        RequestDelta { shared_prefix, appended }
    }

    /// Encodes the faults of the next request as the difference from those of the previous one, and stores them.
    fn fault_delta(&mut self, context: &mut Context, is_other_copy: bool) -> FaultDelta {
        let (unchanged, faults) = context.changed_faults();
        let shared_prefix = if is_other_copy {
            // Each copy has a list of its own.
            self.faults.iter().zip(faults).take_while(|(old, new)| old == new).count()
        } else {
            unchanged.min(self.faults.len())
        };
        let mut appended = faults[shared_prefix..].to_vec();
        appended.extend(context.thinking_faults());
        self.faults.truncate(shared_prefix);
        self.faults.extend(&appended);
        FaultDelta { shared_prefix, appended }
    }
}

impl<'a> ReplayRun<'a, '_> {
    /// Sends the request of a call.
    pub(super) fn send(&mut self, call: &CallState<'a>) {
        let mut is_other_copy = self.prepare_view(call);
        let overflowed = self.tokens() > self.runner.setup.window;
        if overflowed {
            is_other_copy |= self.fix_overflow(call);
        }
        let sent = match &self.view {
            None => SentCopy::History,
            Some(_) if is_other_copy => SentCopy::NewView,
            Some(_) => SentCopy::SameView,
        };
        let setup = self.runner.setup;
        let tokens = self.tokens();
        let changes = self.history.context.take_changes();
        let view = self.view.as_mut().map(|view| view.context.take_changes()).unwrap_or_default();
        self.swap_synthetic_blocks();
        let context = self.view.as_mut().map_or(&mut self.history.context, |view| &mut view.context);
        let delta = self.previous.delta(context, &changes, &view, sent);
        let faults = self.previous.fault_delta(context, is_other_copy);
        let request = Request {
            call: call.index,
            tokens,
            estimate: setup.policy.meter.map_or(tokens, |meter| self.runner.estimate(meter, context)),
            messages: context.len(),
            delta,
            overflowed,
            failed: tokens > setup.window,
            faults,
            changes,
            view,
            sent,
        };
        self.runner.observer.request(&request, context);
        self.runner.last_sent =
            Some(LastSent { call: call.index, tokens: tokens - setup.overhead, appended: context.all_appended() });
        self.runner.sent += if request.failed { 0 } else { tokens };
        self.runner.journal.requests.push(request);
        self.swap_synthetic_blocks();
    }

    /// Returns the tokens of the request that would be sent now, including the overhead.
    fn tokens(&self) -> u64 {
        let (context, counter) = (&self.view.as_ref().unwrap_or(&self.history).context, self.runner.setup.counter);
        counter.apply(context.size(counter.unit)) + self.runner.setup.overhead
    }

    /// Runs the layers that edit this request only; returns whether another copy than that of the previous request will be sent.
    ///
    /// Rebuilding the view for every request would process the whole history at every call. As long as messages are only
    /// appended to the history, the view of the previous request is the beginning of this one: its layers would decide the same
    /// about old messages. So the view is kept and extended, and rebuilt only after an edit of the history that it did not follow.
    fn prepare_view(&mut self, call: &CallState<'a>) -> bool {
        let policy = self.runner.setup.policy;
        let mut layers =
            policy.layers.iter().enumerate().filter(|(_, layer)| layer.enabled && layer.for_request_only()).peekable();
        let proposals = std::mem::take(&mut self.runner.for_request);
        if layers.peek().is_none() && proposals.is_empty() {
            // The view of the previous request is over, if a proposal made one.
            return self.view.take().is_some();
        }
        let still_holds =
            |view: &ContextState| !view.is_outdated && view.layers.iter().all(|layer| layer.still_holds(&view.context));
        let rebuild = proposals.iter().any(|(_, proposal)| !proposal.extends_view)
            || self.history.context.was_edited_by_layers()
            || !policy.view_is_extendable()
            || !self.view.as_ref().is_some_and(still_holds)
            || layers.peek().is_some_and(|(_, first)| self.is_below_again(first));
        if rebuild {
            self.view = Some(ContextState::new(self.history.context.view(), self.runner.setup));
        }
        self.swap_synthetic_blocks();
        if let Some(view) = &mut self.view {
            for (index, proposal) in proposals {
                self.runner.apply_proposal(view, index, proposal, call);
            }
            // An extended view is shorter than the history, and the threshold of the first layer is about the history.
            let mut whole = (!rebuild).then_some(&self.history.context);
            for (index, layer) in layers {
                self.runner.run_if_due(view, whole.take(), index, layer, call);
            }
        }
        self.swap_synthetic_blocks();
        if let Some(view) = self.view.as_mut().filter(|view| view.context.got_messages_back()) {
            // What came back may have been wrong before.
            self.history.context.faults(Cause::Record);
            view.context.adopt_causes(&self.history.context);
        }
        rebuild
    }

    /// Returns whether thinking that left brought the history below the threshold above which this layer edited the view.
    fn is_below_again(&self, layer: &Layer) -> bool {
        let (Some(threshold), true) = (&layer.threshold, self.previous.first_edited.is_some()) else { return false };
        let Some(meter) = layer.meter.or(self.runner.setup.policy.meter) else { return false };
        !layer.is_over(self.runner.estimate(meter, &self.history.context), threshold.resolve(self.runner.setup.limits()))
    }

    /// Moves the synthetic blocks from the history to the view, or back.
    fn swap_synthetic_blocks(&mut self) {
        if let Some(view) = &mut self.view {
            view.context.swap_synthetic_blocks(&mut self.history.context);
        }
    }

    /// Runs the overflow layers, each up to its retries, until the request fits; returns whether another copy is sent.
    fn fix_overflow(&mut self, call: &CallState<'a>) -> bool {
        let (setup, call) = (self.runner.setup, CallState { overflows: true, ..*call });
        let mut is_other_copy = false;
        for (index, layer) in setup.policy.layers.iter().enumerate() {
            if !layer.enabled || layer.when != When::Overflow {
                continue;
            }
            for _ in 0..layer.spec.max_retries() {
                if self.tokens() <= setup.window || !self.runner.run(&mut self.history, index, layer, &call) {
                    break;
                }
                is_other_copy |= self.prepare_view(&call);
            }
        }
        is_other_copy
    }
}
