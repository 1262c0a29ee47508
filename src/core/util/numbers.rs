//! Numbers that may be absent, in few bytes: most values of results are absent, zero, or small and whole.

use std::borrow::Cow;
use std::io;

use super::spill::{Place, Spill};

/// A list of numbers, in memory or in a file. A lookup reads the numbers before it.
///
/// ```text
///  number                        bytes
///  absent                        0
///  any other                     1, and its eight bytes
///  whole, from 0 to 237          2 + number
///  whole, of n bytes (1 to 7)    239 + n, and its bytes, the lowest first
/// ```
#[derive(Debug, Clone)]
pub struct Numbers(Bytes);

#[derive(Debug, Clone)]
enum Bytes {
    Here(Box<[u8]>),
    Spilled(Place),
}

const ABSENT: u8 = 0;
const FLOAT: u8 = 1;
const SMALL: u8 = 2;
const WHOLE: u8 = 239;
/// Up to here a float holds every whole number: 2^53.
pub const EXACT: f64 = 9_007_199_254_740_992.0;

impl Numbers {
    /// Returns the number at this place; `None` if there is none.
    pub fn nth(&self, place: usize) -> Option<Option<f64>> {
        match &self.0 {
            Bytes::Here(bytes) => nth(bytes, place),
            Bytes::Spilled(at) => at.see(|bytes| nth(bytes, place)),
        }
    }

    /// Returns all numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        let bytes = match &self.0 {
            Bytes::Here(bytes) => Cow::Borrowed(&**bytes),
            Bytes::Spilled(at) => Cow::Owned(at.see(<[u8]>::to_vec)),
        };
        let mut begin = 0;
        std::iter::from_fn(move || {
            let rest = &bytes[begin..];
            let number = first(rest)?;
            begin += length(rest[0]);
            Some(number)
        })
    }

    /// Moves the numbers to a file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written. The numbers then stay in memory.
    pub fn spill(&mut self, to: &Spill) -> io::Result<()> {
        if let Bytes::Here(bytes) = &self.0 {
            self.0 = Bytes::Spilled(to.write(bytes)?);
        }
        Ok(())
    }
}

impl Default for Numbers {
    fn default() -> Self {
        Self(Bytes::Here(Box::default()))
    }
}

fn nth(bytes: &[u8], place: usize) -> Option<Option<f64>> {
    let mut rest = bytes;
    for _ in 0..place {
        rest = rest.get(length(*rest.first()?)..)?;
    }
    first(rest)
}

/// Number of bytes of a number with this first byte.
fn length(head: u8) -> usize {
    match head {
        FLOAT => 1 + size_of::<f64>(),
        head if head > WHOLE => 1 + usize::from(head - WHOLE),
        _ => 1,
    }
}

fn first(bytes: &[u8]) -> Option<Option<f64>> {
    let head = *bytes.first()?;
    let mut tail = [0; 8];
    let rest = &bytes[1..length(head)];
    tail[..rest.len()].copy_from_slice(rest);
    Some(match head {
        ABSENT => None,
        FLOAT => Some(f64::from_le_bytes(tail)),
        head if head > WHOLE => Some(u64::from_le_bytes(tail) as f64),
        head => Some(f64::from(head - SMALL)),
    })
}

impl FromIterator<Option<f64>> for Numbers {
    fn from_iter<I: IntoIterator<Item = Option<f64>>>(numbers: I) -> Self {
        let mut bytes = Vec::new();
        for number in numbers {
            match number {
                None => bytes.push(ABSENT),
                Some(number) if is_whole(number) => push_whole(&mut bytes, number as u64),
                Some(number) => {
                    bytes.push(FLOAT);
                    bytes.extend(number.to_le_bytes());
                }
            }
        }
        Self(Bytes::Here(bytes.into()))
    }
}

/// A negative zero is a float, because it is another number in text.
fn is_whole(number: f64) -> bool {
    number.is_sign_positive() && number <= EXACT && number.fract() == 0.0
}

fn push_whole(bytes: &mut Vec<u8>, number: u64) {
    match u8::try_from(number) {
        Ok(small) if small <= WHOLE - SMALL => bytes.push(SMALL + small),
        _ => {
            let used = size_of::<u64>() - (number.leading_zeros() / u8::BITS) as usize;
            bytes.push(WHOLE + used as u8);
            bytes.extend(&number.to_le_bytes()[..used]);
        }
    }
}

/// Equal as numbers are: no NaN is equal to any.
impl PartialEq for Numbers {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_and_absent_numbers_take_few_bytes() {
        let bytes = |number: Option<f64>| match Numbers::from_iter([number]).0 {
            Bytes::Here(bytes) => bytes.into_vec(),
            Bytes::Spilled(place) => place.bytes(),
        };
        assert_eq!(bytes(None), [0]);
        assert_eq!([0.0, 1.0, 237.0].map(|number| bytes(Some(number))), [[2], [3], [239]]);
        assert_eq!(bytes(Some(238.0)), [240, 238]);
        assert_eq!(bytes(Some(256.0)), [241, 0, 1]);
        assert_eq!(bytes(Some(EXACT)), [246, 0, 0, 0, 0, 0, 0, 32]);
        for float in [0.5, -1.0, -0.0, f64::NAN, f64::INFINITY, 2.0 * EXACT] {
            assert_eq!(bytes(Some(float)), [&[1][..], &float.to_le_bytes()].concat());
        }
    }

    #[test]
    fn numbers_are_equal_as_floats_are() {
        let of = |number: f64| Numbers::from_iter([Some(number)]);
        assert_eq!(of(0.0), of(-0.0));
        assert_ne!(of(f64::NAN), of(f64::NAN));
        assert_ne!(of(0.0), Numbers::from_iter([Some(0.0), None]));
    }

    fn number() -> impl Strategy<Value = Option<f64>> {
        let whole = (0_u32..64).prop_map(|bits| (1_u64 << bits) as f64);
        let near = (whole, -2_i32..3).prop_map(|(whole, more)| whole + f64::from(more));
        prop_oneof![Just(None), any::<f64>().prop_map(Some), near.prop_map(Some), (0_u16..300).prop_map(|n| Some(f64::from(n)))]
    }

    proptest! {
        /// What went in comes out, bit for bit, one by one and in order, from memory and from a file.
        #[test]
        fn numbers_are_what_was_put_in(list in prop::collection::vec(number(), 0..20)) {
            let bits = |number: Option<f64>| number.map(f64::to_bits);
            let packed: Numbers = list.iter().copied().collect();
            let mut spilled = packed.clone();
            spilled.spill(&Spill::after(0)).expect("a temporary file");
            for packed in [packed, spilled] {
                prop_assert_eq!(packed.iter().map(bits).collect::<Vec<_>>(), list.iter().copied().map(bits).collect::<Vec<_>>());
                for place in 0..=list.len() {
                    prop_assert_eq!(packed.nth(place).map(bits), list.get(place).copied().map(bits));
                }
            }
        }
    }
}
