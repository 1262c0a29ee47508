//! What tests share: generators, notations, recordings, and a way to run the program.

pub mod effort;
pub mod generate;
pub mod json_schema;
pub mod notation;
pub mod planted;
pub mod probe;
pub mod program;
pub mod surprise;
pub mod trace;
pub mod transcripts;
pub mod trial;
