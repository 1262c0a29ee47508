//! Calls to language models; no other part of the library does network I/O or starts programs.
//!
//! May import: [`util`](crate::util). Offers [`client`] (protocols, retries, limits, and the
//! cassette that records answers), [`prompt`] (the prompts of summarizers, as data), and `proxy` (which records what other programs
//! ask; with the feature `models`).

pub mod client;
pub mod prompt;
#[cfg(feature = "models")]
pub mod proxy;
