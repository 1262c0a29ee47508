//! Language models that are asked for a text. This is the only wing that leaves the process.
//!
//! May import: [`util`](crate::util). Offers [`client`] (protocols, retries, limits, and the
//! cassette that records answers) and [`prompt`] (the prompts of summarizers, as data).

pub mod client;
pub mod prompt;
