//! One test binary.

mod codex_files;
mod transcripts;
