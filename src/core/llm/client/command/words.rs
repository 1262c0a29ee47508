//! Splits a command line into its words, for programs that are started without a shell.

use crate::util::ValueError;

/// Returns the words of a command line. Spaces separate words; quotes (`'…'`, `"…"`) keep them together, and inside of double
/// quotes a backslash keeps a quote. Every other character means itself: no variable, no pattern and no pipe is special.
///
/// # Errors
///
/// Fails if there is no word, or if a quote is not closed.
pub fn split_words(command: &str) -> Result<Vec<String>, ValueError> {
    let (mut words, mut word, mut quote): (Vec<String>, Option<String>, Option<char>) = (Vec::new(), None, None);
    let mut characters = command.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), c) if c == open => quote = None,
            (Some('"'), '\\') if matches!(characters.peek(), Some('"' | '\\')) => {
                word.get_or_insert_default().extend(characters.next());
            }
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        return Err(ValueError::new(format!("the quote {open} is not closed in `{command}`")));
    }
    words.extend(word);
    if words.is_empty() { Err(ValueError::new("it names no program")) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_spaces_outside_of_quotes() {
        let split = |command: &str| split_words(command).expect(command);
        assert_eq!(split("node  my-policy.mjs"), ["node", "my-policy.mjs"]);
        assert_eq!(split("sh -c 'jq -c . | cat' \"a \\\"b\\\" \\c\""), ["sh", "-c", "jq -c . | cat", "a \"b\" \\c"]);
        assert_eq!(split("a''b c:\\d ''"), ["ab", "c:\\d", ""]);
        assert_eq!(split_words("  "), Err(ValueError::new("it names no program")));
        assert_eq!(split_words("a 'b"), Err(ValueError::new("the quote ' is not closed in `a 'b`")));
    }
}
