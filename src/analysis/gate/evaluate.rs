//! Evaluates measured values against rules.

use serde::Serialize;

use crate::metrics::column::{Column, Direction};

use super::baseline::Baseline;
use super::column::without_value;
use super::measure::{Measured, TranscriptValues};
use super::{Rule, RuleKind, Suite};

/// Result of one rule for one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub suite: String,
    pub policy: String,
    pub rule: Rule,
    pub outcome: Outcome,
    /// Value in the baseline.
    pub before: Option<f64>,
    /// Value now: for a limit over all transcripts, for a tolerance over those that the baseline has.
    pub after: Option<f64>,
    /// Last value that is allowed.
    pub allowed: Option<f64>,
    /// How far the value may still move; negative if it is beyond the allowed value.
    pub headroom: Option<f64>,
    /// Transcript that explains the result; `None` if the rule holds.
    pub moved: Option<Moved>,
}

/// Whether a rule holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Holds,
    Breach,
    /// Could not be evaluated, and why.
    Undecided(String),
}

/// The transcript that moved the total most in the wrong direction. If none did, or there is no baseline value, the
/// transcript that is farthest from what the rule asks. Values of shares and ratios count by their weight in the total.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moved {
    pub transcript: String,
    pub before: Option<f64>,
    pub after: f64,
}

/// Evaluates every rule of a suite for every policy, in this order: policies, then rules.
pub fn evaluate(suite: &Suite, measured: &[Measured], baseline: Option<&Baseline>) -> Vec<Verdict> {
    let verdicts = |measured| suite.rules.iter().map(move |rule| RuleCase { suite, measured, baseline, rule }.verdict());
    measured.iter().flat_map(verdicts).collect()
}

#[derive(Clone, Copy)]
struct RuleCase<'a> {
    suite: &'a Suite,
    measured: &'a Measured,
    baseline: Option<&'a Baseline>,
    rule: &'a Rule,
}

impl RuleCase<'_> {
    fn verdict(&self) -> Verdict {
        let before = self.baseline_value(None);
        let after = match &self.rule.kind {
            RuleKind::Limit(_) => self.measured.totals.get(&self.rule.column.id),
            RuleKind::Tolerance(_) => self.comparable_total(),
        };
        let allowed = self.allowed(before);
        let headroom = after.zip(allowed).map(|(after, allowed)| self.headroom(after, allowed));
        let outcome = self.outcome(before, after, headroom);
        let moved = if outcome == Outcome::Holds { None } else { self.most_moved(allowed) };
        let (suite, policy) = (self.suite.name().to_owned(), self.measured.policy.clone());
        Verdict { suite, policy, rule: self.rule.clone(), outcome, before, after, allowed, headroom, moved }
    }

    fn outcome(&self, before: Option<f64>, after: Option<f64>, headroom: Option<f64>) -> Outcome {
        match &self.rule.kind {
            RuleKind::Limit(condition) if condition.holds(after) => Outcome::Holds,
            RuleKind::Limit(_) => Outcome::Breach,
            RuleKind::Tolerance(_) => match self.why_undecided(before) {
                Some(why) => Outcome::Undecided(why),
                None if headroom.is_some_and(|headroom| headroom >= 0.0) => Outcome::Holds,
                None if after == before => Outcome::Holds,
                None => Outcome::Breach,
            },
        }
    }

    /// Returns why no comparison with the baseline is possible.
    fn why_undecided(&self, before: Option<f64>) -> Option<String> {
        let with_advice = |why: String| Some(format!("{why}; `recompact check --update` writes a new baseline"));
        let column = &self.rule.column;
        if before.is_none() && self.measured.totals.get(&column.id).is_none() {
            return Some(format!("it has no value here; {}", without_value(column)));
        }
        let Some(baseline) = self.baseline else { return with_advice("there is no baseline".to_owned()) };
        let known = baseline.transcripts(self.suite.name(), &self.measured.policy);
        let lost = known.into_iter().find(|known| !self.measured.transcripts.iter().any(|one| one.transcript == *known));
        match (lost, before) {
            (Some(lost), _) => with_advice(format!("the baseline includes {lost}, which was not analysed")),
            (None, None) => with_advice("the baseline has no value for it".to_owned()),
            (None, Some(_)) => None,
        }
    }

    /// Returns a value of the baseline: the total, or a transcript's.
    fn baseline_value(&self, transcript: Option<&str>) -> Option<f64> {
        self.baseline?.value(self.suite.name(), &self.measured.policy, &self.rule.column.id, transcript)
    }

    /// Returns the total of the transcripts that the baseline has, so that equal sets are compared.
    fn comparable_total(&self) -> Option<f64> {
        let known = self.baseline?.transcripts(self.suite.name(), &self.measured.policy);
        self.measured.total(&self.rule.column, |transcript| known.binary_search(&transcript).is_ok())
    }

    fn allowed(&self, before: Option<f64>) -> Option<f64> {
        match &self.rule.kind {
            RuleKind::Limit(condition) => Some(condition.limit()),
            RuleKind::Tolerance(tolerance) => {
                let before = before?;
                let amount = tolerance.amount_for(before)?;
                Some(if self.rule.column.better == Direction::Higher { before - amount } else { before + amount })
            }
        }
    }

    fn headroom(&self, value: f64, allowed: f64) -> f64 {
        match &self.rule.kind {
            RuleKind::Limit(condition) => condition.headroom(value),
            RuleKind::Tolerance(_) if self.rule.column.better == Direction::Higher => value - allowed,
            RuleKind::Tolerance(_) => allowed - value,
        }
    }

    fn most_moved(&self, allowed: Option<f64>) -> Option<Moved> {
        let allowed = allowed.unwrap_or_default();
        let column = &self.rule.column;
        let candidates = self.measured.transcripts.iter().filter_map(|one| {
            let (after, before) = (one.values.get(&column.id)?, self.baseline_value(Some(&one.transcript)));
            let weight = weight(one, column);
            let beyond = -self.headroom(after, allowed) * weight;
            let moved = before.map_or(0.0, |before| (self.headroom(before, allowed) - self.headroom(after, allowed)) * weight);
            Some((moved.max(0.0), beyond, Moved { transcript: one.transcript.clone(), before, after }))
        });
        // Of equals the first wins, whatever the number of threads.
        let farther = |best: (f64, f64, Moved), next: (f64, f64, Moved)| {
            if (next.0, next.1) > (best.0, best.1) { next } else { best }
        };
        candidates.reduce(farther).map(|(.., moved)| moved)
    }
}

/// Returns the weight of a transcript's value in the total: the denominator of a ratio, 1 for all others.
fn weight(one: &TranscriptValues, column: &Column) -> f64 {
    one.added(column).filter(|_| column.combine.is_average()).map_or(1.0, |added| added.denominator)
}

#[cfg(test)]
mod tests;
