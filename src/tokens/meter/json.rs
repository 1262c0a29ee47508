//! JSON strings, as every writer escapes them.

use super::notation::characters;

/// The size of a JSON string with its quotes. `beyond` gives the size of a character after `~`, where writers differ.
pub fn string(text: &str, beyond: impl Fn(char) -> u64) -> u64 {
    2 + characters(text, &SIZES, beyond)
}

const SIZES: [u8; 256] = {
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
