//! The results of a probe by surprise.

use serde::Serialize;

use super::bits::{BitsGroup, Sessions};
use super::grouping::Grouping;
use super::scored::ScoredUse;
use super::worth::{WorthCheck, fit};
use crate::analysis::probe::{About, Estimate};
use crate::facts::references::Worth;

/// Smallest area under the ROC curve at which the metric counts as a prediction. Agreed on before the first measurement.
pub const MIN_AUC: f64 = 0.65;
/// Smallest rank correlation within sessions at which it does.
pub const MIN_CORRELATION: f64 = 0.2;

/// Everything that a report shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SurpriseResults {
    #[serde(flatten)]
    pub about: About,
    /// Uses that cannot be asked about, because the record does not have the fact literally.
    pub unaskable: usize,
    /// Loss if a block is taken away that does not hold the fact: should be 0.
    pub other_block: Estimate,
    /// How much more surprising another fact is with the policy's request: should be 0.
    pub other_fact: Estimate,
    pub groups: Vec<BitsGroup>,
    /// What facts are worth to this model, and how well that predicts other repositories.
    pub worth: Worth,
    pub worth_check: WorthCheck,
    /// All uses in order.
    pub uses: Vec<ScoredUse>,
}

impl SurpriseResults {
    /// Summarises the answers; policies are named in the order of the report.
    pub fn new(about: About, unaskable: usize, policies: &[&str], uses: Vec<ScoredUse>) -> Self {
        let seed = about.plan.seed;
        let groups = Grouping::ALL.iter().flat_map(|by| BitsGroup::of(*by, &uses, policies, seed)).collect();
        let all: Vec<&ScoredUse> = uses.iter().collect();
        let sessions = Sessions::new(&all, seed);
        let other_block = sessions.mean(&all, |used| used.other_block);
        let other_fact = sessions.mean(&all, |used| used.other_fact.filter(|_| used.outcome.is_gone()));
        drop(sessions);
        let (worth, worth_check) = (fit(&all), WorthCheck::new(&uses, seed));
        Self { about, unaskable, other_block, other_fact, groups, worth, worth_check, uses }
    }

    /// Returns the groups of a grouping.
    pub fn by(&self, by: Grouping) -> impl Iterator<Item = &BitsGroup> {
        self.groups.iter().filter(move |group| group.by == by)
    }

    /// Returns the group of all uses; `None` without uses.
    pub fn all(&self) -> Option<&BitsGroup> {
        self.by(Grouping::All).next()
    }

    /// Whether the metric predicts the loss of this model, by [`MIN_AUC`] and [`MIN_CORRELATION`]; `None` if one of the two is undefined.
    pub fn predicts(&self) -> Option<bool> {
        let all = self.all()?;
        Some(all.auc.value? >= MIN_AUC && all.rank_correlation.value? >= MIN_CORRELATION)
    }
}
