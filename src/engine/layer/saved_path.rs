//! The paths of files in which layers save results.

use super::result_filter::Candidate;
use crate::engine::context::Context;
use crate::util::template::fill;

/// Returns the path of the file for a result: `{id}` in the template is the id of its tool_use.
pub(super) fn saved_path(template: &str, context: &Context, candidate: &Candidate, clean_id: bool) -> String {
    let id = &context.conversation().pair(candidate.pair).id;
    let id = if clean_id { clean(id) } else { id.clone() };
    fill(template, &[("id", &id)])
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
