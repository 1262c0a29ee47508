//! `gap`: a transcript continues a history that is nowhere in the tree.
//!
//! What it means: the transcript holds a summary or a marker in place of messages, and the archive that should have
//! them is missing. Or the marker names no archive, and no earlier archive is beside the transcript. Why it hurts: what
//! the summary left out cannot be looked up, neither by the agent that got the path nor by people who want to know what
//! happened. What to change: keep `.transcripts` whole when you move it or clean it up, write the archive before the
//! summary replaces the messages, and let summaries name their archives. Evidence: learn-claude-code's first s08
//! (1baf1ac) archives the history and names the archive neither to the model nor in the file (its `[Compacted]` has no
//! path); its last (b6b5f33) names the archive each time.
//!
//! For a `[Compacted]` without a path, the rule assumes the archive with the next lower number in the same folder. So
//! it does not notice if one in the middle of such archives is missing.
//!
//! Precision: silent on 108 recorded transcripts, none of which has such a pointer, and on archives written by replays.
//! When we removed one archive from these, the rule reported that archive and nothing else.

/// Id of the finding. `analysis::audit` detects it, because only an audit reads files.
pub const ID: &str = "gap";
