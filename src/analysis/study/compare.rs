//! Compares the replay of one conversation under one policy with the baseline, and keeps what the results need.

use std::sync::Arc;

use crate::engine::journal::Unanswered;
use crate::engine::policy::Policy;
use crate::engine::summarizer::AnswerCost;
use crate::findings::{self, Finding};
use crate::metrics::metric;
use crate::results::Role;
use crate::results::saved::{Recording, ResultNote, Row, TraceLine};

use super::policy_totals::PolicyTotals;
use super::prepared::Prepared;
use super::{ReplayOutcome, Study, costs, retention, trace};

/// What the replays of one conversation are compared with.
pub(super) struct BaselineComparison<'a> {
    pub study: &'a Study,
    pub transcript: &'a str,
    pub recording: Arc<Recording>,
    pub prepared: &'a Prepared<'a>,
    pub baseline: &'a ReplayOutcome,
}

/// Result of one replay.
#[derive(Debug, Default)]
pub(super) struct ComparedReplay {
    /// Its row and the rows of its bounds; none if the conversation has no call.
    pub rows: Vec<Row>,
    pub notes: Vec<ResultNote>,
    pub trace: Option<TraceLine>,
    pub findings: Vec<Finding>,
    pub totals: PolicyTotals,
    /// Answers of models.
    pub paid: Vec<AnswerCost>,
    /// Which summary or which answer of a program is missing, and why.
    pub unanswered: Option<String>,
}

impl BaselineComparison<'_> {
    pub fn compare(&self, policy: &Policy, outcome: &ReplayOutcome) -> ComparedReplay {
        let ReplayOutcome { journal, retention, bounds, bounds_by_line, cost } = outcome;
        let (study, conversation) = (self.study, self.prepared.conversation);
        if journal.requests.is_empty() {
            return ComparedReplay::default();
        }
        let input = metric::MetricInput {
            conversation,
            journal,
            baseline: &self.baseline.journal,
            retention,
            cost: cost.as_ref(),
            baseline_cost: self.baseline.cost.as_ref(),
            oracle_weight: Some(bounds.weight),
        };
        let row = Row {
            transcript: self.transcript.into(),
            conversation: conversation.name.as_str().into(),
            recording: Arc::clone(&self.recording),
            policy: policy.name.as_str().into(),
            bound_of: None,
            values: metric::values(&input),
        };
        let mut totals = PolicyTotals::default();
        totals.layers.add_journal(journal);
        totals.retention.add_retention(retention);
        let mut compared = ComparedReplay { trace: Some(trace::line(policy, journal)), ..ComparedReplay::default() };
        if !Role::of(&policy.name).is_bound() {
            let source = (self.transcript, conversation);
            totals.misses = retention::misses(study.misses, source, policy, self.prepared, retention);
            if let Some(cost) = cost {
                totals.breaks.add_cost(cost);
                totals.costliest_breaks = costs::costliest_breaks(study.breaks, source, policy, cost);
            }
            compared.rows = retention::bounds_of(&row, &input, bounds, "clairvoyant");
            if let Some(by_line) = bounds_by_line {
                compared.rows.extend(retention::bounds_of(&row, &input, by_line, "clairvoyant by line"));
            }
            let upper = bounds_by_line.as_ref().unwrap_or(bounds).upper;
            if study.exact && upper.is_none() && cfg!(feature = "exact") {
                let what = format!("conversation {}: the solver found no upper bound for {}", conversation.name, policy.name);
                compared.notes.push(ResultNote { path: self.transcript.to_owned(), line: None, what });
            }
        }
        compared.rows.insert(0, row);
        // The bounds exist only for comparison: their findings are not mistakes.
        if study.findings && !Role::of(&policy.name).is_bound() && !study.references.contains(&policy.name) {
            let window = self.prepared.window.of(policy);
            compared.findings = self.prepared.with_replay_view(policy, (journal, retention, cost.as_ref()), window, |replay| {
                findings::detect(self.transcript, replay)
            });
            self.prepared.hide_secrets(&mut compared.findings);
        }
        compared.paid = journal.summaries.iter().filter_map(|summary| summary.attempt.cost.clone()).collect();
        let message = |missing| unanswered_message(&conversation.name, policy, missing);
        compared.unanswered = journal.unanswered.as_ref().map(message);
        ComparedReplay { totals, ..compared }
    }

    /// Returns the context window of the baseline's replay.
    pub fn window(&self) -> u64 {
        self.prepared.window.of(&self.study.baseline)
    }
}

/// Returns a message that names what is missing, a summary or a program's answer, and the reason.
pub fn unanswered_message(conversation: &str, policy: &Policy, missing: &Unanswered) -> String {
    let Unanswered { call, layer, why } = missing;
    let (call, layer, policy) = (call + 1, &policy.layers[*layer], &policy.name);
    let what = match layer.spec.traits().program {
        Some(_) => format!("the policy {policy}"),
        None => format!("no summary for {policy} ({})", layer.id),
    };
    format!("conversation {conversation}, call {call}: {what}: {why}")
}
