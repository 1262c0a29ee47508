//! The error of a value that a user wrote: an option, or a field of a file.

/// Why a value cannot be used, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ValueError(String);

impl ValueError {
    /// Creates an error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl From<String> for ValueError {
    fn from(message: String) -> Self {
        Self(message)
    }
}

impl From<ValueError> for String {
    fn from(error: ValueError) -> Self {
        error.0
    }
}
