//! The readers of transcript formats.

pub mod claude_code_files;
pub mod codex_files;
pub mod converted;
pub mod fixtures_read;
pub mod kinds;
pub mod messages_files;
pub mod openai_files;
pub mod other_agents;
pub mod sent_thinking;
pub mod sequels;
pub mod usage_rows;
