//! The weights of `kept.*` are what the measured uses give.

use recompact::facts::references::{MEASURED, Worth};

use crate::support::surprise::RESULTS;

#[test]
fn measured_worth_is_the_fit_to_the_uses_of_the_first_model() {
    let fitted = &RESULTS[0].worth;
    let rounded = |value: f64| (value * 100.0).round() / 100.0;
    let of = |worth: &Worth| {
        let factors: Vec<f64> = worth.groups().map(|(_, _, factor)| rounded(factor)).collect();
        (rounded(worth.mean), factors)
    };
    assert_eq!(of(&MEASURED), of(fitted));
}
