//! `secret`: a text looks like a key, a token or a password.
//!
//! What it means: a transcript, or an output saved beside it, holds something that allows a login somewhere. Reports
//! name its kind and its place, never its text or a part of it. Why it hurts: transcripts are shared, committed and
//! sent to other models, and what a tool printed once is in every archive and every summary made from it. What to
//! change: revoke the key (deleting the line is not enough once it was sent), keep `.transcripts` and tool results out
//! of version control, and let tools print less. Evidence: each pattern is a published prefix and length; its source is
//! in `src/analysis/secrets.rs`.
//!
//! The rule skips placeholders: texts that contain REDACTED, EXAMPLE, xxxx, three dots or a variable such as ${VAR};
//! texts that end in a few repeated characters; passwords such as `password` or the user's own name; and example hosts.
//! It does not search text outside the blocks of a conversation (for example a harness's copies for its display), nor
//! base64.
//!
//! Precision: nothing was found in 108 recorded transcripts, and nothing is there to find: their owners had removed the
//! secrets. A search for the bare prefixes finds 14 lists of prefixes, none with a token. The unit tests in
//! `src/analysis/audit/secrets.rs` check every pattern.

/// Id of the finding. `analysis::audit` detects it, because only an audit reads files.
pub const ID: &str = "secret";
