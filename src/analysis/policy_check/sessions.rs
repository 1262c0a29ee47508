//! What the layers of policies did on sessions.

use std::collections::BTreeMap;

use crate::analysis::study::{LayerWork, Study};
use crate::engine::journal::{EventKind, Journal};
use crate::engine::policy::Policy;
use crate::engine::size::Limits;
use crate::findings::timeline::trigger::trigger;
use crate::results::saved::LayerRow;
use crate::transcript::format::Reading;

/// The layers of some policies on some sessions. The default is on none.
#[derive(Debug, Clone, Default)]
pub struct SessionsUse {
    pub conversations: usize,
    pub calls: usize,
    /// Tokens of the largest request without any compaction.
    pub largest_request: u64,
    /// Tools that were called, and how often.
    pub tools: BTreeMap<String, usize>,
    /// By policy and by layer.
    pub layers: Vec<Vec<LayerUse>>,
    work: Vec<LayerWork>,
}

/// What one layer did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LayerUse {
    /// How often it edited the context or wrote a file.
    pub acted: usize,
    /// Whether it edited the context.
    pub edited: bool,
    /// How often it tried to act and failed.
    pub failed: usize,
    /// Why it failed, the first time.
    pub failure: Option<String>,
    /// How often its `when` came.
    pub due: usize,
    /// Why its `when` cannot be evaluated on a session.
    pub skipped: Option<&'static str>,
    /// The comparison with its threshold that came nearest to it; `None` if it was never compared.
    pub threshold: Option<ThresholdUse>,
    /// Number of comparisons in which the context was over the threshold.
    pub over: usize,
    /// Number of conversations with a comparison, and with a threshold beyond the window.
    pub compared: usize,
    pub beyond_window: usize,
    /// The times when it acted, in the order of the sessions, if it brings the context down to a size.
    pub landings: Vec<Landing>,
}

/// Where the context was before and after a layer brought it down to a size, by the layer's meter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Landing {
    pub before: u64,
    pub after: u64,
    pub target: u64,
}

/// A comparison of the context with a threshold, in the unit of the layer's meter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThresholdUse {
    pub size: u64,
    pub limit: u64,
    /// The threshold in tokens of a request, estimated.
    pub tokens: u64,
    /// Context window in tokens.
    pub window: u64,
}

impl ThresholdUse {
    /// The size as a share of the threshold.
    fn share(&self) -> f64 {
        self.size as f64 / self.limit.max(1) as f64
    }
}

impl SessionsUse {
    /// Replays the conversations of a transcript through the policies.
    pub fn of_transcript(study: &Study, policies: &[Policy], reading: &Reading) -> Self {
        let mut seen = Self::default();
        for conversation in &reading.conversations {
            let prepared = study.prepare(conversation);
            let uncompacted = study.journal(&prepared, &study.baseline);
            let requests = uncompacted.requests.iter().map(|request| request.tokens);
            let mut one = Self {
                conversations: 1,
                calls: conversation.calls.len(),
                largest_request: requests.max().unwrap_or(0),
                ..Self::default()
            };
            for pair in &conversation.pairs {
                *one.tools.entry(pair.name.clone()).or_default() += 1;
            }
            for policy in policies {
                let journal = study.journal(&prepared, policy);
                let mut work = LayerWork::default();
                work.add_journal(&journal);
                one.work.push(work);
                let window = prepared.window.of(policy);
                let limits = Limits { window, max_output: policy.max_output };
                one.layers.push((0..policy.layers.len()).map(|layer| LayerUse::new(policy, &journal, layer, limits)).collect());
            }
            seen.add(one);
        }
        seen
    }

    /// Adds other sessions of the same policies.
    pub fn add(&mut self, other: Self) {
        self.conversations += other.conversations;
        self.calls += other.calls;
        self.largest_request = self.largest_request.max(other.largest_request);
        for (tool, calls) in other.tools {
            *self.tools.entry(tool).or_default() += calls;
        }
        self.layers.resize(self.layers.len().max(other.layers.len()), Vec::new());
        for (own, others) in self.layers.iter_mut().zip(other.layers) {
            own.resize(own.len().max(others.len()), LayerUse::default());
            own.iter_mut().zip(others).for_each(|(own, other)| own.add(other));
        }
        self.work.resize(self.work.len().max(other.work.len()), LayerWork::default());
        self.work.iter_mut().zip(other.work).for_each(|(own, other)| own.add(other));
    }

    /// Returns what each layer of a policy did.
    pub(super) fn rows(&self, index: usize, policy: &Policy) -> Vec<LayerRow> {
        self.work.get(index).cloned().unwrap_or_default().rows(policy)
    }
}

impl LayerUse {
    fn new(policy: &Policy, journal: &Journal, layer: usize, limits: Limits) -> Self {
        let mut seen = Self { due: journal.times_due[layer], ..Self::default() };
        for event in journal.events.iter().filter(|event| event.layer == layer) {
            match &event.kind {
                EventKind::Fired { .. } => {
                    seen.acted += 1;
                    seen.edited = true;
                }
                EventKind::Wrote => seen.acted += 1,
                EventKind::Failed { why } => {
                    seen.failed += 1;
                    seen.failure.get_or_insert_with(|| why.clone());
                }
                EventKind::Skipped { why } => seen.skipped = Some(*why),
            }
        }
        let tokens = trigger(policy, journal, layer);
        let checked = &policy.layers[layer];
        let target = checked.spec.traits().down_to.map(|target| target.resolve(limits));
        for check in journal.threshold_checks.iter().filter(|check| check.layer == layer && check.due) {
            let tokens = tokens.unwrap_or(check.limit);
            seen.over += usize::from(checked.is_over(check.size, check.limit));
            seen.nearest(ThresholdUse { size: check.size, limit: check.limit, tokens, window: limits.window });
            if let (Some(target), Some(after)) = (target, check.after) {
                seen.landings.push(Landing { before: check.size, after, target });
            }
        }
        seen.compared = usize::from(seen.threshold.is_some());
        seen.beyond_window = usize::from(tokens.is_some_and(|tokens| tokens >= limits.window));
        seen
    }

    fn nearest(&mut self, other: ThresholdUse) {
        if self.threshold.is_none_or(|own| own.share() < other.share()) {
            self.threshold = Some(other);
        }
    }

    fn add(&mut self, other: Self) {
        self.acted += other.acted;
        self.edited |= other.edited;
        self.failed += other.failed;
        self.failure = self.failure.take().or(other.failure);
        self.due += other.due;
        self.skipped = self.skipped.or(other.skipped);
        other.threshold.into_iter().for_each(|other| self.nearest(other));
        self.over += other.over;
        self.compared += other.compared;
        self.beyond_window += other.beyond_window;
        self.landings.extend(other.landings);
    }
}
