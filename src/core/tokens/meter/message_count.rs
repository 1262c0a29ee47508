//! The number of messages, whatever their size.

use super::rules::UnitRules;
use crate::transcript::conversation::{Block, Role};

/// Each message counts one.
pub struct MessageCount;

impl UnitRules for MessageCount {
    fn counts_tokens(&self) -> bool {
        false
    }

    fn adds_up(&self) -> bool {
        false
    }

    fn text(&self, _text: &str) -> u64 {
        0
    }

    fn block(&self, _block: &Block, _plain: bool) -> u64 {
        0
    }

    fn message(&self, _role: Role, _plain: bool, _blocks: usize, _sum: u64) -> u64 {
        1
    }

    fn list(&self, _messages: usize, sum: u64) -> u64 {
        sum
    }
}
