//! Runs a gate: what the replays of each suite gave, and the verdicts.

use super::{Baseline, Gate, GateReport, Measured, Problem, Suite, evaluate, left_behind, left_out, measure, missing, notes};
use crate::analysis::Replayed;
use crate::analysis::corpus::RunError;
use crate::analysis::idle::idle_programs;
use crate::analysis::spec::{Loaded, SpecError};
use crate::engine::policy::Policy;
use crate::results::saved::Coverage;

/// What the replays of one suite gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SuiteResult {
    /// The values of each policy.
    pub measured: Vec<Measured>,
    pub coverage: Coverage,
    /// Remarks about what was replayed.
    pub notes: Vec<String>,
    /// What prevented an analysis.
    pub problems: Vec<Problem>,
}

impl Suite {
    /// Returns the values of the suite's policies. What could not be read is a problem of the suite.
    ///
    /// # Errors
    ///
    /// Fails only if the run was stopped, because a part of a suite is not checked.
    pub fn result(&self, loaded: &Loaded, replayed: Replayed) -> Result<SuiteResult, RunError> {
        let (mut result, end) = match loaded.results(replayed) {
            Ok((results, end)) => {
                let policies: Vec<&Policy> = loaded.policies.iter().collect();
                let measured = measure(&results, &policies, &self.columns());
                let idle = idle_programs(&results).into_iter();
                let notes = idle.map(|idle| format!("suite {}: {}{idle}", self.name(), idle.policy)).collect();
                (SuiteResult { measured, coverage: results.coverage, notes, problems: Vec::new() }, end)
            }
            Err(error) => (SuiteResult::default(), Err(error)),
        };
        match end {
            Err(stopped @ RunError::Stopped { .. }) => return Err(stopped),
            Err(error) => result.problems = self.unread(error).problems,
            Ok(()) if result.measured.iter().all(|measured| measured.calls == 0) => {
                let what = "nothing was replayed: no conversation holds a model call";
                result.problems.push(self.problem("transcripts", None, what.to_owned()));
            }
            Ok(()) => {}
        }
        Ok(result)
    }

    /// Returns the result of a suite whose transcripts could not be read.
    pub fn unread(&self, error: RunError) -> SuiteResult {
        let what = match error {
            RunError::Input(errors) => errors,
            other => vec![other.to_string()],
        };
        let problems = what.into_iter().map(|what| self.problem("transcripts", None, what)).collect();
        SuiteResult { problems, ..SuiteResult::default() }
    }

    /// Returns the result of a suite that describes no study.
    pub fn wrong(&self, SpecError { field, item, error }: &SpecError) -> SuiteResult {
        SuiteResult { problems: vec![self.problem(field, *item, error.to_string())], ..SuiteResult::default() }
    }
}

impl Gate {
    /// Begins the report on the results of all suites: what could not be analysed. A transcript of the old baseline that is missing
    /// is a problem.
    pub fn report(&self, file: &str, results: &[SuiteResult], old: Option<&Baseline>) -> GateReport {
        let mut report = GateReport { file: file.to_owned(), ..GateReport::default() };
        for (suite, result) in self.suites.iter().zip(results) {
            let missing = old.iter().flat_map(|old| missing(suite, &result.measured, old, &result.coverage));
            report.problems.extend(missing.map(|what| suite.problem("transcripts", None, what)));
            report.problems.extend(result.problems.iter().cloned());
            report.notes.extend(left_out(suite, &result.coverage));
            report.notes.extend(result.notes.iter().cloned());
        }
        report
    }

    /// Adds the verdicts to the report.
    pub fn judge(&self, report: &mut GateReport, results: &[SuiteResult], baseline: Option<&Baseline>) {
        for (suite, SuiteResult { measured, .. }) in self.suites.iter().zip(results) {
            report.verdicts.extend(evaluate(suite, measured, baseline));
            report.notes.extend(baseline.iter().flat_map(|baseline| notes(suite, measured, baseline)));
        }
        if report.problems.is_empty() {
            let policies_of = |(suite, result): (&Suite, &SuiteResult)| {
                let of_suite = result.measured.iter().map(|measured| (suite.name().to_owned(), measured.policy.clone()));
                of_suite.collect::<Vec<_>>()
            };
            let known: Vec<(String, String)> = self.suites.iter().zip(results).flat_map(policies_of).collect();
            report.notes.extend(baseline.iter().flat_map(|baseline| left_behind(baseline, &known)));
        }
    }

    /// Returns the current values as a new baseline.
    pub fn new_baseline(&self, results: &[SuiteResult]) -> Baseline {
        Baseline::new(self.suites.iter().zip(results).map(|(suite, result)| (suite.name(), result.measured.as_slice())))
    }
}
