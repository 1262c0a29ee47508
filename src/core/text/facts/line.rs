//! The rule of lines.

/// Minimum characters of a line that is a fact.
const MIN_CHARS: usize = 12;

/// Whether a trimmed line is long enough for a fact, and says more than a name.
pub fn is_fact(line: &str) -> bool {
    let is_long = line.len() >= 4 * MIN_CHARS || line.is_ascii() || line.chars().nth(MIN_CHARS - 1).is_some();
    line.len() >= MIN_CHARS && is_long && has_two_words(line)
}

/// Whether a line has two words, or letters of a script that may write words without spaces. A name with its signs
/// (`max_idle_per_host,`) says no more than the name.
fn has_two_words(line: &str) -> bool {
    let mut words = line.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.next().is_some_and(|first| !first.is_ascii() || words.next().is_some())
}
