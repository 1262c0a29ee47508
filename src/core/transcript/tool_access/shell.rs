//! Splits a shell script into simple commands.
//!
//! It understands quotes, operators, redirections and here-documents. It expands nothing: words with variables or substitutions are
//! only marked ([`Word::has_expansion`]).

use std::borrow::Cow;

/// One word, without its quotes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word<'a> {
    pub text: Cow<'a, str>,
    /// The word contains a variable or a substitution, so its value is not known.
    pub has_expansion: bool,
}

/// A program, its arguments and its redirections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommand<'a> {
    pub words: Vec<Word<'a>>,
    /// The file of the standard input (`<`).
    pub input: Option<Word<'a>>,
    /// The files of redirected output (`>`, `>>`, `2>`).
    pub outputs: Vec<Word<'a>>,
    /// The standard output goes to a file, so the agent does not see it.
    pub redirects_stdout: bool,
    /// The standard input is the output of the previous command.
    pub piped: bool,
}

/// Returns the simple commands of a script, in order. Skips the bodies of here-documents and substitutions.
pub fn commands(script: &str) -> Vec<SimpleCommand<'_>> {
    let mut scanner = Scanner { text: script, at: 0, pending_documents: Vec::new() };
    let mut commands = Vec::new();
    let mut current = SimpleCommand::default();
    while let Some(token) = scanner.token() {
        match token {
            Token::Word(word) => current.words.push(word),
            Token::Input(word) => current.input = Some(word),
            Token::Output { to, is_stdout } => {
                current.outputs.push(to);
                current.redirects_stdout |= is_stdout;
            }
            Token::Ignored => {}
            // A line break or a bracket may follow a pipe.
            Token::End { pipe } if current.words.is_empty() && current.outputs.is_empty() => current.piped |= pipe,
            Token::End { pipe } => {
                commands.push(std::mem::replace(&mut current, SimpleCommand { piped: pipe, ..SimpleCommand::default() }))
            }
        }
    }
    commands.push(current);
    commands
}

enum Token<'a> {
    Word(Word<'a>),
    Input(Word<'a>),
    Output {
        to: Word<'a>,
        is_stdout: bool,
    },
    /// A redirection that does not name a file.
    Ignored,
    /// The end of a command.
    End {
        /// The next command reads its output.
        pipe: bool,
    },
}

struct Scanner<'a> {
    text: &'a str,
    /// Byte offset. It is at an ASCII character with a meaning, or directly after one.
    at: usize,
    /// End markers of the here-documents that begin on the next line, and whether tabs before the end marker are allowed.
    pending_documents: Vec<(Word<'a>, bool)>,
}

impl<'a> Scanner<'a> {
    /// Returns the byte `ahead` bytes after the current position.
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Consumes these characters if they come next; returns whether they did.
    fn take(&mut self, expected: &str) -> bool {
        let is_next = self.text.as_bytes()[self.at.min(self.text.len())..].starts_with(expected.as_bytes());
        self.at += if is_next { expected.len() } else { 0 };
        is_next
    }

    fn token(&mut self) -> Option<Token<'a>> {
        self.skip_blanks();
        let end = |pipe| Some(Token::End { pipe });
        if self.take("\n") {
            self.skip_documents();
            return end(false);
        }
        if self.take("&>>") || self.take("&>") {
            return Some(self.output(true));
        }
        if ["&&", "||", "&", ";", "(", ")"].iter().any(|operator| self.take(operator)) {
            return end(false);
        }
        if self.take("|&") || self.take("|") {
            return end(true);
        }
        self.byte(0)?;
        Some(self.redirection().unwrap_or_else(|| Token::Word(self.word())))
    }

    /// Skips blanks, line continuations and a comment.
    fn skip_blanks(&mut self) {
        loop {
            match self.byte(0) {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.byte(1) == Some(b'\n') => self.at += 2,
                Some(b'#') => self.at = self.find(b'\n', self.at),
                _ => return,
            }
        }
    }

    /// Returns the position of the next such byte, or of the end of the text.
    fn find(&self, byte: u8, from: usize) -> usize {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        memchr::memchr(byte, rest).map_or(self.text.len(), |found| from + found)
    }

    fn redirection(&mut self) -> Option<Token<'a>> {
        let digits = self.text.as_bytes()[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let sign = self.byte(digits).filter(|byte| matches!(byte, b'<' | b'>'))?;
        let is_stdout = matches!(&self.text[self.at..self.at + digits], "" | "1");
        self.at += digits;
        if self.byte(1) == Some(b'(') {
            self.at = end_of_substitution(self.text.as_bytes(), self.at + 1);
            return Some(Token::Word(Word { text: Cow::Borrowed(""), has_expansion: true }));
        }
        if sign == b'>' {
            let copies = self.take(">&");
            let _ = copies || self.take(">>") || self.take(">|") || self.take(">");
            let token = self.output(is_stdout);
            let descriptor = |to: &Word| to.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            return Some(match token {
                Token::Output { to, .. } if copies && descriptor(&to) => Token::Ignored,
                token => token,
            });
        }
        if self.take("<<<") {
            self.target();
            return Some(Token::Ignored);
        }
        if self.take("<<") {
            let tabs = self.take("-");
            let end = self.target();
            self.pending_documents.push((end, tabs));
            return Some(Token::Ignored);
        }
        let copies = self.take("<&");
        let _ = copies || self.take("<>") || self.take("<");
        let from = self.target();
        Some(if copies { Token::Ignored } else { Token::Input(from) })
    }

    fn output(&mut self, is_stdout: bool) -> Token<'a> {
        Token::Output { to: self.target(), is_stdout }
    }

    fn target(&mut self) -> Word<'a> {
        self.skip_blanks();
        self.word()
    }

    fn skip_documents(&mut self) {
        for (end, tabs) in std::mem::take(&mut self.pending_documents) {
            while self.at < self.text.len() {
                let stop = self.find(b'\n', self.at);
                let line = self.text[self.at..stop].trim_end_matches('\r');
                self.at = (stop + 1).min(self.text.len());
                if end.text == if tabs { line.trim_start_matches('\t') } else { line } {
                    break;
                }
            }
        }
    }

    fn word(&mut self) -> Word<'a> {
        let text = self.text;
        let mut parts = WordParts { text, parts: Vec::new(), from: self.at };
        let mut has_expansion = false;
        while let Some(byte) = self.byte(0) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                b'\\' => {
                    // A line continuation: neither the backslash nor the line break is part of the word.
                    let skipped = if self.byte(1) == Some(b'\n') { 2 } else { 1 };
                    parts.cut(self.at, self.at + skipped);
                    self.at = (self.at + 2).min(text.len());
                }
                b'\'' => {
                    parts.cut(self.at, self.at + 1);
                    let close = self.find(b'\'', self.at + 1);
                    parts.cut(close, close + 1);
                    self.at = (close + 1).min(text.len());
                }
                b'"' => has_expansion |= self.double_quoted(&mut parts),
                _ => has_expansion |= self.expansion(),
            }
        }
        // An escape may be at the end of the text, or before a character of several bytes.
        while !text.is_char_boundary(self.at) {
            self.at += 1;
        }
        Word { text: parts.joined(self.at), has_expansion }
    }

    /// Consumes a string in double quotes; returns whether it contains an expansion.
    fn double_quoted(&mut self, parts: &mut WordParts<'a>) -> bool {
        let mut has_expansion = false;
        parts.cut(self.at, self.at + 1);
        self.at += 1;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'"' => {
                    parts.cut(self.at, self.at + 1);
                    self.at += 1;
                    return has_expansion;
                }
                b'\\' => {
                    match self.byte(1) {
                        Some(b'"' | b'\\' | b'$' | b'`') => parts.cut(self.at, self.at + 1),
                        Some(b'\n') => parts.cut(self.at, self.at + 2),
                        _ => {}
                    }
                    self.at = (self.at + 2).min(self.text.len());
                }
                _ => has_expansion |= self.expansion(),
            }
        }
        has_expansion
    }

    /// Consumes a variable or a substitution and returns `true`, or consumes one byte.
    fn expansion(&mut self) -> bool {
        let next = self.byte(1);
        match self.byte(0) {
            Some(b'$') if matches!(next, Some(b'(' | b'{')) => {
                self.at = end_of_substitution(self.text.as_bytes(), self.at + 1);
                true
            }
            Some(b'`') => {
                self.at = (self.find(b'`', self.at + 1) + 1).min(self.text.len());
                true
            }
            byte => {
                self.at += 1;
                let named = next.is_some_and(|next| next.is_ascii_alphanumeric() || b"_@*#?!".contains(&next));
                byte == Some(b'$') && named
            }
        }
    }
}

/// Collects the parts of a word: the text between its quotes and backslashes.
struct WordParts<'a> {
    text: &'a str,
    parts: Vec<&'a str>,
    from: usize,
}

impl<'a> WordParts<'a> {
    /// Ends a part at `end`; the next part begins at `next`.
    fn cut(&mut self, end: usize, next: usize) {
        self.parts.extend(self.text.get(self.from..end).filter(|part| !part.is_empty()));
        self.from = next.min(self.text.len());
    }

    fn joined(mut self, end: usize) -> Cow<'a, str> {
        self.cut(end, end);
        match self.parts[..] {
            [] => Cow::Borrowed(""),
            [only] => Cow::Borrowed(only),
            _ => Cow::Owned(self.parts.concat()),
        }
    }
}

/// Returns the end of a substitution whose opening bracket is at `at`. Nested brackets and quotes are matched.
fn end_of_substitution(bytes: &[u8], mut at: usize) -> usize {
    let mut closes: Vec<u8> = Vec::new();
    while let Some(&byte) = bytes.get(at) {
        let quoted = closes.last() == Some(&b'"');
        match byte {
            b'\\' => at += 1,
            _ if closes.last() == Some(&byte) => {
                closes.pop();
            }
            b'"' => closes.push(b'"'),
            b'(' if !quoted || bytes[at - 1] == b'$' => closes.push(b')'),
            b'{' if closes.is_empty() || bytes[at - 1] == b'$' => closes.push(b'}'),
            b'\'' if !quoted => at = memchr::memchr(b'\'', &bytes[at + 1..]).map_or(bytes.len(), |found| at + 1 + found),
            _ => {}
        }
        at += 1;
        if closes.is_empty() {
            break;
        }
    }
    at.min(bytes.len())
}
