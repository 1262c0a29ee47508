//! Replays: cases as text, laws, and slow oracles.

pub mod alike;
pub mod batches;
pub mod cases;
pub mod choices;
pub mod claude_code_recordings;
pub mod clear_settings;
pub mod faults;
pub mod laws;
pub mod name_index;
pub mod oracles;
pub mod reference;
pub mod slow_replay;
pub mod slow_sizes;
