//! Values that shells complete for an option that also takes others, such as the names of presets beside files.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};

/// Returns a parser that completes these values and parses any text with `parse`. The values are made only when completions are
/// printed.
pub fn suggesting<P: Clone>(values: fn() -> Vec<&'static str>, parse: P) -> Suggesting<P> {
    Suggesting { values, parse }
}

/// A parser with suggestions.
#[derive(Clone)]
pub struct Suggesting<P> {
    values: fn() -> Vec<&'static str>,
    parse: P,
}

impl<P: TypedValueParser> TypedValueParser for Suggesting<P> {
    type Value = P::Value;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<P::Value, Error> {
        self.parse.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.values)().into_iter().map(PossibleValue::new)))
    }
}
