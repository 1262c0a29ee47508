//! The results of a study, as plain data.
//!
//! May import: every wing before it, [`util`](crate::util) to [`findings`](crate::findings). Offers [`saved`] (rows, totals and
//! side tables, and the JSON that `-o json` writes), [`stats`] (intervals and tests over sessions), [`condition`] (a limit on a
//! column, such as `kept.hit >= 0.9`), and [`request`] (one request, part by part).

pub mod condition;
pub mod request;
pub mod saved;
pub mod stats;
