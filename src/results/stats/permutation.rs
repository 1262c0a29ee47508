//! The sign-flip permutation test: if two policies were as good as each other, it would not matter which of them a session's
//! values are called after. So the two are swapped within sessions, at random, and the difference of the totals is looked at
//! again.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::metrics::column::Column;
use crate::results::saved::Accumulator;

/// Up to so many sessions, all ways to swap are tried: 2¹³ of them, for swapping all changes only the sign. With more sessions
/// ways are drawn.
const ALL_WAYS: usize = 14;

/// Sessions that one byte says of whether they are swapped.
const GROUP: usize = 8;
const WAYS: usize = 1 << GROUP;

/// Differences that differ by less are equal: relative to themselves, and to the totals they are the difference of. Sums of
/// thousands of sessions, added in another order, are equal to some 10⁻¹³.
const ALIKE: f64 = 1e-9;
const ALIKE_TOTALS: f64 = 1e-12;

/// Ways to swap the two policies within sessions, the same for everything that is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignFlips {
    /// Bytes a way has: bit `i % 8` of byte `i / 8` says whether session `i` is swapped.
    bytes: usize,
    ways: Vec<u8>,
    all: bool,
}

impl SignFlips {
    /// All ways of a few sessions; so many drawn ones of more.
    pub fn new(sessions: usize, draws: usize, seed: u64) -> Self {
        let bytes = sessions.div_ceil(GROUP).max(1);
        if sessions <= ALL_WAYS {
            let all = 0_u32..1 << sessions.saturating_sub(1);
            return Self { bytes, ways: all.flat_map(|way| way.to_le_bytes().into_iter().take(bytes)).collect(), all: true };
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // Not the numbers that sessions are drawn by.
        random.set_stream(1);
        let mut ways = vec![0; bytes * draws];
        random.fill_bytes(&mut ways);
        Self { bytes, ways, all: false }
    }

    /// How often the totals of the two differ as much or more when they are swapped by chance: the two-sided p-value. Sessions
    /// in which one of them has no value do not take part; where no session is left, or the totals are the same, it is 1.
    pub fn p(&self, column: &Column, one: &[Option<Accumulator>], other: &[Option<Accumulator>]) -> f64 {
        let both: Vec<[Accumulator; 2]> =
            one.iter().zip(other).map(|(one, other)| one.zip(*other).map_or_else(Default::default, Into::into)).collect();
        let sums = both.iter().fold([Accumulator::default(); 2], |[one, other], two| [plus(one, two[0]), plus(other, two[1])]);
        let swapped = swapped_by_group(&both);
        let quotient = |Accumulator { over, under }: Accumulator| if under == 0.0 { 0.0 } else { (over / under).abs() };
        let difference = |swap: Accumulator| -> Option<f64> {
            let [one, other] = [plus(sums[0], swap), minus(sums[1], swap)].map(|sum| column.exact_total_of(sum));
            Some((one? - other?).abs())
        };
        let Some(found) = difference(Accumulator::default()) else { return 1.0 };
        let enough = found - ALIKE * found - ALIKE_TOTALS * (quotient(sums[0]) + quotient(sums[1]));
        let as_large = |way: &&[u8]| {
            let groups = swapped.chunks_exact(WAYS).zip(*way);
            let swap = groups.fold(Accumulator::default(), |sum, (group, way)| plus(sum, group[usize::from(*way)]));
            // A way that leaves one of them without a total speaks for nothing, so it is counted against the difference.
            difference(swap).is_none_or(|difference| difference >= enough)
        };
        let ways = self.ways.len() / self.bytes;
        let hits = self.ways.chunks_exact(self.bytes).filter(as_large).count();
        // Where ways are drawn, the one that was found is one of them.
        let found = usize::from(!self.all);
        (hits + found) as f64 / (ways + found) as f64
    }
}

/// What swapping the sessions of each group adds to the first sum and takes from the second, for every byte.
fn swapped_by_group(both: &[[Accumulator; 2]]) -> Vec<Accumulator> {
    let of_group = |group: &[[Accumulator; 2]]| {
        let mut sums = vec![Accumulator::default()];
        for [one, other] in group {
            let swap = minus(*other, *one);
            sums.extend(sums.clone().into_iter().map(|sum| plus(sum, swap)));
        }
        // Bits of sessions that are not there change nothing.
        let there = sums.len();
        (0..WAYS).map(|way| sums[way % there]).collect::<Vec<_>>()
    };
    both.chunks(GROUP).flat_map(of_group).collect()
}

fn plus(one: Accumulator, other: Accumulator) -> Accumulator {
    Accumulator { over: one.over + other.over, under: one.under + other.under }
}

fn minus(one: Accumulator, other: Accumulator) -> Accumulator {
    Accumulator { over: one.over - other.over, under: one.under - other.under }
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

    fn of(values: &[f64]) -> Vec<Option<Accumulator>> {
        values.iter().map(|over| Some(Accumulator { over: *over, under: 1.0 })).collect()
    }

    fn p(column: &Column, one: &[Option<Accumulator>], other: &[Option<Accumulator>]) -> f64 {
        SignFlips::new(one.len(), 1_000, 1).p(column, one, other)
    }

    /// Differences of +1, +2 and +3 add up to 6, and of the 8 ways only all or none do; +1, +2 and −3 make 0, as all do; +4, +2
    /// and −1 make 5, and 4 of 8 ways make 5 or 7.
    #[test]
    fn three_sessions_by_hand() {
        let zero = of(&[0.0; 3]);
        assert_eq!(p(&mean(), &of(&[1.0, 2.0, 3.0]), &zero), 2.0 / 8.0);
        assert_eq!(p(&mean(), &of(&[1.0, 2.0, -3.0]), &zero), 1.0);
        assert_eq!(p(&mean(), &of(&[4.0, 2.0, -1.0]), &zero), 4.0 / 8.0);
        assert_eq!(p(&mean(), &zero, &of(&[4.0, 2.0, -1.0])), 4.0 / 8.0);
    }

    /// Ratios: 1/1 and 3/3 against 0/3 and 1/1, so 4/4 − 1/4 = .75. Swapped in the first session: 3/6 − 2/2 = −.5. In the second
    /// alone it is the same with the other sign, in both the same as in none.
    #[test]
    fn both_parts_of_a_ratio_are_swapped() {
        let of = |parts: [(f64, f64); 2]| parts.map(|(over, under)| Some(Accumulator { over, under }));
        assert_eq!(p(&ratio(), &of([(1.0, 1.0), (3.0, 3.0)]), &of([(0.0, 3.0), (1.0, 1.0)])), 2.0 / 4.0);
    }

    /// Tenths have no exact form, and their sums depend on the order. All 2⁹ ways are as large where all differences are, in
    /// size, 0 or one that stands alone.
    #[test]
    fn ties_count_although_sums_are_rounded() {
        let one: Vec<f64> = (0..9).map(|at| 0.1 * f64::from(at) + if at == 4 { 0.3 } else { 0.0 }).collect();
        let other: Vec<f64> = (0..9).map(|at| 0.1 * f64::from(at)).collect();
        assert_eq!(p(&mean(), &of(&one), &of(&other)), 1.0);
        let (high, low) = ([1e9 + 0.1; 12], [1e9; 12]);
        assert_eq!(p(&mean(), &of(&high), &of(&low)), 2.0 / 4_096.0);
    }

    #[test]
    fn nothing_to_tell_is_one() {
        let some = of(&[0.1, 0.2, 0.7]);
        assert_eq!(p(&mean(), &some, &some), 1.0);
        assert_eq!(p(&mean(), &some, &[None; 3]), 1.0);
        assert_eq!(p(&mean(), &[], &[]), 1.0);
        let nothing = [Some(Accumulator::default()); 3];
        assert_eq!(p(&ratio(), &nothing, &nothing), 1.0);
        let many = of(&[0.1; 40]);
        assert_eq!(p(&mean(), &many, &many), 1.0);
    }

    #[test]
    fn a_session_without_both_values_takes_no_part() {
        let one = of(&[1.0, 2.0, 3.0, 50.0]);
        let other = [of(&[0.0; 3]), vec![None]].concat();
        assert_eq!(p(&mean(), &one, &other), 2.0 / 8.0);
    }

    /// Drawn ways come near all ways: 14 sessions have 2¹³, a fifteenth that does not differ changes nothing.
    #[test]
    fn drawn_ways_are_like_all_ways() {
        let differences: Vec<f64> = (0..14).map(|at| f64::from(at % 5) - 1.3).collect();
        let all = p(&mean(), &of(&differences), &of(&[0.0; 14]));
        let more = [&differences[..], &[0.0]].concat();
        let drawn = SignFlips::new(15, 10_000, 1).p(&mean(), &of(&more), &of(&[0.0; 15]));
        assert!((all - drawn).abs() < 4.0 * (all * (1.0 - all) / 10_000.0).sqrt(), "{all} {drawn}");
        assert_ne!(SignFlips::new(15, 10, 1), SignFlips::new(15, 10, 2));
    }

    /// Every way tried one by one.
    fn slow(column: &Column, one: &[Option<Accumulator>], other: &[Option<Accumulator>]) -> f64 {
        let both: Vec<(Accumulator, Accumulator)> = one.iter().zip(other).filter_map(|(one, other)| one.zip(*other)).collect();
        let difference = |way: u32| {
            let mut sums = [Accumulator::default(); 2];
            for (at, (one, other)) in both.iter().enumerate() {
                let [first, second] = if way >> at & 1 == 0 { [one, other] } else { [other, one] };
                sums = [plus(sums[0], *first), plus(sums[1], *second)];
            }
            let [one, other] = sums.map(|sum| column.exact_total_of(sum));
            Some((one? - other?).abs())
        };
        let Some(found) = difference(0) else { return 1.0 };
        let ways = 1 << both.len();
        (0..ways).filter(|way| difference(*way).is_none_or(|of| of > found - 1e-9)).count() as f64 / f64::from(ways)
    }

    proptest::proptest! {
        #[test]
        fn the_fast_way_equals_the_slow_one(sessions in proptest::collection::vec((0_u8..5, 1_u8..4, 0_u8..5, 1_u8..4, 0_u8..8), 0..11)) {
            let side = |there: bool, over: u8, under: u8| there.then(|| Accumulator { over: 0.1 * f64::from(over), under: 0.3 * f64::from(under) });
            let one: Vec<_> = sessions.iter().map(|of| side(of.4 != 0, of.0, of.1)).collect();
            let other: Vec<_> = sessions.iter().map(|of| side(of.4 != 1, of.2, of.3)).collect();
            for column in [mean(), ratio()] {
                let (fast, slow) = (p(&column, &one, &other), slow(&column, &one, &other));
                proptest::prop_assert!((fast - slow).abs() < 1e-12, "{fast} {slow}");
                proptest::prop_assert_eq!(fast, p(&column, &other, &one));
            }
        }
    }

    /// Not one of 1,000 drawn ways is as large as thirty differences of one sign, and still the p-value is not 0.
    #[test]
    fn a_drawn_p_is_never_nothing() {
        assert_eq!(p(&mean(), &of(&[1.0; 30]), &of(&[0.0; 30])), 1.0 / 1_001.0);
    }
}
