//! One test binary.

mod codex_files;
mod messages_files;
mod openai_files;
mod oracle;
mod reports;
mod transcripts;
