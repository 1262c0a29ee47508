//! Results that layers save in files before they replace them.

use std::borrow::Cow;

use super::result_filter::Candidate;
use super::{FileKind, NewFile};
use crate::engine::context::Context;
use crate::util::template::fill;
use crate::util::text;

/// A result and the path of the file that gets its text.
pub(super) struct SavedResult<'a> {
    pub path: String,
    pub text: Cow<'a, str>,
}

impl<'a> SavedResult<'a> {
    /// Returns `None` for the marker of a result that is saved already: it must not overwrite the file that it names. `{id}` in the
    /// template of the path is the id of the tool_use.
    pub fn new(path: &str, clean_id: bool, text: Cow<'a, str>, context: &Context, candidate: &Candidate) -> Option<Self> {
        let id = &context.conversation().pair(candidate.pair).id;
        let id = if clean_id { clean(id) } else { id.clone() };
        let path = fill(path, &[("id", &id)]);
        let is_marker = context.is_synthetic(candidate.id) && text.contains(&path);
        (!is_marker).then_some(Self { path, text })
    }

    /// Returns the beginning of the text.
    pub fn head(&self, chars: usize) -> &str {
        text::head(&self.text, chars)
    }

    /// Returns the end of the text.
    pub fn tail(&self, chars: usize) -> &str {
        text::tail(&self.text, chars)
    }

    /// Returns the file to write.
    pub fn into_file(self, candidate: &Candidate) -> NewFile {
        NewFile { kind: FileKind::Persisted, block: Some(candidate.id), path: self.path, text: self.text.into_owned() }
    }
}

/// Maximum characters of a cleaned id (learn-claude-code b6b5f33).
const MAX_ID_CHARS: usize = 120;

/// Turns an id into a file name: only ASCII letters, digits, `.`, `_`, `-`.
fn clean(id: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = id.chars().map(|c| if allowed(c) { c } else { '_' }).take(MAX_ID_CHARS).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn tool_ids_become_safe_file_names() {
        assert_eq!(clean("../../etc/passwd"), ".._.._etc_passwd");
        assert_eq!(clean("toolu_01-a.b"), "toolu_01-a.b");
        assert_eq!((clean("").as_str(), clean(&"é".repeat(300)).len()), ("unknown", 120));
    }
}
