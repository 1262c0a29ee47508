//! Calls to language models; no other part of the library does network I/O or starts programs.
//!
//! May import: [`util`](crate::util). Offers [`client`] (protocols, retries, limits, and the
//! cassette that records answers) and [`prompt`] (the prompts of summarizers, as data).

pub mod client;
pub mod prompt;
