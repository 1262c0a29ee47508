//! Lengths of JSON strings with the escapes that all JSON writers use.

use recompact_text::characters::characters_len;

/// Returns the length of a JSON string with its quotes. `beyond` returns the length of a character after `~`, where writers
/// differ.
pub fn string_len(text: &str, beyond: fn(char) -> u64) -> u64 {
    2 + characters_len(text, &CHAR_SIZES, beyond)
}

const CHAR_SIZES: [u8; 256] = {
    let mut sizes = [0; 256];
    let mut byte = 0;
    while byte <= b'~' {
        sizes[byte as usize] = match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
            0..0x20 => 6,
            _ => 1,
        };
        byte += 1;
    }
    sizes
};
