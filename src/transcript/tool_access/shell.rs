//! A shell script → its simple commands, as far as quotes, operators, redirections and here-documents tell. Nothing is expanded:
//! a word that the shell would fill in is marked as open.

use std::borrow::Cow;

/// One word, without its quotes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word<'a> {
    pub text: Cow<'a, str>,
    /// It holds a variable or a substitution: what it stands for is not in the script.
    pub open: bool,
}

/// A program, its arguments and its redirections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Simple<'a> {
    pub words: Vec<Word<'a>>,
    /// The file its input comes from (`<`).
    pub input: Option<Word<'a>>,
    /// The files its outputs go to (`>`, `>>`, `2>`).
    pub outputs: Vec<Word<'a>>,
    /// Its standard output goes to a file: nobody reads it.
    pub silent: bool,
    /// Its input is what the command before it prints.
    pub piped: bool,
}

/// The simple commands of a script, in order. Bodies of here-documents and substitutions are not looked into.
pub fn commands(script: &str) -> Vec<Simple<'_>> {
    let mut scan = Scan { text: script, at: 0, documents: Vec::new() };
    let mut done = Vec::new();
    let mut now = Simple::default();
    while let Some(token) = scan.token() {
        match token {
            Token::Word(word) => now.words.push(word),
            Token::Input(word) => now.input = Some(word),
            Token::Output { to, standard } => {
                now.outputs.push(to);
                now.silent |= standard;
            }
            Token::Nothing => {}
            // A line may break after a pipe, and a bracket may follow it.
            Token::End { pipe } if now.words.is_empty() && now.outputs.is_empty() => now.piped |= pipe,
            Token::End { pipe } => done.push(std::mem::replace(&mut now, Simple { piped: pipe, ..Simple::default() })),
        }
    }
    done.push(now);
    done
}

enum Token<'a> {
    Word(Word<'a>),
    Input(Word<'a>),
    Output {
        to: Word<'a>,
        standard: bool,
    },
    /// A redirection that names no file.
    Nothing,
    /// A command ends; `pipe`: the next one reads what it prints.
    End {
        pipe: bool,
    },
}

struct Scan<'a> {
    text: &'a str,
    /// Always on an ASCII character that means something, or right behind one.
    at: usize,
    /// What ends the here-documents that begin on the next line, and whether tabs may stand before it.
    documents: Vec<(Word<'a>, bool)>,
}

impl<'a> Scan<'a> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Steps over these characters, if they are next.
    fn takes(&mut self, wanted: &str) -> bool {
        let found = self.text.as_bytes()[self.at.min(self.text.len())..].starts_with(wanted.as_bytes());
        self.at += if found { wanted.len() } else { 0 };
        found
    }

    fn token(&mut self) -> Option<Token<'a>> {
        self.skip_blanks();
        let end = |pipe| Some(Token::End { pipe });
        if self.takes("\n") {
            self.skip_documents();
            return end(false);
        }
        if self.takes("&>>") || self.takes("&>") {
            return Some(self.output(true));
        }
        if ["&&", "||", "&", ";", "(", ")"].iter().any(|operator| self.takes(operator)) {
            return end(false);
        }
        if self.takes("|&") || self.takes("|") {
            return end(true);
        }
        self.byte(0)?;
        Some(self.redirection().unwrap_or_else(|| Token::Word(self.word())))
    }

    /// Blanks, continued lines, and a comment.
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

    /// Where this byte stands next, or the end.
    fn find(&self, byte: u8, from: usize) -> usize {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        memchr::memchr(byte, rest).map_or(self.text.len(), |found| from + found)
    }

    fn redirection(&mut self) -> Option<Token<'a>> {
        let digits = self.text.as_bytes()[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let sign = self.byte(digits).filter(|byte| matches!(byte, b'<' | b'>'))?;
        let standard = matches!(&self.text[self.at..self.at + digits], "" | "1");
        self.at += digits;
        if self.byte(1) == Some(b'(') {
            self.at = substitution(self.text.as_bytes(), self.at + 1);
            return Some(Token::Word(Word { text: Cow::Borrowed(""), open: true }));
        }
        if sign == b'>' {
            let copies = self.takes(">&");
            let _ = copies || self.takes(">>") || self.takes(">|") || self.takes(">");
            let token = self.output(standard);
            let descriptor = |to: &Word| to.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            return Some(match token {
                Token::Output { to, .. } if copies && descriptor(&to) => Token::Nothing,
                token => token,
            });
        }
        if self.takes("<<<") {
            self.target();
            return Some(Token::Nothing);
        }
        if self.takes("<<") {
            let tabs = self.takes("-");
            let end = self.target();
            self.documents.push((end, tabs));
            return Some(Token::Nothing);
        }
        let copies = self.takes("<&");
        let _ = copies || self.takes("<>") || self.takes("<");
        let from = self.target();
        Some(if copies { Token::Nothing } else { Token::Input(from) })
    }

    fn output(&mut self, standard: bool) -> Token<'a> {
        Token::Output { to: self.target(), standard }
    }

    fn target(&mut self) -> Word<'a> {
        self.skip_blanks();
        self.word()
    }

    fn skip_documents(&mut self) {
        for (end, tabs) in std::mem::take(&mut self.documents) {
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
        let mut parts = Parts { text, parts: Vec::new(), from: self.at };
        let mut open = false;
        while let Some(byte) = self.byte(0) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                b'\\' => {
                    // A line that is continued has neither the backslash nor the line break.
                    let kept = if self.byte(1) == Some(b'\n') { 2 } else { 1 };
                    parts.cut(self.at, self.at + kept);
                    self.at = (self.at + 2).min(text.len());
                }
                b'\'' => {
                    parts.cut(self.at, self.at + 1);
                    let close = self.find(b'\'', self.at + 1);
                    parts.cut(close, close + 1);
                    self.at = (close + 1).min(text.len());
                }
                b'"' => open |= self.double_quoted(&mut parts),
                _ => open |= self.expansion(),
            }
        }
        // The last escape may stand at the end, or before a character of several bytes.
        while !text.is_char_boundary(self.at) {
            self.at += 1;
        }
        Word { text: parts.joined(self.at), open }
    }

    /// Steps over a text in double quotes; whether something in it is filled in.
    fn double_quoted(&mut self, parts: &mut Parts<'a>) -> bool {
        let mut open = false;
        parts.cut(self.at, self.at + 1);
        self.at += 1;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'"' => {
                    parts.cut(self.at, self.at + 1);
                    self.at += 1;
                    return open;
                }
                b'\\' => {
                    match self.byte(1) {
                        Some(b'"' | b'\\' | b'$' | b'`') => parts.cut(self.at, self.at + 1),
                        Some(b'\n') => parts.cut(self.at, self.at + 2),
                        _ => {}
                    }
                    self.at = (self.at + 2).min(self.text.len());
                }
                _ => open |= self.expansion(),
            }
        }
        open
    }

    /// Steps over a variable or a substitution (`true`), or over one byte.
    fn expansion(&mut self) -> bool {
        let next = self.byte(1);
        match self.byte(0) {
            Some(b'$') if matches!(next, Some(b'(' | b'{')) => {
                self.at = substitution(self.text.as_bytes(), self.at + 1);
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

/// The parts of a text that a word is made of: what is between its quotes and backslashes.
struct Parts<'a> {
    text: &'a str,
    parts: Vec<&'a str>,
    from: usize,
}

impl<'a> Parts<'a> {
    /// A part ends here and the next begins there.
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

/// Where the substitution ends whose bracket stands at `at`: brackets and quotes within are matched, however deep.
fn substitution(bytes: &[u8], mut at: usize) -> usize {
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
