//! One test binary.

mod cases;
mod codex_files;
mod messages_files;
mod notation;
mod openai_files;
mod oracle;
mod reports;
mod transcripts;
mod trial;
