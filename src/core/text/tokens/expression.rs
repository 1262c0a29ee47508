//! Splits a piece of text into pre-tokens, as the expression of its vocabulary does.
//!
//! The expressions are those of tiktoken, without what the crate `regex` lacks and does not need: possessive repetitions (none of these
//! expressions can match otherwise by giving characters back), and `\s+(?!\S)`, white space without the last character before
//! a word, which is cut off here.

use regex::Regex;

pub(super) const O200K: &str = concat!(
    r"^(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+)",
);

pub(super) const CL100K: &str = concat!(
    r"^(?:(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+)",
);

/// The tokens that the expression of o200k_base splits: they come about only as parts of longer pre-tokens. It splits no other token,
/// and that of cl100k_base splits none.
pub(super) const SPLIT_TOKENS: [&str; 12] = [
    "\n\n\n//",
    "\n\n//",
    "\n//",
    "\n//\n//",
    "\n///",
    "\r\n\r\n//",
    "\r\n//",
    " I'",
    " 亚洲AV",
    " 天天中彩票APP",
    "亚洲AV",
    "无码AV",
];

/// Compiles one of the expressions above.
pub(super) fn compile(expression: &str) -> Regex {
    Regex::new(expression).expect("both expressions are right")
}

/// Returns whether a piece is one match of both expressions: letters of ASCII, capitals before small ones, behind at most one sign or space.
pub(super) fn is_one_word(piece: &str) -> bool {
    let letters = match piece.as_bytes() {
        // An apostrophe may begin a match of its own (`'s`).
        [b'\'' | b'\r' | b'\n' | b'0'..=b'9', ..] => return false,
        [first, letters @ ..] if first.is_ascii() && !first.is_ascii_alphabetic() => letters,
        letters => letters,
    };
    let capitals = letters.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    !letters.is_empty() && letters[capitals..].iter().all(u8::is_ascii_lowercase)
}

/// Calls `each` with the pre-tokens of a text, in order. Concatenated, they are the text.
pub(super) fn for_each_pre_token<'t>(expression: &Regex, text: &'t str, mut each: impl FnMut(&'t str)) {
    let mut rest = text;
    while !rest.is_empty() {
        let end = expression.find(rest).expect("it matches at every character").end();
        let (pre_token, after) = rest.split_at(end - surplus_space(&rest[..end], &rest[end..]));
        each(pre_token);
        rest = after;
    }
}

/// Returns the bytes of the last character of white space before a word, which belongs to the word.
fn surplus_space(found: &str, after: &str) -> usize {
    let mut last = found.chars();
    match last.next_back() {
        // Only white space without a line end ends with white space.
        Some(space)
            if space.is_whitespace() && !matches!(space, '\r' | '\n') && !after.is_empty() && !last.as_str().is_empty() =>
        {
            space.len_utf8()
        }
        _ => 0,
    }
}
