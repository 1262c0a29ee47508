//! One test binary.

mod claude_code_files;
mod codex_files;
mod golden_meters;
mod messages_files;
mod meter_laws;
mod openai_files;
mod oracle;
mod python_meters;
mod reports;
mod sizes;
mod transcripts;
