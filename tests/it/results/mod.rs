//! Intervals and tests of significance.

pub mod inference;
pub mod promises;
