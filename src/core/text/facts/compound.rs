//! Names of several words: with hyphens, dots, an `@` or a port.

use super::FactKind;
use super::bytes::{self, DIGIT, DOT, LETTER, LOWER, WORD};
use super::token;

/// Minimum characters of a name with two hyphens, and of one with a digit.
const MIN_HYPHENATED: [usize; 2] = [12, 6];
/// Minimum bytes of a dotted name, and its minimum parts.
const MIN_DOTTED: (usize, usize) = (10, 3);
/// Minimum bytes of an address.
const MIN_ADDRESS: usize = 6;
/// Words that join others to a phrase: `side-by-side`, `up-to-date`. Sorted.
const JOINING: [&str; 14] = ["a", "and", "as", "at", "by", "for", "in", "of", "on", "or", "the", "to", "vs", "with"];
/// Lengths of the groups of a UUID.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];

/// Parses a run of letters, digits and hyphens as a UUID, or a name with two hyphens or a digit (`evict-idle-pool`, `pool-v2`), and no
/// phrase. A name with an identifier in it is left to its parts. Options (`--no-verify`) are none: agents know those of their tools.
pub fn parse_hyphenated(run: &str, classes: u8) -> Option<(FactKind, &str)> {
    let run = run.trim_end_matches('-');
    let name = run.trim_start_matches('-');
    if name.len() < MIN_HYPHENATED[1] || !name.contains('-') {
        return None;
    }
    if is_uuid(name) {
        return Some((FactKind::Hash, name));
    }
    let parts = || name.split('-');
    let is_word = |part: &str| !part.is_empty() && bytes::classes_of(part) & !WORD == 0;
    if !parts().all(is_word) || !bytes::has_class(name.as_bytes()[0], LETTER) {
        return None;
    }
    let has = |characters: usize| name.chars().nth(characters - 1).is_some();
    let is_phrase = || parts().skip(1).any(|part| JOINING.binary_search(&part).is_ok());
    let is_long = parts().count() >= 3 && has(MIN_HYPHENATED[0]) && !is_phrase();
    let has_fact =
        |part| matches!(token::classify_simple(part, bytes::classes_of(part)), Some(FactKind::Identifier | FactKind::Hash));
    let is_name = run.len() == name.len() && (is_long || classes & DIGIT != 0 && has(MIN_HYPHENATED[1]));
    (is_name && !parts().any(has_fact)).then_some((FactKind::Identifier, name))
}

/// Whether a text is a UUID, in small letters.
pub fn is_uuid(text: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    text.len() == 36 && text.split('-').map(str::len).eq(UUID) && text.split('-').all(is_hex)
}

/// Parses a run as `user@host` or `package@version`.
pub fn parse_address(run: &str) -> Option<&str> {
    let run = run.trim_end_matches(['.', '-', '+', '~', '@']);
    let (user, host) = run.split_once('@')?;
    let begins = |text: &str, class| text.bytes().next().is_some_and(|first| bytes::has_class(first, class));
    let is_address = begins(user, LETTER) && begins(host, LETTER | DIGIT) && !host.contains('@') && run.len() >= MIN_ADDRESS;
    is_address.then_some(run)
}

/// Whether a piece without a file's extension is a name of three parts in small letters: `pool.idle.limit`.
pub fn parse_dotted(piece: &str) -> Option<&str> {
    let name = piece.trim_matches('.');
    let is_word = |part: &str| part.len() >= 2 && bytes::classes_of(part) == LOWER;
    let (bytes, parts) = MIN_DOTTED;
    (name.len() >= bytes && name.split('.').count() >= parts && name.split('.').all(is_word)).then_some(name)
}

/// Returns the host and port whose host is the run `start..end`: `localhost:8080`, `10.0.0.7:8080`.
pub fn parse_host_and_port(line: &str, start: usize, end: usize) -> Option<&str> {
    let (host, bytes) = (&line[start..end], line.as_bytes());
    let is_numeric =
        || bytes::classes_of(host) == DIGIT | DOT && host.split('.').count() == 4 && token::parse_version(host).is_some();
    if host != "localhost" && !is_numeric() {
        return None;
    }
    let digits = bytes[end + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let stop = end + 1 + digits;
    let goes_on = bytes.get(stop).is_some_and(|next| *next == b':' || bytes::has_class(*next, WORD));
    ((2..=5).contains(&digits) && !goes_on).then(|| &line[start..stop])
}

/// Returns the host and port of a URL whose host is one of those: `localhost:8080` of `http://localhost:8080/users`.
pub fn address_of_url(url: &str) -> Option<&str> {
    let start = url.find("://")? + 3;
    let end = start + url[start..].find(':')?;
    parse_host_and_port(url, start, end)
}

/// Returns the number of an issue whose `#` is at `sign`: `#123`.
pub fn parse_issue(line: &str, sign: usize) -> Option<&str> {
    let number = digits_after(line, sign)?;
    let is_apart = sign.checked_sub(1).is_none_or(|before| !bytes::has_word_at(line.as_bytes(), before));
    ((2..=6).contains(&number.len()) && is_apart).then(|| &line[sign..=sign + number.len()])
}

/// Returns the number behind the `#` at `sign`, as far as it is a fact: `11028` of `#11028` and `pool#11028`.
pub fn number_of_issue(line: &str, sign: usize) -> Option<&str> {
    digits_after(line, sign).filter(|number| is_number(number))
}

/// Returns the digits behind a sign, up to the end of the word.
fn digits_after(line: &str, sign: usize) -> Option<&str> {
    let rest = &line[sign + 1..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (!bytes::has_word_at(rest.as_bytes(), digits)).then(|| &rest[..digits])
}

fn is_number(word: &str) -> bool {
    token::classify_simple(word, bytes::classes_of(word)) == Some(FactKind::Number)
}

/// Folders whose files are issues, in the addresses of services.
const ISSUES: [&str; 3] = ["issues", "pull", "pulls"];

/// Returns the number of an issue in an address, as far as it is a fact: `11028` of `pull/11028#top`.
pub fn issue_in_address(address: &str) -> Option<&str> {
    let (_, number) = address.split('/').zip(address.split('/').skip(1)).find(|(folder, _)| ISSUES.contains(folder))?;
    number.split(['#', '?']).next().filter(|number| is_number(number))
}

/// Returns the identifiers and hashes between the signs of a URL or of a path.
pub fn parts(text: &str) -> impl Iterator<Item = (FactKind, &str)> {
    let is_sign = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-');
    text.split(is_sign).filter(|part| part.len() >= MIN_HYPHENATED[1]).filter_map(|part| {
        let classes = bytes::classes_of(part);
        let simple = || token::classify_simple(part, classes).filter(|kind| *kind != FactKind::Number).map(|kind| (kind, part));
        parse_hyphenated(part, classes).or_else(simple)
    })
}
