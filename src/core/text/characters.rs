//! Sizes of the characters of a text, as a notation writes them.

/// Returns the sum of the sizes of a text's characters: up to `~` from the table, after `~` from `beyond`. The table has an
/// entry for every byte; entries after `~` are 0.
pub fn characters_len(text: &str, sizes: &[u8; 256], beyond: fn(char) -> u64) -> u64 {
    let ascii: u64 = text.bytes().map(|byte| u64::from(sizes[usize::from(byte)])).sum();
    // A second pass over the text is faster than a branch per character, because nearly all texts are ASCII.
    if text.is_ascii() && memchr::memchr(0x7f, text.as_bytes()).is_none() {
        return ascii;
    }
    ascii + text.chars().filter(|c| *c > '~').map(beyond).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::characters_len;

    #[test]
    fn characters_after_the_tilde_have_a_size_of_their_own() {
        let mut sizes = [0; 256];
        (sizes[usize::from(b'a')], sizes[usize::from(b'~')]) = (1, 200);
        let len = |text| characters_len(text, &sizes, |c| if c == '\u{7f}' { 1000 } else { 5000 });
        assert_eq!(["", "aa~b", "a\u{7f}", "é~~€"].map(len), [0, 202, 1001, 10_400]);
    }
}
