//! What a text holds, whatever it belongs to: its facts, its tokens, its lone surrogates.
//!
//! May import: no other wing. Offers [`facts`] (the words that an agent needs verbatim), [`tokens`] (counts of OpenAI's
//! vocabularies), [`surrogates`] (halves of a character, which JSON may contain and a Rust string cannot) and
//! [`inflate`](mod@inflate) (data that the program holds in a smaller form).
//!
//! Every byte of a transcript goes through these few functions, so they are a crate of their own, which debug builds and tests
//! compile for speed.

pub mod facts;
pub mod inflate;
pub mod surrogates;
pub mod tokens;
