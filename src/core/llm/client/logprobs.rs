//! Log-probabilities as servers write them.

use serde_json::Value;

/// Digits after the point that are kept. Servers compute with fewer, and a cassette stays readable.
const SCALE: f64 = 1e4;
/// Larger values are no rounding errors.
const MAX: f64 = 1e-3;

/// Reads the natural logarithm of a probability, rounded to four decimals; or says what is wrong with it.
pub(super) fn logprob(value: &Value) -> Result<f64, String> {
    let wrong = |what: &str| Err(format!("a log-probability is {what}"));
    match value.as_f64() {
        Some(number) if number > MAX => wrong("positive"),
        // Adding 0 turns -0 into 0.
        Some(number) if number.is_finite() => Ok((number.min(0.0) * SCALE).round() / SCALE + 0.0),
        None if value.is_null() => wrong("missing; does the prompt hold at least one token?"),
        _ => wrong("not a finite number"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logprob_is_rounded_or_refused() {
        let cases = [
            ("-5.437709331512451", Ok(-5.4377)),
            ("-1e-9", Ok(0.0)),
            ("0", Ok(0.0)),
            ("0.0002", Ok(0.0)),
            ("-9999", Ok(-9999.0)),
            ("0.5", Err("a log-probability is positive")),
            ("-1e999", Err("a log-probability is not a finite number")),
            ("null", Err("a log-probability is missing; does the prompt hold at least one token?")),
            ("\"-1\"", Err("a log-probability is not a finite number")),
        ];
        for (written, expected) in cases {
            let read = logprob(&serde_json::from_str(written).unwrap());
            assert_eq!(read, expected.map_err(str::to_owned), "{written}");
            assert!(read.is_err() || read.is_ok_and(|number| number != 0.0 || number.is_sign_positive()), "{written}: -0");
        }
    }
}
