//! Information kept: each use of an earlier fact, looked up in what a policy sent.

pub mod bound;
