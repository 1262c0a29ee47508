//! The beginning of a file, for recognising its kind: the first records without what is long or deep in them.
//!
//! A document is read as far as it goes: one that is cut off in the middle still has its first keys.

use std::borrow::Cow;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

use super::{jsonl, marks};
use crate::util::text::file_name;

/// Records to look at: the first ones can be cut off or be bookkeeping.
const RECORDS: usize = 20;

/// Elements of a list inside a record.
const ELEMENTS: usize = 8;

/// Levels of objects and lists inside a record.
const DEPTH: usize = 5;

/// Characters of a text.
const TEXT: usize = 100;

/// Bytes of a database that hold the names of its first tables.
const SCHEMA: usize = 256 * 1024;

/// Endings of compressed files, whose bytes come here decompressed.
const COMPRESSIONS: [&str; 2] = [".gz", ".zst"];

/// What the kind of a file is recognised by.
pub struct Head<'a> {
    /// The name of the file, without its folders and without the ending of a compression.
    pub file: &'a str,
    /// All of it.
    pub bytes: &'a [u8],
    /// Its first records.
    pub records: Vec<Value>,
}

impl<'a> Head<'a> {
    pub fn new(path: &'a str, bytes: &'a [u8]) -> Self {
        let file = file_name(path);
        let file = COMPRESSIONS.iter().find_map(|ending| file.strip_suffix(ending)).unwrap_or(file);
        Self { file, bytes, records: records(bytes) }
    }

    /// Returns whether one of the first records has one of these [`marks`].
    pub fn is_marked(&self, marks: &[&str]) -> bool {
        self.records.iter().any(|record| marks::is_marked(marks, self.file, record))
    }
}

/// Returns the first records of a file: lines, the elements of an array, or one document. A database is one record with the names of
/// its tables under `sqlite`.
pub fn records(bytes: &[u8]) -> Vec<Value> {
    if bytes.starts_with(b"SQLite format 3\0") {
        return vec![json!({ "sqlite": tables(&bytes[..bytes.len().min(SCHEMA)]) })];
    }
    if is_lines(bytes) {
        let lines = jsonl::lines(bytes).take(RECORDS);
        return lines.flat_map(|(_, line)| sketches(&text(line))).take(RECORDS).collect();
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match sketch(&mut serde_json::Deserializer::from_str(&text(bytes))).0 {
        Value::Array(elements) => elements,
        Value::Null => Vec::new(),
        document => vec![document],
    }
}

/// Returns whether the file is JSON Lines: one of the first three lines is a JSON object (the first may be cut off or no record), and the
/// file is not one document on several lines.
pub fn is_lines(bytes: &[u8]) -> bool {
    let is_json = |bytes: &[u8]| serde_json::from_str::<IgnoredAny>(&text(bytes)).is_ok();
    let lines: Vec<&[u8]> = jsonl::lines(bytes).map(|(_, line)| line).take(3).collect();
    let Some(whole) = lines.iter().position(|line| line.starts_with(b"{") && is_json(line)) else { return false };
    let begins_document = lines[0].starts_with(b"[") && !is_json(lines[0]);
    !begins_document && (whole == 0 || !is_json(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)))
}

/// How a record fits a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It is a record of the format.
    Good,
    /// It is no record of any format: damaged, or unknown.
    Odd,
    /// It is a record of another format.
    Foreign,
}

/// Returns whether records are of a format: most of them are, and none is of another one. One odd record does not refuse a file.
pub fn are_of(fits: &[Fit]) -> bool {
    let count = |fit: Fit| fits.iter().filter(|other| **other == fit).count();
    let (good, odd) = (count(Fit::Good), count(Fit::Odd));
    count(Fit::Foreign) == 0 && good > odd && odd <= (fits.len() / 4).max(1)
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    jsonl::replace_lone_surrogates(String::from_utf8_lossy(bytes))
}

/// Returns the values on a line, the beginning of one that breaks off included.
fn sketches(line: &str) -> Vec<Value> {
    let mut json = serde_json::Deserializer::from_str(line);
    let mut found = Vec::new();
    loop {
        let (value, is_whole) = sketch(&mut json);
        found.push(value);
        if !is_whole || json.end().is_ok() {
            return found;
        }
    }
}

/// Returns a value as far as it can be read, and whether that is all of it.
fn sketch<'de, D: Deserializer<'de>>(json: D) -> (Value, bool) {
    let mut value = Value::Null;
    let is_whole = Sketch { value: &mut value, depth: 0 }.deserialize(json).is_ok();
    (value, is_whole)
}

/// Writes what it reads to `value` at once, so that an error later on leaves it there.
struct Sketch<'a> {
    value: &'a mut Value,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Sketch<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.depth > DEPTH {
            return deserializer.deserialize_ignored_any(IgnoredAny).map(drop);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Sketch<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        *self.value = value.into();
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        *self.value = value.into();
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        *self.value = value.into();
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        *self.value = value.into();
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        *self.value = crate::util::text::head(value, TEXT).into();
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        *self.value = Value::Array(Vec::new());
        let limit = if self.depth == 0 { RECORDS } else { ELEMENTS };
        while let Value::Array(elements) = &mut *self.value {
            if elements.len() == limit {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                break;
            }
            elements.push(Value::Null);
            let last = elements.len() - 1;
            if seq.next_element_seed(Sketch { value: &mut elements[last], depth: self.depth + 1 })?.is_none() {
                elements.pop();
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        *self.value = Value::Object(Map::new());
        while let (Value::Object(fields), Some(key)) = (&mut *self.value, map.next_key::<String>()?) {
            map.next_value_seed(Sketch { value: fields.entry(key).or_insert(Value::Null), depth: self.depth + 1 })?;
        }
        Ok(())
    }
}

/// Returns the names of the tables that the beginning of a database creates.
fn tables(bytes: &[u8]) -> Vec<String> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let begin = b"CREATE TABLE ";
    let starts = memchr::memmem::find_iter(bytes, begin).map(|at| &bytes[at + begin.len()..]);
    let name = |rest: &[u8]| {
        let quoted = rest.iter().skip_while(|byte| !is_name(byte)).copied();
        String::from_utf8_lossy(&quoted.take_while(is_name).collect::<Vec<u8>>()).into_owned()
    };
    starts.map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_lines_elements_or_one_document() {
        assert_eq!(records(b"{\"a\": 1}\n{\"b\": 2} {\"c\": 3}\n"), [json!({"a": 1}), json!({"b": 2}), json!({"c": 3})]);
        assert_eq!(records(b"[\n{\"a\": 1},\n{\"b\": [2]}]"), [json!({"a": 1}), json!({"b": [2]})]);
        assert_eq!(records(b"{\n\"a\": {\n\"b\": null}}"), [json!({"a": {"b": null}})]);
        assert_eq!(records(b"{\"a\": [\n{\"b\": 1}\n]}"), [json!({"a": [{"b": 1}]})]);
        assert_eq!(records(b"null\n{\"c\": 3}"), [Value::Null, json!({"c": 3})]);
        assert_eq!(records(b"{\"a\": 1, \"b\n{\"c\": 3}"), [json!({"a": 1}), json!({"c": 3})], "the first line is cut off");
        for none in [&b""[..], b"\xFF\xFE", b"Dear diary,", b"null"] {
            assert!(records(none).is_empty(), "{none:?}");
        }
    }

    #[test]
    fn one_odd_record_does_not_refuse_a_file() {
        use Fit::{Foreign, Good, Odd};
        assert!(are_of(&[Good]) && are_of(&[Odd, Good, Good]) && are_of(&[Good, Odd, Good, Good, Good, Good, Odd, Good]));
        assert!(
            !are_of(&[]) && !are_of(&[Good, Odd]) && !are_of(&[Good, Odd, Good, Odd, Good]) && !are_of(&[Good, Good, Foreign])
        );
    }

    #[test]
    fn what_is_long_deep_or_cut_off_is_left_out() {
        let long = json!({"a": vec![1; 9], "b": "x".repeat(101), "c": {"c": {"c": {"c": {"c": {"c": {"c": 1}}}}}}, "d": 4});
        let short = &records(long.to_string().as_bytes())[0];
        assert_eq!((short["a"].as_array().map(Vec::len), short["b"].as_str().map(str::len)), (Some(8), Some(100)));
        assert_eq!((short.pointer("/c/c/c/c/c/c"), &short["d"]), (Some(&Value::Null), &json!(4)));
        assert_eq!(
            records(b"{\n\"a\": {\"id\": \"\\ud83d\"},\n\"b\": [{\"c\": \"cut"),
            [json!({"a": {"id": records(b"[\"\\ud83d\"]")[0]}, "b": [{"c": null}]})]
        );
    }

    #[test]
    fn a_database_has_the_names_of_its_tables() {
        let bytes = b"SQLite format 3\0\x10\x00CREATE TABLE `part` (x)\x01CREATE TABLE message(y)";
        assert_eq!(records(bytes), [json!({"sqlite": ["part", "message"]})]);
    }
}
