//! How large a text or a block is: in tokens, characters and bytes, and as each harness estimates it.
//!
//! May import: [`util`](crate::util), [`transcript`](crate::transcript). Offers [`meter`] (tokenizers and the estimators of
//! harnesses), [`block_sizes`] (every block of a conversation, measured once), and [`calibration`] (tokens of models without a
//! public tokenizer, fitted to the recorded usage).

pub mod block_sizes;
pub mod calibration;
pub mod meter;
