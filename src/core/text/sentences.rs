//! The lines of a text that a summary may repeat, and their words.

/// Minimum bytes of a sentence.
const MIN_BYTES: usize = 20;
/// Maximum characters of a sentence: longer lines are minified code or data.
pub const MAX_CHARS: usize = 300;

/// Returns the lines of a text that are neither short nor long, without spaces at their ends.
pub fn of(text: &str) -> Vec<&str> {
    let lines = text.lines().flat_map(|line| line.split('\r')).map(str::trim);
    lines.filter(|line| line.len() >= MIN_BYTES && (line.len() <= MAX_CHARS || line.chars().nth(MAX_CHARS).is_none())).collect()
}

/// Returns the words of a sentence that can be informative: at least four bytes. Non-ASCII characters belong to words.
pub fn words_of(sentence: &str) -> Vec<&str> {
    let splits = |c: char| c.is_ascii() && !(c.is_ascii_alphanumeric() || c == '_');
    sentence.split(splits).filter(|word| word.len() >= 4).collect()
}

#[cfg(test)]
mod tests {
    use super::{MAX_CHARS, of, words_of};

    #[test]
    fn sentences_are_lines_of_20_bytes_to_300_characters() {
        let (longest, too_long) = ("é".repeat(MAX_CHARS), "a".repeat(MAX_CHARS + 1));
        let text = format!(
            "  The first of two.. \t\n The second is too..\r\nA progress bar\r shows this at its end\n{longest}\n{too_long}"
        );
        assert_eq!(of(&text), ["shows this at its end", longest.as_str()]);
        assert_eq!(of(" Twenty bytes of text \n"), ["Twenty bytes of text"]);
    }

    #[test]
    fn words_have_four_bytes() {
        assert_eq!(words_of("fix log_in.rs: 1234 \u{e9}\u{e9} na\u{ef}ve"), ["log_in", "1234", "\u{e9}\u{e9}", "na\u{ef}ve"]);
    }
}
