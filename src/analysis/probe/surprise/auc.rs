//! How well the loss in bits separates facts that are gone from those in the context.

use crate::results::stats::{LEVEL, Resamples, interval};

use crate::analysis::probe::Estimate;

/// A use: whether its fact is gone, its loss in bits, and the index of its session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged {
    pub is_gone: bool,
    pub lost: f64,
    pub session: usize,
}

/// Computes the area under the ROC curve: the probability that a gone fact loses more bits than one in the context; equal losses count
/// half. `None` without both. The interval resamples sessions.
pub(super) fn auc(uses: &[Judged], resamples: &Resamples) -> Estimate {
    let mut sorted = uses.to_vec();
    sorted.sort_by(|a, b| a.lost.total_cmp(&b.lost));
    let value = areas(&sorted, 1, |_| &[1.0])[0];
    let interval = value.and_then(|_| {
        let of_resamples = areas(&sorted, resamples.count(), |session| resamples.counts(session));
        interval(of_resamples.into_iter().flatten(), LEVEL)
    });
    Estimate { value, interval }
}

/// Counts of the uses so far in one resample. All are whole numbers, so that the order of additions does not matter.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    gone: f64,
    kept: f64,
    /// Pairs in which the gone fact loses more, twice, and pairs that lose the same, once.
    wins: f64,
}

/// Returns the area in each resample; `counts` says how often a session is in each. The uses are sorted by their loss.
fn areas<'a>(sorted: &[Judged], resamples: usize, counts: impl Fn(usize) -> &'a [f32]) -> Vec<Option<f64>> {
    let mut tallies = vec![Tally::default(); resamples];
    for equal in sorted.chunk_by(|a, b| a.lost == b.lost) {
        let gone = || equal.iter().filter(|used| used.is_gone).map(|used| counts(used.session));
        let kept = equal.iter().filter(|used| !used.is_gone).map(|used| counts(used.session));
        gone().for_each(|counts| add(&mut tallies, counts, |tally, count| tally.wins += count * tally.kept));
        kept.for_each(|counts| add(&mut tallies, counts, |tally, count| tally.kept += count));
        gone().for_each(|counts| {
            add(&mut tallies, counts, |tally, count| {
                tally.wins += count * tally.kept;
                tally.gone += count;
            })
        });
    }
    let area = |Tally { gone, kept, wins }| (kept > 0.0 && gone > 0.0).then(|| wins / 2.0 / (kept * gone));
    tallies.into_iter().map(area).collect()
}

fn add(tallies: &mut [Tally], counts: &[f32], count_use: impl Fn(&mut Tally, f64)) {
    for (tally, count) in tallies.iter_mut().zip(counts) {
        count_use(tally, f64::from(*count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the four pairs in the first case, the gone fact loses more in three: 3 ÷ 4. In the second, one pair is equal: 3.5 ÷ 4.
    #[test]
    fn auc_equals_the_share_of_pairs_in_order() {
        let of = |gone: &[f64], kept: &[f64]| {
            let judged = |is_gone| move |lost: &f64| Judged { is_gone, lost: *lost, session: 0 };
            let judged: Vec<_> = gone.iter().map(judged(true)).chain(kept.iter().map(judged(false))).collect();
            auc(&judged, &Resamples::new(1, 0, 1)).value
        };
        assert_eq!(of(&[5.0, 1.0], &[0.0, 2.0]), Some(0.75));
        assert_eq!(of(&[5.0, 2.0], &[0.0, 2.0]), Some(0.875));
        assert_eq!(of(&[0.0], &[0.0]), Some(0.5));
        assert_eq!(of(&[0.0], &[]), None);
    }
}
