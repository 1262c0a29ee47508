//! `spilled`: a result was moved to disk, and its file is not what the marker says.
//!
//! What it means: a harness left a marker (`<persisted-output>`, `[Earlier tool result saved at …]`) with a path and
//! often a preview and a size. It is an error if the file is missing, is outside the audited tree, or does not begin
//! like the preview. It is a warning if the file is shorter than the marker says. Why it hurts: the marker is all that
//! the model has left of the result, and it says to read the file for the rest. What to change: keep tool results with
//! their transcripts when you move them or clean them up; name files by ids that never repeat; write the whole file
//! before its marker. `--root DIR` sets the folder of the files. Evidence: learn-claude-code writes a file only if no
//! file of that name exists (b6b5f33), so a second result with the same id keeps the first one's text; Claude Code
//! keeps them in the session's `tool-results` folder, which is not copied with the session's file.
//!
//! If a marker has no size, only the beginning of the file can be checked, not whether its end is missing.
//!
//! Precision: 7 of 7 right over 108 recorded transcripts of six harnesses, all opened: each names a file that was not
//! saved with the transcript.

/// Id of the finding. `analysis::audit` detects it, because only an audit reads files.
pub const ID: &str = "spilled";
