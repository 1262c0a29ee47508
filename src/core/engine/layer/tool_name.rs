//! How settings name tools: by their names, or by a pattern such as `mcp__*`.

use std::collections::BTreeMap;

/// Returns whether a setting names this tool. A `*` covers any characters, or none.
pub fn is_named(pattern: &str, tool: &str) -> bool {
    let mut parts = pattern.split('*');
    let (begin, end) = (parts.next().unwrap_or_default(), parts.next_back());
    let Some(end) = end else { return pattern == tool };
    let Some(mut middle) = tool.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end)) else { return false };
    parts.all(|part| match middle.find(part) {
        Some(at) => {
            middle = &middle[at + part.len()..];
            true
        }
        None => false,
    })
}

/// Returns whether one of these settings names the tool.
pub fn is_listed(patterns: &[String], tool: &str) -> bool {
    patterns.iter().any(|pattern| is_named(pattern, tool))
}

/// Returns the value for a tool: that of its own name, or else of the first pattern, in the order of their characters, that covers it.
pub(super) fn value_for(values: &BTreeMap<String, u64>, tool: &str) -> Option<u64> {
    let by_pattern = || values.iter().find(|(pattern, _)| is_named(pattern, tool)).map(|(_, value)| value);
    values.get(tool).or_else(by_pattern).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_cover_any_characters() {
        let is_covered = |pattern, tools: &[&str]| tools.iter().map(|tool| is_named(pattern, tool)).collect::<Vec<_>>();
        assert_eq!(is_covered("Read", &["Read", "Reader", "read", ""]), [true, false, false, false]);
        assert_eq!(is_covered("mcp__*", &["mcp__db__query", "mcp__", "Bash", "x_mcp__"]), [true, true, false, false]);
        assert_eq!(is_covered("*__query", &["mcp__db__query", "__query", "query"]), [true, true, false]);
        assert_eq!(is_covered("a*b*c", &["abc", "a-b-c", "ac", "acb", "abbc", "ab"]), [true, true, false, false, true, false]);
        // What the begin takes is not there for the end.
        assert_eq!(is_covered("aba*aba", &["aba", "ababa", "abaaba"]), [false, false, true]);
        assert_eq!(is_covered("*", &["", "any"]), [true, true]);
        assert_eq!(is_covered("**", &["", "any"]), [true, true]);
    }

    #[test]
    fn the_own_name_is_before_a_pattern() {
        let values = BTreeMap::from([("*".to_owned(), 1), ("mcp__*".to_owned(), 2), ("mcp__db".to_owned(), 3)]);
        assert_eq!(["mcp__db", "mcp__web", "Bash"].map(|tool| value_for(&values, tool)), [Some(3), Some(1), Some(1)]);
    }
}
