//! Byte classes for the scanner. One table lookup per byte rules out most words: a run of lower-case letters is never a fact.

pub const LOWER: u8 = 1;
pub const UPPER: u8 = 2;
pub const DIGIT: u8 = 4;
pub const UNDERSCORE: u8 = 8;
pub const DOT: u8 = 16;
/// Other characters inside paths: `-`, `@`, `+`, `~`.
pub const JOINT: u8 = 32;
pub const SLASH: u8 = 64;
/// A byte of a character outside ASCII.
pub const HIGH: u8 = 128;
/// The classes of an identifier's bytes.
pub const WORD: u8 = LOWER | UPPER | DIGIT | UNDERSCORE | HIGH;
pub const LETTER: u8 = LOWER | UPPER | HIGH;

const CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            b'.' => DOT,
            b'-' | b'@' | b'+' | b'~' => JOINT,
            b'/' => SLASH,
            0x80.. => HIGH,
            _ => 0,
        };
        byte += 1;
    }
    classes
}

/// A maximal run of letters, digits, and characters that join them in paths and names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteRun {
    pub end: usize,
    /// Union of the classes of its bytes.
    pub classes: u8,
}

/// Returns the run that begins at `start`, which must be the start of a character. The run is empty if that is a separator.
pub fn run_at(bytes: &[u8], start: usize) -> ByteRun {
    let (mut end, mut classes) = (start, 0);
    while let Some(byte) = bytes.get(end) {
        let class = CLASSES[usize::from(*byte)];
        if class & HIGH == 0 {
            if class == 0 {
                break;
            }
            end += 1;
        } else if is_separator(&bytes[end..]) {
            break;
        } else {
            end += char_len(*byte);
        }
        classes |= class;
    }
    ByteRun { end, classes }
}

/// Returns the union of the classes of a text's bytes.
pub fn classes_of(text: &str) -> u8 {
    text.bytes().fold(0, |all, byte| all | CLASSES[usize::from(byte)])
}

pub fn has_class(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// Whether the first character of these bytes, which is outside ASCII, is punctuation. This is decided by its first bytes:
/// Latin-1 signs, U+2000 to U+2FFF (dashes, arrows, boxes, marks), U+3000 to U+303F, full-width forms, and everything beyond
/// U+FFFF (emoji, replacements of lone surrogates). Other characters outside ASCII count as letters.
pub fn is_separator(bytes: &[u8]) -> bool {
    matches!(bytes, [0xC2 | 0xE2 | 0xEF | 0xF0.., ..] | [0xE3, 0x80, ..])
}

/// Returns the length in bytes of a character by its first byte.
pub fn char_len(first: u8) -> usize {
    match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}

/// Whether the byte at an offset belongs to a word.
pub fn has_word_at(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|byte| has_class(*byte, WORD))
}
