//! One test binary.

mod cases;
mod claude_code_files;
mod cli;
mod cli_bad_input;
mod cli_contexts;
mod cli_materialize;
mod codex_files;
mod fixtures_read;
mod generate;
mod golden_meters;
mod laws;
mod messages_files;
mod meter_laws;
mod notation;
mod openai_files;
mod oracle;
mod program;
mod python_meters;
mod reports;
mod sizes;
mod slow;
mod tidy;
mod transcripts;
mod trial;
