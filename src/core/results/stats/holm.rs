//! Holm's adjustment of p-values for multiple comparisons.

/// Adjusts the p-values of a family. Rejecting all adjusted values up to .05 makes a false rejection in at most 5 % of families
/// (S. Holm, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6, 1979).
pub fn holm(ps: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ps.len()).collect();
    order.sort_by(|one, other| ps[*one].total_cmp(&ps[*other]));
    let (mut adjusted, mut least) = (vec![0.0; ps.len()], 0.0_f64);
    for (rank, index) in order.into_iter().enumerate() {
        let remaining = (ps.len() - rank) as f64;
        least = least.max((remaining * ps[index]).min(1.0));
        adjusted[index] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns adjusted p-values, rounded so that they can be compared.
    fn adjusted(ps: &[f64]) -> Vec<f64> {
        holm(ps).into_iter().map(|p| (p * 1e6).round() / 1e6).collect()
    }

    /// The example of the Wikipedia article on the Holm–Bonferroni method: H1 and H4 are rejected at .05, the others are not.
    #[test]
    fn holm_adjustment_equals_published_example() {
        assert_eq!(adjusted(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
    }

    /// 3 · .01 = .03; 2 · .05 = .1; the last stays at .1, because adjusted values never decrease. No value exceeds 1.
    #[test]
    fn holm_adjusted_values_keep_their_order() {
        assert_eq!(adjusted(&[0.05, 0.01, 0.05]), [0.1, 0.03, 0.1]);
        assert_eq!(adjusted(&[0.6, 0.9]), [1.0, 1.0]);
        assert_eq!((adjusted(&[0.02]), adjusted(&[])), (vec![0.02], vec![]));
    }
}
