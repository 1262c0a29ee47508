//! One test binary.

mod cases;
mod codex_files;
mod generate;
mod laws;
mod messages_files;
mod notation;
mod openai_files;
mod oracle;
mod reports;
mod slow;
mod transcripts;
mod trial;
