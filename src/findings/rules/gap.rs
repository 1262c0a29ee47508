//! `gap`: a transcript goes on from a history that is nowhere in the tree.
//!
//! What it means: the transcript holds a summary or a marker in place of messages, and the archive that should have them is missing,
//! or it names none and no earlier archive lies beside it. Why it hurts: what the summary left out can be looked up by nobody, neither
//! by the agent that was told the path nor by who wants to know what happened. What to change: keep `.transcripts` whole when it is
//! moved or cleaned up, write the archive before the summary takes its place, and let summaries name their archives. Evidence:
//! learn-claude-code's first s08 (1baf1ac) archives the history and tells neither model nor file where (its `[Compacted]` has no path); its
//! last (b6b5f33) names the archive each time.
//!
//! `[Compacted]` without a path is taken to go on from the archive with the next lower number in the same folder, so one that is missing
//! in the midst of such archives is not seen.
//!
//! Precision: silent on 108 recorded transcripts, of which none has such a pointer, and on archives written by replays; of those with one
//! archive taken away it told that archive and nothing else.

/// Its id. [`analysis::audit`](crate::analysis::audit) looks for it: only an audit reads files.
pub const ID: &str = "gap";
