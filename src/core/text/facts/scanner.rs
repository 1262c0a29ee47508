//! The scanner: splits texts into lines, lines into words, and reports facts, in one pass.

use std::ops::Range;

use memchr::memchr_iter;

use super::adjacency::{LineAnchors, PendingFact};
use super::bytes::{self, ByteRun, DIGIT, DOT, JOINT, SLASH};
use super::common::{is_common, is_own_address, is_stand_in};
use super::file_names::FileNames;
use super::quotes::QuoteDetector;
use super::{FactKind, FactMatch, compound, key, line, normalize, quotes, token};

/// The scanner of one block.
pub struct Scanner<'s> {
    on_match: &'s mut dyn FnMut(FactMatch),
    line: u32,
    line_bytes: u32,
    /// Whether the current line is text that a file must already contain.
    in_file: bool,
    /// Total bytes of the texts.
    bytes: usize,
    /// Number of words read in the current line.
    word_index: u32,
    line_anchors: LineAnchors,
    files: FileNames,
}

/// Byte offset and word index at which a quotation of the line began.
type OpenQuote = Option<(usize, u32)>;

impl<'s> Scanner<'s> {
    /// Begins a block; `on_match` gets its facts.
    pub fn new(on_match: &'s mut dyn FnMut(FactMatch)) -> Self {
        Self {
            on_match,
            line: 0,
            line_bytes: 0,
            in_file: false,
            bytes: 0,
            word_index: 0,
            line_anchors: LineAnchors::default(),
            files: FileNames::default(),
        }
    }

    /// Reads one more text of the block.
    pub fn text(&mut self, text: &str, mut quotes: QuoteDetector) {
        self.bytes += text.len();
        if quotes == QuoteDetector::Input {
            (self.line_bytes, self.in_file) = (text.len() as u32, false);
            self.show_quotation(text);
        }
        let (head, breaks, tail) = normalize::head_and_tail(text);
        self.scan_lines(head, &mut quotes);
        if !tail.is_empty() {
            self.line += breaks as u32;
            self.scan_lines(tail, &mut quotes);
        }
        self.line += 1;
    }

    /// Reports the file names and returns the total bytes of the texts.
    pub fn finish(self) -> usize {
        self.files.report(self.on_match);
        self.bytes
    }

    fn scan_lines(&mut self, text: &str, quotes: &mut QuoteDetector) {
        let text = normalize::normalize(text);
        let mut start = 0;
        for end in memchr_iter(b'\n', text.as_bytes()) {
            self.scan_line(&text[start..end], quotes);
            start = end + 1;
            self.line += 1;
        }
        self.scan_line(&text[start..], quotes);
    }

    fn scan_line(&mut self, line: &str, quotes: &mut QuoteDetector) {
        let line = normalize::strip_line_number(line);
        self.line_bytes = line.len() as u32;
        let (line, quoted) = quotes.next_line(line);
        self.in_file = quoted && quotes.quotes_a_file();
        let text = normalize::strip_diff_sign(normalize::strip_search_location(line.trim()));
        if line::is_fact(text) {
            self.emit(FactKind::Line, text, key(FactKind::Line, text), &[], quoted);
        }
        self.scan_words(line);
        for index in 0..self.line_anchors.pending.len() {
            let PendingFact { kind, start, end, word } = self.line_anchors.pending[index];
            let (text, anchors) = (&line[start..end], self.line_anchors.nearest(word));
            self.emit(kind, text, key(kind, text), anchors.keys(), true);
            if kind == FactKind::Hash {
                self.show_short_forms(text, anchors.keys());
            }
        }
        self.line_anchors.clear();
    }

    fn scan_words(&mut self, line: &str) {
        let bytes = line.as_bytes();
        let (mut double, mut single, mut back, mut escaped): (OpenQuote, OpenQuote, OpenQuote, OpenQuote) = Default::default();
        let mut at = 0;
        self.word_index = 0;
        loop {
            at = self.scan_run(line, at, bytes::run_at(bytes, at));
            let Some(sign) = bytes.get(at) else { break };
            match sign {
                b'"' => self.scan_quote_mark(line, at..at + 1, &mut double),
                b'`' => self.scan_quote_mark(line, at..at + 1, &mut back),
                // Not an apostrophe: the mark is at the beginning of a word, or at the end of a quotation.
                b'\'' if !bytes::has_word_at(bytes, if single.is_some() { at + 1 } else { at.wrapping_sub(1) }) => {
                    self.scan_quote_mark(line, at..at + 1, &mut single);
                }
                b'#' => {
                    if let Some(issue) = compound::parse_issue(line, at) {
                        self.emit_anchor(FactKind::Identifier, issue);
                    }
                    self.show_number(compound::number_of_issue(line, at));
                }
                // A quotation inside a quotation, as in programs and commands.
                b'\\' if bytes.get(at + 1) == Some(&b'"') => {
                    self.scan_quote_mark(line, at..at + 2, &mut escaped);
                    at += 1;
                }
                // The letter of an escaped line break or tab, or of a class in a pattern, is not part of the next word.
                b'\\' if matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't' | b'b' | b'd' | b's' | b'w')) => at += 1,
                _ => {}
            }
            at += bytes::char_len(*sign);
        }
    }

    /// Reads a run, and the text after it if they form a URL. Returns the end offset.
    fn scan_run(&mut self, line: &str, start: usize, run: ByteRun) -> usize {
        if run.end == start {
            return start;
        }
        let (text, next) = (&line[start..run.end], line.as_bytes().get(run.end));
        if next == Some(&b':')
            && let Some(url) = token::parse_url(line, start, run.end)
        {
            self.word_index += 1;
            self.emit_unless_common(FactKind::Url, url);
            if let Some(address) = compound::address_of_url(url) {
                self.emit(FactKind::Identifier, address, key(FactKind::Identifier, address), &[], false);
            }
            self.show_parts(url);
            self.show_number(compound::issue_in_address(url));
            return offset_in(line, url) + url.len();
        }
        if next == Some(&b':')
            && let Some(address) = compound::parse_host_and_port(line, start, run.end)
        {
            self.word_index += 1;
            self.emit_anchor(FactKind::Identifier, address);
            return start + address.len();
        }
        if run.classes & (DIGIT | SLASH) == DIGIT | SLASH {
            self.show_number(compound::issue_in_address(text));
        }
        if run.classes & (DOT | SLASH) != 0 {
            let mut rest = text;
            if run.classes & DOT != 0
                && let Some((from, to)) = token::split_range(text)
            {
                self.scan_joined(line, from, run.classes, false);
                rest = to;
            }
            while !rest.is_empty() {
                let (before, after) = token::split_search_line(rest, run.classes);
                self.scan_joined(line, before, run.classes, next == Some(&b'('));
                rest = after;
            }
        } else if run.classes & JOINT != 0 {
            self.scan_hyphenated(line, text, run.classes);
        } else if !token::may_be_simple(run.classes) {
            self.word_index += 1;
        } else {
            self.scan_simple(line, text, run.classes);
        }
        run.end
    }

    /// Opens a quotation with the quotation mark at `sign`, or closes it and stores the text in it.
    fn scan_quote_mark(&mut self, line: &str, sign: Range<usize>, opened: &mut OpenQuote) {
        let Some((start, word)) = opened.take() else {
            *opened = Some((sign.end, self.word_index));
            return;
        };
        let inner = &line[start..sign.start];
        if quotes::is_quotation(inner) {
            self.line_anchors.pending.push(PendingFact { kind: FactKind::Quoted, start, end: sign.start, word });
        }
    }

    /// Reads a run with hyphens or other joints, without dots and slashes.
    fn scan_hyphenated(&mut self, line: &str, run: &str, classes: u8) {
        match compound::parse_hyphenated(run, classes) {
            Some((FactKind::Identifier, name)) => self.emit_anchor(FactKind::Identifier, name),
            Some((kind, name)) => {
                self.word_index += 1;
                return self.defer(line, kind, name);
            }
            None => {}
        }
        if token::may_be_simple(classes) || run.contains('@') {
            self.scan_joined(line, run, classes, false);
        } else {
            self.word_index += 1;
        }
    }

    /// Reads a run with dots, slashes or other joints: a path, or the parts between the joints.
    fn scan_joined(&mut self, line: &str, run: &str, classes: u8, is_called: bool) {
        if classes & SLASH != 0
            && let Some(path) = token::parse_path(run)
        {
            if path.is_numbered() {
                self.word_index += 1;
            } else if token::is_list_of_words(run) {
                self.word_index += 1;
                self.emit(FactKind::Path, path.canonical, key(FactKind::Path, path.canonical), &[], false);
                self.show_folders(path);
                self.show_parts(path.whole);
            } else {
                self.add_path(path);
            }
            return;
        }
        if classes & (JOINT | SLASH) == JOINT
            && let Some(address) = compound::parse_address(run)
        {
            self.word_index += 1;
            if !is_own_address(address) {
                self.emit_anchor(FactKind::Identifier, address);
            }
            return;
        }
        let last = run.rfind(['/', '@', '+', '~']).map_or(0, |joint| joint + 1);
        for piece in run.split(['/', '@', '+', '~']) {
            // `response.json(` is the call of a method.
            let is_method = is_called && offset_in(run, piece) == last;
            if classes & DOT != 0
                && !is_method
                && let Some(name) = token::parse_file_name(piece)
            {
                // `*_test.rs` is a pattern and not a file name.
                if !line[..offset_in(line, name)].trim_end_matches('.').ends_with('*') {
                    self.add_file(name);
                }
            } else if token::may_be_simple(classes) {
                piece.split('-').for_each(|part| self.scan_dotted(line, part, classes));
            } else if classes & DOT != 0
                && !is_method
                && let Some(name) = compound::parse_dotted(piece)
            {
                self.emit_anchor(FactKind::Identifier, name);
            }
        }
        self.word_index += 1;
    }

    fn scan_dotted(&mut self, line: &str, part: &str, classes: u8) {
        if classes & DOT != 0
            && classes & DIGIT != 0
            && let Some(version) = token::parse_version(part)
        {
            self.defer(line, FactKind::Number, version);
            return;
        }
        part.split('.').for_each(|word| self.scan_simple(line, word, bytes::classes_of(word)));
    }

    fn scan_simple(&mut self, line: &str, text: &str, classes: u8) {
        self.word_index += 1;
        match token::classify_simple(text, classes) {
            Some(FactKind::Identifier) => self.emit_anchor(FactKind::Identifier, text),
            Some(kind) => self.defer(line, kind, text),
            None => {}
        }
    }

    fn add_path(&mut self, path: token::ParsedPath) {
        self.word_index += 1;
        self.emit_anchor(FactKind::Path, path.canonical);
        self.show_parts(path.whole);
        self.show_folders(path);
        // Outside a path, these signs would split the name.
        if let Some(name) = path.name.rsplit(['@', '+', '~']).next().and_then(token::parse_file_name) {
            let (key, is_new) = self.files.add_in_path(name);
            if is_new && !is_common(key) {
                self.emit(FactKind::File, name, key, &[], false);
            }
            // The file name is an anchor too, because other texts may write the same file with another part of its path.
            self.line_anchors.add_anchor(self.word_index, key);
        }
    }

    fn add_file(&mut self, name: &str) {
        self.word_index += 1;
        let key = key(FactKind::File, name);
        if is_common(key) || is_stand_in(FactKind::File, name) {
            return;
        }
        self.line_anchors.add_anchor(self.word_index, key);
        self.files.add(name, key, (self.line, self.line_bytes, self.in_file));
    }

    fn emit_anchor(&mut self, kind: FactKind, text: &str) {
        if let Some(key) = self.emit_unless_common(kind, text) {
            self.line_anchors.add_anchor(self.word_index, key);
        }
    }

    /// Reports a fact and returns its key, unless it is on the stop list.
    fn emit_unless_common(&mut self, kind: FactKind, text: &str) -> Option<u64> {
        let key = key(kind, text);
        if is_common(key) || is_stand_in(kind, text) {
            return None;
        }
        self.emit(kind, text, key, &[], true);
        Some(key)
    }

    fn defer(&mut self, line: &str, kind: FactKind, text: &str) {
        if !is_common(key(kind, text)) {
            let start = offset_in(line, text);
            self.line_anchors.pending.push(PendingFact { kind, start, end: start + text.len(), word: self.word_index });
        }
    }

    pub(super) fn emit(&mut self, kind: FactKind, text: &str, key: u64, anchors: &[u64], said: bool) {
        let (line, line_bytes, in_file) = (self.line, self.line_bytes, self.in_file);
        (self.on_match)(FactMatch { kind, text, key, line, line_bytes, anchors, said, in_file });
    }
}

/// Returns the byte offset of a part in its text.
fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}
