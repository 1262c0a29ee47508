//! Combines the results of the transcripts: what is in two transcripts counts once, families are joined, and what each transcript gave
//! is added up. Only one transcript's details are in memory with the sums.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use crate::engine::policy::Policy;
use crate::findings::FINDINGS;
use crate::metrics::metric;
use crate::results::saved::{
    Coverage, Dates, Families, PolicyText, ResultNote, Results, Row, Sharing, answer_spending, summarise,
};
use crate::transcript::copies;
use crate::util::spill::Spill;

use super::policy_totals::PolicyTotals;
use super::retention::ChanceSample;
use super::transcript_result::{Details, Times, TranscriptResult};
use super::unknown_models::UnknownModels;
use super::{Study, retention, summarizers};

/// Why a transcript without a call is not in the results.
pub const NO_CALL: &str = "no conversation in it holds a model call";

/// Combines the results of the transcripts, ordered by name. So neither sums nor random samples depend on the order of the arguments.
pub(super) fn results(study: &Study, mut transcripts: Vec<TranscriptResult>) -> Results {
    transcripts.sort_by(|a, b| Path::new(&a.transcript).cmp(Path::new(&b.transcript)));
    let mut results = Results {
        columns: metric::columns(),
        checked_findings: finding_ids(study),
        policies: study.policies.iter().map(policy_text).collect(),
        coverage: Coverage { found: transcripts.len(), left_out: Vec::new() },
        ..Results::of_this_program()
    };
    let copies = without_copies(&mut transcripts);
    let mut counted: Vec<Result<TranscriptResult, ResultNote>> =
        transcripts.into_iter().zip(copies).map(|(result, copy)| copy.map_or(Ok(result), Err)).collect();
    let families = Families::new(counted.iter().flatten().flat_map(|result| &result.kin));
    counted.iter_mut().flatten().flat_map(|result| &mut result.compared).for_each(|sample| sample.move_to(&families));
    let samples: Vec<&ChanceSample> = counted.iter().flatten().flat_map(|result| &result.compared).collect();
    let mut chances = retention::chances(&samples).into_iter();

    let (mut sharing, lines) = (Sharing::default(), Spill::after(0));
    let mut paid = BTreeMap::new();
    let mut policies = vec![PolicyTotals::default(); study.policies.len()];
    let mut unknown_models = UnknownModels::default();
    let mut times = Times::default();
    for result in counted {
        let TranscriptResult { transcript, compared, details, .. } = match result {
            Ok(result) => result,
            Err(note) => {
                results.notes.push(note);
                continue;
            }
        };
        let is_spilled = details.is_spilled();
        let mut details = details.into_value();
        for (unknown, model) in &details.unknown {
            unknown_models.add(*unknown, model, &transcript);
        }
        if details.rows.is_empty() {
            results.coverage.leave_out(&transcript, NO_CALL);
        }
        times.add(details.times);
        retention::fill_in_chance(&mut details.rows, compared.iter().zip(&mut chances));
        families.group(&mut details.rows);
        sharing.add(&mut details.rows);
        details.names().for_each(|(transcript, conversation)| sharing.add_names(transcript, conversation));
        if is_spilled && let Err(error) = spill(&mut details, &sharing, &lines) {
            log::info!("results stay in memory, because a temporary file cannot be written: {error}");
        }
        results.rows.extend(details.rows);
        results.traces.extend(details.traces);
        results.findings.extend(details.findings);
        results.notes.extend(details.notes);
        results.checks.extend(details.checks);
        results.calibrations.extend(details.calibrations);
        paid.extend(details.paid);
        for (sum, totals) in policies.iter_mut().zip(details.policies) {
            sum.add(totals);
            sum.keep_worst(study);
        }
    }
    results.notes.extend(unknown_models.notes());
    results.summary = summarise(&results.columns, &results.rows);
    results.dates = Dates::new(times.0, price_dates(study, &results.rows));
    results.spending = answer_spending(&paid, &study.prices);
    for (policy, PolicyTotals { layers, retention: kept, misses, breaks, costliest_breaks }) in
        study.policies.iter().zip(policies)
    {
        results.layers.extend(layers.rows(policy));
        results.retention.extend(retention::rows(&policy.name, &kept));
        results.misses.extend(misses);
        results.invalidations.extend(breaks.rows(policy));
        results.costliest_invalidations.extend(costliest_breaks);
    }
    results.summarizers = summarizers::rows(study, &results);
    results
}

/// Moves what is read only row by row to files.
fn spill(details: &mut Details, sharing: &Sharing, lines: &Spill) -> io::Result<()> {
    sharing.spill(&mut details.rows)?;
    details.traces.iter_mut().try_for_each(|trace| trace.lines.spill(lines))
}

fn policy_text(policy: &Policy) -> PolicyText {
    PolicyText {
        name: policy.name.clone(),
        toml: policy.to_toml(),
        decided_by: policy.decided_by,
        known_bugs: policy.quirks.clone(),
    }
}

/// Returns when the prices of the rows' models were read.
fn price_dates(study: &Study, rows: &[Row]) -> Option<[String; 2]> {
    let recorded = rows.iter().filter_map(|row| row.recording.model.as_deref());
    let models: BTreeSet<&str> = study.priced_as.as_deref().map_or_else(|| recorded.collect(), |model| [model].into());
    study.prices.dates(models)
}

/// Takes the hashes of calls. Returns a note for each transcript that is in another one too, and counts there.
fn without_copies(transcripts: &mut [TranscriptResult]) -> Vec<Option<ResultNote>> {
    let calls = transcripts.iter_mut().map(|result| (std::mem::take(&mut result.calls), result.is_compacted)).collect();
    let note = |(result, original): (&TranscriptResult, Option<usize>)| {
        Some(ResultNote::of_copy(&result.transcript, &transcripts[original?].transcript))
    };
    transcripts.iter().zip(copies::originals(calls)).map(note).collect()
}

fn finding_ids(study: &Study) -> Vec<String> {
    let replayed = FINDINGS.iter().filter(|kind| study.findings && kind.detect.is_some());
    replayed.map(|kind| kind.id.to_owned()).collect()
}
