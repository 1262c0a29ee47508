//! Finds what is wrong with a compaction, and where.
//!
//! May import: every wing before it, [`text`](crate::text) to [`metrics`](crate::metrics). Offers [`finding`] (a
//! finding as plain data), [`rules`] (one file for each kind of finding, and [`detect`], which runs all
//! rules on one replay), and [`timeline`] (a replay as rules see it). A rule checks one replay. For a policy, it
//! reports what the policy would have done to the recorded conversation; for the recorded session, replayed with its
//! own compactions, what its harness did.

pub mod finding;
pub mod rules;
pub mod timeline;

pub use finding::{Case, Finding, Level};
pub use rules::{FINDINGS, FindingKind, by_id, detect};
pub use timeline::{Detection, ReplayView};
