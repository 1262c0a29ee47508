//! The results of a study, as plain data.
//!
//! May import: every wing before it, [`text`](crate::text) to [`findings`](crate::findings). Offers [`saved`] (rows, totals and
//! side tables, and the JSON that `-o json` writes), [`stats`] (intervals and tests over sessions), [`condition`] (a limit on a
//! column, such as `kept.hit >= 0.9`), [`request`] (one request, part by part), and [`Role`] (what a policy is for).

pub mod condition;
pub mod request;
mod role;
pub mod saved;
pub mod stats;

pub use role::Role;
