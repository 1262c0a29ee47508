//! Runs one layer: checks whether it is due and over its threshold, applies its proposal, and logs the result.

use std::collections::HashSet;

use super::{
    CallState, ContextState, Observer, ReplaySetup,
    due::{Moment, is_due},
};
use crate::engine::context::{Cause, Context, MessageSizes};
use crate::engine::journal::{
    Event, EventKind, File, Journal, RecordedCompaction, RecordedSummary, Summary, ThresholdCheck, Unanswered,
};
use crate::engine::layer::FileKind;
use crate::engine::layer::archive;
use crate::engine::layer::{Layer, LayerInput, NewFile, Proposal, Scope, When};
use crate::transcript::conversation::{Block, Origin, Thinking};
use crate::util::template::fill;

/// Runs layers and writes the journal.
pub(super) struct LayerRunner<'a, 'o> {
    pub setup: &'a ReplaySetup<'a>,
    pub journal: Journal,
    pub observer: &'o mut dyn Observer,
    /// Number of turns so far.
    pub turns: usize,
    pub last_sent: Option<LastSent>,
    /// Tokens of all requests so far that fit the window, and of those before each layer last edited the context.
    pub sent: u64,
    sent_before_edit: Vec<u64>,
    /// The layers with `rearm` that edited the context, which has not been small enough since.
    disarmed: Vec<bool>,
    /// Paths written so far.
    paths: HashSet<String>,
    /// Number of archives written so far.
    archives: usize,
    /// The newest text that the user typed, as the context held it when the current call began.
    user_request: String,
    /// Number of turns and of moves when `user_request` was last computed.
    request_version: Option<(usize, u32)>,
    /// Proposals for the request that is being prepared and not for the history, each with the index of its layer.
    pub for_request: Vec<(usize, Proposal)>,
}

/// The state when the last request was sent.
#[derive(Debug, Clone, Copy)]
pub struct LastSent {
    pub call: usize,
    /// Tokens of the request by the report's counter, without overhead.
    pub tokens: u64,
    /// Sizes of all messages appended until then, in each unit of the context.
    pub appended: MessageSizes,
}

impl<'a, 'o> LayerRunner<'a, 'o> {
    pub fn new(setup: &'a ReplaySetup<'a>, observer: &'o mut dyn Observer) -> Self {
        Self {
            setup,
            journal: Journal {
                overhead: setup.overhead,
                without_thinking: setup.thinking == Thinking::None,
                times_due: vec![0; setup.policy.layers.len()],
                ..Journal::default()
            },
            observer,
            turns: 0,
            last_sent: None,
            sent: 0,
            sent_before_edit: vec![0; setup.policy.layers.len()],
            disarmed: vec![false; setup.policy.layers.len()],
            paths: HashSet::new(),
            archives: 0,
            user_request: String::new(),
            request_version: None,
            for_request: Vec::new(),
        }
    }

    /// Stores the newest typed text of the context; keeps the stored text if the context has none.
    pub fn remember_request(&mut self, context: &Context) {
        let version = Some((self.turns, context.moves()));
        if std::mem::replace(&mut self.request_version, version) == version {
            return;
        }
        let Some(message) = context.newest_typed().map(|at| &context.messages()[at]) else { return };
        let blocks = message.blocks.iter().map(|id| context.block(*id));
        let texts: Vec<_> = blocks.filter(|block| block.origin == Origin::User).map(Block::text).collect();
        if !texts.is_empty() {
            self.user_request = texts.join("\n");
        }
    }

    /// Runs the due layers that edit the stored history before a request, in the policy's order.
    pub fn run_before_request(&mut self, history: &mut ContextState<'a>, call: &CallState<'a>) {
        for (index, layer) in self.setup.policy.layers.iter().enumerate() {
            if layer.enabled && layer.runs_before_requests() && !layer.for_request_only() {
                self.run_if_due(history, None, index, layer, call);
            }
        }
    }

    /// Runs the layers whose `when` satisfies `wanted`; returns the last one that edited the context.
    pub fn run_layers(
        &mut self,
        target: &mut ContextState<'a>,
        call: &CallState<'a>,
        wanted: impl Fn(&When) -> bool,
    ) -> Option<usize> {
        let mut edited = None;
        for (index, layer) in self.setup.policy.layers.iter().enumerate() {
            if layer.enabled && wanted(&layer.when) && self.run(target, index, layer, call) {
                edited = Some(index);
            }
        }
        edited
    }

    /// Runs one layer if its `when` says that it is due. `measured` is the context that its threshold is about, if that is not the one
    /// that it edits.
    pub fn run_if_due(
        &mut self,
        target: &mut ContextState<'a>,
        measured: Option<&Context>,
        index: usize,
        layer: &Layer,
        call: &CallState<'a>,
    ) {
        let sent = self.sent - self.sent_before_edit[index];
        let moment = Moment { call: call.index, turn: self.turns, typed: call.typed, sent };
        let due = is_due(self.setup, &layer.when, moment);
        match due {
            Ok(due) if due || layer.when.waits_for_user() => {
                let is_over = self.check_threshold(index, layer, measured.unwrap_or(&target.context), call, due) != Some(false);
                self.journal.times_due[index] += usize::from(due);
                if due && is_over {
                    self.act(target, index, layer, call);
                }
            }
            Ok(_) => {}
            Err(why) => self.log_event(call, index, EventKind::Skipped { why }),
        }
    }

    /// Runs one layer if it is over its threshold; returns whether it edited the context.
    pub fn run(&mut self, target: &mut ContextState<'a>, index: usize, layer: &Layer, call: &CallState<'a>) -> bool {
        self.journal.times_due[index] += 1;
        self.check_threshold(index, layer, &target.context, call, true) != Some(false) && self.act(target, index, layer, call)
    }

    /// Lets one layer act; returns whether it edited the context.
    fn act(&mut self, target: &mut ContextState<'a>, index: usize, layer: &Layer, call: &CallState<'a>) -> bool {
        let checks = self.journal.threshold_checks.len();
        let archive = self.archive_before(layer);
        let path = archive.map(|(_, template)| fill(template, &[("n", &(self.archives + 1).to_string())]));
        let proposal = self.propose(target, index, call, path.as_deref());
        if !proposal.acts() {
            return false;
        }
        if proposal.scope == Scope::Request {
            self.for_request.push((index, proposal));
            return false;
        }
        if let (Some((archive, _)), Some(path)) = (archive, path) {
            self.write_archive(&target.context, archive, path, call);
        }
        let before = self.message_tokens(&target.context);
        self.apply_proposal(target, index, proposal, call) && {
            self.restore_after(target, layer, call);
            self.record_size_after(checks, layer, before, &target.context);
            true
        }
    }

    /// Returns whether the context is over the layer's threshold, and the layer does not wait for it to be smaller; `None` if the layer
    /// has no threshold.
    fn check_threshold(
        &mut self,
        index: usize,
        layer: &Layer,
        context: &Context,
        call: &CallState<'a>,
        due: bool,
    ) -> Option<bool> {
        let (threshold, meter) = (layer.threshold.as_ref()?, layer.meter.or(self.setup.policy.meter)?);
        let (size, limits) = (self.estimate(meter, context), self.setup.limits());
        let limit = threshold.resolve(limits);
        self.disarmed[index] &= layer.rearm.as_ref().is_some_and(|rearm| size > rearm.resolve(limits));
        let is_armed = !self.disarmed[index];
        let due = due && is_armed;
        self.journal.threshold_checks.push(ThresholdCheck { call: call.index, layer: index, size, limit, due, after: None });
        Some(is_armed && layer.is_over(size, limit))
    }

    /// Records the context size after the layer in the last of the first `checks` threshold checks. `before`: tokens before the
    /// layer. A meter of recorded usage sees an edit only when the next call is billed, so the removed tokens are subtracted.
    fn record_size_after(&mut self, checks: usize, layer: &Layer, before: u64, context: &Context) {
        let (Some(_), Some(meter)) = (&layer.threshold, layer.meter.or(self.setup.policy.meter)) else { return };
        let (tokens, after) = (self.message_tokens(context), self.estimate(meter, context));
        if let Some(check) = self.journal.threshold_checks.get_mut(checks - 1) {
            check.after = Some(if meter.recorded { (check.size + tokens).saturating_sub(before) } else { after });
        }
    }

    /// Returns the tokens of the messages, by the report's counter.
    fn message_tokens(&self, context: &Context) -> u64 {
        self.setup.counter.apply(context.sum(self.setup.counter.unit))
    }

    fn propose(
        &mut self,
        target: &mut ContextState<'a>,
        index: usize,
        call: &CallState<'a>,
        archive_path: Option<&str>,
    ) -> Proposal {
        // The result would be meaningless, and further questions would still cost money.
        if self.journal.unanswered.is_some() {
            return Proposal::default();
        }
        let messages = target.context.messages();
        let input = LayerInput {
            context: &target.context,
            scope: self.setup.policy.layers[index].scope,
            view_holds: call.view_holds,
            call: call.index,
            messages_read: call.messages_read,
            // A response of only thinking may be gone, so the new messages are also limited by their number.
            first_new: target
                .context
                .newest_response()
                .map_or(0, |last| last + 1)
                .max(messages.len().saturating_sub(call.new_messages)),
            user_request: &self.user_request,
            focus: call.focus,
            archive_path,
            overflows: call.overflows,
            limits: self.setup.limits(),
            overhead: self.setup.overhead,
            estimate: self.setup.policy.meter.map_or_else(
                || self.setup.counter.apply(target.context.size(self.setup.counter.unit)) + self.setup.overhead,
                |meter| self.estimate(meter, &target.context),
            ),
            meter: self.setup.policy.meter.unwrap_or(self.setup.counter),
            last_read: self.last_sent.as_ref().map(|last| last.tokens + self.setup.overhead),
            counter: self.setup.counter,
            summarizer: self.setup.summarizer,
            external: self.setup.external,
            shared: self.setup.shared,
        };
        let proposal = target.layers[index].propose(&input);
        self.observer.proposed(index, &input, &proposal);
        proposal
    }

    /// Applies the proposal of a layer and logs what it did; returns whether it edited the context.
    pub fn apply_proposal(
        &mut self,
        target: &mut ContextState<'a>,
        index: usize,
        proposal: Proposal,
        call: &CallState<'a>,
    ) -> bool {
        let edits = proposal.edits.len();
        let before = self.message_tokens(&target.context);
        // This layer did not cause the faults of new messages.
        target.context.faults(Cause::Record);
        for edit in proposal.edits {
            target.context.apply(edit, Cause::Layer(index));
        }
        target.context.faults(Cause::Layer(index));
        target.layers[index].settle(&target.context);
        self.observer.settled(index, &target.context);
        let after = self.message_tokens(&target.context);
        let summaries = proposal.attempts.into_iter().map(|attempt| Summary { call: call.index, layer: index, attempt });
        self.journal.summaries.extend(summaries);
        let recorded = proposal.restored.into_iter().map(|restored| RecordedSummary { call: call.index, layer: index, restored });
        self.journal.recorded.extend(recorded);
        let compactions = proposal.repeated.into_iter().map(|repeated| RecordedCompaction { call: call.index, repeated });
        self.journal.compactions.extend(compactions);
        if let Some(why) = proposal.unanswered {
            self.journal.unanswered.get_or_insert(Unanswered { call: call.index, layer: index, why });
        }
        if edits > 0 {
            self.sent_before_edit[index] = self.sent;
            self.disarmed[index] = self.setup.policy.layers[index].rearm.is_some();
        }
        let event = match proposal.failed {
            Some(why) => Some(EventKind::Failed { why }),
            None if edits > 0 => Some(EventKind::Fired { edits, before, after }),
            None => proposal.files.iter().any(|file| file.kind == FileKind::Archive).then_some(EventKind::Wrote),
        };
        event.into_iter().for_each(|event| self.log_event(call, index, event));
        for file in proposal.files {
            let bytes = file.text.len() as u64;
            self.write_file(index, call, file, bytes);
        }
        edits > 0
    }

    /// Returns the index of the layer that writes an archive before this layer acts, with the template of the path.
    fn archive_before(&self, layer: &Layer) -> Option<(usize, &'a str)> {
        let precedes = |when: &When| matches!(when, When::Before(ids) if ids.contains(&layer.id));
        let mut others = self.setup.policy.layers.iter().enumerate().filter(|(_, other)| other.enabled && precedes(&other.when));
        others.find_map(|(index, other)| Some((index, other.spec.traits().archive_path?)))
    }

    fn write_archive(&mut self, context: &Context, index: usize, path: String, call: &CallState<'a>) {
        self.archives += 1;
        let text = if self.observer.wants_archives() { archive::text(context) } else { String::new() };
        self.write_file(index, call, NewFile { kind: FileKind::Archive, block: None, path, text }, archive::bytes(context));
        self.log_event(call, index, EventKind::Wrote);
    }

    fn restore_after(&mut self, target: &mut ContextState<'a>, layer: &Layer, call: &CallState<'a>) {
        self.run_layers(target, call, |when| matches!(when, When::After(ids) if ids.contains(&layer.id)));
    }

    fn write_file(&mut self, layer: usize, call: &CallState<'a>, file: NewFile, bytes: u64) {
        let NewFile { kind, block: of, path, text } = file;
        let again = !self.paths.insert(path.clone());
        let file = File { kind, call: call.index, layer, block: of, path, bytes, again };
        self.observer.file(&file, &text);
        self.journal.files.push(file);
    }

    fn log_event(&mut self, call: &CallState<'a>, layer: usize, kind: EventKind) {
        self.journal.events.push(Event { call: call.index, layer, kind });
    }
}
