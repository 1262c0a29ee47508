//! Result of one transcript's replays.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::context::{Cause, Fault};
use crate::engine::journal::{FaultTally, Journal, Request};
use crate::engine::summarizer::AnswerCost;
use crate::findings::Finding;
use crate::results::saved::{CalibrationRow, CheckRow, Kinship, ResultNote, Row, TraceRow};
use crate::transcript::conversation::Conversation;
use crate::transcript::copies;
use crate::transcript::format::Reading;
use crate::util::held::Held;
use crate::util::spill::Spill;
use crate::util::text::plural;

use super::compare::{BaselineComparison, ComparedReplay};
use super::policy_totals::PolicyTotals;
use super::retention::ChanceSample;
use super::trace;
use super::unknown_models::UnknownFact;

/// Result of one transcript. It is saved when a study is interrupted, and read again to resume.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct TranscriptResult {
    pub(super) transcript: String,
    /// Hashes of its calls, which find copies.
    pub(super) calls: Vec<u64>,
    /// Whether a recorded agent compacted: of equal transcripts, such a one is the original.
    pub(super) is_compacted: bool,
    /// What its conversations are of other sessions.
    pub(super) kin: Vec<Kinship>,
    pub(super) compared: Vec<ChanceSample>,
    /// Why a summarizer had no answer; if set, the result is not usable.
    pub(super) unanswered: Option<String>,
    pub(super) details: Held<Details>,
}

/// What the replays of one transcript gave, besides what is compared with other transcripts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Details {
    /// Times of its first and last message, in milliseconds since 1970; none without times.
    pub(super) times: Times,
    pub(super) rows: Vec<Row>,
    pub(super) traces: Vec<TraceRow>,
    pub(super) findings: Vec<Finding>,
    pub(super) notes: Vec<ResultNote>,
    /// In the order of the policies.
    pub(super) policies: Vec<PolicyTotals>,
    pub(super) checks: Vec<CheckRow>,
    pub(super) calibrations: Vec<CalibrationRow>,
    /// What is unknown about its models.
    pub(super) unknown: Vec<(UnknownFact, String)>,
    /// Answers of models, by key.
    pub(super) paid: BTreeMap<String, AnswerCost>,
}

/// The first and the last of many times.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Times(pub(super) Option<[i64; 2]>);

impl Times {
    pub(super) fn add(&mut self, other: Self) {
        self.0 = match (self.0, other.0) {
            (Some([first, last]), Some([other_first, other_last])) => Some([first.min(other_first), last.max(other_last)]),
            (times, other) => times.or(other),
        };
    }
}

impl TranscriptResult {
    /// Creates the result of a reading, with samples and details of its conversations.
    pub(super) fn new(transcript: &str, reading: &Reading, compared: Vec<ChanceSample>, details: Details) -> Self {
        Self {
            transcript: transcript.to_owned(),
            calls: copies::call_hashes(&reading.conversations),
            is_compacted: reading.conversations.iter().any(|conversation| !conversation.compactions.is_empty()),
            kin: reading.conversations.iter().map(|conversation| Kinship::new(transcript, conversation)).collect(),
            compared,
            unanswered: None,
            details: details.into(),
        }
    }

    /// Returns the transcript and why its result is not usable: a summarizer had no answer, so what would have happened in the conversation is
    /// unknown.
    pub fn unanswered(&self) -> Option<(&str, &str)> {
        Some((self.transcript.as_str(), self.unanswered.as_deref()?))
    }

    /// Makes the result not usable, for this reason.
    pub(in crate::analysis) fn leave_out(&mut self, why: String) {
        self.unanswered = Some(why);
    }

    /// Returns what its conversations are of other sessions.
    pub(in crate::analysis) fn kin(&self) -> &[Kinship] {
        &self.kin
    }

    /// Moves what the end of the study needs once to a file, if the study has many transcripts.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written. The rest stays in memory.
    pub fn spill(&mut self, to: &Spill) -> io::Result<()> {
        if !to.takes_next() {
            return Ok(());
        }
        self.compared.iter_mut().try_for_each(|sample| sample.spill(to))?;
        self.details.spill(to)
    }
}

impl Details {
    /// Creates the details that are known before any replay.
    pub(super) fn new(transcript: &str, reading: &Reading) -> Self {
        let mut times = Times::default();
        reading.conversations.iter().for_each(|conversation| times.add(Times(conversation.times())));
        Self {
            times,
            notes: reading.notes.iter().map(|note| ResultNote::of_reading(transcript, note)).collect(),
            ..Self::default()
        }
    }

    /// Returns the names in what it says about conversations, besides its rows.
    pub(super) fn names(&mut self) -> impl Iterator<Item = (&mut Arc<str>, &mut Arc<str>)> {
        let traces = self.traces.iter_mut().map(|row| (&mut row.transcript, &mut row.conversation));
        let checks = self.checks.iter_mut().map(|row| (&mut row.transcript, &mut row.conversation));
        let calibrations = self.calibrations.iter_mut().map(|row| (&mut row.transcript, &mut row.conversation));
        traces.chain(checks).chain(calibrations)
    }

    /// Adds the replays of one conversation, in the order of the policies. Returns why a summarizer had no answer, if one had none.
    pub(super) fn add(&mut self, comparison: &BaselineComparison, compared: Vec<ComparedReplay>) -> Option<String> {
        let conversation = comparison.prepared.conversation;
        self.policies.resize_with(compared.len(), PolicyTotals::default);
        let mut lines = Vec::new();
        let mut first_unanswered = None;
        for (ComparedReplay { rows, notes, trace, findings, totals, paid, unanswered }, sum) in
            compared.into_iter().zip(&mut self.policies)
        {
            self.rows.extend(rows);
            self.notes.extend(notes);
            lines.extend(trace);
            self.findings.extend(findings);
            sum.add(totals);
            self.paid.extend(paid.into_iter().map(|paid| (paid.key.clone(), paid)));
            first_unanswered = first_unanswered.or(unanswered);
        }
        if !lines.is_empty() {
            self.traces.push(trace::row(comparison.transcript, conversation, comparison.window(), lines));
        }
        self.notes.extend(faults_of_record(comparison.transcript, conversation, &comparison.baseline.journal));
        first_unanswered
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
