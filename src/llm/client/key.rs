//! What a question is known by: a hash of everything that decides its answer.

use std::fmt::Write;

use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::Question;

/// Everything that matters, in the order in which it is hashed. Where a model is served is not among it: the same model answers
/// the same elsewhere.
#[derive(Serialize)]
struct CacheKey<'a> {
    /// Of this form.
    version: u32,
    model: &'a str,
    params: &'a Map<String, Value>,
    replicate: u32,
    question: &'a Question,
}

/// 32 hexadecimal digits: the first half of a SHA-256. `params` must be in one order.
pub fn key(model: &str, params: &Map<String, Value>, replicate: u32, question: &Question) -> String {
    let asked = CacheKey { version: 1, model, params, replicate, question };
    let mut hash = Sha256::new();
    // A hash takes all that is written to it, and this can all be written.
    hash.update(serde_json::to_vec(&asked).unwrap_or_default());
    hash.finalize().iter().take(16).fold(String::new(), |mut key, byte| {
        let _ = write!(key, "{byte:02x}");
        key
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_matters_makes_another_key() {
        let question = |system: &str, user: &str, max_tokens| Question { system: system.into(), user: user.into(), max_tokens };
        let warm = || Map::from_iter([("temperature".to_owned(), Value::from(1))]);
        let keys = [
            key("a", &Map::new(), 1, &question("s", "u", 9)),
            key("b", &Map::new(), 1, &question("s", "u", 9)),
            key("a", &warm(), 1, &question("s", "u", 9)),
            key("a", &Map::new(), 2, &question("s", "u", 9)),
            key("a", &Map::new(), 1, &question("", "u", 9)),
            key("a", &Map::new(), 1, &question("su", "", 9)),
            key("a", &Map::new(), 1, &question("s", "u", 8)),
        ];
        let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
        assert!(keys.iter().all(|key| key.len() == 32));
        // Recorded cassettes depend on it: who changes it makes all of them useless, and says so by another version.
        assert_eq!(keys[0], "fc4ceecdbae81b6db5e34f74aeb0fbc2");
    }
}
