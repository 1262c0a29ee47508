//! One test binary.

mod codex_files;
mod openai_files;
mod transcripts;
