//! Theil–Sen estimator: a robust slope, the median of the slopes of all pairs of points.
//!
//! H. Theil, *A rank-invariant method of linear and polynomial regression analysis* (1950); P. K. Sen, *Estimates of the
//! regression coefficient based on Kendall's tau* (1968). Up to 29 % of the points may be outliers.

/// Returns the median slope of all pairs of points with different x; `None` if there is no such pair.
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let pairs = points.iter().enumerate().flat_map(|(at, one)| points[at + 1..].iter().map(move |other| (one, other)));
    let slopes = pairs.filter(|(one, other)| one.0 != other.0).map(|(one, other)| (other.1 - one.1) / (other.0 - one.0));
    median(&mut slopes.collect::<Vec<_>>())
}

/// Returns the middle value; of an even number of values, the mean of the two in the middle.
pub fn median(values: &mut [f64]) -> Option<f64> {
    let middle = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    let lower = if even { below.iter().copied().max_by(f64::total_cmp).unwrap_or(upper) } else { upper };
    Some((lower + upper) / 2.0)
}

/// Returns the quantile by the nearest rank; `share` is between 0 and 1.
pub fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let rank = (share * last as f64).round() as usize;
    Some(*values.select_nth_unstable_by(rank.min(last), f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_a_few_values() {
        assert_eq!(
            [&mut [3.0][..], &mut [4.0, 1.0], &mut [9.0, 1.0, 2.0], &mut []].map(median),
            [Some(3.0), Some(2.5), Some(2.0), None]
        );
        let mut ten = [9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0, 0.0, 10.0];
        assert_eq!([0.1, 0.5, 0.9, 1.0].map(|share| quantile(&mut ten, share)), [1.0, 5.0, 9.0, 10.0].map(Some));
    }

    #[test]
    fn slope_ignores_one_outlier_of_five() {
        // The slopes between the four points on the line are 2; the slopes to the outlier differ from 2 by 100, 50, 100/3 and 25.
        let points = [(0.0, 1.0), (1.0, 3.0), (2.0, 5.0), (3.0, 7.0), (4.0, 109.0)];
        assert_eq!(slope(&points), Some(2.0));
        assert_eq!(slope(&[(1.0, 2.0), (1.0, 9.0)]), None);
        // Slopes 1, 3 and (3 + 3) / 3 = 2.
        assert_eq!(slope(&[(0.0, 0.0), (1.0, 1.0), (3.0, 7.0)]), Some(7.0 / 3.0));
    }

    #[test]
    fn slope_equals_a_slow_computation() {
        let points: Vec<(f64, f64)> = (0..41u32).map(|n| (f64::from(n * 37 % 19), f64::from(n * n % 101))).collect();
        let mut slopes = Vec::new();
        for (x, y) in &points {
            for (x2, y2) in &points {
                if x < x2 {
                    slopes.push((y2 - y) / (x2 - x));
                }
            }
        }
        slopes.sort_by(f64::total_cmp);
        let (low, high) = (slopes[(slopes.len() - 1) / 2], slopes[slopes.len() / 2]);
        assert_eq!(slope(&points), Some((low + high) / 2.0));
    }
}
