//! Recorded usage as the APIs and the gateways in front of them write it.
//!
//! In the chat API `prompt_tokens` includes what was read from the prompt cache and written to it; the cached part has another key at
//! each provider: `prompt_tokens_details.cached_tokens` (OpenAI, OpenRouter), `prompt_cache_hit_tokens` (DeepSeek), `cached_tokens`
//! (Kimi), `cache_read_input_tokens` (LiteLLM). In Anthropic's API `input_tokens` excludes both.

use serde_json::Value;

use super::notes::Notes;
use crate::transcript::conversation::Usage;

/// Tokens read from the prompt cache, of `prompt_tokens`.
const READ: [&str; 5] = [
    "prompt_tokens_details.cached_tokens",
    "prompt_cache_hit_tokens",
    "cached_tokens",
    "cache_read_input_tokens",
    "input_tokens_details.cached_tokens",
];

/// Tokens written to the prompt cache.
const WRITTEN: [&str; 3] =
    ["cache_creation_input_tokens", "prompt_tokens_details.cache_creation_tokens", "prompt_tokens_details.cache_write_tokens"];

/// The part of them that stays for an hour.
const WRITTEN_1H: [&str; 2] =
    ["cache_creation.ephemeral_1h_input_tokens", "prompt_tokens_details.cache_creation_token_details.ephemeral_1h_input_tokens"];

const REASONING: [&str; 3] =
    ["completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens", "reasoning_tokens"];

/// Keys of the chat API. Without them the usage is of Anthropic's API or of the Responses API.
const CHAT: [&str; 4] = ["prompt_tokens", "completion_tokens", "prompt_cache_hit_tokens", "prompt_cache_miss_tokens"];

/// Converts a recorded usage; `None` if there is none. A number that cannot be one of tokens costs only its field.
pub fn usage(recorded: &Value, line: u32, notes: &mut Notes) -> Option<Usage> {
    let Value::Object(object) = recorded else {
        if !recorded.is_null() {
            notes.odd_field(line, "usage", recorded);
        }
        return None;
    };
    let is_chat = CHAT.iter().any(|key| object.contains_key(*key));
    let mut tokens = Tokens { recorded, line, notes };
    let read = tokens.largest(&READ);
    let written = tokens.largest(&WRITTEN).unwrap_or(0);
    let written_1h = tokens.largest(&WRITTEN_1H).unwrap_or(0).min(written);
    let keys = if is_chat { ["prompt_tokens", "completion_tokens"] } else { ["input_tokens", "output_tokens"] };
    let output = tokens.one(keys[1]);
    let reasoning = tokens.largest(&REASONING);
    let request = if is_chat { tokens.prompt() } else { tokens.one(keys[0]) };
    if request.is_none() && output.is_none() {
        return None;
    }
    // Half of a usage is not the usage.
    let is_null = |key: &str| object.get(key).is_some_and(Value::is_null);
    for (_, key) in [request, output].iter().zip(keys).filter(|(tokens, key)| tokens.is_none() && is_null(key)) {
        notes.odd_field(line, &format!("usage.{key}"), &Value::Null);
    }
    // Without the size of the request, its cached part says nothing.
    let cached = if request.is_some() { (read.unwrap_or(0), written) } else { (0, 0) };
    let request = request.unwrap_or(0);
    let includes_cached = is_chat || object.contains_key("input_tokens_details");
    let (input, (cache_read, cache_write)) = match request.checked_sub(cached.0 + cached.1) {
        Some(input) if includes_cached => (input, cached),
        // A gateway that keeps Anthropic's keys may also keep its meaning: the cached tokens are beside the others.
        None if includes_cached && !object.contains_key("cache_read_input_tokens") => {
            let cache_read = cached.0.min(request);
            (request - cache_read, (cache_read, 0))
        }
        _ => (request, cached),
    };
    Some(Usage {
        input,
        cache_read,
        cache_write_5m: cache_write.saturating_sub(written_1h),
        cache_write_1h: written_1h.min(cache_write),
        output: output.unwrap_or(0),
        reasoning,
    })
}

/// The names under which a harness records the tokens of a call; a path such as `cache/read`, empty if it records none.
pub struct Names {
    pub input: &'static str,
    /// `input` includes what was read from the prompt cache and written to it.
    pub includes_cached: bool,
    pub cache_read: &'static str,
    pub cache_write: &'static str,
    /// The parts of the output, which add up.
    pub output: &'static [&'static str],
    pub reasoning: &'static str,
}

/// Converts a usage with these names; `None` if it has neither input nor output. A number that cannot be one of tokens costs only its
/// field.
pub fn named(recorded: &Value, names: &Names, line: u32, notes: &mut Notes) -> Option<Usage> {
    if !recorded.is_object() {
        if !recorded.is_null() {
            notes.odd_field(line, "usage", recorded);
        }
        return None;
    }
    let mut tokens = Tokens { recorded, line, notes };
    let mut one = |path: &str| if path.is_empty() { None } else { tokens.one(&path.replace('/', ".")) };
    let outputs: Vec<u64> = names.output.iter().filter_map(|path| one(path)).collect();
    let input = one(names.input);
    if input.is_none() && outputs.is_empty() {
        return None;
    }
    let (cache_read, cache_write) = (one(names.cache_read).unwrap_or(0), one(names.cache_write).unwrap_or(0));
    let (input, cache_read, cache_write) = match (input.unwrap_or(0), names.includes_cached) {
        (all, true) => {
            let cache_read = cache_read.min(all);
            let cache_write = cache_write.min(all - cache_read);
            (all - cache_read - cache_write, cache_read, cache_write)
        }
        (input, false) => (input, cache_read, cache_write),
    };
    let reasoning = one(names.reasoning);
    Some(Usage { input, cache_read, cache_write_5m: cache_write, cache_write_1h: 0, output: outputs.iter().sum(), reasoning })
}

/// Reads numbers of tokens.
struct Tokens<'a> {
    recorded: &'a Value,
    line: u32,
    notes: &'a mut Notes,
}

impl Tokens<'_> {
    /// Returns the number at a path; `None` if there is none, or if it cannot be a number of tokens, which is noted.
    fn one(&mut self, path: &str) -> Option<u64> {
        let found = path.split('.').try_fold(self.recorded, |value, key| value.get(key))?;
        match found.as_u64().filter(|tokens| u32::try_from(*tokens).is_ok()) {
            None if !found.is_null() => {
                self.notes.odd_field(self.line, &format!("usage.{path}"), found);
                None
            }
            tokens => tokens,
        }
    }

    /// Returns the largest of these numbers: gateways repeat one under several keys, or write 0 under those that they do not use.
    fn largest(&mut self, paths: &[&str]) -> Option<u64> {
        paths.iter().filter_map(|path| self.one(path)).max()
    }

    /// Returns the tokens of the request. DeepSeek's parts give the sum where the sum itself is missing.
    fn prompt(&mut self) -> Option<u64> {
        let parts = ["prompt_cache_hit_tokens", "prompt_cache_miss_tokens"];
        self.one("prompt_tokens").or_else(|| parts.iter().map(|path| self.one(path)).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns input, cache read, cache written for five minutes and for an hour, output; and the notes.
    fn read(recorded: Value) -> (Option<[u64; 5]>, Vec<String>) {
        let mut notes = Notes::default();
        let usage = usage(&recorded, 1, &mut notes);
        let numbers = usage.map(|u| [u.input, u.cache_read, u.cache_write_5m, u.cache_write_1h, u.output]);
        (numbers, notes.finish().into_iter().map(|note| note.what).collect())
    }

    #[track_caller]
    fn check(recorded: Value, expected: [u64; 5]) {
        assert_eq!(read(recorded.clone()), (Some(expected), vec![]), "{recorded}");
    }

    #[test]
    fn each_provider_has_its_own_key_for_cached_tokens() {
        let chat = |mut more: Value| {
            more["prompt_tokens"] = json!(100);
            more["completion_tokens"] = json!(7);
            more
        };
        check(chat(json!({})), [100, 0, 0, 0, 7]);
        check(chat(json!({"prompt_tokens_details": {"cached_tokens": 60, "audio_tokens": null}})), [40, 60, 0, 0, 7]);
        check(chat(json!({"prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36})), [36, 64, 0, 0, 7]);
        check(chat(json!({"cached_tokens": 30})), [70, 30, 0, 0, 7]);
        check(
            chat(
                json!({"cache_read_input_tokens": 50, "cache_creation_input_tokens": 20, "prompt_tokens_details": {"cached_tokens": 0}}),
            ),
            [30, 50, 20, 0, 7],
        );
        check(chat(json!({"cache_read_input_tokens": 900, "cache_creation_input_tokens": 20})), [100, 900, 20, 0, 7]);
        check(chat(json!({"prompt_tokens_details": {"cached_tokens": 200}})), [0, 100, 0, 0, 7]);
        check(json!({"prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36}), [36, 64, 0, 0, 0]);
    }

    #[test]
    fn usage_of_the_other_apis_is_read_as_theirs() {
        let lives = json!({"ephemeral_5m_input_tokens": 5, "ephemeral_1h_input_tokens": 15});
        let anthropic = json!({"input_tokens": 9, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 20,
            "cache_creation": lives, "output_tokens": 7});
        check(anthropic, [9, 80, 5, 15, 7]);
        let responses = json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "output_tokens": 7});
        check(responses, [40, 60, 0, 0, 7]);
    }

    #[test]
    fn an_odd_number_costs_its_field() {
        for (odd, is) in [
            (json!(-1), "a negative number"),
            (json!(1.5), "not a whole number"),
            (json!("9"), "a text"),
            (json!(5_000_000_000_u64), "too large a number"),
        ] {
            let note = |field: &str| vec![format!("`usage.{field}` is {is}; this field was left out")];
            let read_with = |key: &str| {
                let mut recorded = json!({"prompt_tokens": 100, "completion_tokens": 7, "cached_tokens": 30});
                recorded[key] = odd.clone();
                read(recorded)
            };
            assert_eq!(read_with("cached_tokens"), (Some([100, 0, 0, 0, 7]), note("cached_tokens")));
            assert_eq!(read_with("completion_tokens"), (Some([70, 30, 0, 0, 0]), note("completion_tokens")));
            assert_eq!(read_with("prompt_tokens"), (Some([0, 0, 0, 0, 7]), note("prompt_tokens")));
        }
        assert_eq!(read(json!({"prompt_tokens": null, "total_tokens": null})), (None, vec![]));
        let null = |field: &str| vec![format!("`usage.{field}` is null; this field was left out")];
        assert_eq!(read(json!({"prompt_tokens": null, "completion_tokens": 7})), (Some([0, 0, 0, 0, 7]), null("prompt_tokens")));
        assert_eq!(read(json!({"input_tokens": 9, "output_tokens": null})), (Some([9, 0, 0, 0, 0]), null("output_tokens")));
        assert_eq!(read(json!([1])), (None, vec!["`usage` is a list; this field was left out".to_owned()]));
        assert_eq!(read(Value::Null), (None, vec![]));
    }
}
