//! The vocabularies against tiktoken-rs, which is the oracle.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use flate2::{Compression, write::DeflateEncoder};
use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

use super::ranks::PAIRS;
use super::*;
use crate::inflate::inflate;

/// A vocabulary, its name, and every token that tiktoken-rs has in it, but special ones, with its rank.
struct Case {
    vocabulary: Vocabulary,
    tables: &'static Tables,
    name: &'static str,
    bpe: &'static CoreBPE,
    tokens: BTreeMap<Vec<u8>, u32>,
}

impl Case {
    fn new(vocabulary: Vocabulary, tables: &'static Tables, name: &'static str, bpe: &'static CoreBPE) -> Self {
        let special = bpe.special_tokens();
        let is_special = |token: &[u8]| std::str::from_utf8(token).is_ok_and(|token| special.contains(token));
        // Special tokens have the highest ranks, with gaps between them.
        let tokens = (0..201_088).filter_map(|rank| Some((bpe.decode_bytes(&[rank]).ok()?, rank)));
        let tokens = tokens.filter(|(token, _)| !is_special(token)).collect();
        Self { vocabulary, tables, name, bpe, tokens }
    }
}

static CASES: LazyLock<[Case; 2]> = LazyLock::new(|| {
    [
        Case::new(Vocabulary::O200k, &O200K, "o200k_base", o200k_base_singleton()),
        Case::new(Vocabulary::Cl100k, &CL100K, "cl100k_base", cl100k_base_singleton()),
    ]
});

/// Writes tokens in the form that [`Ranks::read`] reads, but not deflated.
fn written(tokens: &BTreeMap<Vec<u8>, u32>) -> Vec<u8> {
    let (tokens, ranks): (Vec<&[u8]>, Vec<&u32>) =
        tokens.iter().filter(|(token, _)| token.len() > 1).map(|(token, rank)| (&token[..], rank)).unzip();
    let mut counts = vec![0u16; PAIRS];
    for token in &tokens {
        counts[usize::from(u16::from_be_bytes([token[0], token[1]]))] += 1;
    }
    let mut data: Vec<u8> = counts.into_iter().flat_map(u16::to_le_bytes).collect();
    data.extend(tokens.iter().map(|token| u8::try_from(token.len() - 2).expect("a short token")));
    for place in 0..3 {
        data.extend(ranks.iter().map(|rank| rank.to_le_bytes()[place]));
    }
    data.extend(tokens.iter().flat_map(|token| &token[2..]));
    data
}

#[test]
fn files_hold_the_tokens_of_tiktoken() {
    assert_eq!(CASES.each_ref().map(|case| case.tokens.len()), [199_998, 100_256]);
    for Case { name, tokens, .. } in &*CASES {
        assert!((0..=255).all(|byte| tokens.contains_key(&[byte][..])), "{name}: every byte is a token");
        let expected = written(tokens);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tokens/{name}.deflate"));
        if std::env::var_os("RECOMPACT_BLESS").is_some() {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&expected).expect("memory");
            std::fs::write(&path, encoder.finish().expect("memory")).expect("the file can be written");
        }
        let held = inflate(&std::fs::read(&path).expect("the file can be read"));
        assert!(held == expected, "{name} is old: RECOMPACT_BLESS=1 cargo test -p recompact-text files_hold_the_tokens");
    }
}

#[track_caller]
fn assert_counts_equal(text: &str) {
    for Case { vocabulary, bpe, .. } in &*CASES {
        assert_eq!(vocabulary.count(text), bpe.encode_ordinary(text).len() as u64, "{vocabulary:?} of {text:?}");
    }
}

#[test]
fn every_token_has_its_rank() {
    for Case { vocabulary, tables, tokens, .. } in &*CASES {
        for (token, rank) in tokens {
            let expected = (token.len() > 1).then_some(*rank);
            assert_eq!(tables.ranks.get(token), expected, "{vocabulary:?}: {token:?}");
        }
        for other in ["", "e", " zzzz", "helloX", "\u{10FFFF}"] {
            assert_eq!(tables.ranks.get(other.as_bytes()), None, "{vocabulary:?}: {other:?}");
        }
    }
}

#[test]
fn pairs_have_the_ranks_of_tokens() {
    for Case { vocabulary, tables, .. } in &*CASES {
        for pair in (0..=u16::MAX).map(u16::to_be_bytes) {
            assert_eq!(tables.ranks.of_pair(pair), tables.ranks.get(&pair), "{vocabulary:?}: {pair:?}");
        }
    }
}

#[test]
fn expressions_split_only_the_listed_tokens() {
    for Case { vocabulary, tables, tokens, .. } in &*CASES {
        let is_split = |token: &&str| {
            let mut pre_tokens = 0;
            tables.expression.for_each(&mut None, token, |_| pre_tokens += 1);
            pre_tokens > 1
        };
        let texts = tokens.keys().filter_map(|token| std::str::from_utf8(token).ok());
        let split: Vec<&str> = texts.filter(is_split).collect();
        let expected: &[&str] = if *vocabulary == Vocabulary::O200k { &SPLIT_TOKENS } else { &[] };
        assert_eq!(split, expected, "{vocabulary:?}");
    }
    SPLIT_TOKENS.into_iter().for_each(assert_counts_equal);
}

#[test]
fn short_texts_are_split_as_by_tiktoken() {
    let parts = [
        "a", "B", "'S", "'re", "'", "1", "23", " ", "  ", "\n", "\r", "\u{3000}", "/", ".", "É", "ǅ", "ʰ", "中", "\u{301}", "½",
        "—", "\u{17f}",
    ];
    for code in 0..parts.len().pow(3) {
        let text: String = (0..3).map(|digit| parts[code / parts.len().pow(digit) % parts.len()]).collect();
        for Case { vocabulary, tables, bpe, .. } in &*CASES {
            let mut tokens = 0;
            let (mut counter, mut regex) = (PieceCounter::default(), None);
            tables.expression.for_each(&mut regex, &text, |pre_token| tokens += counter.count(pre_token, tables));
            assert_eq!(tokens, bpe.encode_ordinary(&text).len() as u64, "{vocabulary:?} of {text:?}");
        }
    }
}

#[test]
fn long_pre_tokens_are_merged_as_by_tiktoken() {
    // Lehmer's generator: letters in an order that no token has.
    let mut state = 1u64;
    let mut letters = |alphabet: &[char], count: usize| -> String {
        let next = |_| {
            state = state * 48_271 % 0x7FFF_FFFF;
            alphabet[state as usize % alphabet.len()]
        };
        (0..count).map(next).collect()
    };
    let alphabets = [('a', 'c'), ('a', 'z'), ('A', 'Z'), ('α', 'ω'), ('ก', 'ฮ'), ('一', '丿'), ('\u{1F600}', '\u{1F64F}')];
    for (first, last) in alphabets {
        let alphabet: Vec<char> = (first..=last).collect();
        for count in [24, 25, 26, 31, 32, 33, 34, 49, 50, 51, 99, 100, 101, 500, 2_000] {
            assert_counts_equal(&letters(&alphabet, count));
        }
    }
    for run in ["a", "A", " ", "\n", "=", "ab", "é", "中"] {
        for count in [99, 100, 101, 129, 3_000] {
            assert_counts_equal(&run.repeat(count));
        }
    }
}

/// A piece of 64 KB is counted as a whole, and each half of a longer one alone.
#[test]
fn very_long_pieces_are_halved() {
    for Case { vocabulary, bpe, .. } in &*CASES {
        let expected = |bytes: usize| bpe.encode_ordinary(&"a".repeat(bytes)).len() as u64;
        assert_eq!(vocabulary.count(&"a".repeat(65_536)), expected(65_536));
        assert_eq!(vocabulary.count(&"a".repeat(65_538)), 2 * expected(32_769));
    }
}
