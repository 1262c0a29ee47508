//! Checks the sums of outcomes and the edges of their groups. Every weight is another power of two, so that each sum shows what is in it.

use recompact::metrics::retention::{GAPS, GroupTotals, OutcomeWeights, Retention, UseOutcome, gap_bin};

/// One use of each outcome.
fn one_of_each() -> OutcomeWeights {
    let mut sum = OutcomeWeights::default();
    sum.count(1.0, UseOutcome::Hit { in_summary: false });
    sum.count(2.0, UseOutcome::Hit { in_summary: true });
    sum.count(4.0, UseOutcome::Soft { quoted: false });
    sum.count(8.0, UseOutcome::Soft { quoted: true });
    sum.count(16.0, UseOutcome::Stale);
    sum.count(32.0, UseOutcome::Hard);
    sum
}

/// Six uses of 1 + 2 + 4 + 8 + 16 + 32 bits: the hits are the first two, the soft misses the next two.
const ONE_OF_EACH: OutcomeWeights =
    OutcomeWeights { uses: 6, weight: 63.0, hit: 3.0, hit_summary: 2.0, soft: 12.0, soft_quoted: 8.0, stale: 16.0, hard: 32.0 };

/// A sum of `uses` hard misses of one bit.
fn hard(uses: u64) -> OutcomeWeights {
    OutcomeWeights { uses, weight: uses as f64, hard: uses as f64, ..OutcomeWeights::default() }
}

#[test]
fn each_outcome_goes_into_its_own_sum() {
    assert_eq!(one_of_each(), ONE_OF_EACH);
}

#[test]
fn sums_of_two_sessions_add_up_in_every_part() {
    let mut sum = OutcomeWeights {
        uses: 100,
        weight: 1_000.0,
        hit: 2_000.0,
        hit_summary: 3_000.0,
        soft: 4_000.0,
        soft_quoted: 5_000.0,
        stale: 6_000.0,
        hard: 7_000.0,
    };
    sum.add(&ONE_OF_EACH);
    let expected = OutcomeWeights {
        uses: 106,
        weight: 1_063.0,
        hit: 2_003.0,
        hit_summary: 3_002.0,
        soft: 4_012.0,
        soft_quoted: 5_008.0,
        stale: 6_016.0,
        hard: 7_032.0,
    };
    assert_eq!(sum, expected);
}

/// The smallest and the largest gap of each bin; a gap below the first bin is in it.
#[test]
fn gaps_are_in_the_bin_that_names_them() {
    let cases = [
        ("2–3", 0),
        ("2–3", 2),
        ("2–3", 3),
        ("4–10", 4),
        ("4–10", 10),
        ("11–30", 11),
        ("11–30", 30),
        ("over 30", 31),
        ("over 30", u32::MAX),
    ];
    for (bin, gap) in cases {
        assert_eq!(GAPS[gap_bin(gap)].0, bin, "a gap of {gap}");
    }
}

/// Two sessions. The first has uses of three gaps and two kinds, the second of one gap that the first has and of one that it has not.
#[test]
fn groups_with_a_use_are_summed_over_sessions() {
    let mut first = Retention::default();
    first.by_gap[0] = hard(1);
    first.by_gap[3] = hard(2);
    first.by_kind[0] = ONE_OF_EACH;
    first.by_provenance[1] = hard(4);
    first.by_generation[4] = hard(8);
    let mut second = Retention::default();
    second.by_gap[1] = hard(16);
    second.by_gap[3] = hard(32);
    second.by_kind[0] = ONE_OF_EACH;

    let of = |retention: &Retention| {
        let mut totals = GroupTotals::default();
        totals.add_retention(retention);
        totals
    };
    let one_by_one = {
        let mut totals = of(&first);
        totals.add_retention(&second);
        totals
    };
    let together = {
        let mut totals = of(&first);
        totals.add(&of(&second));
        totals
    };
    let twice = |weights: &OutcomeWeights| {
        let mut sum = *weights;
        sum.add(weights);
        sum
    };
    let expected = [
        (("gap", "2–3"), hard(1)),
        (("gap", "4–10"), hard(16)),
        (("gap", "over 30"), hard(2 + 32)),
        (("kind", "path"), twice(&ONE_OF_EACH)),
        (("provenance", "user"), hard(4)),
        (("generation", "4 or more"), hard(8)),
    ];
    for totals in [one_by_one, together] {
        assert_eq!(totals.iter().map(|(group, weights)| (group, *weights)).collect::<Vec<_>>(), expected);
    }
    assert_eq!(of(&Retention::default()).iter().count(), 0, "no group without a use");
}
