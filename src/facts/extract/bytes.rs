//! What a byte is to the scanner. One table look-up a byte tells most words from facts: a run of small letters is never one.

pub const LOWER: u8 = 1;
pub const UPPER: u8 = 2;
pub const DIGIT: u8 = 4;
pub const UNDERSCORE: u8 = 8;
pub const DOT: u8 = 16;
/// What paths have in them besides words, dots and slashes: `-`, `@`, `+`, `~`.
pub const JOINT: u8 = 32;
pub const SLASH: u8 = 64;
/// A part of a character that is not ASCII.
pub const HIGH: u8 = 128;
/// What an identifier is made of.
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

/// Bytes that stand together: letters, digits, and what joins them in paths and names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub end: usize,
    /// The classes of its bytes, together.
    pub classes: u8,
}

/// The run that begins here, which must be the beginning of a character. It is empty where a character separates.
pub fn run(bytes: &[u8], start: usize) -> Run {
    let (mut end, mut classes) = (start, 0);
    while let Some(byte) = bytes.get(end) {
        let class = CLASSES[usize::from(*byte)];
        if class & HIGH == 0 {
            if class == 0 {
                break;
            }
            end += 1;
        } else if separates(&bytes[end..]) {
            break;
        } else {
            end += length(*byte);
        }
        classes |= class;
    }
    Run { end, classes }
}

/// The classes of some bytes, together.
pub fn classes_of(text: &str) -> u8 {
    text.bytes().fold(0, |all, byte| all | CLASSES[usize::from(byte)])
}

pub fn is(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// Whether the character these bytes begin with is punctuation, by its first bytes: Latin-1 signs, U+2000 to U+2FFF (dashes,
/// arrows, boxes, marks), U+3000 to U+303F, full-width forms, and everything beyond the first plane (emoji, stand-ins). Other
/// characters that are not ASCII count as letters.
pub fn separates(bytes: &[u8]) -> bool {
    matches!(bytes, [0xC2 | 0xE2 | 0xEF | 0xF0.., ..] | [0xE3, 0x80, ..])
}

/// How many bytes the character has that begins with this one.
pub fn length(first: u8) -> usize {
    match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}
