//! `recompact` replays recorded agent conversations through context-compaction policies, offline.

pub mod column;
pub mod conversation;
pub mod format;
pub mod report;
pub mod results;
pub mod text;
pub mod values;
