//! What a longer fact shows without stating it: the folders of a path, the names in it, the number of an issue, short hashes.

use super::scanner::Scanner;
use super::{FactKind, bytes, compound, key, quotes, token};

/// Lengths of the short forms of a hash.
const SHORT_HASH: std::ops::RangeInclusive<usize> = 7..=12;

impl Scanner<'_> {
    /// Reports the folders above a path.
    pub(super) fn show_folders(&mut self, path: token::ParsedPath) {
        for folder in path.folders() {
            self.emit(FactKind::Path, folder, key(FactKind::Path, folder), &[], false);
        }
    }

    /// Reports the identifiers and hashes that a URL or a path shows.
    pub(super) fn show_parts(&mut self, text: &str) {
        for (kind, name) in compound::parts(text) {
            self.emit(kind, name, key(kind, name), &[], false);
        }
    }

    /// Reports the number of an issue. Its sign or its folder says what it is, so it needs no anchor.
    pub(super) fn show_number(&mut self, number: Option<&str>) {
        if let Some(number) = number {
            self.emit(FactKind::Number, number, key(FactKind::Number, number), &[], false);
        }
    }

    /// Reports a whole text that would be a quotation if it had marks.
    pub(super) fn show_quotation(&mut self, text: &str) {
        if quotes::is_quotation(text) && !text.contains('\n') {
            self.emit(FactKind::Quoted, text, key(FactKind::Quoted, text), &[], false);
        }
    }

    /// Reports the short forms of a hash, which have its anchors.
    pub(super) fn show_short_forms(&mut self, hash: &str, anchors: &[u64]) {
        for short in SHORT_HASH.filter(|length| *length < hash.len()).map(|length| &hash[..length]) {
            if token::classify_simple(short, bytes::classes_of(short)) == Some(FactKind::Hash) {
                self.emit(FactKind::Hash, short, key(FactKind::Hash, short), anchors, false);
            }
        }
    }
}
