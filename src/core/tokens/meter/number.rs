//! Lengths of doubles in Python and JavaScript. Like Rust, both write the shortest decimal digits that parse to the same double;
//! they differ in where they use an exponent.

/// Number of digits and decimal exponent of the shortest form: 1.5e-7 has 2 digits and exponent −7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    pub digits: u64,
    pub exponent: i64,
}

impl Decimal {
    /// Creates the shortest form of a finite number, without its sign.
    pub fn from_f64(value: f64) -> Self {
        let shortest = format!("{:e}", value.abs());
        let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
        let digits = digits.bytes().filter(u8::is_ascii_digit).count() as u64;
        Self { digits, exponent: exponent.parse().unwrap_or(0) }
    }

    pub fn is_whole(self) -> bool {
        self.exponent >= self.digits as i64 - 1
    }

    /// Returns the length without an exponent, as in `150`, `1.5`, `0.015`.
    pub fn positional(self) -> u64 {
        match u64::try_from(self.exponent) {
            Ok(exponent) if self.is_whole() => exponent + 1,
            Ok(_) => self.digits + 1,
            Err(_) => self.digits + 1 + self.exponent.unsigned_abs(),
        }
    }

    /// Returns the length with an exponent of at least `min_digits` digits, as in `1.5e-07`.
    pub fn scientific(self, min_digits: u64) -> u64 {
        let mantissa = if self.digits == 1 { 1 } else { self.digits + 1 };
        let exponent = u64::from(self.exponent.unsigned_abs().checked_ilog10().unwrap_or(0)) + 1;
        mantissa + 2 + exponent.max(min_digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_digits_equal_the_shortest_form() {
        let seen = [0.0, 1.0, 1e5, -123.25, 0.1, 1.5e-7, 5e-324, f64::MAX].map(|x| {
            let decimal = Decimal::from_f64(x);
            (decimal.digits, decimal.exponent)
        });
        assert_eq!(seen, [(1, 0), (1, 0), (1, 5), (5, 2), (1, -1), (2, -7), (1, -324), (17, 308)]);
    }

    #[test]
    fn number_lengths_equal_written_forms() {
        let decimal = |digits, exponent| Decimal { digits, exponent };
        assert_eq!(decimal(2, 2).positional(), "150".len() as u64);
        assert_eq!(decimal(2, 0).positional(), "1.5".len() as u64);
        assert_eq!(decimal(2, -2).positional(), "0.015".len() as u64);
        assert_eq!(decimal(2, -7).scientific(2), "1.5e-07".len() as u64);
        assert_eq!(decimal(1, 300).scientific(1), "1e+300".len() as u64);
    }
}
