//! One layer's turn: is it due, is its threshold passed, what does it propose, and what became of it.

use std::collections::HashSet;

use super::{CallState, ContextState, Observer, Setup, due::due};
use crate::engine::context::{Cause, Context, MessageSizes};
use crate::engine::journal::{Event, EventKind, File, Journal, RecordedSummary, Summary, ThresholdCheck, Unanswered};
use crate::engine::layer::FileKind;
use crate::engine::layer::archive::{self, Archive};
use crate::engine::layer::{Layer, LayerInput, LayerSpec, NewFile, Proposal, When};
use crate::transcript::conversation::{Block, Origin, Role};
use crate::util::template::fill;

/// Runs layers and keeps the books.
pub(super) struct LayerRunner<'a, 'o> {
    pub setup: &'a Setup<'a>,
    pub journal: Journal,
    pub observer: &'o mut dyn Observer,
    /// Turns so far.
    pub turns: usize,
    pub last_sent: Option<LastSent>,
    /// Paths written so far.
    paths: HashSet<String>,
    archives: usize,
    /// The newest typed text in sight when the present call began.
    request: String,
    /// How many turns and moved messages there were when it was looked for.
    request_seen_at: Option<(usize, u32)>,
}

/// What was known when the last request was sent.
#[derive(Debug, Clone, Copy)]
pub struct LastSent {
    pub call: usize,
    /// Counted tokens of what this policy sent, overhead not included.
    pub tokens: u64,
    /// What had been appended by then, by each measure of the context.
    pub appended: MessageSizes,
}

impl<'a, 'o> LayerRunner<'a, 'o> {
    pub fn new(setup: &'a Setup<'a>, observer: &'o mut dyn Observer) -> Self {
        Self {
            setup,
            journal: Journal { overhead: setup.overhead, ..Journal::default() },
            observer,
            turns: 0,
            last_sent: None,
            paths: HashSet::new(),
            archives: 0,
            request: String::new(),
            request_seen_at: None,
        }
    }

    /// Keeps the newest typed text that is in sight; where none is, the one known from before.
    pub fn remember_request(&mut self, context: &Context) {
        let looked = Some((self.turns, context.moves()));
        if std::mem::replace(&mut self.request_seen_at, looked) == looked {
            return;
        }
        let Some(sent) = context.newest_typed().map(|at| &context.messages()[at]) else { return };
        let blocks = sent.blocks.iter().map(|id| context.block(*id));
        let texts: Vec<_> = blocks.filter(|block| block.origin == Origin::User).map(Block::text).collect();
        self.request = texts.join("\n");
    }

    /// Runs the layers that are due before a request and change the stored history, in the policy's order.
    pub fn before_request(&mut self, history: &mut ContextState<'a>, now: &CallState<'a>) {
        for (index, layer) in self.setup.policy.layers.iter().enumerate() {
            if layer.enabled && layer.runs_before_requests() && !layer.for_request_only() {
                self.run_if_due(history, index, layer, now);
            }
        }
    }

    /// Runs the layers that wait for this moment.
    pub fn run_layers(&mut self, track: &mut ContextState<'a>, now: &CallState<'a>, wanted: impl Fn(&When) -> bool) {
        for (index, layer) in self.setup.policy.layers.iter().enumerate() {
            if layer.enabled && wanted(&layer.when) {
                self.run(track, index, layer, now);
            }
        }
    }

    pub fn run_if_due(&mut self, track: &mut ContextState<'a>, index: usize, layer: &Layer, now: &CallState<'a>) {
        match due(self.setup, &layer.when, now.call, self.turns, now.typed) {
            Ok(true) => {
                self.run(track, index, layer, now);
            }
            Ok(false) if matches!(layer.when, When::UserTurn | When::Turns(_)) => {
                self.weigh(index, layer, &track.context, now, false);
            }
            Ok(false) => {}
            Err(why) => self.event(now, index, EventKind::Skipped { why }),
        }
    }

    /// Runs one layer; gives whether it edited the context.
    pub fn run(&mut self, track: &mut ContextState<'a>, index: usize, layer: &Layer, now: &CallState<'a>) -> bool {
        if self.weigh(index, layer, &track.context, now, true) == Some(false) {
            return false;
        }
        let weighed = self.journal.threshold_checks.len();
        let archive = self.archive_before(layer);
        let path = archive.map(|(_, archive)| fill(&archive.path, &[("n", &(self.archives + 1).to_string())]));
        let proposal = self.propose(track, index, layer, now, path.as_deref());
        if !proposal.acts() {
            return false;
        }
        if let (Some((archive, _)), Some(path)) = (archive, path) {
            self.archive(&track.context, archive, path, now);
        }
        let before = self.messages(&track.context);
        self.carry_out(track, index, proposal, now) && {
            self.restore_after(track, layer, now);
            self.weigh_again(weighed, layer, before, &track.context);
            true
        }
    }

    /// Whether the context is over the layer's threshold, where it has one.
    fn weigh(&mut self, index: usize, layer: &Layer, context: &Context, now: &CallState<'a>, due: bool) -> Option<bool> {
        let (threshold, meter) = (layer.threshold.as_ref()?, layer.meter.or(self.setup.policy.meter)?);
        let (size, limit) = (self.estimate(meter, context), threshold.resolve(self.setup.limits()));
        self.journal.threshold_checks.push(ThresholdCheck { call: now.call, layer: index, size, limit, due, after: None });
        Some(size > limit || (!layer.strict && size == limit))
    }

    /// Writes down what the layer that was weighed last before `weighed` made of a context of so many tokens before. A meter of
    /// recorded usage does not see an edit until the next call is billed: what it took out is subtracted.
    fn weigh_again(&mut self, weighed: usize, layer: &Layer, before: u64, context: &Context) {
        let (Some(_), Some(meter)) = (&layer.threshold, layer.meter.or(self.setup.policy.meter)) else { return };
        let (tokens, after) = (self.messages(context), self.estimate(meter, context));
        if let Some(weighed) = self.journal.threshold_checks.get_mut(weighed - 1) {
            weighed.after = Some(if meter.recorded { (weighed.size + tokens).saturating_sub(before) } else { after });
        }
    }

    /// Tokens of the messages, by the report's counter.
    fn messages(&self, context: &Context) -> u64 {
        self.setup.counter.apply(context.sum(self.setup.counter.measure))
    }

    fn propose(
        &self,
        track: &mut ContextState<'a>,
        index: usize,
        layer: &Layer,
        now: &CallState<'a>,
        archive: Option<&str>,
    ) -> Proposal {
        // Whatever came of it would be worth nothing, and further questions cost as much as good ones.
        if self.journal.unanswered.is_some() {
            return Proposal::default();
        }
        let messages = track.context.messages();
        let last_response = messages.iter().rposition(|sent| sent.role == Role::Assistant);
        let moment = LayerInput {
            context: &track.context,
            call: now.call,
            read: now.read,
            // A response that was nothing but thinking may have left: what entered is not before the newest messages.
            entered: last_response.map_or(0, |last| last + 1).max(messages.len().saturating_sub(now.entered)),
            request: &self.request,
            focus: now.focus,
            archive,
            overflows: now.overflows,
            limits: self.setup.limits(),
            counter: self.setup.counter,
            summarizer: self.setup.summarizer,
            shared: self.setup.shared,
        };
        layer.spec.propose(&moment, &mut track.memories[index])
    }

    /// Applies what a layer proposed and writes down what it did; gives whether it edited the context.
    fn carry_out(&mut self, track: &mut ContextState<'a>, index: usize, proposal: Proposal, now: &CallState<'a>) -> bool {
        let edits = proposal.edits.len();
        let before = self.messages(&track.context);
        // What entered since the last look is not this layer's fault.
        track.context.faults(Cause::Record);
        for edit in proposal.edits {
            track.context.apply(edit, Cause::Layer(index));
        }
        track.context.faults(Cause::Layer(index));
        let after = self.messages(&track.context);
        let made = proposal.asked.into_iter().map(|attempt| Summary { call: now.call, layer: index, attempt });
        self.journal.summaries.extend(made);
        let recorded = proposal.restored.into_iter().map(|restored| RecordedSummary { call: now.call, layer: index, restored });
        self.journal.recorded.extend(recorded);
        if let Some(why) = proposal.unanswered {
            self.journal.unanswered.get_or_insert(Unanswered { call: now.call, layer: index, why });
        }
        self.event(
            now,
            index,
            match proposal.failed {
                Some(why) => EventKind::Failed { why },
                None => EventKind::Fired { edits, before, after },
            },
        );
        for file in proposal.files {
            let bytes = file.text.len() as u64;
            self.write(index, now, file, bytes);
        }
        edits > 0
    }

    fn archive_before(&self, layer: &Layer) -> Option<(usize, &'a Archive)> {
        let waits = |when: &When| matches!(when, When::Before(ids) if ids.contains(&layer.id));
        self.setup.policy.layers.iter().enumerate().find_map(|(index, other)| match &other.spec {
            LayerSpec::Archive(archive) if other.enabled && waits(&other.when) => Some((index, archive)),
            _ => None,
        })
    }

    fn archive(&mut self, context: &Context, index: usize, path: String, now: &CallState<'a>) {
        self.archives += 1;
        let text = if self.observer.wants_archives() { archive::text(context) } else { String::new() };
        self.write(index, now, NewFile { kind: FileKind::Archive, of: None, path, text }, archive::bytes(context));
        self.event(now, index, EventKind::Wrote);
    }

    fn restore_after(&mut self, track: &mut ContextState<'a>, layer: &Layer, now: &CallState<'a>) {
        self.run_layers(track, now, |when| matches!(when, When::After(ids) if ids.contains(&layer.id)));
    }

    fn write(&mut self, layer: usize, now: &CallState<'a>, file: NewFile, bytes: u64) {
        let NewFile { kind, of, path, text } = file;
        let again = !self.paths.insert(path.clone());
        let file = File { kind, call: now.call, layer, of, path, bytes, again };
        self.observer.file(&file, &text);
        self.journal.files.push(file);
    }

    fn event(&mut self, now: &CallState<'a>, layer: usize, what: EventKind) {
        self.journal.events.push(Event { call: now.call, layer, what });
    }
}
