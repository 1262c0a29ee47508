//! How transcripts are read, with its values checked.

use super::ReadSpec;
use crate::engine::size::{Limits, Size};
use crate::transcript::format::{self, FORMATS, Format};

impl ReadSpec {
    /// Returns the format that every transcript has; `None` if it is detected.
    ///
    /// # Errors
    ///
    /// Fails if there is no such format.
    pub fn known_format(&self) -> Result<Option<&'static Format>, String> {
        self.format.as_deref().map(format_by_name).transpose()
    }

    /// Returns the size of the largest transcript to read, in bytes.
    ///
    /// # Errors
    ///
    /// Fails if it is 0.
    pub fn max_bytes(&self) -> Result<u64, String> {
        in_bytes(&self.max_file)
    }
}

/// Returns the format with this name.
///
/// # Errors
///
/// Fails with a message that lists the formats.
pub fn format_by_name(name: &str) -> Result<&'static Format, String> {
    format::by_name(name).ok_or_else(|| {
        let known = FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
        format!("unknown format (known: {known})")
    })
}

/// Returns a size that does not depend on a model, in bytes.
///
/// # Errors
///
/// Fails if it is 0.
pub fn in_bytes(size: &Size) -> Result<u64, String> {
    match size.resolve(Limits { window: 0, max_output: 0 }) {
        0 => Err("write a size, such as 2GB".to_owned()),
        bytes => Ok(bytes),
    }
}
