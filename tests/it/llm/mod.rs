//! Clients of language models, against servers and programs that fail.

pub mod faults;
