//! One JSON document that holds all messages: an array of them, or an object with `messages` as a request has them.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The messages of a document, as they are written there.
#[derive(Debug, Default)]
pub struct Document<'a> {
    /// Each message with the line it begins on.
    pub messages: Vec<(u32, &'a RawValue)>,
    pub system: Option<&'a RawValue>,
    /// Where the document ends too early or goes wrong, and why; the messages before it were read.
    pub broken: Option<serde_json::Error>,
}

/// Reads a document up to `limit` messages. `None` where the file is none, but lines of messages or something else.
pub fn read(bytes: &[u8], limit: usize) -> Option<Document<'_>> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut collector = Collector { limit, ..Collector::default() };
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let outcome = Whole(&mut collector).deserialize(&mut json).and_then(|()| json.end());
    let Collector { found, system, in_messages, full, .. } = collector;
    // A file that only begins with a bracket, such as a log, is no document: an object must have been found in it.
    let is_document = in_messages && (outcome.is_ok() || found.iter().any(|raw| raw.get().starts_with('{')));
    is_document.then(|| Document { messages: numbered(bytes, found), system, broken: outcome.err().filter(|_| !full) })
}

/// Each value with its line, from 1. The values are slices of `bytes`, in their order.
fn numbered<'a>(bytes: &[u8], found: Vec<&'a RawValue>) -> Vec<(u32, &'a RawValue)> {
    let (mut line, mut counted) = (1u32, 0);
    let mut numbered = Vec::with_capacity(found.len());
    for raw in found {
        let start = (raw.get().as_ptr().addr()).saturating_sub(bytes.as_ptr().addr()).min(bytes.len());
        let newlines = memchr::memchr_iter(b'\n', bytes.get(counted..start).unwrap_or_default()).count();
        line = line.saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
        counted = start;
        numbered.push((line, raw));
    }
    numbered
}

#[derive(Default)]
struct Collector<'a> {
    found: Vec<&'a RawValue>,
    system: Option<&'a RawValue>,
    limit: usize,
    /// An array of messages was begun.
    in_messages: bool,
    /// The limit was reached.
    full: bool,
}

/// The document: an array of messages or an object around it.
struct Whole<'c, 'a>(&'c mut Collector<'a>);

/// The array of messages itself.
struct List<'c, 'a>(&'c mut Collector<'a>);

impl<'a> DeserializeSeed<'a> for Whole<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for Whole<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array of messages, or an object that holds one")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, list: A) -> Result<(), A::Error> {
        List(self.0).visit_seq(list)
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "messages" => map.next_value_seed(List(self.0))?,
                "system" => self.0.system = Some(map.next_value()?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

impl<'a> DeserializeSeed<'a> for List<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for List<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array of messages")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut list: A) -> Result<(), A::Error> {
        self.0.in_messages = true;
        while let Some(raw) = list.next_element()? {
            self.0.found.push(raw);
            if self.0.found.len() >= self.0.limit {
                self.0.full = true;
                return Err(A::Error::custom("enough messages were read"));
            }
        }
        Ok(())
    }
}
