//! Leaves out the fields of a record whose value has not the form that the format gives them, so that the rest can be read.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde_json::{Deserializer, Value};
use serde_path_to_error::{Path, Segment};

use super::notes;

/// A value that was read without its odd fields.
pub struct Mended<T> {
    pub value: T,
    /// A sentence for each field that was left out.
    pub odd_fields: Vec<String>,
    /// Where the value ends in its text.
    pub end: usize,
}

/// A record with more odd fields is of another format.
const MAX_ODD_FIELDS: usize = 16;

/// Reads the first JSON value of a text without its odd fields; `None` if it is not JSON, or is odd as a whole.
pub fn mended<T: DeserializeOwned>(json: &str) -> Option<Mended<T>> {
    let mut stream = Deserializer::from_str(json).into_iter::<Value>();
    let mut record = stream.next()?.ok()?;
    let end = stream.byte_offset();
    let mut odd_fields = Vec::new();
    while odd_fields.len() < MAX_ODD_FIELDS {
        match serde_path_to_error::deserialize(&record) {
            Ok(value) => return Some(Mended { value, odd_fields, end }),
            Err(error) => {
                // The same field of an element of a list is one kind of note, whichever element it is.
                let field: Vec<&str> = error.path().iter().filter_map(key).collect();
                let value = remove(&mut record, error.path())?;
                odd_fields.push(notes::odd_field(&field.join("."), &value));
            }
        }
    }
    None
}

/// Reads an object or null. A derived struct also reads a list, as its fields in their order: for a record that is an odd field.
///
/// # Errors
///
/// Fails for anything else.
pub fn object<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    deserializer.deserialize_any(ObjectOrNull(PhantomData))
}

struct ObjectOrNull<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectOrNull<T> {
    type Value = Option<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }
}

fn key(segment: &Segment) -> Option<&str> {
    if let Segment::Map { key } = segment { Some(key) } else { None }
}

/// Removes what a path leads to, and returns it; `None` if it leads nowhere.
fn remove(record: &mut Value, path: &Path) -> Option<Value> {
    let mut segments: Vec<&Segment> = path.iter().collect();
    let last = segments.pop()?;
    let mut parent = record;
    for segment in segments {
        parent = match segment {
            Segment::Map { key } => parent.get_mut(key)?,
            Segment::Seq { index } => parent.get_mut(index)?,
            Segment::Enum { .. } | Segment::Unknown => return None,
        };
    }
    match (last, parent) {
        (Segment::Map { key }, Value::Object(fields)) => fields.shift_remove(key),
        (Segment::Seq { index }, Value::Array(items)) if *index < items.len() => Some(items.remove(*index)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Usage {
        input: Option<u64>,
        output: Option<u64>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Record {
        id: Option<String>,
        ids: Vec<String>,
        usage: Option<Usage>,
    }

    #[test]
    fn an_odd_field_costs_only_itself() {
        let json = r#"{"id": 7, "ids": ["a", null, "b"], "usage": {"input": -5, "output": 9, "more": []}} {"id": "next"}"#;
        let mended: Mended<Record> = mended(json).expect("a record");
        let usage = Usage { input: None, output: Some(9) };
        assert_eq!(mended.value, Record { id: None, ids: vec!["a".into(), "b".into()], usage: Some(usage) });
        assert_eq!(&json[mended.end..], r#" {"id": "next"}"#);
        let paths: Vec<&str> = mended.odd_fields.iter().filter_map(|text| text.split('`').nth(1)).collect();
        assert_eq!(paths, ["id", "ids", "usage.input"]);
        assert_eq!(mended.odd_fields[2], "`usage.input` is a negative number; this field was left out");
    }

    #[test]
    fn what_is_odd_as_a_whole_is_not_mended() {
        for json in ["17", "null", "\"a\"", "", "{"] {
            assert!(mended::<Record>(json).is_none(), "{json}");
        }
    }
}
