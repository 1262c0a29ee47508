//! JSON strings, as every writer escapes them.

/// The size of a JSON string with its quotes. `beyond` gives the size of a character after `~`, where writers differ.
pub fn string(text: &str, beyond: impl Fn(char) -> u64) -> u64 {
    let size = |c| match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        ' '..='~' => 1,
        c => beyond(c),
    };
    2 + text.chars().map(size).sum::<u64>()
}
