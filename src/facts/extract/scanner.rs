//! The one pass: texts to lines, lines to words, words to sightings.

use std::collections::HashSet;
use std::ops::Range;

use memchr::memchr_iter;

use super::adjacency::{Beside, Waiting};
use super::bytes::{self, DIGIT, DOT, JOINT, Run, SLASH};
use super::common::is_common;
use super::quotes::Quotes;
use super::{FactKind, FactMatch, key, normalize, token};

/// Characters of a line that is a fact, at least.
const LINE: usize = 20;
/// Characters of a quoted string.
const QUOTED: std::ops::RangeInclusive<usize> = 8..=100;

/// The scanner of one block.
pub struct Scanner<'s> {
    seen: &'s mut dyn FnMut(FactMatch),
    line: u32,
    line_bytes: u32,
    /// Bytes of the texts.
    bytes: usize,
    /// How many words of the line were read.
    word: u32,
    beside: Beside,
    files: Files,
}

/// File names wait for the end of the block: a path in it may end in one.
#[derive(Default)]
struct Files {
    names: String,
    named: Vec<Named>,
    /// Keys of the names that paths end in.
    of_paths: HashSet<u64>,
}

struct Named {
    /// Where the name ends in `names`; it begins where the one before ends.
    end: usize,
    key: u64,
    line: u32,
    line_bytes: u32,
}

/// Where a quotation of the line began, and after how many words.
type Opened = Option<(usize, u32)>;

impl<'s> Scanner<'s> {
    pub fn new(seen: &'s mut dyn FnMut(FactMatch)) -> Self {
        Self { seen, line: 0, line_bytes: 0, bytes: 0, word: 0, beside: Beside::default(), files: Files::default() }
    }

    /// Reads one more text of the block.
    pub fn text(&mut self, text: &str, mut quotes: Quotes) {
        self.bytes += text.len();
        let (head, breaks, tail) = normalize::ends(text);
        self.lines(head, &mut quotes);
        if !tail.is_empty() {
            self.line += breaks as u32;
            self.lines(tail, &mut quotes);
        }
        self.line += 1;
    }

    /// Says what was kept back. Gives the bytes of the texts.
    pub fn finish(self) -> usize {
        let mut start = 0;
        for Named { end, key, line, line_bytes } in self.files.named {
            if !self.files.of_paths.contains(&key) {
                let text = &self.files.names[start..end];
                (self.seen)(FactMatch { kind: FactKind::File, text, key, line, line_bytes, anchors: &[], said: true });
            }
            start = end;
        }
        self.bytes
    }

    fn lines(&mut self, text: &str, quotes: &mut Quotes) {
        let text = normalize::normal(text);
        let mut start = 0;
        for end in memchr_iter(b'\n', text.as_bytes()) {
            self.one_line(&text[start..end], quotes);
            start = end + 1;
            self.line += 1;
        }
        self.one_line(&text[start..], quotes);
    }

    fn one_line(&mut self, line: &str, quotes: &mut Quotes) {
        let line = normalize::line(line);
        self.line_bytes = line.len() as u32;
        let (line, quoted) = quotes.next(line);
        let text = normalize::without_sign(normalize::without_place(line.trim()));
        if text.len() >= LINE && (text.len() >= 4 * LINE || text.is_ascii() || text.chars().nth(LINE - 1).is_some()) {
            self.see(FactKind::Line, text, key(FactKind::Line, text), &[], quoted);
        }
        self.words(line);
        for index in 0..self.beside.waiting.len() {
            let Waiting { kind, start, end, word } = self.beside.waiting[index];
            let (text, anchors) = (&line[start..end], self.beside.nearest(word));
            self.see(kind, text, key(kind, text), anchors.keys(), true);
        }
        self.beside.clear();
    }

    fn words(&mut self, line: &str) {
        let all = line.as_bytes();
        let (mut double, mut back, mut escaped): (Opened, Opened, Opened) = (None, None, None);
        let mut at = 0;
        self.word = 0;
        loop {
            at = self.run(line, at, bytes::run(all, at));
            let Some(sign) = all.get(at) else { break };
            match sign {
                b'"' => self.quotation(line, at..at + 1, &mut double),
                b'`' => self.quotation(line, at..at + 1, &mut back),
                // A quotation within one, as programs and commands in programs have them.
                b'\\' if all.get(at + 1) == Some(&b'"') => {
                    self.quotation(line, at..at + 2, &mut escaped);
                    at += 1;
                }
                // The letter of a break or a tab that is written as an escape does not begin what follows.
                b'\\' if matches!(all.get(at + 1), Some(b'n' | b'r' | b't')) => at += 1,
                _ => {}
            }
            at += bytes::length(*sign);
        }
    }

    /// Reads a run, and what follows it if they make a URL. Says where that ends.
    fn run(&mut self, line: &str, start: usize, run: Run) -> usize {
        if run.end == start {
            return start;
        }
        let (text, next) = (&line[start..run.end], line.as_bytes().get(run.end));
        if next == Some(&b':')
            && let Some(url) = token::url(line, start, run.end)
        {
            self.word += 1;
            self.fact(FactKind::Url, url);
            return place(line, url) + url.len();
        }
        if run.classes & (DOT | SLASH) != 0 {
            let mut rest = text;
            while !rest.is_empty() {
                let (one, after) = token::of_search(rest, run.classes);
                self.joined(line, one, run.classes, next == Some(&b'('));
                rest = after;
            }
        } else if !token::may_be_simple(run.classes) {
            self.word += 1;
        } else if run.classes & JOINT != 0 {
            self.joined(line, text, run.classes, false);
        } else {
            self.simple(line, text, run.classes);
        }
        run.end
    }

    /// Opens a quotation with the sign at `sign`, or closes it and keeps what is in it.
    fn quotation(&mut self, line: &str, sign: Range<usize>, opened: &mut Opened) {
        let Some((start, word)) = opened.take() else {
            *opened = Some((sign.end, self.word));
            return;
        };
        let inner = &line[start..sign.start];
        let may_be = inner.len() >= *QUOTED.start() && inner.len() <= 4 * QUOTED.end();
        if may_be && inner.contains(' ') && QUOTED.contains(&inner.chars().count()) {
            self.beside.waiting.push(Waiting { kind: FactKind::Quoted, start, end: sign.start, word });
        }
    }

    /// A run with dots, slashes or other joints in it: a path, or what stands between the joints.
    fn joined(&mut self, line: &str, run: &str, classes: u8, is_called: bool) {
        if classes & SLASH != 0
            && let Some(path) = token::path(run)
        {
            self.path(path);
            return;
        }
        let last = run.rfind(['/', '@', '+', '~']).map_or(0, |joint| joint + 1);
        for piece in run.split(['/', '@', '+', '~']) {
            // `response.json(` is a method's name.
            let is_method = is_called && place(run, piece) == last;
            if classes & DOT != 0
                && !is_method
                && let Some(name) = token::file(piece)
            {
                // `*_test.rs` names no file.
                if !line[..place(line, name)].ends_with('*') {
                    self.file(name);
                }
            } else if token::may_be_simple(classes) {
                piece.split('-').for_each(|part| self.dotted(line, part, classes));
            }
        }
        self.word += 1;
    }

    fn dotted(&mut self, line: &str, part: &str, classes: u8) {
        if classes & DOT != 0
            && classes & DIGIT != 0
            && let Some(version) = token::version(part)
        {
            self.wait(line, FactKind::Number, version);
            return;
        }
        part.split('.').for_each(|word| self.simple(line, word, bytes::classes_of(word)));
    }

    fn simple(&mut self, line: &str, text: &str, classes: u8) {
        self.word += 1;
        match token::simple(text, classes) {
            Some(FactKind::Identifier) => self.anchor(FactKind::Identifier, text),
            Some(kind) => self.wait(line, kind, text),
            None => {}
        }
    }

    fn path(&mut self, path: token::Path) {
        self.word += 1;
        self.anchor(FactKind::Path, path.canonical);
        // Alone, a name would end where these signs begin another.
        if let Some(name) = path.name.rsplit(['@', '+', '~']).next().and_then(token::file) {
            let key = key(FactKind::File, name);
            if self.files.of_paths.insert(key) && !is_common(key) {
                self.see(FactKind::File, name, key, &[], false);
            }
            // What is beside a path is beside its file, however much of the path is written elsewhere.
            self.beside.anchor(self.word, key);
        }
    }

    fn file(&mut self, name: &str) {
        self.word += 1;
        let key = key(FactKind::File, name);
        if is_common(key) {
            return;
        }
        self.beside.anchor(self.word, key);
        self.files.names.push_str(name);
        let end = self.files.names.len();
        self.files.named.push(Named { end, key, line: self.line, line_bytes: self.line_bytes });
    }

    fn anchor(&mut self, kind: FactKind, text: &str) {
        if let Some(key) = self.fact(kind, text) {
            self.beside.anchor(self.word, key);
        }
    }

    /// Sees a fact, unless every session has it.
    fn fact(&mut self, kind: FactKind, text: &str) -> Option<u64> {
        let key = key(kind, text);
        if is_common(key) {
            return None;
        }
        self.see(kind, text, key, &[], true);
        Some(key)
    }

    fn wait(&mut self, line: &str, kind: FactKind, text: &str) {
        if !is_common(key(kind, text)) {
            let start = place(line, text);
            self.beside.waiting.push(Waiting { kind, start, end: start + text.len(), word: self.word });
        }
    }

    fn see(&mut self, kind: FactKind, text: &str, key: u64, anchors: &[u64], said: bool) {
        let (line, line_bytes) = (self.line, self.line_bytes);
        (self.seen)(FactMatch { kind, text, key, line, line_bytes, anchors, said });
    }
}

/// Where a part of a text begins in it.
fn place(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}
