//! Holm's adjustment: of many comparisons some look good by chance.

/// The p-values of a family, adjusted: rejecting those up to .05 falsely rejects one of them or more in at most 5 % of families
/// (S. Holm, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6, 1979).
pub fn holm(ps: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ps.len()).collect();
    order.sort_by(|one, other| ps[*one].total_cmp(&ps[*other]));
    let (mut adjusted, mut least) = (vec![0.0; ps.len()], 0.0_f64);
    for (rank, place) in order.into_iter().enumerate() {
        let left = (ps.len() - rank) as f64;
        least = least.max((left * ps[place]).min(1.0));
        adjusted[place] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounded, so that they may be compared.
    fn adjusted(ps: &[f64]) -> Vec<f64> {
        holm(ps).into_iter().map(|p| (p * 1e6).round() / 1e6).collect()
    }

    /// The example of the Wikipedia article on the Holm–Bonferroni method: H1 and H4 are rejected at .05, the others are not.
    #[test]
    fn a_published_example() {
        assert_eq!(adjusted(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
    }

    /// 3 · .01, then .05 · 2, then .02 is no less than those before it; nothing is over 1.
    #[test]
    fn adjusted_values_keep_the_order() {
        assert_eq!(adjusted(&[0.05, 0.01, 0.05]), [0.1, 0.03, 0.1]);
        assert_eq!(adjusted(&[0.6, 0.9]), [1.0, 1.0]);
        assert_eq!((adjusted(&[0.02]), adjusted(&[])), (vec![0.02], vec![]));
    }
}
