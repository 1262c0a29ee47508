//! Text → pieces whose tokens can be counted one by one.
//!
//! o200k_base and cl100k_base first split a text by a regular expression into *pre-tokens* (a word with the space before it, up
//! to three digits, signs with the line ends after them, white space) and no token spans two of them. This module cuts only
//! where every match of both expressions must end whatever stands around, and where the text on either side is matched the
//! same without the other. So the pieces' counts add up to the text's. A piece is one pre-token, or a few; where these rules
//! see no sure cut (letters outside ASCII, for one), a piece is simply longer.

/// Characters that both expressions treat alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// ASCII letters.
    Letters,
    /// ASCII digits.
    Digits,
    /// The rest of ASCII, control characters among them.
    Signs,
    /// White space of all Unicode.
    Space,
    /// Anything else: letters, marks, numbers or signs outside ASCII.
    Other,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' | 'A'..='Z' => Class::Letters,
            '0'..='9' => Class::Digits,
            c if c.is_whitespace() => Class::Space,
            c if c.is_ascii() => Class::Signs,
            _ => Class::Other,
        }
    }
}

/// As many characters of one class as stand together.
#[derive(Clone, Copy)]
struct Run<'t> {
    class: Class,
    text: &'t str,
    start: usize,
}

impl<'t> Run<'t> {
    fn at(text: &'t str, start: usize) -> Option<Self> {
        let rest = text.get(start..)?;
        let class = Class::of(rest.chars().next()?);
        let len = match class {
            // Most runs are words, and bytes are read faster than characters.
            Class::Letters => rest.bytes().position(|b| !b.is_ascii_alphabetic()),
            class => rest.find(|c| Class::of(c) != class),
        };
        let len = len.unwrap_or(rest.len());
        Some(Self { class, text: &rest[..len], start })
    }

    fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// Calls `each` with the pieces of a text, in order; together they are the text.
pub fn for_each<'t>(text: &'t str, mut each: impl FnMut(&'t str)) {
    let mut from = 0;
    let mut cut = |at| {
        if at > from {
            each(&text[from..at]);
            from = at;
        }
    };
    let mut before = None;
    let mut run = Run::at(text, 0);
    while let Some(this) = run {
        let next = Run::at(text, this.end());
        match next {
            Some(next) if this.class == Class::Space => within_space(before, this, next).into_iter().flatten().for_each(&mut cut),
            Some(next) if splits(before, this, next) => cut(this.end()),
            _ => {}
        }
        (before, run) = (run, next);
    }
    cut(text.len());
}

/// Calls `each` with the lines of a text, their line ends included, in order: the pieces of each are those of the text. A line
/// whose beginning does not settle that stays with the one before.
pub fn for_each_line<'t>(text: &'t str, mut each: impl FnMut(&'t str)) {
    let mut from = 0;
    for line_end in memchr::memchr_iter(b'\n', text.as_bytes()) {
        if stands_alone(&text.as_bytes()[line_end + 1..]) {
            each(&text[from..=line_end]);
            from = line_end + 1;
        }
    }
    if from < text.len() {
        each(&text[from..]);
    }
}

/// Whether a line that begins so has the same pieces without what stands before it: a match ends behind the last line end of
/// white space, unless slashes behind it belong to signs before it.
fn stands_alone(line: &[u8]) -> bool {
    let indent = line.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
    indent.is_some_and(|at| line[at].is_ascii_graphic() && (at > 0 || line[at] != b'/'))
}

/// Whether a match always ends between a run and the next. White space is not asked about here.
fn splits(before: Option<Run>, run: Run, next: Run) -> bool {
    use Class::*;
    match (run.class, next.class) {
        (Letters, Digits) | (Digits, Letters | Signs) | (Signs, Digits) => true,
        // `don't` may stay together.
        (Letters, Signs) => !next.text.starts_with('\''),
        // One sign goes with the letters after it (`.push`); more are a match of their own, as is a space and a sign. But
        // slashes may belong to signs before a line end, and then one more sign may be all that is left for the letters.
        (Signs, Letters) => {
            let space = before.filter(|before| before.class == Space).map_or("", |space| space.text);
            space.ends_with(' ') || run.text.len() > 1 && !(run.text.starts_with('/') && space.ends_with(['\r', '\n']))
        }
        (Letters | Digits, Space) => true,
        // Signs take the line ends after them.
        (Signs | Other, Space) => !next.text.starts_with(['\r', '\n']),
        _ => false,
    }
}

/// Where matches end within white space that something follows: behind its last line end, and before its last character,
/// which goes with the word after it.
fn within_space(before: Option<Run>, space: Run, next: Run) -> [Option<usize>; 2] {
    let indent = space.text.rfind(['\r', '\n']).map_or(0, |line_end| line_end + 1);
    // Signs before the line end may take it, and slashes after it.
    let signs_before = before.is_some_and(|before| matches!(before.class, Class::Signs | Class::Other));
    let taken = indent == space.text.len() && signs_before && next.text.starts_with('/');
    let line = (indent > 0 && !taken).then_some(space.start + indent);
    let last = space.text[indent..].char_indices().next_back().filter(|(at, _)| *at > 0);
    [line, last.map(|(at, _)| space.start + indent + at)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<&str> {
        let mut pieces = Vec::new();
        for_each(text, |piece| pieces.push(piece));
        pieces
    }

    #[test]
    fn lines_have_the_pieces_of_their_text() {
        let parts = ["a", " ", "\n", "\r\n", "\t", "/", "//", "'s", "«é", "{", "7", "\n  ", ";\n", "\u{2028}"];
        for code in 0..parts.len().pow(4) {
            let text: String = (0..4).map(|digit| parts[code / parts.len().pow(digit) % parts.len()]).collect();
            let mut by_line = Vec::new();
            for_each_line(&text, |line| by_line.extend(pieces(line)));
            assert_eq!(by_line, pieces(&text), "{text:?}");
        }
        let mut lines = Vec::new();
        for_each_line("one\n  two\n\n/three\n", |line| lines.push(line));
        assert_eq!(lines, ["one\n", "  two\n\n/three\n"]);
    }

    #[test]
    fn words_go_with_the_space_before_them() {
        assert_eq!(pieces("let total = a1 + b22;"), ["let", " total", " =", " a", "1", " +", " b", "22", ";"]);
        assert_eq!(pieces("don't (stop)"), ["don't", " (", "stop", ")"]);
    }

    #[test]
    fn indentation_leaves_one_space_to_the_word() {
        assert_eq!(pieces("{\n    let x;\n\n}\n"), ["{\n", "   ", " let", " x", ";\n\n", "}\n"]);
        assert_eq!(pieces("a  \n"), ["a", "  \n"]);
    }

    #[test]
    fn unsure_places_are_not_cut() {
        assert_eq!(pieces("naïve Größe.\n/x"), ["naïve", " Größe", ".\n/x"]);
        assert_eq!(pieces("«日本»123…\n x"), ["«日本»123…\n", " x"]);
        assert_eq!(pieces(""), [""; 0]);
    }
}
