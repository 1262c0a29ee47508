//! Agreement of two judges: the retention metric, which says which facts are in the request, and a model, which finds
//! them or does not.

use serde::Serialize;

use crate::analysis::probe::Estimate;
use crate::analysis::probe::estimate::resamples;

/// Number of questions by the retention metric and by the model's answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Table {
    pub hit_right: f64,
    pub hit_wrong: f64,
    pub miss_right: f64,
    pub miss_wrong: f64,
}

/// Three measures of agreement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Agreement {
    /// Share of the questions on which both say the same. It depends on the share of hits among the questions.
    pub share: Estimate,
    /// Correlation of the two: 1 if they always agree, 0 if they are independent.
    pub phi: Estimate,
    /// Cohen's kappa: the agreement beyond chance.
    pub kappa: Estimate,
}

impl Table {
    /// Adds a question: whether its fact was in the context, and whether the answer was right.
    pub fn count(&mut self, is_hit: bool, is_right: bool) {
        *match (is_hit, is_right) {
            (true, true) => &mut self.hit_right,
            (true, false) => &mut self.hit_wrong,
            (false, true) => &mut self.miss_right,
            (false, false) => &mut self.miss_wrong,
        } += 1.0;
    }

    fn all(&self) -> f64 {
        self.hit_right + self.hit_wrong + self.miss_right + self.miss_wrong
    }

    /// Returns the share of questions on which both agree, 0 to 1; `None` without a question.
    pub fn share(&self) -> Option<f64> {
        ratio(self.hit_right + self.miss_wrong, self.all())
    }

    /// Returns the phi coefficient, −1 to 1; `None` if one of the two never varies.
    pub fn phi(&self) -> Option<f64> {
        let Self { hit_right, hit_wrong, miss_right, miss_wrong } = *self;
        let margins = (hit_right + hit_wrong) * (miss_right + miss_wrong) * (hit_right + miss_right) * (hit_wrong + miss_wrong);
        ratio(hit_right * miss_wrong - hit_wrong * miss_right, margins.sqrt())
    }

    /// Returns Cohen's kappa, at most 1; `None` if chance alone explains all agreement.
    pub fn kappa(&self) -> Option<f64> {
        let all = self.all();
        let both_yes = (self.hit_right + self.hit_wrong) * (self.hit_right + self.miss_right);
        let both_no = (self.miss_right + self.miss_wrong) * (self.hit_wrong + self.miss_wrong);
        let by_chance = ratio(both_yes + both_no, all * all)?;
        ratio(self.share()? - by_chance, 1.0 - by_chance)
    }
}

impl Agreement {
    /// Computes the agreement over the tables of all sessions. Resamples the sessions for the intervals.
    pub fn new(sessions: &[Table], seed: u64) -> Self {
        let resamples = resamples(sessions.len(), seed);
        let counts: Vec<[f64; 4]> =
            sessions.iter().map(|table| [table.hit_right, table.hit_wrong, table.miss_right, table.miss_wrong]).collect();
        let estimate = |statistic: fn(&Table) -> Option<f64>| {
            Estimate::new(&counts, &resamples, |[hit_right, hit_wrong, miss_right, miss_wrong]| {
                statistic(&Table { hit_right, hit_wrong, miss_right, miss_wrong })
            })
        };
        Self { share: estimate(Table::share), phi: estimate(Table::phi), kappa: estimate(Table::kappa) }
    }
}

fn ratio(numerator: f64, denominator: f64) -> Option<f64> {
    (denominator > 0.0).then(|| numerator / denominator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(hit_right: f64, hit_wrong: f64, miss_right: f64, miss_wrong: f64) -> Table {
        Table { hit_right, hit_wrong, miss_right, miss_wrong }
    }

    /// The first case step by step: with counts of 20, 5, 10 and 15, 35 of 50 agree. Chance gives .5 · .6 + .5 · .4 = .5, so kappa is .4,
    /// and phi is (20 · 15 − 5 · 10) ÷ √(25 · 25 · 30 · 20).
    #[test]
    fn agreement_equals_hand_computed_values() {
        let rounded = |value: Option<f64>| value.map(|value| (value * 1e6).round() / 1e6);
        let cases = [
            (table(20.0, 5.0, 10.0, 15.0), Some(0.7), Some(0.408248), Some(0.4)),
            (table(5.0, 0.0, 0.0, 5.0), Some(1.0), Some(1.0), Some(1.0)),
            (table(0.0, 5.0, 5.0, 0.0), Some(0.0), Some(-1.0), Some(-1.0)),
            (table(2.0, 2.0, 2.0, 2.0), Some(0.5), Some(0.0), Some(0.0)),
            (table(4.0, 1.0, 0.0, 0.0), Some(0.8), None, Some(0.0)),
            (table(5.0, 0.0, 0.0, 0.0), Some(1.0), None, None),
            (Table::default(), None, None, None),
        ];
        for (table, share, phi, kappa) in cases {
            assert_eq!([table.share(), table.phi(), table.kappa()].map(rounded), [share, phi, kappa], "{table:?}");
        }
    }

    #[test]
    fn probe_intervals_need_enough_sessions() {
        let sessions = |number: usize| vec![table(3.0, 1.0, 1.0, 3.0); number];
        assert_eq!(Agreement::new(&sessions(5), 1).share, Estimate { value: Some(0.75), interval: None });
        assert_eq!(Agreement::new(&sessions(6), 1).share, Estimate { value: Some(0.75), interval: Some([0.75, 0.75]) });
        let mixed: Vec<_> =
            (0..12).map(|at| if at % 2 == 0 { table(1.0, 0.0, 0.0, 1.0) } else { table(0.0, 1.0, 1.0, 1.0) }).collect();
        let Estimate { value, interval } = Agreement::new(&mixed, 1).kappa;
        assert!(
            matches!((value, interval), (Some(value), Some([low, high])) if low < value && value < high),
            "{value:?} {interval:?}"
        );
        assert_ne!(Agreement::new(&mixed, 2).kappa.interval, None);
    }
}
