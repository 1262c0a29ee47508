//! Tokens of a text, and the steps in which llama.cpp's server is asked about them.

use std::fmt::Write;

use serde_json::Value;

/// A token and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub id: u64,
    pub bytes: Vec<u8>,
}

/// One request about tokens after a prompt.
#[derive(Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// Tokens of whole characters, which a grammar makes the model write.
    Whole { prompt: &'a [Piece], tokens: &'a [Piece] },
    /// A token that no grammar allows.
    Part { prompt: &'a [Piece], token: &'a Piece },
}

impl Piece {
    /// Reads a token of an answer to `/tokenize`. Its text is a list of bytes if it is not valid UTF-8.
    pub fn read(token: &Value) -> Option<Self> {
        let byte = |value: &Value| value.as_u64().and_then(|byte| u8::try_from(byte).ok());
        let bytes = match &token["piece"] {
            Value::String(text) => text.clone().into_bytes(),
            Value::Array(bytes) => bytes.iter().map(byte).collect::<Option<_>>()?,
            _ => return None,
        };
        Some(Self { id: token["id"].as_u64()?, bytes })
    }

    /// Whether a grammar can ask for this token. The server's grammars know no empty token, and none that begins with a NUL.
    fn is_whole(&self) -> bool {
        std::str::from_utf8(&self.bytes).is_ok_and(|text| !text.is_empty() && !text.starts_with('\0'))
    }
}

/// Returns the first of the last tokens that hold `text`; `None` if the tokens do not end with it.
pub fn first_of(pieces: &[Piece], text: &str) -> Option<usize> {
    let mut rest = text.as_bytes();
    let mut first = pieces.len();
    while !rest.is_empty() {
        first = first.checked_sub(1)?;
        let bytes = &pieces[first].bytes;
        // The first token may begin before the text.
        rest = rest.strip_suffix(&bytes[..]).or_else(|| bytes.ends_with(rest).then_some(&[]))?;
    }
    Some(first)
}

/// Returns the steps for the tokens from `first` on.
pub fn steps(pieces: &[Piece], first: usize) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut at = first;
    while at < pieces.len() {
        let (prompt, rest) = pieces.split_at(at);
        let whole = rest.iter().take_while(|piece| piece.is_whole()).count();
        steps.push(match whole {
            0 => Step::Part { prompt, token: &rest[0] },
            _ => Step::Whole { prompt, tokens: &rest[..whole] },
        });
        at += whole.max(1);
    }
    steps
}

/// Returns the grammar that allows only these tokens.
pub fn grammar(tokens: &[Piece]) -> String {
    tokens.iter().fold("root ::=".to_owned(), |mut grammar, token| {
        let _ = write!(grammar, " <[{}]>", token.id);
        grammar
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(id: u64, bytes: &[u8]) -> Piece {
        Piece { id, bytes: bytes.to_vec() }
    }

    #[test]
    fn tokens_of_a_text_are_the_last_ones_that_hold_it() {
        let pieces =
            [piece(1, b""), piece(5, b"at:"), piece(7, b" src"), piece(8, b"/"), piece(9, b"\xe2\x80"), piece(10, b"\x94")];
        let first = |text: &str| first_of(&pieces, text);
        assert_eq!(first("/—"), Some(3));
        assert_eq!(
            (first(" src/—"), first("src/—"), first("c/—")),
            (Some(2), Some(2), Some(2)),
            "a token across the beginning counts"
        );
        assert_eq!((first("at: src/—"), first("what: src/—"), first("/-")), (Some(1), None, None));
        assert_eq!(first_of(&[], "a"), None);
        let steps = steps(&pieces, 2);
        let [Step::Whole { tokens, .. }, Step::Part { token: a, .. }, Step::Part { token: b, prompt }] = &steps[..] else {
            panic!("{steps:?}")
        };
        assert_eq!((grammar(tokens).as_str(), a.id, b.id, prompt.len()), ("root ::= <[7]> <[8]>", 9, 10, 5));
    }

    #[test]
    fn piece_is_a_text_or_a_list_of_bytes() {
        let read = |json: &str| Piece::read(&serde_json::from_str(json).unwrap());
        assert_eq!(read(r#"{"id": 8, "piece": "\"a\\n"}"#), Some(piece(8, b"\"a\\n")));
        assert_eq!(read(r#"{"id": 9, "piece": [240, 159]}"#), Some(piece(9, &[240, 159])));
        for wrong in [r#"{"id": 9, "piece": [256]}"#, r#"{"piece": "a"}"#, "9", r#"{"id": -1, "piece": "a"}"#, r#"{"id": 1}"#] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        let whole = [("a", true), ("", false), ("\0", false), ("💾", true), ("a\0", true)];
        assert!(whole.iter().all(|(text, is)| piece(1, text.as_bytes()).is_whole() == *is));
    }
}
