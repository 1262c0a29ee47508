//! Splits a piece of text into pre-tokens, as the expression of its vocabulary does.
//!
//! The expressions are those of tiktoken, without what the crate `regex` lacks and does not need: possessive repetitions (none of these
//! expressions can match otherwise by giving characters back), and `\s+(?!\S)`, white space without the last character before
//! a word, which is cut off here. Words and numbers of ASCII, which are most pre-tokens, are found without an expression.

use std::sync::LazyLock;

use regex::Regex;

/// What splits the text of a vocabulary.
pub(super) struct Expression {
    /// Compiled on first use.
    regex: LazyLock<Regex>,
    /// Whether a word ends before a capital behind a small letter.
    ends_words_before_capitals: bool,
}

pub(super) static O200K: Expression =
    Expression { regex: LazyLock::new(|| compile(O200K_EXPRESSION)), ends_words_before_capitals: true };

pub(super) static CL100K: Expression =
    Expression { regex: LazyLock::new(|| compile(CL100K_EXPRESSION)), ends_words_before_capitals: false };

const O200K_EXPRESSION: &str = concat!(
    r"^(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+)",
);

const CL100K_EXPRESSION: &str = concat!(
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

fn compile(expression: &str) -> Regex {
    Regex::new(expression).expect("both expressions are right")
}

impl Expression {
    /// Calls `each` with the pre-tokens of a text, in order. Concatenated, they are the text. `own` is the caller's copy of the regular
    /// expression: threads that share one wait for each other.
    pub fn for_each<'t>(&self, own: &mut Option<Regex>, text: &'t str, mut each: impl FnMut(&'t str)) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = end_of_number(rest.as_bytes()).or_else(|| self.end_of_word(rest.as_bytes()));
            let end = end.unwrap_or_else(|| {
                let regex = own.get_or_insert_with(|| Regex::clone(&self.regex));
                let end = regex.find(rest).expect("it matches at every character").end();
                end - surplus_space(&rest[..end], &rest[end..])
            });
            let (pre_token, after) = rest.split_at(end);
            each(pre_token);
            rest = after;
        }
    }

    /// Returns where the first match ends, if it is of ASCII letters behind at most one sign or space and nothing behind them may belong to it.
    fn end_of_word(&self, text: &[u8]) -> Option<usize> {
        let start = match text {
            // An apostrophe may begin a match of its own (`'s`).
            [b'\'' | b'\r' | b'\n' | b'0'..=b'9', ..] => return None,
            [first, ..] if first.is_ascii() && !first.is_ascii_alphabetic() => 1,
            _ => 0,
        };
        let run = |start: usize, is_in: fn(&u8) -> bool| start + text[start..].iter().take_while(|byte| is_in(byte)).count();
        let end = if self.ends_words_before_capitals {
            run(run(start, u8::is_ascii_uppercase), u8::is_ascii_lowercase)
        } else {
            run(start, u8::is_ascii_alphabetic)
        };
        let is_sure = text.get(end).is_none_or(|next| next.is_ascii() && *next != b'\'');
        (end > start && is_sure).then_some(end)
    }
}

/// Returns where the first match ends, if it is of ASCII digits and nothing behind them may belong to it.
fn end_of_number(text: &[u8]) -> Option<usize> {
    let end = text.iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
    (end == 3 || end > 0 && text.get(end).is_none_or(u8::is_ascii)).then_some(end)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The pre-tokens, all found by the regular expression.
    fn by_regex<'t>(expression: &Expression, text: &'t str) -> Vec<&'t str> {
        let mut pre_tokens = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = expression.regex.find(rest).expect("it matches at every character").end();
            let (pre_token, after) = rest.split_at(end - surplus_space(&rest[..end], &rest[end..]));
            pre_tokens.push(pre_token);
            rest = after;
        }
        pre_tokens
    }

    #[test]
    fn words_and_numbers_of_ascii_are_found_as_by_the_regular_expression() {
        let parts = ["a", "z", "AZ", "'", "'s", "1", "23", " ", "\n", "\r", "_", "/", "é", "\u{301}", "٣", "\u{7f}", ""];
        let mut regex = [None, None];
        for code in 0..parts.len().pow(4) {
            let text: String = (0..4).map(|digit| parts[code / parts.len().pow(digit) % parts.len()]).collect();
            for (expression, regex) in [&O200K, &CL100K].into_iter().zip(&mut regex) {
                let mut found = Vec::new();
                expression.for_each(regex, &text, |pre_token| found.push(pre_token));
                assert_eq!(found, by_regex(expression, &text), "{text:?}");
            }
        }
    }

    #[test]
    fn only_o200k_cuts_before_capitals() {
        let words = |expression: &Expression| expression.end_of_word(b" fooBar(");
        assert_eq!([&O200K, &CL100K].map(words), [Some(4), Some(7)]);
        assert_eq!(
            ["HTTPServer x", "A", "_a", "'s", "1a", "_", "", "aé", "a's"].map(|text| O200K.end_of_word(text.as_bytes())),
            [Some(10), Some(1), Some(2), None, None, None, None, None, None]
        );
        assert_eq!(
            ["1234", "12", "12é", "1a", "a"].map(|text| end_of_number(text.as_bytes())),
            [Some(3), Some(2), None, Some(1), None]
        );
    }
}
