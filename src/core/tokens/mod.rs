//! Sizes of texts and blocks in tokens, characters and bytes, and the estimates of harnesses.
//!
//! May import: [`text`](crate::text), [`transcript`](crate::transcript). Offers [`meter`] (tokenizers and the estimators of
//! harnesses), [`block_sizes`] (the sizes of every block of a conversation), and [`calibration`] (tokens of models without a
//! public tokenizer, fitted to the recorded usage).

pub mod block_sizes;
pub mod calibration;
pub mod meter;
