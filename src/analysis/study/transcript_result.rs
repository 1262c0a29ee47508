//! Result of one transcript's replays, and how the results of all transcripts are combined.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::engine::context::{Cause, Fault};
use crate::engine::journal::{FaultTally, Journal, Request};
use crate::engine::policy::Policy;
use crate::engine::summarizer::AnswerCost;
use crate::findings::{FINDINGS, Finding};
use crate::metrics::metric;
use crate::results::saved::{
    CalibrationRow, CheckRow, Coverage, Dates, Families, Kinship, PolicyText, ResultNote, Results, Row, TraceRow,
    answer_spending, summarise,
};
use crate::transcript::conversation::Conversation;
use crate::transcript::copies;
use crate::transcript::format::{Note, Reading};
use crate::util::text::plural;

use super::compare::{BaselineComparison, ComparedReplay};
use super::costs::{self};
use super::policy_totals::PolicyTotals;
use super::retention::{self, ChanceSample};
use super::unknown_models::{UnknownFact, UnknownModels};
use super::{Study, summarizers, trace};

/// Result of one transcript. It is saved when a study is interrupted, and read again to resume.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct TranscriptResult {
    transcript: String,
    /// Hashes of its calls, which find copies.
    calls: Vec<u64>,
    /// Times of its first and last message, in milliseconds since 1970; none without times.
    times: Times,
    rows: Vec<Row>,
    /// What its conversations are of other sessions.
    kin: Vec<Kinship>,
    traces: Vec<TraceRow>,
    findings: Vec<Finding>,
    pub(super) notes: Vec<ResultNote>,
    /// In the order of the policies.
    policies: Vec<PolicyTotals>,
    pub(super) compared: Vec<ChanceSample>,
    pub(super) checks: Vec<CheckRow>,
    pub(super) calibrations: Vec<CalibrationRow>,
    /// What is unknown about its models.
    pub(super) unknown: Vec<(UnknownFact, String)>,
    /// Answers of models, by key.
    paid: BTreeMap<String, AnswerCost>,
    /// Why a summarizer had no answer; if set, the result is not usable.
    unanswered: Option<String>,
}

/// The first and the last of many times.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Times(Option<[i64; 2]>);

impl Times {
    fn add(&mut self, other: Self) {
        self.0 = match (self.0, other.0) {
            (Some([first, last]), Some([other_first, other_last])) => Some([first.min(other_first), last.max(other_last)]),
            (times, other) => times.or(other),
        };
    }
}

/// Why a transcript without a call is not in the results.
pub const NO_CALL: &str = "no conversation in it holds a model call";

/// Combines the results of the transcripts, ordered by name. So neither sums nor random samples depend on the order of the arguments.
pub(super) fn results(study: &Study, mut transcripts: Vec<TranscriptResult>) -> Results {
    transcripts.sort_by(|a, b| Path::new(&a.transcript).cmp(Path::new(&b.transcript)));
    let columns = metric::columns();
    let (mut rows, mut traces, mut notes, mut compared) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut findings = Vec::new();
    let (mut checks, mut calibrations) = (Vec::new(), Vec::new());
    let mut paid = BTreeMap::new();
    let mut policies = vec![PolicyTotals::default(); study.policies.len()];
    let mut unknown_models = UnknownModels::default();
    let mut times = Times::default();
    let copies = without_copies(&transcripts);
    let counted = transcripts.iter().zip(&copies).filter(|(_, copy)| copy.is_none());
    let families = Families::new(counted.flat_map(|(result, _)| &result.kin));
    let mut coverage = Coverage { found: transcripts.len(), left_out: Vec::new() };
    for (result, copy) in transcripts.into_iter().zip(copies) {
        if let Some(note) = copy {
            notes.push(note);
            continue;
        }
        for (unknown, model) in &result.unknown {
            unknown_models.add(*unknown, model, &result.transcript);
        }
        if result.rows.is_empty() {
            coverage.leave_out(&result.transcript, NO_CALL);
        }
        times.add(result.times);
        rows.extend(result.rows);
        traces.extend(result.traces);
        findings.extend(result.findings);
        notes.extend(result.notes);
        compared.extend(result.compared);
        checks.extend(result.checks);
        calibrations.extend(result.calibrations);
        paid.extend(result.paid);
        for (sum, totals) in policies.iter_mut().zip(result.policies) {
            sum.add(totals);
        }
    }
    notes.extend(unknown_models.notes());
    families.group(&mut rows);
    compared.iter_mut().for_each(|sample| sample.move_to(&families));
    retention::fill_in_chance(&mut rows, &compared);
    let text = |policy: &Policy| PolicyText {
        name: policy.name.clone(),
        toml: policy.to_toml(),
        decided_by: policy.decided_by,
        known_bugs: policy.quirks.clone(),
    };
    let mut results = Results {
        dates: Dates::new(times.0, price_dates(study, &rows)),
        summary: summarise(&columns, &rows),
        columns,
        rows,
        checks,
        calibrations,
        traces,
        checked_findings: finding_ids(study),
        findings,
        spending: answer_spending(&paid, &study.prices),
        policies: study.policies.iter().map(text).collect(),
        notes,
        coverage,
        ..Results::of_this_program()
    };
    for (policy, PolicyTotals { layers, retention: kept, misses, breaks, costliest_breaks }) in
        study.policies.iter().zip(policies)
    {
        results.layers.extend(layers.rows(policy));
        results.retention.extend(retention::rows(&policy.name, &kept));
        results.misses.extend(retention::worst(study.misses, misses));
        results.invalidations.extend(breaks.rows(policy));
        results.costliest_invalidations.extend(costs::costliest(study.breaks, costliest_breaks));
    }
    results.summarizers = summarizers::rows(study, &results);
    results
}

/// Returns when the prices of the rows' models were read.
fn price_dates(study: &Study, rows: &[Row]) -> Option<[String; 2]> {
    let recorded = rows.iter().filter_map(|row| row.recording.model.as_deref());
    let models: BTreeSet<&str> = study.priced_as.as_deref().map_or_else(|| recorded.collect(), |model| [model].into());
    study.prices.dates(models)
}

/// Returns a note for each transcript that is in another one too, and counts there.
fn without_copies(transcripts: &[TranscriptResult]) -> Vec<Option<ResultNote>> {
    let calls: Vec<&[u64]> = transcripts.iter().map(|result| result.calls.as_slice()).collect();
    let note = |(result, original): (&TranscriptResult, Option<usize>)| {
        Some(ResultNote::of_copy(&result.transcript, &transcripts[original?].transcript))
    };
    transcripts.iter().zip(copies::originals(&calls)).map(note).collect()
}

fn finding_ids(study: &Study) -> Vec<String> {
    let replayed = FINDINGS.iter().filter(|kind| study.findings && kind.detect.is_some());
    replayed.map(|kind| kind.id.to_owned()).collect()
}

impl TranscriptResult {
    /// Creates a result with what is known before any replay.
    pub(super) fn new(transcript: &str, reading: &Reading) -> Self {
        let note = |note: &Note| ResultNote { path: transcript.to_owned(), line: note.line, what: note.what.clone() };
        let calls = copies::call_hashes(&reading.conversations);
        let mut times = Times::default();
        reading.conversations.iter().for_each(|conversation| times.add(Times(conversation.times())));
        Self {
            transcript: transcript.to_owned(),
            calls,
            times,
            kin: reading.conversations.iter().map(|conversation| Kinship::new(transcript, conversation)).collect(),
            notes: reading.notes.iter().map(note).collect(),
            ..Self::default()
        }
    }

    /// Returns the transcript and why its result is not usable: a summarizer had no answer, so what would have happened in the conversation is
    /// unknown.
    pub fn unanswered(&self) -> Option<(&str, &str)> {
        Some((self.transcript.as_str(), self.unanswered.as_deref()?))
    }

    /// Adds the replays of one conversation, in the order of the policies.
    pub(super) fn add(&mut self, comparison: &BaselineComparison, compared: Vec<ComparedReplay>) {
        let conversation = comparison.prepared.conversation;
        self.policies.resize_with(compared.len(), PolicyTotals::default);
        let mut lines = Vec::new();
        for (ComparedReplay { rows, notes, trace, findings, totals, paid, unanswered }, sum) in
            compared.into_iter().zip(&mut self.policies)
        {
            self.rows.extend(rows);
            self.notes.extend(notes);
            lines.extend(trace);
            self.findings.extend(findings);
            sum.add(totals);
            self.paid.extend(paid.into_iter().map(|paid| (paid.key.clone(), paid)));
            self.unanswered = self.unanswered.take().or(unanswered);
        }
        if !lines.is_empty() {
            self.traces.push(trace::row(&self.transcript, conversation, comparison.window(), lines));
        }
        self.notes.extend(faults_of_record(&self.transcript, conversation, &comparison.baseline.journal));
    }
}

/// Returns a note if the record itself contains requests that an API would refuse: no policy caused those.
fn faults_of_record(transcript: &str, conversation: &Conversation, journal: &Journal) -> Option<ResultNote> {
    let of_record = |fault: &&Fault| fault.cause == Cause::Record;
    let first = journal.requests.iter().find_map(|request| request.faults.appended.iter().find(of_record))?;
    let mut tally = FaultTally::default();
    let is_broken = |request: &&Request| {
        tally.advance(request);
        tally.kinds().any(|(_, cause)| cause == Cause::Record)
    };
    let broken = journal.requests.iter().filter(is_broken).count();
    let line = conversation.blocks.get(first.block.index()).map(|block| block.line);
    let what = format!(
        "conversation {}: {} broken in the record itself, not by a policy; the first fault: {}",
        conversation.name,
        plural(broken, "request"),
        first.kind.name()
    );
    Some(ResultNote { path: transcript.to_owned(), line, what })
}
