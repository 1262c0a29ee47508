//! How transcripts are read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::size::{Limits, Size};
use crate::transcript::format::{self, Branches, FORMATS, Format};
use crate::transcript::source::MAX_BYTES;
use crate::util::ValueError;

/// How transcripts are read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[non_exhaustive]
pub struct ReadSpec {
    /// Format of every transcript; default: detected.
    pub format: Option<String>,
    /// Branches to read if a conversation was rewound or edited: `last` or `all`; default: last.
    pub branches: Branches,
    /// Whether an unreadable line is an error; default: false, it is skipped and listed.
    pub strict: bool,
    /// Largest transcript to read, decompressed: `2GB`; default: 1 GiB.
    pub max_file: Size,
    /// First day of the conversations, in UTC: `2026-10-01`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Last day of the conversations, in UTC: `2026-10-31`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Part of the path of the working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Part of the name of a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Number of sessions: those whose files are the newest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<usize>,
}

impl Default for ReadSpec {
    fn default() -> Self {
        Self {
            format: None,
            branches: Branches::Last,
            strict: false,
            max_file: Size::from(MAX_BYTES),
            since: None,
            until: None,
            project: None,
            model: None,
            newest: None,
        }
    }
}

impl ReadSpec {
    /// Describes how files are read; `max_file` is in bytes. All conversations are taken.
    pub fn new(format: Option<&str>, branches: Branches, strict: bool, max_file: u64) -> Self {
        Self { format: format.map(str::to_owned), branches, strict, max_file: Size::from(max_file), ..Self::default() }
    }

    /// Returns the format that every transcript has; `None` if it is detected.
    ///
    /// # Errors
    ///
    /// Fails if there is no such format.
    pub fn known_format(&self) -> Result<Option<&'static Format>, ValueError> {
        self.format.as_deref().map(format_by_name).transpose()
    }

    /// Returns the size of the largest transcript to read, in bytes.
    ///
    /// # Errors
    ///
    /// Fails if it is 0.
    pub fn max_bytes(&self) -> Result<u64, ValueError> {
        in_bytes(&self.max_file)
    }
}

/// Returns the format with this name.
///
/// # Errors
///
/// Fails with a message that lists the formats.
pub fn format_by_name(name: &str) -> Result<&'static Format, ValueError> {
    format::by_name(name).ok_or_else(|| {
        let known = FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
        ValueError::new(format!("unknown format (known: {known})"))
    })
}

/// Returns a size that does not depend on a model, in bytes.
///
/// # Errors
///
/// Fails if it is 0.
pub fn in_bytes(size: &Size) -> Result<u64, ValueError> {
    match size.resolve(Limits { window: 0, max_output: 0 }) {
        0 => Err(ValueError::new("write a size, such as 2GB")),
        bytes => Ok(bytes),
    }
}
