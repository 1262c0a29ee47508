//! `recompact` replays recorded agent conversations through context-compaction policies, offline.

pub mod conversation;
pub mod format;
pub mod meter;
pub mod text;
