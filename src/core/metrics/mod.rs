//! Measures a replay: tokens, cost, retention of information, broken requests.
//!
//! May import: every wing before it, [`text`](crate::text) to [`engine`](crate::engine). Offers [`retention`] (which later
//! uses still find their fact in the request, and the bounds), [`prompt_cache`] (simulates the provider's cache), [`prices`],
//! [`cost`], and [`metric`] (the table of all metrics). [`column`](mod@column) describes their values, and a [`column_map`]
//! holds them.

pub mod column;
pub mod column_map;
pub mod cost;
pub mod metric;
pub mod prices;
pub mod prompt_cache;
pub mod retention;
