//! The English words *never*, *always*, *only*, *must*, *do not*: the words around them decide whether a sentence commands.

/// Whether one of these words commands something in this sentence. *I don't know*, *the only one*, *it never worked* and *there must
/// be a way* are statements.
pub fn commands(sentence: &str) -> bool {
    is_command(&split_words(sentence))
}

/// A word in lower case, with a plain apostrophe.
struct Word {
    text: String,
    /// Whether it is the first word of its clause.
    first: bool,
}

/// Returns the words of a sentence. Words joined by marks (`only-once.rs`, `must_use`) are one word, which makes no rule.
fn split_words(sentence: &str) -> Vec<Word> {
    let joins = |c: char| c.is_alphanumeric() || "'\u{2019}\u{2bc}_-/.`=".contains(c);
    let mut words = Vec::new();
    let mut rest = sentence;
    let mut first = true;
    while let Some(start) = rest.find(joins) {
        first |= rest[..start].contains([',', ':', ';', '(', '\u{2014}', '\u{2013}', '"', '*']);
        let from = &rest[start..];
        // Text in backticks is a name or code.
        let code = from.strip_prefix('`').and_then(|code| code.find('`')).map(|end| end + 2);
        let end = code.unwrap_or_else(|| from.find(|c| !joins(c)).unwrap_or(from.len()));
        let word = from[..end].trim_matches(['.', '\'', '\u{2019}', '-']);
        rest = &from[end..];
        // A dash between spaces begins a clause.
        if word.is_empty() {
            first = true;
        } else {
            words.push(Word {
                text: word.to_lowercase().replace(['\u{2019}', '\u{2bc}'], "'"),
                first: std::mem::take(&mut first),
            });
        }
    }
    words
}

/// Before *never* and *always*, these words make a statement, not a rule.
const BEFORE_STATEMENT: &[&str] = &[
    "i", "i've", "it", "he", "she", "they", "we've", "has", "have", "had", "was", "were", "is", "are", "been", "almost",
    "nearly", "as",
];
/// Before *only*, these words make a statement, not a rule.
const BEFORE_QUANTITY: &[&str] = &[
    "the", "my", "your", "his", "her", "its", "our", "their", "an", "not", "if", "i", "it", "is", "was", "were", "are", "it's",
    "that's", "i'm", "have", "has", "that", "with", "might", "maybe",
];
/// After these words, *don't* is a command even inside a clause.
const CONNECTIVES: &[&str] = &["and", "but", "or", "so", "then", "please", "otherwise", "instead"];
/// Adverbs to skip between *don't* and the word before it that decides whether it is a command.
const ADVERBS: &[&str] = &["just", "really", "also", "still", "again", "simply"];
/// After *we don't*, these verbs describe a state, not a convention.
const STATE_VERBS: &[&str] =
    &["have", "need", "know", "remember", "think", "see", "believe", "care", "get", "yet", "seem", "recall", "mind"];

/// Whether one of the words commands something in this sentence. *I don't know*, *the only one*, *it never worked* and *there must
/// be a way* are statements.
fn is_command(words: &[Word]) -> bool {
    let word = |at: usize| words.get(at).map_or("", |word| &*word.text);
    let before = |at: usize| if words[at].first { "" } else { at.checked_sub(1).map_or("", word) };
    let mut ensures = false;
    (0..words.len()).any(|at| {
        ensures |= matches!(word(at), "sure" | "ensure");
        match word(at) {
            "never" if matches!(word(at + 1), "mind" | "again") => false,
            "never" | "always" => !BEFORE_STATEMENT.contains(&before(at)),
            "only" => !BEFORE_QUANTITY.contains(&before(at)) && !word(at + 1).ends_with("ed"),
            "must" => !["there", "i"].contains(&before(at)),
            "don't" | "dont" => is_prohibition(words, at, word(at + 1), ensures),
            "do" if word(at + 1) == "not" => is_prohibition(words, at, word(at + 2), ensures),
            _ => false,
        }
    })
}

/// Whether the *don't* at index `at` forbids something. `after` is the word after it; `ensured`: *ensure* or *sure* precedes it.
fn is_prohibition(words: &[Word], mut at: usize, after: &str, ensured: bool) -> bool {
    if matches!(after, "worry" | "mind") {
        return false;
    }
    while !words[at].first {
        at -= 1;
        match &*words[at].text {
            adverb if ADVERBS.contains(&adverb) => {}
            "i" => return matches!(after, "want" | "like"),
            "we" => return !STATE_VERBS.contains(&after),
            "you" => return ensured,
            other => return CONNECTIVES.contains(&other),
        }
    }
    true
}
