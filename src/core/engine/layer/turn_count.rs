//! A number of turns. Before it was a number it was a switch, so files may say `true` or `false`.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// A number of turns in a file: `2`, or `true` for 1.
#[derive(Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(untagged, expecting = "a number of turns, or `true` for 1")]
pub enum TurnCount {
    /// `2`
    Number(usize),
    /// `true` is 1, `false` is 0.
    Switch(bool),
}

/// Reads a [`TurnCount`], for `deserialize_with`.
pub(super) fn turn_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    Ok(match TurnCount::deserialize(deserializer)? {
        TurnCount::Number(number) => number,
        TurnCount::Switch(on) => usize::from(on),
    })
}
