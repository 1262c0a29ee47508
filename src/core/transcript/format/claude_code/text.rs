//! A JSON field that is taken only if it is a string.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A field that this reader needs only as a string. Other records use the same names for other types; these values become `Missing`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum Text {
    #[default]
    Missing,
    Null,
    Is(String),
}

impl Text {
    pub fn get(&self) -> Option<&str> {
        match self {
            Text::Is(text) => Some(text),
            Text::Missing | Text::Null => None,
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(Text::Is(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Text, E> {
        Ok(Text::Is(text))
    }

    fn visit_unit<E>(self) -> Result<Text, E> {
        Ok(Text::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Text, E> {
        Ok(Text::Missing)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Text, E> {
        Ok(Text::Missing)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Text, E> {
        Ok(Text::Missing)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Text, E> {
        Ok(Text::Missing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Text, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text::Missing)
    }

    // serde_json also calls this for numbers with arbitrary precision.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text::Missing)
    }
}
