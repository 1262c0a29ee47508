//! The constants of `kept.bits_lost` are what the measured uses give.

use recompact::metrics::retention::MEASURED;

use crate::support::surprise::all_results;

#[test]
fn measured_worth_is_the_fit_to_all_measured_uses() {
    let fitted = all_results().worth;
    let rounded = |value: f64| (value * 100.0).round() / 100.0;
    let of = |worth: &recompact::metrics::retention::Worth| {
        let factors: Vec<f64> = worth.groups().map(|(_, _, factor)| rounded(factor)).collect();
        (rounded(worth.mean), factors)
    };
    assert_eq!(of(&MEASURED), of(&fitted));
}
