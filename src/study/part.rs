//! What the replays of one transcript gave, and how the parts become results.

use crate::context::Cause;
use crate::conversation::Conversation;
use crate::format::{Note, Reading};
use crate::journal::Journal;
use crate::kept::Kept;
use crate::measure::{self, Replayed};
use crate::policy::Policy;
use crate::results::{CalibrationRow, CheckRow, DearBreak, MissRow, PolicyText, ResultNote, Results, Row, VERSION, summarise};
use crate::text::many;

use super::gaps::{Gap, Gaps};
use super::kept::{self, Compared};
use super::layers::LayerWork;
use super::money::{self, Breaks};
use super::prepared::Prepared;
use super::{BOUNDS, Outcome, Study};

/// What one transcript gave.
#[derive(Debug, Default)]
pub struct Part {
    transcript: String,
    rows: Vec<Row>,
    pub(super) notes: Vec<ResultNote>,
    /// In the order of the policies.
    policies: Vec<OfPolicy>,
    pub(super) compared: Vec<Compared>,
    pub(super) checks: Vec<CheckRow>,
    pub(super) calibrations: Vec<CalibrationRow>,
    /// What is not known of its models.
    pub(super) unknown: Vec<(Gap, String)>,
}

/// What one policy did over the conversations of a transcript, or of all.
#[derive(Debug, Clone, Default)]
struct OfPolicy {
    layers: LayerWork,
    kept: Kept,
    misses: Vec<MissRow>,
    breaks: Breaks,
    dear: Vec<DearBreak>,
}

/// Puts the parts together, in the order of the transcripts.
pub(super) fn results(study: &Study, parts: Vec<Part>) -> Results {
    let columns = measure::columns();
    let (mut rows, mut notes, mut compared) = (Vec::new(), Vec::new(), Vec::new());
    let (mut checks, mut calibrations) = (Vec::new(), Vec::new());
    let mut policies = vec![OfPolicy::default(); study.policies.len()];
    let mut gaps = Gaps::default();
    for part in parts {
        for (gap, model) in &part.unknown {
            gaps.add(*gap, model, &part.transcript);
        }
        rows.extend(part.rows);
        notes.extend(part.notes);
        compared.extend(part.compared);
        checks.extend(part.checks);
        calibrations.extend(part.calibrations);
        for (sum, of_part) in policies.iter_mut().zip(part.policies) {
            sum.add(of_part);
        }
    }
    notes.extend(gaps.notes());
    kept::fill_in_chance(&mut rows, &compared);
    let text = |policy: &Policy| PolicyText { name: policy.name.clone(), toml: policy.to_toml(), quirks: policy.quirks.clone() };
    let mut results = Results {
        version: VERSION,
        summary: summarise(&columns, &rows),
        columns,
        rows,
        checks,
        calibrations,
        policies: study.policies.iter().map(text).collect(),
        notes,
        ..Results::default()
    };
    for (policy, OfPolicy { layers, kept, misses, breaks, dear }) in study.policies.iter().zip(policies) {
        results.layers.extend(layers.rows(policy));
        results.kept.extend(kept::rows(&policy.name, &kept));
        results.misses.extend(kept::worst(study.misses, misses));
        results.breaks.extend(breaks.rows(policy));
        results.dear_breaks.extend(money::dearest(study.breaks, dear));
    }
    results
}

impl Part {
    /// What is known of a transcript before anything is replayed.
    pub(super) fn new(transcript: &str, reading: &Reading) -> Self {
        let note = |note: &Note| ResultNote { path: transcript.to_owned(), line: note.line, what: note.what.clone() };
        Self { transcript: transcript.to_owned(), notes: reading.notes.iter().map(note).collect(), ..Self::default() }
    }

    pub(super) fn add(&mut self, study: &Study, transcript: &str, prepared: &Prepared, outcomes: &[Outcome]) {
        let (conversation, baseline) = (prepared.conversation, &outcomes[study.baseline]);
        self.policies.resize_with(study.policies.len(), OfPolicy::default);
        for ((policy, outcome), sum) in study.policies.iter().zip(outcomes).zip(&mut self.policies) {
            let Outcome { journal, kept, grain, bounds, cost } = outcome;
            if journal.requests.is_empty() {
                continue;
            }
            let replayed = Replayed {
                conversation,
                journal,
                baseline: &baseline.journal,
                kept,
                cost: cost.as_ref(),
                baseline_cost: baseline.cost.as_ref(),
                bound: Some(bounds.weight),
            };
            let row = Row {
                transcript: transcript.to_owned(),
                conversation: conversation.name.clone(),
                policy: policy.name.clone(),
                bound_of: None,
                values: measure::values(&replayed),
            };
            let is_bound = BOUNDS.contains(&policy.name.as_str());
            sum.layers.add_journal(journal);
            sum.kept.add_shares(kept);
            if !is_bound {
                let of = (transcript, conversation);
                sum.misses.extend(kept::misses(study.misses, of, policy, &prepared.references, kept));
            }
            if let Some(cost) = cost.as_ref().filter(|_| !is_bound) {
                sum.breaks.add_cost(cost);
                sum.dear.extend(money::dear(study.breaks, (transcript, conversation), policy, cost));
            }
            self.rows.push(row.clone());
            if !is_bound {
                self.rows.extend(kept::bounds_of(&row, &replayed, bounds, *grain));
                if study.exact && bounds.upper.is_none() {
                    let what = format!("conversation {}: no upper bound for {} was found", conversation.name, policy.name);
                    self.notes.push(ResultNote { path: transcript.to_owned(), line: None, what });
                }
            }
        }
        self.notes.extend(broken_in_the_record(transcript, conversation, &baseline.journal));
    }
}

impl OfPolicy {
    fn add(&mut self, other: Self) {
        self.layers.add(other.layers);
        self.kept.add_shares(&other.kept);
        self.misses.extend(other.misses);
        self.breaks.add(other.breaks);
        self.dear.extend(other.dear);
    }
}

/// Says so where the record itself holds requests an API would refuse: no policy is to blame for those.
fn broken_in_the_record(transcript: &str, conversation: &Conversation, journal: &Journal) -> Option<ResultNote> {
    let mut faults = journal.requests.iter().filter_map(|request| request.faults.iter().find(|f| f.cause == Cause::Record));
    let first = faults.next()?;
    let line = conversation.blocks.get(first.block.index()).map(|block| block.line);
    let what = format!(
        "conversation {}: {} broken in the record itself, no policy is to blame; the first fault: {}",
        conversation.name,
        many(faults.count() + 1, "request"),
        first.kind.name()
    );
    Some(ResultNote { path: transcript.to_owned(), line, what })
}
