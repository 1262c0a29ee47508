//! What a replay is worth: tokens, money, information kept, requests broken.
//!
//! May import: every wing before it, [`util`](crate::util) to [`engine`](crate::engine). Offers [`retention`] (which uses still
//! find their fact, and the bounds), [`prompt_cache`] (the provider's cache, simulated), [`prices`], [`cost`], and [`metric`] (the
//! table of all metrics), whose values are named by [`column`](mod@column) and held in a [`column_map`].

pub mod column;
pub mod column_map;
pub mod cost;
pub mod metric;
pub mod prices;
pub mod prompt_cache;
pub mod retention;
