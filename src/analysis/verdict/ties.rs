//! How often the verdict would be another one over other sessions: over random halves of them, and over bootstrap resamples.

use std::collections::HashMap;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::yardstick::{Intervals, seed};
use super::{Choice, Standing, Verdict, guesses, judge};
use crate::metrics::metric::{broken, cost, overflow, retention, tokens};
use crate::results::saved::{Accumulator, Column, Results, Summary};
use crate::results::stats::{LEVEL, MIN_SESSIONS, Resamples, Samples, halves, total_interval};

/// Number of random splits into two halves.
const SPLITS: usize = 5;
/// Number of resamples whose verdicts are counted.
const RESAMPLES: usize = 100;
/// Number of resamples for an interval over a half: its ends are then exact to a fifth of its width.
const INTERVAL_RESAMPLES: usize = 500;

/// The columns that the rules read.
const COLUMNS: [&str; 6] =
    [cost::RATIO, retention::HIT, retention::HARD, tokens::CALLS, broken::REQUESTS, overflow::FAILED_CALLS];

/// How often each policy wins.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Ties {
    /// Number of halves of the sessions, of as many random splits as two of them make.
    pub halves: usize,
    /// Number of resamples.
    pub resamples: usize,
    /// The others than the winner over all sessions, the most frequent first.
    pub others: Vec<Winner>,
    /// Up to this share of sessions to come may be unlike all of these, whatever makes them unlike. If it were more, at least one of
    /// these would be, in 95 of 100 cases.
    pub unlike: f64,
}

/// How often another policy wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Winner {
    /// `None` if no policy is fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// In how many halves it wins.
    pub halves: usize,
    /// In how many resamples it wins.
    pub resamples: usize,
}

/// Counts the winners over parts of the sessions. Each half is judged as if it were all sessions; in a resample, the proven savings
/// are those of all sessions. Returns `None` with fewer than [`MIN_SESSIONS`] sessions, or if there is nothing to choose.
pub fn ties(results: &Results, verdict: &Verdict) -> Option<Ties> {
    let parts = Parts::new(results, verdict)?;
    let seed = seed(results);
    let halves = halves(parts.sessions, SPLITS, seed);
    let resamples = Resamples::new(parts.sessions, RESAMPLES, seed);
    let of_half = |half: &Vec<bool>| parts.winner_of_half(half, seed);
    let of_resample = |at: usize| {
        let weights: Vec<f64> = (0..parts.sessions).map(|session| f64::from(resamples.counts(session)[at])).collect();
        parts.winner(&weights, |standing| verdict.standing(standing.policy())?.interval)
    };
    let in_halves: Vec<Option<&str>> = halves.par_iter().map(of_half).collect();
    let in_resamples: Vec<Option<&str>> = (0..RESAMPLES).into_par_iter().map(of_resample).collect();
    let mut counts: HashMap<Option<&str>, (usize, usize)> = HashMap::new();
    in_halves.iter().for_each(|winner| counts.entry(*winner).or_default().0 += 1);
    in_resamples.iter().for_each(|winner| counts.entry(*winner).or_default().1 += 1);
    counts.remove(&verdict.chosen().map(Standing::policy));
    let winner =
        |(policy, (halves, resamples)): (Option<&str>, _)| Winner { policy: policy.map(str::to_owned), halves, resamples };
    let mut others: Vec<Winner> = counts.into_iter().map(winner).collect();
    others.sort_by(|a, b| (b.halves, b.resamples).cmp(&(a.halves, a.resamples)).then_with(|| a.policy.cmp(&b.policy)));
    let unlike = 1.0 - (1.0 - LEVEL).powf(1.0 / parts.sessions as f64);
    Some(Ties { halves: in_halves.len(), resamples: RESAMPLES, others, unlike })
}

/// What each session adds to the totals of the policies.
struct Parts<'a, 'b> {
    results: &'a Results,
    verdict: &'b Verdict<'a>,
    intervals: Intervals<'a>,
    sessions: usize,
    columns: Vec<&'a Column>,
    /// By policy, then column, then session.
    added: Vec<(&'a Summary, Vec<Vec<Option<Accumulator>>>)>,
}

impl<'a, 'b> Parts<'a, 'b> {
    fn new(results: &'a Results, verdict: &'b Verdict<'a>) -> Option<Self> {
        let samples = Samples::new(&results.rows);
        let sessions = samples.sessions();
        let mut columns: Vec<&Column> = COLUMNS.iter().filter_map(|id| results.column(id)).collect();
        if sessions < MIN_SESSIONS || verdict.choice == Choice::NothingToChoose || columns.len() < COLUMNS.len() {
            return None;
        }
        // Results of older versions do not have it.
        columns.extend(results.column(retention::RULES_CUT));
        let of_policy =
            |summary: &'a Summary| (summary, columns.iter().map(|column| samples.added(&summary.policy, None, column)).collect());
        let added = results.summary.iter().filter(|summary| summary.bound_of.is_none()).map(of_policy).collect();
        Some(Self { results, verdict, intervals: Intervals::new(results, verdict.yardstick), sessions, columns, added })
    }

    fn winner_of_half(&self, half: &[bool], seed: u64) -> Option<&'a str> {
        let size = half.iter().filter(|is_in| **is_in).count();
        let resamples = Resamples::new(size, INTERVAL_RESAMPLES, seed);
        let interval = |standing: &Standing| {
            let (column, added) = self.intervals.added(standing.summary).filter(|_| standing.is_fit())?;
            let added: Vec<_> = added.into_iter().zip(half).filter(|(_, is_in)| **is_in).map(|(added, _)| added).collect();
            total_interval(column, &added, &resamples)
        };
        let weights: Vec<f64> = half.iter().map(|is_in| f64::from(u8::from(*is_in))).collect();
        self.winner(&weights, interval)
    }

    /// Judges the sessions, each as often as its weight says.
    fn winner(&self, weights: &[f64], interval: impl Fn(&Standing) -> Option<[f64; 2]>) -> Option<&'a str> {
        let total = |column: &Column, added: &[Option<Accumulator>]| {
            let weighted = added.iter().zip(weights).filter(|(_, weight)| **weight > 0.0).filter_map(|(added, weight)| {
                let Accumulator { numerator, denominator } = (*added)?;
                Some(Accumulator { numerator: numerator * weight, denominator: denominator * weight })
            });
            column.total_of_all(weighted)
        };
        let summary = |(summary, added): &(&Summary, Vec<Vec<Option<Accumulator>>>)| Summary {
            policy: summary.policy.clone(),
            bound_of: None,
            transcripts: summary.transcripts,
            values: self.columns.iter().zip(added).map(|(column, added)| (column.id.clone(), total(column, added))).collect(),
            intervals: Default::default(),
            predictions: Default::default(),
        };
        let summaries: Vec<Summary> = self.added.iter().map(summary).collect();
        let (standings, choice) = judge(&summaries, &self.verdict.yardstick, &guesses(self.results), interval);
        let chosen = standings.first().filter(|_| choice.names_a_policy())?;
        self.added.iter().map(|(summary, _)| summary.policy.as_str()).find(|policy| *policy == chosen.policy())
    }
}
