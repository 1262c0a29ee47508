//! Successive halving: tries many configurations on few sessions, then the better half of them on more.

use super::pareto::{crowding, ranks};

/// With fewer sessions than this, no configuration is dropped.
const FEWEST_SESSIONS: usize = 2;

/// Up to this number, all configurations are tried on all sessions.
const FEWEST_CONFIGURATIONS: usize = 8;

/// Returns the total number of sessions after each rung: a quarter, half, all.
pub fn rung_sizes(sessions: usize, halves: bool) -> Vec<usize> {
    let parts: &[usize] = if halves { &[4, 2, 1] } else { &[1] };
    let mut sizes: Vec<usize> = parts.iter().map(|part| sessions.div_ceil(*part)).collect();
    sizes.retain(|rung| *rung == sessions || *rung >= FEWEST_SESSIONS);
    sizes.dedup();
    sizes
}

/// Result of one configuration after a rung.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    pub losses: Vec<f64>,
    /// How far it is from meeting the conditions; 0 if it meets them.
    pub missed_by: f64,
}

/// Returns how many of the configurations are kept.
pub fn kept_count(configurations: usize) -> usize {
    configurations.div_ceil(2).max(FEWEST_CONFIGURATIONS).min(configurations)
}

/// Returns the indices of the better half, ascending. Configurations that meet the conditions come first, by rank and then by
/// crowding distance (the largest first, so that the front stays wide); then the others, the nearest to meeting the
/// conditions first. Ties go to the lower index.
pub fn better_half(rankings: &[Ranking]) -> Vec<usize> {
    let mut order = ranked_order(rankings);
    order.truncate(kept_count(rankings.len()));
    order.sort_unstable();
    order
}

/// Returns all indices, the best first.
fn ranked_order(rankings: &[Ranking]) -> Vec<usize> {
    let (meeting, missing): (Vec<usize>, Vec<usize>) = (0..rankings.len()).partition(|at| rankings[*at].missed_by == 0.0);
    let losses: Vec<Vec<f64>> = meeting.iter().map(|at| rankings[*at].losses.clone()).collect();
    let ranks = ranks(&losses);
    let mut order = Vec::with_capacity(rankings.len());
    for rank in 0..=ranks.iter().copied().max().unwrap_or(0) {
        let of_rank: Vec<usize> = (0..meeting.len()).filter(|place| ranks[*place] == rank).collect();
        let distances = crowding(&losses, &of_rank);
        let mut by_distance: Vec<usize> = (0..of_rank.len()).collect();
        by_distance.sort_by(|a, b| distances[*b].total_cmp(&distances[*a]).then(a.cmp(b)));
        order.extend(by_distance.into_iter().map(|place| meeting[of_rank[place]]));
    }
    let mut missing = missing;
    missing.sort_by(|a, b| rankings[*a].missed_by.total_cmp(&rankings[*b].missed_by).then(a.cmp(b)));
    order.extend(missing);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_uses_a_quarter_then_half_then_all_sessions() {
        for (sessions, halves, expected) in [
            (16, true, &[4, 8, 16][..]),
            (30, true, &[8, 15, 30]),
            (5, true, &[2, 3, 5]),
            (4, true, &[2, 4]),
            (2, true, &[2]),
            (1, true, &[1]),
            (30, false, &[30]),
        ] {
            assert_eq!(rung_sizes(sessions, halves), expected, "{sessions}");
        }
    }

    /// A line of 20 whose ends stay, two that are dominated, and one that misses a condition although it is best in every
    /// loss.
    #[test]
    fn halving_keeps_the_better_half() {
        let ranking = |losses: [f64; 2], missed_by| Ranking { losses: losses.to_vec(), missed_by };
        let line = (0..17).map(|x| ranking([f64::from(x), f64::from(16 - x)], 0.0));
        let mut rankings: Vec<Ranking> = line.collect();
        rankings.push(ranking([20.0, 20.0], 0.0));
        rankings.push(ranking([-1.0, -1.0], 3.0));
        rankings.push(ranking([-1.0, -1.0], 2.0));
        let order = ranked_order(&rankings);
        assert_eq!(order[..2], [0, 16], "the ends of the front");
        assert_eq!(order[17..], [17, 19, 18], "dominated, then what misses a condition, the nearer first");
        let half = better_half(&rankings);
        assert_eq!(half.len(), 10);
        assert!(half.is_sorted() && half.contains(&0) && half.contains(&16) && !half.contains(&18));
        assert_eq!(better_half(&rankings[..3]), [0, 1, 2], "few are all kept");
    }
}
