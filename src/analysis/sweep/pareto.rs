//! Pareto front and ranks. All values here are losses: smaller is better.

use std::cmp::Ordering;

/// Returns whether one candidate is not worse in any loss, and better by more than the tolerance in one.
pub fn dominates(one: &[f64], other: &[f64], epsilons: &[f64]) -> bool {
    one.iter().zip(other).all(|(a, b)| a <= b) && is_better_in_one(one, other, epsilons)
}

/// Returns whether one candidate is better by more than the tolerance in one loss, and at most the tolerance worse in the others.
pub fn improves_on(one: &[f64], other: &[f64], epsilons: &[f64]) -> bool {
    covers(one, other, epsilons) && is_better_in_one(one, other, epsilons)
}

fn is_better_in_one(one: &[f64], other: &[f64], epsilons: &[f64]) -> bool {
    one.iter().zip(other).zip(epsilons).any(|((a, b), epsilon)| *a < b - epsilon)
}

/// Returns whether one candidate is at most the tolerance worse in every loss, so that the front does not need the other.
fn covers(one: &[f64], other: &[f64], epsilons: &[f64]) -> bool {
    one.iter().zip(other).zip(epsilons).all(|((a, b), epsilon)| *a <= b + epsilon)
}

/// Returns the indices of a thinned front, ascending: every candidate has a member of it that is at most the tolerance worse
/// in every loss, and no candidate dominates a member.
///
/// Candidates with the smallest sum of losses, measured in tolerances, are taken first. So with two losses no member covers
/// another; with more losses, a covered member may stay because it is better by more than the tolerance in one loss.
/// (Domination within a tolerance can be circular, so no set is both complete and free of such pairs.)
pub fn front(losses: &[Vec<f64>], epsilons: &[f64]) -> Vec<usize> {
    let mut best: Vec<usize> = ranks(losses).into_iter().enumerate().filter(|(_, rank)| *rank == 0).map(|(at, _)| at).collect();
    let sum_in_tolerances = |at: usize| -> f64 {
        let unit = |epsilon: f64| if epsilon > 0.0 { epsilon } else { 1.0 };
        losses[at].iter().zip(epsilons).filter(|(loss, _)| loss.is_finite()).map(|(loss, epsilon)| loss / unit(*epsilon)).sum()
    };
    // Infinite losses cannot be added to a sum, so they are counted first.
    let infinite_losses = |at: usize| losses[at].iter().filter(|loss| !loss.is_finite()).count();
    let order = |a: usize, b: usize| {
        infinite_losses(a).cmp(&infinite_losses(b)).then(sum_in_tolerances(a).total_cmp(&sum_in_tolerances(b)))
    };
    best.sort_by(|a, b| order(*a, *b).then_with(|| lexicographic(&losses[*a], &losses[*b])).then(a.cmp(b)));
    let mut front: Vec<usize> = Vec::new();
    for at in best {
        if !front.iter().any(|member| covers(&losses[*member], &losses[at], epsilons)) {
            front.push(at);
        }
    }
    front.sort_unstable();
    front
}

fn lexicographic(one: &[f64], other: &[f64]) -> Ordering {
    one.iter().zip(other).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Non-dominated sorting (Deb and others 2002, NSGA-II): rank 0 is dominated by nothing, rank 1 only by rank 0, and so on.
/// Uses no tolerance, because ranks with one would be circular.
pub fn ranks(losses: &[Vec<f64>]) -> Vec<usize> {
    let exact = vec![0.0; losses.first().map_or(0, Vec::len)];
    let mut ranks = vec![0; losses.len()];
    // A candidate that dominates another comes before it.
    let mut order: Vec<usize> = (0..losses.len()).collect();
    order.sort_by(|a, b| lexicographic(&losses[*a], &losses[*b]).then(a.cmp(b)));
    let mut fronts: Vec<Vec<usize>> = Vec::new();
    for at in order {
        let is_above = |front: &Vec<usize>| front.iter().any(|member| dominates(&losses[*member], &losses[at], &exact));
        // A candidate dominated by a member of a front is dominated by a member of every earlier front.
        let rank = fronts.partition_point(is_above);
        if rank == fronts.len() {
            fronts.push(Vec::new());
        }
        fronts[rank].push(at);
        ranks[at] = rank;
    }
    ranks
}

/// Returns the crowding distance of NSGA-II for candidates of one rank: the sum over losses of the gap between both
/// neighbours, as a share of the range; infinite at the ends.
pub fn crowding(losses: &[Vec<f64>], of: &[usize]) -> Vec<f64> {
    let mut distances = vec![0.0; of.len()];
    let objectives = of.first().map_or(0, |at| losses[*at].len());
    let columns = (0..objectives).map(|objective| of.iter().map(|at| losses[*at][objective]).collect::<Vec<f64>>());
    for own in columns {
        let mut order: Vec<usize> = (0..of.len()).collect();
        order.sort_by(|a, b| own[*a].total_cmp(&own[*b]).then(of[*a].cmp(&of[*b])));
        let (Some(first), Some(last)) = (order.first().copied(), order.last().copied()) else { continue };
        let range = own[last] - own[first];
        if range.is_nan() || range <= 0.0 {
            continue;
        }
        distances[first] = f64::INFINITY;
        distances[last] = f64::INFINITY;
        for three in order.windows(3) {
            let gap = (own[three[2]] - own[three[0]]) / range;
            // Next to an infinite loss the gap is undefined.
            distances[three[1]] += if gap.is_nan() { 0.0 } else { gap };
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Cost and lost facts, as in a comparison on paper:
    ///
    /// ```text
    /// 0  .60 .30   front
    /// 1  .605 .22  front: at most a hundredth more expensive, and keeps more, so 0 is not needed beside it
    /// 2  .70 .10   front
    /// 3  .70 .11   dominated by 2, by no more than the tolerance
    /// 4  .80 .20   dominated by 3, and so of the third rank
    /// 5  .90 .095  front of the exact kind; 2 is at most .01 worse in everything
    /// 6  1.0 .00   front: nothing is lost
    /// ```
    const PAPER: [[f64; 2]; 7] =
        [[0.60, 0.30], [0.605, 0.22], [0.70, 0.10], [0.70, 0.11], [0.80, 0.20], [0.90, 0.095], [1.0, 0.0]];

    fn paper() -> Vec<Vec<f64>> {
        PAPER.iter().map(|point| point.to_vec()).collect()
    }

    #[test]
    fn pareto_front_equals_hand_drawn_example() {
        assert_eq!(ranks(&paper()), [0, 0, 0, 1, 2, 0, 0]);
        assert_eq!(front(&paper(), &[0.0, 0.0]), [0, 1, 2, 5, 6]);
        assert_eq!(front(&paper(), &[0.01, 0.01]), [1, 2, 6]);
        let without = f64::INFINITY;
        assert_eq!(front(&[vec![1.0, without], vec![2.0, without], vec![3.0, 0.0]], &[0.01, 0.01]), [0, 2]);
        assert_eq!(front(&[vec![2.0], vec![1.0], vec![1.0], vec![1.005]], &[0.01]), [1], "one objective, one best");
        assert_eq!(front(&[], &[]), Vec::<usize>::new());
        let with_one_unknown: Vec<Vec<f64>> = PAPER.iter().map(|[cost, lost]| vec![*cost, *lost, without]).collect();
        assert_eq!(front(&with_one_unknown, &[0.01; 3]), [1, 2, 6], "an objective without any value changes nothing");
    }

    #[test]
    fn domination_needs_more_than_the_tolerance() {
        let near = [0.01, 0.01];
        assert!(dominates(&[0.70, 0.10], &[0.80, 0.20], &near));
        assert!(!dominates(&[0.70, 0.10], &[0.70, 0.11], &near), "a difference that does not count");
        assert!(!dominates(&[0.60, 0.30], &[0.70, 0.10], &near));
        assert!(!dominates(&[0.70, 0.10], &[0.70, 0.10], &[0.0, 0.0]));
    }

    /// A quarter more is within a tolerance of a quarter, in each loss; a quarter less is no better. An eighth beyond, it is.
    #[test]
    fn difference_of_exactly_the_tolerance_does_not_count() {
        let quarter = [0.25, 0.25];
        assert!(!dominates(&[0.5, 0.5], &[0.75, 0.5], &quarter), "better by the tolerance");
        assert!(dominates(&[0.375, 0.5], &[0.75, 0.5], &quarter));
        assert!(!dominates(&[0.25, 0.625], &[0.75, 0.5], &quarter), "better in one, worse in the other");
        assert!(improves_on(&[0.25, 0.75], &[0.75, 0.5], &quarter), "worse by the tolerance in the other");
        assert!(!improves_on(&[0.25, 0.875], &[0.75, 0.5], &quarter), "worse by more");
        assert!(!improves_on(&[0.5, 0.75], &[0.75, 0.5], &quarter), "better by no more than the tolerance");
    }

    /// Where one candidate covers the other, the front has the one that is taken first.
    #[test]
    fn front_begins_with_the_smallest_sum_in_tolerances() {
        let front_of = |losses: &[[f64; 2]], epsilons: [f64; 2]| {
            front(&losses.iter().map(|losses| losses.to_vec()).collect::<Vec<_>>(), &epsilons)
        };
        // 10 + 8 = 18 tolerances against 10.5 + 7 = 17.5, although the losses themselves are 12 against 12.25.
        assert_eq!(front_of(&[[10.0, 2.0], [10.5, 1.75]], [1.0, 0.25]), [1]);
        assert_eq!(front_of(&[[10.0, 2.0], [11.0, 1.75]], [1.0, 0.25]), [0], "18 against 11 + 7: the smaller first loss");
        assert_eq!(front_of(&[[11.0, 1.75], [10.0, 2.0]], [1.0, 0.25]), [1], "the same in the other order");
        // Without a tolerance a loss is measured in ones: 1 + 2 = 3 against 1.5 + 1. The second is taken first and does not cover the first.
        assert_eq!(front_of(&[[1.0, 0.5], [1.5, 0.25]], [0.0, 0.25]), [0, 1]);
        assert_eq!(front_of(&[[1.0, 0.5], [2.5, 0.25]], [0.0, 0.25]), [0], "3 against 2.5 + 1");
        // An infinite loss is counted before any sum: 4 tolerances and one infinite loss against 5 + 4.8.
        assert_eq!(front_of(&[[f64::INFINITY, 1.0], [5.0, 1.2]], [1.0, 0.25]), [1]);
    }

    /// On paper: of four points on a line, the two inner ones have both neighbours at two thirds of the range in each loss.
    #[test]
    fn crowding_distance_equals_published_example() {
        let line: Vec<Vec<f64>> = (0..4).map(|x| vec![f64::from(x), f64::from(3 - x)]).collect();
        let distances = crowding(&line, &[0, 1, 2, 3]);
        assert!((distances[1] - 4.0 / 3.0).abs() < 1e-12 && (distances[2] - 4.0 / 3.0).abs() < 1e-12);
        assert_eq!((distances[0], distances[3]), (f64::INFINITY, f64::INFINITY));
        assert_eq!(crowding(&line, &[2]), [0.0], "alone it has no range");
    }

    #[test]
    fn crowding_distance_of_one_loss_is_counted_by_hand() {
        let endless = f64::INFINITY;
        let of = |losses: &[f64], of: &[usize]| crowding(&losses.iter().map(|loss| vec![*loss]).collect::<Vec<_>>(), of);
        assert_eq!(of(&[7.0, 7.0, 7.0], &[0, 1, 2]), [0.0; 3], "all the same");
        assert_eq!(of(&[endless, endless], &[0, 1]), [0.0; 2], "infinite less infinite is no number");
        assert_eq!(of(&[0.0, 1.0, endless], &[0, 1, 2]), [endless, 0.0, endless], "an infinite part of an infinite range");
        // The range is 4. The neighbours of 2 are 4 apart; those of 1 and of 3 are 3 apart.
        assert_eq!(of(&[1.0, 5.0, 2.0], &[0, 1, 2]), [endless, endless, 1.0]);
        assert_eq!(of(&[0.0, 3.0, 1.0, 4.0], &[0, 1, 2, 3]), [endless, 0.75, 0.75, endless]);
        // Of two that are equal, the one with the smaller index is at the end.
        assert_eq!(of(&[0.0, 0.0, 1.0], &[1, 0, 2]), [1.0, endless, endless]);
    }

    /// Reference implementation: removes what nothing dominates, again and again.
    fn peeled(losses: &[Vec<f64>]) -> Vec<usize> {
        let exact = vec![0.0; 3];
        let mut ranks = vec![usize::MAX; losses.len()];
        for rank in 0.. {
            let left: Vec<usize> = (0..losses.len()).filter(|at| ranks[*at] == usize::MAX).collect();
            if left.is_empty() {
                break;
            }
            for at in &left {
                if !left.iter().any(|other| dominates(&losses[*other], &losses[*at], &exact)) {
                    ranks[*at] = rank;
                }
            }
        }
        ranks
    }

    fn points(dimensions: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
        // A coarse grid gives many ties; now and then there is no value.
        let loss = prop_oneof![9 => (0..12_u8).prop_map(|n| f64::from(n) / 4.0), 1 => Just(f64::INFINITY)];
        prop::collection::vec(prop::collection::vec(loss, dimensions), 0..40)
    }

    proptest! {
        #[test]
        fn pareto_ranks_equal_peeling(losses in points(3)) {
            prop_assert_eq!(ranks(&losses), peeled(&losses));
        }

        #[test]
        fn pareto_front_is_undominated_and_covers_all(losses in points(3), epsilon in 0.0..1.0_f64) {
            let epsilons = [epsilon; 3];
            let front = front(&losses, &epsilons);
            for member in &front {
                prop_assert!(!losses.iter().any(|other| dominates(other, &losses[*member], &[0.0; 3])));
            }
            for loss in &losses {
                prop_assert!(front.iter().any(|member| covers(&losses[*member], loss, &epsilons)));
            }
        }

        #[test]
        fn front_members_do_not_cover_each_other_with_two_losses(losses in points(2), epsilon in 0.0..1.0_f64) {
            let epsilons = [epsilon; 2];
            let front = front(&losses, &epsilons);
            for (one, other) in front.iter().flat_map(|one| front.iter().map(move |other| (one, other))) {
                let finite = losses[*one].iter().chain(&losses[*other]).all(|loss| loss.is_finite());
                prop_assert!(one == other || !finite || !covers(&losses[*one], &losses[*other], &epsilons));
            }
        }
    }
}
