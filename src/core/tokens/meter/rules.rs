//! What a unit decides. No rule has a default, so that the compiler asks a new unit for all of them.

use crate::transcript::conversation::{Block, Role};

/// The rules of one unit; its sizes are in this unit.
pub trait UnitRules {
    /// Returns whether it is a number of tokens, and not of characters, bytes or messages.
    fn counts_tokens(&self) -> bool;

    /// Returns whether a message is larger than its blocks together by an amount that depends only on their number. Only such a unit
    /// can count for reports.
    fn adds_up(&self) -> bool;

    /// Returns the size of a text alone.
    fn text(&self, text: &str) -> u64;

    /// Returns the size of a block inside its message. `plain`: the message's content is a bare string.
    fn block(&self, block: &Block, plain: bool) -> u64;

    /// Returns the size of a message of `blocks` blocks whose sizes add up to `sum`.
    fn message(&self, role: Role, plain: bool, blocks: usize, sum: u64) -> u64;

    /// Returns the size of a list of `messages` messages whose sizes add up to `sum`.
    fn list(&self, messages: usize, sum: u64) -> u64;
}
