//! The built-in copy of LiteLLM's table. It has thousands of models, and a run needs the prices of a few: only the lines of those are
//! parsed.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::{Prices, names};
use crate::text::inflate::inflate;

/// `snapshot.json`, deflated: a JSON object with a model on each line, and its source and date on the first.
pub(super) const DEFLATED: &[u8] = include_bytes!("snapshot.deflate");

const DEFECT: &str = "it is part of the program, and a test parses it";

static TEXT: LazyLock<String> = LazyLock::new(|| String::from_utf8(inflate(DEFLATED)).expect(DEFECT));

/// Returns the whole table.
pub(super) fn whole() -> &'static Prices {
    static TABLE: LazyLock<Prices> = LazyLock::new(|| Prices::parse(&TEXT, "the built-in snapshot").expect(DEFECT));
    &TABLE
}

/// Returns the part of the table that says what a model with this normalised name costs; `None` if there is no such model. The part
/// is kept, so that asking again costs nothing.
pub(super) fn part(key: &str) -> Option<&'static Prices> {
    static LINES: LazyLock<HashMap<String, Vec<&'static str>>> = LazyLock::new(lines_by_key);
    static PARTS: Mutex<Option<HashMap<String, &'static Prices>>> = Mutex::new(None);
    let (key, lines) = LINES.get_key_value(key)?;
    let mut parts = PARTS.lock().unwrap_or_else(PoisonError::into_inner);
    let parse = || -> &'static Prices {
        let about = TEXT.lines().find(|line| name_of(line) == Some("snapshot"));
        let models: Vec<&str> = about.iter().chain(lines).map(|line| line.trim_end_matches(',')).collect();
        let table = format!("{{{}}}", models.join(","));
        Box::leak(Box::new(Prices::parse(&table, "the built-in snapshot").expect(DEFECT)))
    };
    Some(parts.get_or_insert_default().entry(key.clone()).or_insert_with(parse))
}

/// Returns the lines of the models that have each name, with a route or without it, in the order of the table.
fn lines_by_key() -> HashMap<String, Vec<&'static str>> {
    let mut lines: HashMap<String, Vec<&'static str>> = HashMap::new();
    for line in TEXT.lines() {
        let Some(name) = name_of(line).filter(|name| *name != "snapshot") else { continue };
        let plain = name.rsplit_once('/').map(|(_, plain)| plain);
        for name in [Some(name), plain].into_iter().flatten() {
            lines.entry(names::normalized(name)).or_default().push(line);
        }
    }
    lines
}

/// Returns the name that a line begins with. No name in the table has a character that JSON escapes.
fn name_of(line: &'static str) -> Option<&'static str> {
    line.strip_prefix('"')?.split_once('"').map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_of_a_model_says_what_the_whole_table_says() {
        let whole = whole();
        assert!(whole.positions.len() > 3_000);
        for key in whole.positions.keys() {
            assert_eq!(part(key).map(|part| part.find(key, None)), Some(whole.find(key, None)), "{key}");
        }
        for unknown in ["snapshot", "", "gpt-5-1", "azure"] {
            assert!(part(unknown).is_none_or(|part| part.find(unknown, None).is_none()), "{unknown}");
        }
    }
}
