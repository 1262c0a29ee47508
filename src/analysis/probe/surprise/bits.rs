//! Means over uses, with intervals by session, for all uses and for groups of them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::auc::{Judged, auc};
use super::correlation::{correlation, rank_products};
use super::grouping::Grouping;
use super::scored::ScoredUse;
use crate::analysis::probe::Estimate;
use crate::analysis::probe::estimate::resamples;
use crate::results::saved::Session;
use crate::results::stats::Resamples;

/// Surprise and loss of a group of uses, in bits for each use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BitsGroup {
    pub by: Grouping,
    pub name: String,
    pub uses: usize,
    pub sessions: usize,
    /// Number of uses whose fact is gone.
    pub gone: usize,
    /// Of gone facts: surprise with the full request, with the policy's, and the loss.
    pub full: Estimate,
    pub compacted: Estimate,
    pub lost: Estimate,
    /// Loss of facts in the context.
    pub lost_in_context: Estimate,
    /// Surprise of an unrelated fact of the same kind with the full request.
    pub unrelated: Estimate,
    /// Of the bits by which the full request makes gone facts less surprising than unrelated ones, the share that the policy's request
    /// still does: what the model guesses, or reads elsewhere.
    pub guessed: Option<f64>,
    /// Area under the ROC curve: gone against in context, by the loss.
    pub auc: Estimate,
    /// The same, with the first control in place of the facts in the context: full requests without a block that does not hold the fact.
    pub auc_against_control: Estimate,
    /// Rank correlation within sessions of the predicted loss (the weight of a gone fact, 0 of one in the context) with the loss.
    pub rank_correlation: Estimate,
}

impl BitsGroup {
    /// Computes all groups of a grouping.
    pub(super) fn of(by: Grouping, uses: &[ScoredUse], policies: &[&str], seed: u64) -> Vec<Self> {
        let mut groups: BTreeMap<(usize, String), Vec<&ScoredUse>> = BTreeMap::new();
        for used in uses {
            groups.entry(by.group_of(used, policies)).or_default().push(used);
        }
        groups.into_iter().map(|((_, name), uses)| Self::new(by, name, &uses, seed)).collect()
    }

    fn new(by: Grouping, name: String, uses: &[&ScoredUse], seed: u64) -> Self {
        let sessions = Sessions::new(uses, seed);
        let gone = |used: &ScoredUse| used.outcome.is_gone();
        let of_gone = |value: fn(&ScoredUse) -> f64| sessions.mean(uses, |used| gone(used).then(|| value(used)));
        let judged: Vec<Judged> =
            uses.iter().map(|used| Judged { is_gone: gone(used), lost: used.lost, session: sessions.index(used) }).collect();
        let control =
            |used: &&ScoredUse| used.other_block.map(|lost| Judged { is_gone: false, lost, session: sessions.index(used) });
        let against_control: Vec<Judged> =
            judged.iter().copied().filter(|used| used.is_gone).chain(uses.iter().filter_map(control)).collect();
        Self {
            by,
            name,
            uses: uses.len(),
            sessions: sessions.count(),
            gone: uses.iter().filter(|used| gone(used)).count(),
            full: of_gone(|used| used.full),
            compacted: of_gone(|used| used.compacted),
            lost: of_gone(|used| used.lost),
            lost_in_context: sessions.mean(uses, |used| (!gone(used)).then_some(used.lost)),
            unrelated: sessions.mean(uses, |used| used.other_fact_full),
            guessed: guessed(uses),
            auc: auc(&judged, &sessions.resamples),
            auc_against_control: auc(&against_control, &sessions.resamples),
            rank_correlation: sessions.rank_correlation(uses, |used| if gone(used) { used.weight } else { 0.0 }),
        }
    }
}

fn guessed(uses: &[&ScoredUse]) -> Option<f64> {
    let (mut saved_by_rest, mut saved_by_all) = (0.0, 0.0);
    for used in uses.iter().filter(|used| used.outcome.is_gone()) {
        if let Some(unrelated) = used.other_fact_full {
            saved_by_rest += unrelated - used.compacted;
            saved_by_all += unrelated - used.full;
        }
    }
    (saved_by_all > 0.0).then(|| saved_by_rest / saved_by_all)
}

/// The sessions of some uses, and their resamples.
pub(super) struct Sessions<'a> {
    indices: BTreeMap<Session<'a>, usize>,
    resamples: Resamples,
}

impl<'a> Sessions<'a> {
    pub fn new(uses: &[&'a ScoredUse], seed: u64) -> Self {
        let mut indices = BTreeMap::new();
        for used in uses {
            let next = indices.len();
            indices.entry(session(used)).or_insert(next);
        }
        Self { resamples: resamples(indices.len(), seed), indices }
    }

    pub fn count(&self) -> usize {
        self.indices.len()
    }

    fn index(&self, used: &'a ScoredUse) -> usize {
        self.indices[&session(used)]
    }

    /// Returns the mean of a value over the uses that have one.
    pub fn mean(&self, uses: &[&'a ScoredUse], value: impl Fn(&ScoredUse) -> Option<f64>) -> Estimate {
        let mut added = vec![[0.0, 0.0]; self.count()];
        for used in uses {
            if let Some(value) = value(used) {
                let [sum, count] = &mut added[self.index(used)];
                *sum += value;
                *count += 1.0;
            }
        }
        Estimate::new(&added, &self.resamples, |[sum, count]| (count > 0.0).then(|| sum / count))
    }

    /// Returns the rank correlation of a prediction with the loss, within sessions.
    pub fn rank_correlation(&self, uses: &[&'a ScoredUse], predicted: impl Fn(&ScoredUse) -> f64) -> Estimate {
        let mut pairs: Vec<Vec<(f64, f64)>> = vec![Vec::new(); self.count()];
        for used in uses {
            pairs[self.index(used)].push((predicted(used), used.lost));
        }
        let products: Vec<[f64; 3]> = pairs.iter().map(|pairs| rank_products(pairs)).collect();
        Estimate::new(&products, &self.resamples, correlation)
    }
}

fn session(used: &ScoredUse) -> Session<'_> {
    Session::named(&used.session)
}
