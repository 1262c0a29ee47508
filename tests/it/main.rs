//! One test binary.

mod claude_code_files;
mod codex_files;
mod messages_files;
mod openai_files;
mod oracle;
mod reports;
mod transcripts;
