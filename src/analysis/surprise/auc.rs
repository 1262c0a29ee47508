//! How well the loss in bits separates facts that are gone from those in the context.

use crate::results::stats::{LEVEL, MIN_SESSIONS, RESAMPLES, Resamples, interval};

use super::estimates::Estimate;

/// A use: whether its fact is gone, its loss in bits, and the index of its session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged {
    pub is_gone: bool,
    pub lost: f64,
    pub session: usize,
}

/// Computes the area under the ROC curve: the probability that a gone fact loses more bits than one in the context; equal losses count
/// half. `None` without both. The interval resamples sessions.
pub(super) fn auc(uses: &[Judged], sessions: usize, seed: u64) -> Estimate {
    let mut sorted = uses.to_vec();
    sorted.sort_by(|a, b| a.lost.total_cmp(&b.lost));
    let value = weighted(&sorted, |_| 1.0);
    let interval = (value.is_some() && sessions >= MIN_SESSIONS).then(|| {
        let resamples = Resamples::new(sessions, RESAMPLES, seed);
        interval((0..RESAMPLES).filter_map(|draw| weighted(&sorted, |session| resamples.count(session, draw))), LEVEL)
    });
    Estimate { value, interval: interval.flatten() }
}

/// The same with each session counted as often as `weight` says. The uses are sorted by their loss.
fn weighted(sorted: &[Judged], weight: impl Fn(usize) -> f64) -> Option<f64> {
    let (mut below, mut gone, mut wins) = (0.0, 0.0, 0.0);
    for equal in sorted.chunk_by(|a, b| a.lost == b.lost) {
        let sum =
            |is_gone: bool| equal.iter().filter(|used| used.is_gone == is_gone).map(|used| weight(used.session)).sum::<f64>();
        let (gone_here, kept_here) = (sum(true), sum(false));
        wins += gone_here * (below + kept_here / 2.0);
        below += kept_here;
        gone += gone_here;
    }
    (below > 0.0 && gone > 0.0).then(|| wins / (below * gone))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the four pairs in the first case, the gone fact loses more in three: 3 ÷ 4. In the second, one pair is equal: 3.5 ÷ 4.
    #[test]
    fn auc_equals_the_share_of_pairs_in_order() {
        let of = |gone: &[f64], kept: &[f64]| {
            let judged = |is_gone| move |lost: &f64| Judged { is_gone, lost: *lost, session: 0 };
            auc(&gone.iter().map(judged(true)).chain(kept.iter().map(judged(false))).collect::<Vec<_>>(), 1, 1).value
        };
        assert_eq!(of(&[5.0, 1.0], &[0.0, 2.0]), Some(0.75));
        assert_eq!(of(&[5.0, 2.0], &[0.0, 2.0]), Some(0.875));
        assert_eq!(of(&[0.0], &[0.0]), Some(0.5));
        assert_eq!(of(&[0.0], &[]), None);
    }
}
