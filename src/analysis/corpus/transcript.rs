//! A transcript that was read and recognised, and not parsed yet.

use std::sync::Arc;

use crate::transcript::format::{OtherFile, Verdict};

/// How many first bytes of a file tell its format: twenty records of most, and the first fields of a document.
pub(super) const RECOGNISED_BYTES: u64 = 64 << 10;

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
