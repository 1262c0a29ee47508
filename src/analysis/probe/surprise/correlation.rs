//! Rank correlation of the predicted loss with the loss in bits, within sessions.

/// Returns what one session adds to the correlation: the products of its centred ranks, predicted × measured, and each with itself. Sums
/// over sessions give the correlation within sessions, in which a session that is harder for the model does not count.
///
/// Ranks the pairs of predicted and measured loss of the session. Equal values get their mean rank. Ranks are divided by the number of
/// uses, so that long sessions do not weigh more than their number of uses.
pub(super) fn rank_products(pairs: &[(f64, f64)]) -> [f64; 3] {
    let predicted = centred_ranks(pairs.iter().map(|pair| pair.0));
    let measured = centred_ranks(pairs.iter().map(|pair| pair.1));
    let products = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| a * b).sum();
    [products(&predicted, &measured), products(&predicted, &predicted), products(&measured, &measured)]
}

/// Returns the correlation of sums of products, −1 to 1; `None` if one side does not vary in any session.
pub(super) fn correlation([both, predicted, measured]: [f64; 3]) -> Option<f64> {
    let spread = (predicted * measured).sqrt();
    (spread > 0.0).then(|| both / spread)
}

fn centred_ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let mean = before as f64 + (equal.len() as f64 - 1.0) / 2.0;
        for at in equal {
            ranks[*at] = (mean - (values.len() as f64 - 1.0) / 2.0) / values.len() as f64;
        }
        before += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlation_is_that_of_ranks() {
        let of = |pairs: &[(f64, f64)]| correlation(rank_products(pairs));
        assert_eq!(of(&[(1.0, 10.0), (2.0, 400.0), (3.0, 401.0)]), Some(1.0));
        assert_eq!(of(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), Some(-1.0));
        assert_eq!(of(&[(0.0, 3.0), (0.0, 2.0)]), None);
        // Ranks −1.5, −0.5, 0.5, 1.5 with −1, −1, 1, 1 (two ties each): 4 ÷ √(5 · 4).
        let tied = of(&[(1.0, 0.0), (2.0, 0.0), (3.0, 7.0), (4.0, 7.0)]).expect("both vary");
        assert!((tied - 4.0 / 20_f64.sqrt()).abs() < 1e-12, "{tied}");
    }
}
