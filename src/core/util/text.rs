//! Text helpers: cutting at characters, plurals, wrapping, names that are alike, names of files.

/// Returns the lines of the `//!` documentation that a source file begins with, without their marks.
pub fn doc_lines(source: &str) -> impl Iterator<Item = &str> {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line))
}

/// Returns the first paragraph of the `//!` documentation that a source file begins with, in one line: "`clear`: old results go."
pub fn doc_summary(source: &str) -> String {
    let lines = doc_lines(source).map(str::trim);
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns that paragraph without the name before the colon: "old results go."
pub fn doc_about(source: &str) -> String {
    let summary = doc_summary(source);
    summary.split_once(": ").map_or(summary.clone(), |(_, about)| about.to_owned())
}

/// Returns a text of several lines as one line.
pub fn in_one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Returns the name of the file that an input is from: what is behind the last slash, which such paths have on each system.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Returns the last part of a recorded path, which may be of another system: what is behind its last slash or backslash.
pub fn recorded_file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// Returns the first `chars` characters of a text, or the whole text if it is shorter.
pub fn head(text: &str, chars: usize) -> &str {
    // A character takes at least one byte.
    if text.len() <= chars {
        return text;
    }
    text.char_indices().nth(chars).map_or(text, |(end, _)| &text[..end])
}

/// Returns the last `chars` characters of a text, or the whole text if it is shorter.
pub fn tail(text: &str, chars: usize) -> &str {
    match chars.checked_sub(1) {
        None => "",
        Some(before) => text.char_indices().rev().nth(before).map_or(text, |(start, _)| &text[start..]),
    }
}

/// Returns the longest beginning of a text with at most `max_tokens` tokens.
pub fn clip<'a>(text: &'a str, max_tokens: u64, tokens: &dyn Fn(&str) -> u64) -> &'a str {
    longest(text, head, max_tokens, tokens)
}

/// Returns the longest end of a text with at most `max_tokens` tokens.
pub fn clip_tail<'a>(text: &'a str, max_tokens: u64, tokens: &dyn Fn(&str) -> u64) -> &'a str {
    longest(text, tail, max_tokens, tokens)
}

/// Returns the longest part of a text with at most `max_tokens` tokens; `part` returns one with a number of characters.
fn longest<'a>(text: &'a str, part: fn(&'a str, usize) -> &'a str, max_tokens: u64, tokens: &dyn Fn(&str) -> u64) -> &'a str {
    if tokens(text) <= max_tokens {
        return text;
    }
    let (mut fits, mut over) = (0, text.chars().count() + 1);
    while over - fits > 1 {
        let middle = fits + (over - fits) / 2;
        if tokens(part(text, middle)) <= max_tokens { fits = middle } else { over = middle }
    }
    part(text, fits)
}

/// Returns a part of a text with the text around it, at most `chars` characters. It starts at the beginning of the line if that is
/// near, and ends where the room ends. `…` marks a cut.
pub fn around(text: &str, part: std::ops::Range<usize>, chars: usize) -> String {
    let inner = text[part.clone()].chars().count();
    let line = text[..part.start].rfind('\n').map_or(0, |end| end + 1);
    let begin = part.start - tail(&text[line..part.start], chars.saturating_sub(inner) / 2).len();
    let rest = text[begin..].trim_end();
    let shown = head(rest, chars).trim_end();
    let ellipsis = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("{}{shown}{}", ellipsis(begin > line), ellipsis(shown.len() < rest.len()))
}

/// Formats a count with its noun: `1 file`, `2 files`.
pub fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Puts commas between thousands: `1,234,567`.
pub fn with_commas(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns the verb for a count: `is` or `are`.
pub fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// Returns the verb for a count: `was` or `were`.
pub fn were(count: usize) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

/// Quotes a word unless a shell takes it as it is.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./~+,:@%=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Names that are less alike than this are not proposed for each other.
const LIKENESS: f64 = 0.85;

/// Returns the known name that is most like a wrong one: `Read` for `read`; `None` if none is similar.
pub fn closest<'a>(wanted: &str, known: &'a [impl AsRef<str>]) -> Option<&'a str> {
    let likeness = |name: &str| {
        let without_case = strsim::jaro_winkler(&wanted.to_lowercase(), &name.to_lowercase());
        // Of two names that differ in case only, the one with the same case is nearer.
        (without_case, strsim::jaro_winkler(wanted, name))
    };
    let alike = known.iter().map(|name| (likeness(name.as_ref()), name.as_ref()));
    let nearest = alike.max_by(|(a, _), (b, _)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    nearest.filter(|((likeness, _), _)| *likeness > LIKENESS).map(|(_, name)| name)
}

/// Returns the end of an error message about an unknown name: `; did you mean `x`?` if one is similar, and the known names.
pub fn did_you_mean(wanted: &str, known: &[impl AsRef<str>]) -> String {
    let all = known.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match closest(wanted, known) {
        Some(name) => format!("; did you mean `{name}`? (known: {all})"),
        None if known.is_empty() => String::new(),
        None => format!(" (known: {all})"),
    }
}

/// Wraps a text into lines of at most `width` characters. The first line begins with `begin`; the others are indented by its length.
pub fn wrap(begin: &str, text: &str, width: usize) -> String {
    let indent = begin.chars().count();
    let mut lines = begin.to_owned();
    let mut column = indent;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > width {
            lines += &format!("\n{:indent$}", "");
            column = indent;
        }
        let space = if column > indent { " " } else { "" };
        lines += &format!("{space}{word}");
        column += space.len() + length;
    }
    lines + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrap_indents_following_lines() {
        assert_eq!(wrap("- ", "one two  three", 9), "- one two\n  three\n");
        assert_eq!(wrap("", "unbreakable a", 4), "unbreakable\na\n");
    }

    #[test]
    fn around_shows_a_part_with_context() {
        let text = "first\n  let größe = pool;\nlast\n";
        let at = text.find("größe").expect("it is there");
        let part = at..at + "größe".len();
        assert_eq!(around(text, part.clone(), 240), "  let größe = pool;\nlast");
        assert_eq!(around(text, part.clone(), 9), "…t größe =…");
        assert_eq!(around(text, part, 3), "…grö…");
        assert_eq!(around("", 0..0, 9), "");
    }

    #[test]
    fn doc_summary_is_the_first_paragraph_in_one_line() {
        let source = "//! `dedupe`: of several copies one stays; the others become a\n//! pointer to it. Cheap.\n//!\n//! More.\nfn x() {}\n";
        assert_eq!(doc_summary(source), "`dedupe`: of several copies one stays; the others become a pointer to it. Cheap.");
        assert_eq!(doc_about(source), "of several copies one stays; the others become a pointer to it. Cheap.");
        assert_eq!((doc_summary("fn x() {}"), doc_about("//! No name.")), (String::new(), "No name.".to_owned()));
    }

    #[test]
    fn closest_name_may_differ_in_case() {
        let tools = ["Read", "read_file", "Bash"];
        assert_eq!(closest("read", &tools), Some("Read"));
        assert_eq!(closest("readfile", &tools), Some("read_file"));
        assert_eq!(closest("WebSearch", &tools), None);
        assert_eq!(did_you_mean("BASH", &tools), "; did you mean `Bash`? (known: Read, read_file, Bash)");
    }

    #[test]
    fn head_and_tail_cut_between_characters() {
        assert_eq!((head("aé😀z", 3), tail("aé😀z", 2)), ("aé😀", "😀z"));
        assert_eq!((head("ab", 9), tail("ab", 9), tail("ab", 0)), ("ab", "ab", ""));
    }
}
