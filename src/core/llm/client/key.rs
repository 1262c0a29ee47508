//! The key of a question: a hash of everything that determines its answer.

use std::fmt::Write;

use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::Question;

/// Everything that determines an answer, in the order in which it is hashed. The base URL is left out, because the same model
/// gives the same answers on every server.
#[derive(Serialize)]
struct CacheKey<'a> {
    /// Version of this struct.
    version: u32,
    model: &'a str,
    params: &'a Map<String, Value>,
    replicate: u32,
    question: &'a Question,
}

/// Returns the first half of a SHA-256 hash as 32 hexadecimal digits. `params` must be sorted, since their order changes the hash.
pub fn question_key(model: &str, params: &Map<String, Value>, replicate: u32, question: &Question) -> String {
    let hashed = CacheKey { version: 1, model, params, replicate, question };
    let mut hash = Sha256::new();
    hash.update(serde_json::to_vec(&hashed).expect("plain data with text keys"));
    hash.finalize().iter().take(16).fold(String::new(), |mut key, byte| {
        let _ = write!(key, "{byte:02x}");
        key
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cassette_key_depends_on_every_input() {
        let question = |system: &str, user: &str, max_tokens| Question {
            system: system.into(),
            user: user.into(),
            max_tokens,
            continuation: None,
        };
        let scored = |text: &str| Question { continuation: Some(text.into()), ..question("s", "u", 9) };
        let warm = || Map::from_iter([("temperature".to_owned(), Value::from(1))]);
        let keys = [
            question_key("a", &Map::new(), 1, &question("s", "u", 9)),
            question_key("b", &Map::new(), 1, &question("s", "u", 9)),
            question_key("a", &warm(), 1, &question("s", "u", 9)),
            question_key("a", &Map::new(), 2, &question("s", "u", 9)),
            question_key("a", &Map::new(), 1, &question("", "u", 9)),
            question_key("a", &Map::new(), 1, &question("su", "", 9)),
            question_key("a", &Map::new(), 1, &question("s", "u", 8)),
            question_key("a", &Map::new(), 1, &scored("")),
            question_key("a", &Map::new(), 1, &scored("c")),
        ];
        let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
        assert!(keys.iter().all(|key| key.len() == 32));
        // Recorded cassettes depend on this value. A change makes all of them useless and needs a new `version`.
        assert_eq!(keys[0], "fc4ceecdbae81b6db5e34f74aeb0fbc2");
    }
}
