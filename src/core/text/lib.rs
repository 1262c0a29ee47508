//! What a text holds, whatever it belongs to: its facts, its tokens, its sentences, its lone surrogates.
//!
//! May import: no other wing. Offers [`facts`] (the words that an agent needs verbatim), [`tokens`] (counts of OpenAI's
//! vocabularies), [`characters`] (their sizes in a notation), [`sentences`] (lines that a summary may repeat, and their words),
//! [`surrogates`] (halves of a character, which JSON may contain and a Rust string cannot) and [`inflate`](mod@inflate) (data that
//! the program holds in a smaller form).
//!
//! Every byte of a transcript goes through these few functions, so they are a crate of their own, which debug builds and tests
//! compile for speed.

pub mod characters;
pub mod facts;
pub mod inflate;
pub mod sentences;
pub mod surrogates;
pub mod tokens;
