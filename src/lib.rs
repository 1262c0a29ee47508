//! `recompact` replays recorded agent conversations through context-compaction policies, offline.

pub mod column;
pub mod context;
pub mod conversation;
pub mod format;
pub mod inspect;
pub mod journal;
pub mod layer;
pub mod measure;
pub mod meter;
pub mod policy;
pub mod replay;
pub mod report;
pub mod results;
pub mod sizes;
pub mod study;
pub mod summarizer;
pub mod template;
pub mod text;
pub mod validity;
pub mod values;
