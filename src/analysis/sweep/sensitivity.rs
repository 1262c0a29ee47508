//! Sensitivity of each objective to each parameter: the share of its variance that the parameter alone explains.

use crate::results::saved::{Objective, SensitivityRow};

use super::candidate::{CandidateId, Point, TriedSpace};
use super::space::Space;

/// Above this number, values are grouped: if every configuration had its own value, a parameter would explain everything.
const MAX_UNGROUPED: u64 = 12;

/// Number of groups of neighbouring values.
const GROUPS: u64 = 8;

/// Returns the effect of every parameter on every objective. `total` returns the total of a candidate by the index of the objective.
pub fn sensitivity_rows(
    spaces: &[TriedSpace],
    objectives: &[Objective],
    total: impl Fn(CandidateId, usize) -> Option<f64>,
) -> Vec<SensitivityRow> {
    let mut rows = Vec::new();
    for TriedSpace { space, points } in spaces {
        for (parameter_at, parameter) in space.parameters().iter().enumerate() {
            let grouping = Grouping::new(space, parameter_at);
            for (at, objective) in objectives.iter().enumerate() {
                let value = |point: &Point| Some((grouping.group_of(point.choice[parameter_at]), total(point.candidate, at)?));
                let Some((share, means)) = first_order(&points.iter().filter_map(value).collect::<Vec<_>>()) else {
                    continue;
                };
                rows.push(SensitivityRow {
                    of: space.policy_name().to_owned(),
                    parameter: parameter.name.clone(),
                    column: objective.column.clone(),
                    share,
                    means: means.into_iter().map(|(group, mean)| (grouping.name(group), mean)).collect(),
                });
            }
        }
    }
    rows
}

/// Groups of a parameter's values: the group of each value, and the name of each group.
struct Grouping<'a> {
    space: &'a Space,
    parameter: usize,
    count: u64,
}

impl<'a> Grouping<'a> {
    fn new(space: &'a Space, parameter: usize) -> Self {
        Self { space, parameter, count: space.parameters()[parameter].values.count() }
    }

    fn is_grouped(&self) -> bool {
        self.count > MAX_UNGROUPED
    }

    fn groups(&self) -> u64 {
        if self.is_grouped() { GROUPS } else { self.count }
    }

    /// Returns the group of a value: groups are equal parts of the list or range.
    fn group_of(&self, value: u64) -> usize {
        let group = u128::from(value) * u128::from(self.groups()) / u128::from(self.count.max(1));
        usize::try_from(group).unwrap_or(usize::MAX)
    }

    /// Returns the name of a group: `5`, or `20k–35k`.
    fn name(&self, group: usize) -> String {
        let values = &self.space.parameters()[self.parameter].values;
        if !self.is_grouped() {
            return values.at(group as u64);
        }
        let begin = |group: u128| (group * u128::from(self.count)).div_ceil(u128::from(GROUPS)) as u64;
        let (first, next) = (begin(group as u128), begin(group as u128 + 1));
        format!("{}–{}", values.at(first), values.at(next.saturating_sub(1)))
    }
}

/// Computes the first-order index Var(E[y|x]) ÷ Var(y) from the group and the value of every point, and the mean of each
/// group. Returns `None` if there are no points, and the share 0 if all values are equal.
fn first_order(points: &[(usize, f64)]) -> Option<(f64, Vec<(usize, f64)>)> {
    let groups = points.iter().map(|(group, _)| group + 1).max()?;
    let mut sums = vec![(0.0, 0_usize); groups];
    for (group, value) in points {
        sums[*group].0 += value;
        sums[*group].1 += 1;
    }
    let mean = points.iter().map(|(_, value)| value).sum::<f64>() / points.len() as f64;
    let all: f64 = points.iter().map(|(_, value)| (value - mean).powi(2)).sum();
    let means: Vec<(usize, f64, usize)> = sums
        .into_iter()
        .enumerate()
        .filter(|(_, (_, count))| *count > 0)
        .map(|(group, (sum, count))| (group, sum / count as f64, count))
        .collect();
    let between: f64 = means.iter().map(|(_, of_group, count)| *count as f64 * (of_group - mean).powi(2)).sum();
    // Adding equal numbers in a different order leaves rounding errors, not variance.
    let is_constant = all <= f64::EPSILON * points.len() as f64 * mean.abs().max(f64::MIN_POSITIVE);
    let share = if is_constant { 0.0 } else { (between / all).clamp(0.0, 1.0) };
    Some((share, means.into_iter().map(|(group, of_group, _)| (group, of_group)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::spec::PolicySource;
    use crate::analysis::sweep::space::spaces;

    /// y = 10·a + b over a 2 × 2 grid: 0, 1, 10, 11. Variance 25.25, of which a explains 25 and b 0.25.
    #[test]
    fn sensitivity_shares_equal_hand_computation() {
        let y = |a: usize, b: usize| (10 * a + b) as f64;
        let points = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let by_a: Vec<_> = points.map(|(a, b)| (a, y(a, b))).to_vec();
        let by_b: Vec<_> = points.map(|(a, b)| (b, y(a, b))).to_vec();
        let (share, means) = first_order(&by_a).expect("points");
        assert!((share - 25.0 / 25.25).abs() < 1e-12);
        assert_eq!(means, [(0, 0.5), (1, 10.5)]);
        let (share, means) = first_order(&by_b).expect("points");
        assert!((share - 0.25 / 25.25).abs() < 1e-12);
        assert_eq!(means, [(0, 5.0), (1, 6.0)]);
    }

    #[test]
    fn sensitivity_handles_unequal_groups_and_no_variance() {
        // Means 1 (twice) and 4: all variance is between groups.
        assert_eq!(first_order(&[(0, 1.0), (0, 1.0), (2, 4.0)]), Some((1.0, vec![(0, 1.0), (2, 4.0)])));
        assert_eq!(first_order(&[(0, 0.3), (1, 0.3), (1, 0.1 + 0.2)]).map(|(share, _)| share), Some(0.0));
        assert_eq!(first_order(&[]), None);
    }

    #[test]
    fn sensitivity_groups_many_values() {
        let source =
            PolicySource { origin: "p".to_owned(), text: "name = \"p\"\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\n".to_owned() };
        let set = ["micro.keep_recent=1..3", "micro.min_chars=1..100"].map(|set| set.parse().expect(set));
        let spaces = spaces(&[source], &set).expect("a space");
        let few = Grouping::new(&spaces[0], 0);
        assert_eq!(
            [0, 1, 2].map(|value| (few.group_of(value), few.name(few.group_of(value)))),
            [0, 1, 2].map(|n| (n, (n + 1).to_string()))
        );
        let many = Grouping::new(&spaces[0], 1);
        assert_eq!([0, 12, 13, 99].map(|value| many.group_of(value)), [0, 0, 1, 7]);
        assert_eq!((many.name(0), many.name(1), many.name(7)), ("1–13".into(), "14–25".into(), "89–100".into()));
        for value in 0..100 {
            let (from, to) =
                many.name(many.group_of(value)).split_once('–').map(|(a, b)| (a.to_owned(), b.to_owned())).expect("ends");
            let (from, to): (u64, u64) = (from.parse().expect("a number"), to.parse().expect("a number"));
            assert!((from..=to).contains(&(value + 1)));
        }
    }
}
