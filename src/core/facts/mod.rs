//! Facts: the words an agent needs verbatim (paths, identifiers, hashes, error lines), and which call uses which fact.
//!
//! May import: [`text`](crate::text), [`util`](crate::util), [`transcript`](crate::transcript). Offers [`extract`] (the facts
//! of a block), [`block_names`] (the names in all blocks) and [`references`] (for each call, the earlier facts it uses).

pub mod block_names;
pub mod extract;
pub mod references;
