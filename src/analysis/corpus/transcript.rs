//! A transcript that was read and recognised, and not parsed yet.

use std::sync::Arc;

use crate::transcript::format::{OtherFile, Verdict};

/// The bytes of a transcript, and what they are.
pub struct Transcript {
    /// Decompressed.
    pub bytes: Vec<u8>,
    /// Why the rest of a compressed file could not be decompressed.
    pub cut_off: Option<String>,
    /// What it looks like.
    pub verdict: Verdict,
    /// The files that it is read with.
    pub others: Arc<[OtherFile]>,
}
