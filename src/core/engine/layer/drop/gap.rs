//! The span that a `drop` removed from the copy of the history that requests see. The next request extends this copy, so that a call
//! costs what it adds. In the whole history the span would begin at the same message, and end at the same one or a later one.

/// The messages that the copy lacks. It stays empty where a layer edits the stored history, which is whole for that layer.
#[derive(Debug, Default)]
pub struct Gap {
    /// Where the span began; `None` before anything was removed.
    pub head: Option<usize>,
    /// Number of removed messages of the span, and of those behind it whose calls were in it.
    pub inside: usize,
    /// Number of removed messages before the span whose results were in it.
    pub before: usize,
    /// The text of the marker at `head`.
    pub marker: Option<String>,
}

impl Gap {
    /// Returns the number of markers in the copy.
    pub fn markers(&self) -> usize {
        usize::from(self.marker.is_some())
    }

    /// Converts a position in the copy to the position of the same message in the whole history.
    pub fn in_history(&self, position: usize) -> usize {
        (position + self.inside + self.before).saturating_sub(self.markers())
    }

    /// Converts a position in the whole history to the position of the same message in the copy. The position of a removed message
    /// becomes one at or before `head`.
    pub fn in_copy(&self, position: usize) -> usize {
        (position + self.markers()).saturating_sub(self.inside + self.before)
    }
}
