//! Reads one JSON document with all messages: an array, or an object with a list of them, such as the `messages` of a request body.
//! Of a document that is cut off, the messages before the cut are read.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::Note;

/// The messages of a document, not parsed yet.
#[derive(Debug, Default)]
pub struct Document<'a> {
    /// Each message with its first line.
    pub messages: Vec<(u32, &'a RawValue)>,
    /// The other fields of the object, as far as it was read.
    fields: Vec<(String, &'a RawValue)>,
    /// The syntax error, if the document is cut off or invalid. The messages before it were read.
    pub broken: Option<serde_json::Error>,
}

impl<'a> Document<'a> {
    /// Returns another field of the object than its messages.
    pub fn field(&self, key: &str) -> Option<&'a RawValue> {
        self.fields.iter().find(|(known, _)| known == key).map(|(_, value)| *value)
    }

    /// Returns a field that is a text.
    pub fn text(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.field(key)?.get()).ok()
    }

    /// Returns a note about where the document breaks off; `None` if it is whole.
    pub fn note(&self) -> Option<Note> {
        let error = self.broken.as_ref()?;
        let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
        Some(Note::skipped(line, format!("the document is broken here ({error}); the messages before it were kept")))
    }
}

/// Reads at most `limit` messages of a document, whose list has this name. `None` if the file is not one document of messages.
pub fn read<'a>(bytes: &'a [u8], list: &str, limit: usize) -> Option<Document<'a>> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut collector = Collector { limit, list, ..Collector::default() };
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let outcome = DocumentVisitor(&mut collector).deserialize(&mut json).and_then(|()| json.end());
    let Collector { messages, fields, in_messages, limit_reached, .. } = collector;
    // A file that only begins with a bracket, such as a log, is not a document: it must contain an object.
    let is_document = in_messages && (outcome.is_ok() || messages.iter().any(|raw| raw.get().starts_with('{')));
    is_document.then(|| Document {
        messages: with_lines(bytes, messages),
        fields,
        broken: outcome.err().filter(|_| !limit_reached),
    })
}

/// Returns each message with its line, from 1. The messages must be slices of `bytes`, in order.
fn with_lines<'a>(bytes: &[u8], messages: Vec<&'a RawValue>) -> Vec<(u32, &'a RawValue)> {
    let (mut line, mut counted) = (1u32, 0);
    let mut numbered = Vec::with_capacity(messages.len());
    for raw in messages {
        let start = (raw.get().as_ptr().addr()).saturating_sub(bytes.as_ptr().addr()).min(bytes.len());
        let newlines = memchr::memchr_iter(b'\n', bytes.get(counted..start).unwrap_or_default()).count();
        line = line.saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
        counted = start;
        numbered.push((line, raw));
    }
    numbered
}

/// Collects messages while the document is parsed.
#[derive(Default)]
struct Collector<'a, 'l> {
    messages: Vec<&'a RawValue>,
    fields: Vec<(String, &'a RawValue)>,
    /// The name of the list of messages.
    list: &'l str,
    limit: usize,
    /// The parser reached an array of messages.
    in_messages: bool,
    /// The parser stopped because it read `limit` messages.
    limit_reached: bool,
}

/// Visits the document: an array of messages, or an object that contains one.
struct DocumentVisitor<'c, 'a, 'l>(&'c mut Collector<'a, 'l>);

/// Visits the array of messages.
struct MessagesVisitor<'c, 'a, 'l>(&'c mut Collector<'a, 'l>);

impl<'a> DeserializeSeed<'a> for DocumentVisitor<'_, 'a, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for DocumentVisitor<'_, 'a, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array of messages, or an object that holds one")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, list: A) -> Result<(), A::Error> {
        MessagesVisitor(self.0).visit_seq(list)
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == self.0.list {
                map.next_value_seed(MessagesVisitor(self.0))?;
            } else {
                let value = map.next_value()?;
                self.0.fields.push((key, value));
            }
        }
        Ok(())
    }
}

impl<'a> DeserializeSeed<'a> for MessagesVisitor<'_, 'a, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for MessagesVisitor<'_, 'a, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array of messages")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut list: A) -> Result<(), A::Error> {
        self.0.in_messages = true;
        while let Some(raw) = list.next_element()? {
            self.0.messages.push(raw);
            if self.0.messages.len() >= self.0.limit {
                self.0.limit_reached = true;
                return Err(A::Error::custom("enough messages were read"));
            }
        }
        Ok(())
    }
}
