//! Successive halving: many configurations on few sessions, the better half of them on more.

use super::pareto::{crowding, ranks};

/// Fewer sessions than this tell nothing that configurations could be left behind for.
const FEWEST_SESSIONS: usize = 2;

/// So few configurations are all tried on everything.
const FEWEST_CONFIGURATIONS: usize = 8;

/// How many sessions each rung has seen in all: a quarter, half, all.
pub fn rungs(sessions: usize, halves: bool) -> Vec<usize> {
    let parts: &[usize] = if halves { &[4, 2, 1] } else { &[1] };
    let mut rungs: Vec<usize> = parts.iter().map(|part| sessions.div_ceil(*part)).collect();
    rungs.retain(|rung| *rung == sessions || *rung >= FEWEST_SESSIONS);
    rungs.dedup();
    rungs
}

/// What one configuration came to on a rung.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    pub losses: Vec<f64>,
    /// How far it is from meeting the conditions; 0: it meets them.
    pub missed_by: f64,
}

/// How many of so many are kept.
pub fn half(configurations: usize) -> usize {
    configurations.div_ceil(2).max(FEWEST_CONFIGURATIONS).min(configurations)
}

/// The better half, as ascending places. Those that meet the conditions come first, by rank, the loneliest of a rank first, so
/// that the front stays wide; then the others, the nearest to meeting them first. Ties go to the earlier place.
pub fn better_half(standings: &[Ranking]) -> Vec<usize> {
    let mut order = order(standings);
    order.truncate(half(standings.len()));
    order.sort_unstable();
    order
}

/// All places, the best first.
fn order(standings: &[Ranking]) -> Vec<usize> {
    let (meets, misses): (Vec<usize>, Vec<usize>) = (0..standings.len()).partition(|at| standings[*at].missed_by == 0.0);
    let losses: Vec<Vec<f64>> = meets.iter().map(|at| standings[*at].losses.clone()).collect();
    let ranks = ranks(&losses);
    let mut order = Vec::with_capacity(standings.len());
    for rank in 0..=ranks.iter().copied().max().unwrap_or(0) {
        let of_rank: Vec<usize> = (0..meets.len()).filter(|place| ranks[*place] == rank).collect();
        let distances = crowding(&losses, &of_rank);
        let mut by_distance: Vec<usize> = (0..of_rank.len()).collect();
        by_distance.sort_by(|a, b| distances[*b].total_cmp(&distances[*a]).then(a.cmp(b)));
        order.extend(by_distance.into_iter().map(|place| meets[of_rank[place]]));
    }
    let mut misses = misses;
    misses.sort_by(|a, b| standings[*a].missed_by.total_cmp(&standings[*b].missed_by).then(a.cmp(b)));
    order.extend(misses);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_then_half_then_all() {
        for (sessions, halves, expected) in [
            (16, true, &[4, 8, 16][..]),
            (30, true, &[8, 15, 30]),
            (5, true, &[2, 3, 5]),
            (4, true, &[2, 4]),
            (2, true, &[2]),
            (1, true, &[1]),
            (30, false, &[30]),
        ] {
            assert_eq!(rungs(sessions, halves), expected, "{sessions}");
        }
    }

    /// A line of 20 whose ends stay, two that are dominated, and one that misses a condition although it is best in everything.
    #[test]
    fn the_better_half_by_hand() {
        let standing = |losses: [f64; 2], missed_by| Ranking { losses: losses.to_vec(), missed_by };
        let line = (0..17).map(|x| standing([f64::from(x), f64::from(16 - x)], 0.0));
        let mut standings: Vec<Ranking> = line.collect();
        standings.push(standing([20.0, 20.0], 0.0));
        standings.push(standing([-1.0, -1.0], 3.0));
        standings.push(standing([-1.0, -1.0], 2.0));
        let order = order(&standings);
        assert_eq!(order[..2], [0, 16], "the ends of the front");
        assert_eq!(order[17..], [17, 19, 18], "dominated, then what misses a condition, the nearer first");
        let half = better_half(&standings);
        assert_eq!(half.len(), 10);
        assert!(half.is_sorted() && half.contains(&0) && half.contains(&16) && !half.contains(&18));
        assert_eq!(better_half(&standings[..3]), [0, 1, 2], "few are all kept");
    }
}
