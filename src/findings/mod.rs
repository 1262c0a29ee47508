//! What is wrong with a compaction, and where.
//!
//! May import: every wing before it, [`util`](crate::util) to [`metrics`](crate::metrics). Offers [`finding`] (a finding and its
//! kind, as data), [`rules`] (one file for each kind, and [`detect`](rules::detect), which runs them on one replay), and [`timeline`]
//! (a replay as rules see it). A rule looks at one replay: of a policy, it says what the policy would have done to the recorded
//! conversation; of the record, replayed with its own compactions, what was done to it.

pub mod finding;
pub mod rules;
pub mod timeline;

pub use finding::{Case, Finding, Level};
pub use rules::{FINDINGS, FindingKind, by_id, detect};
pub use timeline::{Detection, ReplayView};
