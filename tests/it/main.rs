//! One test binary.

mod claude_code_files;
mod cli;
mod cli_bad_input;
mod cli_contexts;
mod cli_materialize;
mod codex_files;
mod fixtures_read;
mod messages_files;
mod openai_files;
mod oracle;
mod program;
mod reports;
mod tidy;
mod transcripts;
