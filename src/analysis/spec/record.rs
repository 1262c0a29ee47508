//! What results say about the study that gave them, so that `--resume` continues the same study only.

use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_128;

use super::StudySpec;
use super::command::command;
use crate::engine::layer::with_first_names;
use crate::llm::client::Address;
use crate::results::saved::StudyRecord;

/// Returns the hash of the texts that a spec names; a renamed setting does not change it.
pub(super) fn hash_of_files<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    // Each text with its length, so that two texts cannot be mistaken for two others.
    let text = |text: &str| {
        let text = with_first_names(text);
        format!("{}\n{text}", text.len())
    };
    hash(&texts.map(text).collect::<String>())
}

/// Returns the record of a spec. `files` is the hash of the texts that it names.
pub fn record(spec: &StudySpec, files: String) -> StudyRecord {
    // The address of a model may contain a user name or a key, and does not change what the model answers.
    let name = |written: &String| match Address::parse(written) {
        Some(Ok(address)) => address.name(),
        _ => written.clone(),
    };
    let spec = StudySpec { summarizer: spec.summarizer.iter().map(name).collect(), ..spec.clone() };
    let command = command(&spec);
    let fields = fields(&spec);
    StudyRecord { hash: hash(&format!("{files}\n{}", Value::Object(fields.clone()))), files, spec: fields, command }
}

/// Returns the fields of a spec as they are saved.
pub(super) fn fields(spec: &StudySpec) -> Map<String, Value> {
    match serde_json::to_value(spec) {
        Ok(Value::Object(fields)) => fields,
        other => unreachable!("a spec is an object with text keys: {other:?}"),
    }
}

/// Returns the first difference between the studies of two results, as `window none, not 1000`.
pub fn difference(started: &StudyRecord, now: &StudyRecord) -> Option<String> {
    let in_fields = difference_of_fields(&started.spec, &now.spec);
    in_fields.or_else(|| (started.files != now.files).then(|| "other texts of its policies or prices".to_owned()))
}

fn difference_of_fields(started: &Map<String, Value>, now: &Map<String, Value>) -> Option<String> {
    let describe = |value: &Value| if value.is_null() { "none".to_owned() } else { value.to_string() };
    now.keys().chain(started.keys()).find_map(|key| {
        match (started.get(key).unwrap_or(&Value::Null), now.get(key).unwrap_or(&Value::Null)) {
            (started, now) if is_same(started, now) => None,
            (Value::Object(started), Value::Object(now)) => {
                difference_of_fields(started, now).map(|inner| format!("{key}.{inner}"))
            }
            (started, now) => Some(format!("{key} {}, not {}", describe(started), describe(now))),
        }
    })
}

/// Whether two values are the same, but for the names of renamed settings: `micro.keep_recent=5`.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => with_first_names(one) == with_first_names(other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        _ => one == other,
    }
}

fn hash(text: &str) -> String {
    format!("{:032x}", xxh3_128(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results that were saved before a setting was renamed belong to the same study.
    #[test]
    fn a_renamed_setting_does_not_make_another_study() {
        let [old, new] = ["keep_recent", "keep_recent_results"].map(|name| {
            let text = format!("name = \"mine\"\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\n{name} = 3\n");
            record(&StudySpec::new("mine.toml").set(&format!("micro.{name}=5")), hash_of_files([text.as_str()].into_iter()))
        });
        assert_eq!((old.files.as_str(), difference(&old, &new)), (new.files.as_str(), None));
        let other = record(&StudySpec::new("mine.toml").set("micro.keep_recent_results=6"), old.files.clone());
        assert!(difference(&old, &other).is_some_and(|difference| difference.starts_with("set [")));
    }
}
