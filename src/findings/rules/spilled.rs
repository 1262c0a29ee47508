//! `spilled`: a result was moved to disk, and the file that its marker names is not what the marker says.
//!
//! What it means: a harness left a marker (`<persisted-output>`, `[Earlier tool result saved at …]`) with a path and often a preview and a
//! size. The file is missing, or out of the tree that was audited, or does not begin as the preview does (errors); or it is shorter
//! than the marker says (warning). Why it hurts: the marker is all that the model has left of the result, and it is told to read the
//! file when it needs the rest. What to change: keep tool results with their transcripts when these are moved or cleaned up; name files
//! by ids that do not recur; write a file whole before its marker. `--root DIR` says where the files are. Evidence: learn-claude-code
//! writes a file only if none of that name is there (b6b5f33), so a second result with one id keeps the first one's text; Claude Code
//! keeps them in the session's `tool-results` folder, which is not copied with the session's file.
//!
//! A marker without a size tells no more than how its file must begin: whether the end of it is missing cannot be known.
//!
//! Precision: 7 of 7 right over 108 recorded transcripts of six harnesses, all opened: each names a file that was not saved with the
//! transcript.

/// Its id. [`analysis::audit`](crate::analysis::audit) looks for it: only an audit reads files.
pub const ID: &str = "spilled";
