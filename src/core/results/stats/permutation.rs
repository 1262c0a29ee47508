//! The sign-flip permutation test: a p-value from swapping two policies within sessions.
//!
//! If two policies were equally good, swapping their values within a session would make no difference. The test swaps them in random
//! sessions and counts how often the totals differ by as much as they really do.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::metrics::column::Column;
use crate::results::saved::Accumulator;

use super::groups::{groups_of, in_groups};

/// Maximum number of sessions for which all swap patterns are tried: 2¹³ patterns, because swapping all sessions changes only the
/// sign. With more sessions, patterns are random.
const MAX_EXHAUSTIVE_SESSIONS: usize = 14;

/// Sessions in one byte of a swap pattern, one bit each.
const BYTE_SESSIONS: usize = 8;
/// Number of patterns of one byte.
const BYTE_PATTERNS: usize = 1 << BYTE_SESSIONS;

/// Tolerances for equal differences: relative to the difference, and relative to the two totals. Sums over thousands of sessions,
/// added in different orders, agree to about 10⁻¹³.
const DIFFERENCE_TOLERANCE: f64 = 1e-9;
const TOTAL_TOLERANCE: f64 = 1e-12;

/// Patterns of sessions in which to swap the two policies, the same for all comparisons. In a large study, groups of sessions are
/// swapped together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignFlips {
    /// Bytes of one pattern: bit `i % 8` of byte `i / 8` says whether session `i` is swapped.
    bytes: usize,
    /// All patterns, one after the other.
    patterns: Vec<u8>,
    /// Whether these are all possible patterns.
    is_exhaustive: bool,
}

impl SignFlips {
    /// Lists all patterns for few sessions; draws `count` random patterns for more.
    pub fn new(sessions: usize, count: usize, seed: u64) -> Self {
        let bytes = groups_of(sessions).div_ceil(BYTE_SESSIONS).max(1);
        if sessions <= MAX_EXHAUSTIVE_SESSIONS {
            let all = 0_u32..1 << sessions.saturating_sub(1);
            let patterns = all.flat_map(|pattern| pattern.to_le_bytes().into_iter().take(bytes)).collect();
            return Self { bytes, patterns, is_exhaustive: true };
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // Uses other random numbers than the bootstrap.
        random.set_stream(1);
        let mut patterns = vec![0; bytes * count];
        random.fill_bytes(&mut patterns);
        Self { bytes, patterns, is_exhaustive: false }
    }

    /// Returns the two-sided p-value: the share of patterns in which the totals of the two differ by at least as much as without swaps.
    /// Sessions in which one of them has no value are ignored. The p-value is 1 if no session is left, or if the totals are equal.
    pub fn p_value(&self, column: &Column, one: &[Option<Accumulator>], other: &[Option<Accumulator>]) -> f64 {
        let both: Vec<[Accumulator; 2]> =
            one.iter().zip(other).map(|(one, other)| one.zip(*other).map_or_else(Default::default, Into::into)).collect();
        let sums = both.iter().fold([Accumulator::default(); 2], |[one, other], two| [plus(one, two[0]), plus(other, two[1])]);
        let swapped = swapped_by_byte(&in_groups(&both, |sum, two| *sum = [plus(sum[0], two[0]), plus(sum[1], two[1])]));
        let quotient = |Accumulator { numerator: over, denominator: under }: Accumulator| {
            if under == 0.0 { 0.0 } else { (over / under).abs() }
        };
        let difference = |swap: Accumulator| -> Option<f64> {
            let [one, other] = [plus(sums[0], swap), minus(sums[1], swap)].map(|sum| column.exact_total_of(sum));
            Some((one? - other?).abs())
        };
        let Some(observed) = difference(Accumulator::default()) else { return 1.0 };
        let threshold = observed - DIFFERENCE_TOLERANCE * observed - TOTAL_TOLERANCE * (quotient(sums[0]) + quotient(sums[1]));
        if threshold <= 0.0 {
            return 1.0;
        }
        let is_as_large = |pattern: &&[u8]| {
            let bytes = swapped.chunks_exact(BYTE_PATTERNS).zip(*pattern);
            let swap = bytes.fold(Accumulator::default(), |sum, (sums, bits)| plus(sum, sums[usize::from(*bits)]));
            // A pattern that leaves one of them without a total is no evidence, so it counts as one with a large difference.
            difference(swap).is_none_or(|difference| difference >= threshold)
        };
        let patterns = self.patterns.len() / self.bytes;
        let hits = self.patterns.chunks_exact(self.bytes).filter(is_as_large).count();
        // Random patterns do not contain the observed one (no swaps), so it is added. The list of all patterns contains it.
        let observed = usize::from(!self.is_exhaustive);
        (hits + observed) as f64 / (patterns + observed) as f64
    }
}

/// Returns, for each eight sessions and each pattern of one byte, what swapping these sessions adds to the first sum and subtracts from the second.
fn swapped_by_byte(both: &[[Accumulator; 2]]) -> Vec<Accumulator> {
    let byte_sums = |group: &[[Accumulator; 2]]| {
        let mut sums = vec![Accumulator::default()];
        for [one, other] in group {
            let swap = minus(*other, *one);
            sums.extend(sums.clone().into_iter().map(|sum| plus(sum, swap)));
        }
        // The last group may have fewer than 8 sessions; the bits of missing sessions change nothing.
        let distinct = sums.len();
        (0..BYTE_PATTERNS).map(|pattern| sums[pattern % distinct]).collect::<Vec<_>>()
    };
    both.chunks(BYTE_SESSIONS).flat_map(byte_sums).collect()
}

fn plus(one: Accumulator, other: Accumulator) -> Accumulator {
    Accumulator { numerator: one.numerator + other.numerator, denominator: one.denominator + other.denominator }
}

fn minus(one: Accumulator, other: Accumulator) -> Accumulator {
    Accumulator { numerator: one.numerator - other.numerator, denominator: one.denominator - other.denominator }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::column::{Aggregation, ColumnId, Direction, Unit};

    fn mean() -> Column {
        Column::counted("a", Unit::Ratio, Direction::Lower, Aggregation::Mean, "A mean.")
    }

    fn ratio() -> Column {
        let combine = Aggregation::Ratio { over: ColumnId::Borrowed("a"), under: ColumnId::Borrowed("b") };
        Column::counted("a.ratio", Unit::Ratio, Direction::Lower, combine, "a ÷ b.")
    }

    fn contributions(values: &[f64]) -> Vec<Option<Accumulator>> {
        values.iter().map(|over| Some(Accumulator { numerator: *over, denominator: 1.0 })).collect()
    }

    fn p(column: &Column, one: &[Option<Accumulator>], other: &[Option<Accumulator>]) -> f64 {
        SignFlips::new(one.len(), 1_000, 1).p_value(column, one, other)
    }

    /// Differences of +1, +2 and +3 add up to 6; of the 8 patterns, only "swap all" and "swap none" give 6. +1, +2 and −3 add up to 0,
    /// and every pattern gives at least 0. +4, +2 and −1 add up to 5, and 4 of 8 patterns give 5 or 7.
    #[test]
    fn sign_flip_p_of_three_sessions_by_hand() {
        let zero = contributions(&[0.0; 3]);
        assert_eq!(p(&mean(), &contributions(&[1.0, 2.0, 3.0]), &zero), 2.0 / 8.0);
        assert_eq!(p(&mean(), &contributions(&[1.0, 2.0, -3.0]), &zero), 1.0);
        assert_eq!(p(&mean(), &contributions(&[4.0, 2.0, -1.0]), &zero), 4.0 / 8.0);
        assert_eq!(p(&mean(), &zero, &contributions(&[4.0, 2.0, -1.0])), 4.0 / 8.0);
    }

    /// Ratios: 1/1 and 3/3 compared with 0/3 and 1/1, so 4/4 − 1/4 = .75. Swapped in the first session: 3/6 − 2/2 = −.5. Swapping
    /// the second session alone gives the same with the other sign; swapping both gives −.75.
    #[test]
    fn flips_swap_both_parts_of_a_ratio() {
        let ratios =
            |parts: [(f64, f64); 2]| parts.map(|(over, under)| Some(Accumulator { numerator: over, denominator: under }));
        assert_eq!(p(&ratio(), &ratios([(1.0, 1.0), (3.0, 3.0)]), &ratios([(0.0, 3.0), (1.0, 1.0)])), 2.0 / 4.0);
    }

    /// Tenths have no exact binary form, so their sums depend on the order. If only one session differs, all 2⁹ patterns give a
    /// difference of the same size.
    #[test]
    fn flips_count_ties_despite_rounding() {
        let one: Vec<f64> = (0..9).map(|at| 0.1 * f64::from(at) + if at == 4 { 0.3 } else { 0.0 }).collect();
        let other: Vec<f64> = (0..9).map(|at| 0.1 * f64::from(at)).collect();
        assert_eq!(p(&mean(), &contributions(&one), &contributions(&other)), 1.0);
        let (high, low) = ([1e9 + 0.1; 12], [1e9; 12]);
        assert_eq!(p(&mean(), &contributions(&high), &contributions(&low)), 2.0 / 4_096.0);
    }

    #[test]
    fn flips_without_differences_give_p_1() {
        let some = contributions(&[0.1, 0.2, 0.7]);
        assert_eq!(p(&mean(), &some, &some), 1.0);
        assert_eq!(p(&mean(), &some, &[None; 3]), 1.0);
        assert_eq!(p(&mean(), &[], &[]), 1.0);
        let nothing = [Some(Accumulator::default()); 3];
        assert_eq!(p(&ratio(), &nothing, &nothing), 1.0);
        let many = contributions(&[0.1; 40]);
        assert_eq!(p(&mean(), &many, &many), 1.0);
    }

    #[test]
    fn flips_ignore_sessions_without_both_values() {
        let one = contributions(&[1.0, 2.0, 3.0, 50.0]);
        let other = [contributions(&[0.0; 3]), vec![None]].concat();
        assert_eq!(p(&mean(), &one, &other), 2.0 / 8.0);
    }

    /// Random patterns give nearly the p-value of all patterns. 14 sessions have 2¹³ patterns; a fifteenth session without a
    /// difference changes nothing but makes the patterns random.
    #[test]
    fn drawn_flips_approximate_all_flips() {
        let differences: Vec<f64> = (0..14).map(|at| f64::from(at % 5) - 1.3).collect();
        let all = p(&mean(), &contributions(&differences), &contributions(&[0.0; 14]));
        let more = [&differences[..], &[0.0]].concat();
        let drawn = SignFlips::new(15, 10_000, 1).p_value(&mean(), &contributions(&more), &contributions(&[0.0; 15]));
        assert!((all - drawn).abs() < 4.0 * (all * (1.0 - all) / 10_000.0).sqrt(), "{all} {drawn}");
        assert_ne!(SignFlips::new(15, 10, 1), SignFlips::new(15, 10, 2));
    }

    /// Tries every pattern, one by one.
    fn slow(column: &Column, one: &[Option<Accumulator>], other: &[Option<Accumulator>]) -> f64 {
        let both: Vec<(Accumulator, Accumulator)> = one.iter().zip(other).filter_map(|(one, other)| one.zip(*other)).collect();
        let difference = |pattern: u32| {
            let mut sums = [Accumulator::default(); 2];
            for (at, (one, other)) in both.iter().enumerate() {
                let [first, second] = if pattern >> at & 1 == 0 { [one, other] } else { [other, one] };
                sums = [plus(sums[0], *first), plus(sums[1], *second)];
            }
            let [one, other] = sums.map(|sum| column.exact_total_of(sum));
            Some((one? - other?).abs())
        };
        let Some(observed) = difference(0) else { return 1.0 };
        let patterns = 1 << both.len();
        let is_as_large = |pattern: &u32| difference(*pattern).is_none_or(|difference| difference > observed - 1e-9);
        (0..patterns).filter(is_as_large).count() as f64 / f64::from(patterns)
    }

    proptest::proptest! {
        #[test]
        fn fast_flips_equal_slow_flips(sessions in proptest::collection::vec((0_u8..5, 1_u8..4, 0_u8..5, 1_u8..4, 0_u8..8), 0..11)) {
            let side = |has_value: bool, over: u8, under: u8| has_value.then(|| Accumulator { numerator: 0.1 * f64::from(over), denominator: 0.3 * f64::from(under) });
            let one: Vec<_> = sessions.iter().map(|session| side(session.4 != 0, session.0, session.1)).collect();
            let other: Vec<_> = sessions.iter().map(|session| side(session.4 != 1, session.2, session.3)).collect();
            for column in [mean(), ratio()] {
                let (fast, slow) = (p(&column, &one, &other), slow(&column, &one, &other));
                proptest::prop_assert!((fast - slow).abs() < 1e-12, "{fast} {slow}");
                proptest::prop_assert_eq!(fast, p(&column, &other, &one));
            }
        }
    }

    /// None of 1,000 random patterns gives a difference as large as thirty differences of one sign, and still the p-value is not 0.
    #[test]
    fn drawn_p_is_never_zero() {
        assert_eq!(p(&mean(), &contributions(&[1.0; 30]), &contributions(&[0.0; 30])), 1.0 / 1_001.0);
    }
}
