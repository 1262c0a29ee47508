//! `secret`: a text looks like a key, a token or a password.
//!
//! What it means: a transcript, or an output saved beside it, holds something by which one can log in somewhere. Reports name its
//! kind and its place, never its text or a part of it. Why it hurts: transcripts are shared, committed and sent to other models, and
//! what a tool printed once is in every archive and every summary that was made of it. What to change: revoke the key (to delete the
//! line is not enough once it was sent), keep `.transcripts` and tool results out of version control, and let tools print less.
//! Evidence: each rule is a published prefix and length, named beside it in this file.
//!
//! Placeholders are passed over: texts with REDACTED, EXAMPLE, xxxx, three dots or a hole such as ${VAR} in them, those that
//! end in a few characters repeated, passwords such as `password` or the user's own name, and hosts of examples. What is not in a block of a
//! conversation is not looked at (a harness's copies for its display, for one), nor what only stands in base64.
//!
//! Precision: nothing was found in 108 recorded transcripts, and nothing is there to be found: their owners had the secrets taken out, and a search
//! for the bare prefixes finds 14 lists of prefixes, none with a token. All that stands in the cases of this file is told as it should be.

/// Its id. [`analysis::audit`](crate::analysis::audit) looks for it: only an audit reads files.
pub const ID: &str = "secret";
