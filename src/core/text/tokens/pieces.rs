//! Splits text into pieces whose tokens can be counted separately.
//!
//! o200k_base and cl100k_base first split a text by a regular expression into *pre-tokens* (a word with the space before it, up
//! to three digits, signs with the line ends after them, white space), and no token spans two of them. This module cuts only
//! where a match of either expression always ends, in any context, and where the text on either side matches the same without
//! the other side. So the token counts of the pieces add up to that of the text. A piece is one pre-token or a few. Where these
//! rules find no sure cut (for example between letters outside ASCII), a piece is longer.

use std::ops::Range;

use super::blocks;

/// Classes of characters that both expressions treat the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharClass {
    /// ASCII letters.
    Letters,
    /// ASCII digits.
    Digits,
    /// The rest of ASCII, including control characters.
    Signs,
    /// Unicode white space.
    Space,
    /// Anything else: letters, marks, numbers or signs outside ASCII.
    Other,
}

/// The class of each byte that is a character, and of no other.
const ASCII_CLASSES: [Option<CharClass>; 256] = {
    let mut classes = [None; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte as usize] = Some(match byte {
            b'a'..=b'z' | b'A'..=b'Z' => CharClass::Letters,
            b'0'..=b'9' => CharClass::Digits,
            b'\t'..=b'\r' | b' ' => CharClass::Space,
            _ => CharClass::Signs,
        });
        byte += 1;
    }
    classes
};

impl CharClass {
    fn from_char(c: char) -> Self {
        match u8::try_from(c).ok().and_then(|byte| ASCII_CLASSES[usize::from(byte)]) {
            Some(class) => class,
            None if c.is_whitespace() => CharClass::Space,
            None => CharClass::Other,
        }
    }
}

/// A maximal run of characters of one class.
#[derive(Clone, Copy)]
struct CharRun<'t> {
    class: CharClass,
    text: &'t str,
    start: usize,
    end: usize,
}

impl<'t> CharRun<'t> {
    #[inline]
    fn at(text: &'t str, start: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        let class = match ASCII_CLASSES[usize::from(*bytes.get(start)?)] {
            Some(class) => class,
            None => CharClass::from_char(text[start..].chars().next()?),
        };
        // Most runs end before a byte that is a character, and scanning bytes is faster than scanning characters.
        let mut end = start;
        while let Some(byte) = bytes.get(end)
            && ASCII_CLASSES[usize::from(*byte)] == Some(class)
        {
            end += 1;
        }
        if bytes.get(end).is_some_and(|byte| !byte.is_ascii()) {
            end = end_of_class(text, end, class);
        }
        Some(Self { class, text, start, end })
    }

    fn text(&self) -> &'t str {
        &self.text[self.start..self.end]
    }
}

/// Returns where the characters of a class end that begin here, outside ASCII or not.
#[cold]
fn end_of_class(text: &str, start: usize, class: CharClass) -> usize {
    text[start..].find(|c| CharClass::from_char(c) != class).map_or(text.len(), |len| start + len)
}

/// Calls `each` with the pieces of a line of a text, in order. Concatenated, they are the line.
#[inline]
pub fn for_each(text: &str, line: Range<usize>, mut each: impl FnMut(Range<usize>)) {
    if blocks::is_plain(&text[line.clone()]) {
        blocks::for_each(text.as_bytes(), line, each);
    } else {
        by_runs(&text[line.clone()], |piece| each(line.start + piece.start..line.start + piece.end));
    }
}

/// Calls `each` with the pieces of a line, run by run.
pub(super) fn by_runs(text: &str, mut each: impl FnMut(Range<usize>)) {
    let mut from = 0;
    let mut cut = |at| {
        if at > from {
            each(from..at);
            from = at;
        }
    };
    let mut before = None;
    let mut run = CharRun::at(text, 0);
    while let Some(this) = run {
        let next = CharRun::at(text, this.end);
        match next {
            // It belongs to what is behind it.
            Some(_) if this.text() == " " => {}
            Some(next) if this.class == CharClass::Space => {
                cuts_in_space(before, this, next).into_iter().flatten().for_each(&mut cut)
            }
            Some(next) if is_sure_boundary(before, this, next) => cut(this.end),
            _ => {}
        }
        (before, run) = (run, next);
    }
    cut(text.len());
}

/// Calls `each` with the ranges of the lines of a text in order, including their line ends. The pieces of the lines are the pieces of the text.
/// Where a line's beginning cannot guarantee that, the line is joined to the previous one.
pub fn for_each_line(text: &str, mut each: impl FnMut(Range<usize>)) {
    let mut from = 0;
    for line_end in memchr::memchr_iter(b'\n', text.as_bytes()) {
        if starts_independently(&text.as_bytes()[line_end + 1..]) {
            each(from..line_end + 1);
            from = line_end + 1;
        }
    }
    if from < text.len() {
        each(from..text.len());
    }
}

/// Whether a line has the same pieces with and without the text before it. A match ends after the last line end of white space,
/// unless slashes after it belong to signs before it.
fn starts_independently(line: &[u8]) -> bool {
    let indent = line.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
    indent.is_some_and(|at| line[at].is_ascii_graphic() && (at > 0 || line[at] != b'/'))
}

/// Whether a match always ends between a run and the next one. `run` must not be white space.
fn is_sure_boundary(before: Option<CharRun>, run: CharRun, next: CharRun) -> bool {
    use CharClass::*;
    match (run.class, next.class) {
        (Letters, Digits) | (Digits, Letters | Signs) | (Signs, Digits) => true,
        // `don't` may be one match.
        (Letters, Signs) => !next.text().starts_with('\''),
        // One sign belongs to the letters after it (`.push`). Several signs are a separate match, and so is a space with a sign.
        // But slashes may belong to signs before a line end, and then only one sign may be left for the letters.
        (Signs, Letters) => {
            let space = before.filter(|before| before.class == Space).map_or("", |space| space.text());
            space.ends_with(' ') || run.text().len() > 1 && !(run.text().starts_with('/') && space.ends_with(['\r', '\n']))
        }
        (Letters | Digits, Space) => true,
        // Line ends belong to the signs before them.
        (Signs | Other, Space) => !next.text().starts_with(['\r', '\n']),
        _ => false,
    }
}

/// Returns where matches end within white space that is not at the end of the text: after its last line end, and before its last
/// character, which belongs to the next word.
fn cuts_in_space(before: Option<CharRun>, space: CharRun, next: CharRun) -> [Option<usize>; 2] {
    let indent = space.text().rfind(['\r', '\n']).map_or(0, |line_end| line_end + 1);
    // The line end, and slashes after it, may belong to signs before it.
    let signs_before = before.is_some_and(|before| matches!(before.class, CharClass::Signs | CharClass::Other));
    let belongs_to_signs = indent == space.text().len() && signs_before && next.text().starts_with('/');
    let line = (indent > 0 && !belongs_to_signs).then_some(space.start + indent);
    let last = space.text()[indent..].char_indices().next_back().filter(|(at, _)| *at > 0);
    [line, last.map(|(at, _)| space.start + indent + at)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces_of(text: &str) -> Vec<&str> {
        let mut pieces = Vec::new();
        for_each(text, 0..text.len(), |piece| pieces.push(&text[piece]));
        pieces
    }

    #[test]
    fn pieces_of_lines_equal_pieces_of_the_text() {
        let parts = ["a", " ", "\n", "\r\n", "\t", "/", "//", "'s", "«é", "{", "7", "\n  ", ";\n", "\u{2028}"];
        for code in 0..parts.len().pow(4) {
            let text: String = (0..4).map(|digit| parts[code / parts.len().pow(digit) % parts.len()]).collect();
            let mut by_line = Vec::new();
            for_each_line(&text, |line| by_line.extend(pieces_of(&text[line])));
            assert_eq!(by_line, pieces_of(&text), "{text:?}");
        }
        let mut lines = Vec::new();
        for_each_line("one\n  two\n\n/three\n", |line| lines.push(line));
        assert_eq!(lines, [0..4, 4..18]);
    }

    #[test]
    fn pieces_keep_the_space_before_a_word() {
        assert_eq!(pieces_of("let total = a1 + b22;"), ["let", " total", " =", " a", "1", " +", " b", "22", ";"]);
        assert_eq!(pieces_of("don't (stop)"), ["don't", " (", "stop", ")"]);
    }

    #[test]
    fn pieces_leave_one_space_of_indentation_to_the_word() {
        assert_eq!(pieces_of("{\n    let x;\n\n}\n"), ["{\n", "   ", " let", " x", ";\n\n", "}\n"]);
        assert_eq!(pieces_of("a  \n"), ["a", "  \n"]);
    }

    #[test]
    fn pieces_are_not_cut_at_unsure_places() {
        assert_eq!(pieces_of("naïve Größe.\n/x"), ["naïve", " Größe", ".\n/x"]);
        assert_eq!(pieces_of("«日本»123…\n x"), ["«日本»123…\n", " x"]);
        assert_eq!(pieces_of(""), [""; 0]);
    }
}
