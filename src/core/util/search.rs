//! Search for many texts in one pass.

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// Returns an automaton for a few searches; `None` if there are more patterns than it can hold, which takes millions.
///
/// Of all kinds this one is built fastest. An automaton that searches many texts is worth a slower build: `AhoCorasick::new`.
pub fn quick_matcher(patterns: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Option<AhoCorasick> {
    AhoCorasick::builder().kind(Some(AhoCorasickKind::NoncontiguousNFA)).build(patterns).ok()
}
