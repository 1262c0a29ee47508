//! One test binary.

mod reports;
