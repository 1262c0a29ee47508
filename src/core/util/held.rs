//! Values in memory or in a temporary file.

use std::borrow::Cow;
use std::io;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::spill::{Place, Spill};

/// A value in memory or in a file. It is serialized as the value.
#[derive(Debug, Clone)]
pub enum Held<T> {
    Here(Box<T>),
    Spilled(Place),
}

impl<T: Serialize + DeserializeOwned> Held<T> {
    /// Moves the value to a file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written. The value then stays in memory.
    pub fn spill(&mut self, to: &Spill) -> io::Result<()> {
        if let Self::Here(value) = self {
            let content = rmp_serde::to_vec_named(&**value).expect("results are plain data with text keys");
            *self = Self::Spilled(to.write(&content)?);
        }
        Ok(())
    }

    /// Whether the value is in a file.
    pub fn is_spilled(&self) -> bool {
        matches!(self, Self::Spilled(_))
    }

    /// Returns the value.
    pub fn into_value(self) -> T {
        match self {
            Self::Here(value) => *value,
            Self::Spilled(place) => value_at(&place),
        }
    }

    /// Returns the value, which stays where it is.
    pub fn value(&self) -> Cow<'_, T>
    where
        T: Clone,
    {
        match self {
            Self::Here(value) => Cow::Borrowed(value),
            Self::Spilled(place) => Cow::Owned(value_at(place)),
        }
    }
}

fn value_at<T: DeserializeOwned>(place: &Place) -> T {
    rmp_serde::from_slice(&place.bytes()).expect("it was written as this type")
}

impl<T> From<T> for Held<T> {
    fn from(value: T) -> Self {
        Self::Here(value.into())
    }
}

impl<T: Default> Default for Held<T> {
    fn default() -> Self {
        T::default().into()
    }
}

impl<T: PartialEq + Clone + Serialize + DeserializeOwned> PartialEq for Held<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value()
    }
}

impl<T: Serialize + DeserializeOwned> Serialize for Held<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Here(value) => value.serialize(serializer),
            Self::Spilled(place) => value_at::<T>(place).serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Held<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

impl<T: JsonSchema> JsonSchema for Held<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_from_a_file_in_any_order() {
        let spill = Spill::after(0);
        let texts = ["one", "", "three\u{1f980}"];
        let mut held: Vec<Held<(String, f64, Option<u64>)>> =
            texts.iter().map(|text| ((*text).to_owned(), 0.1, Some(u64::MAX)).into()).collect();
        for one in &mut held {
            one.spill(&spill).expect("a temporary file");
        }
        assert!(held.iter().all(Held::is_spilled));
        let back = |at: usize| held[at].value().into_owned();
        assert_eq!([2, 0, 1].map(back), [2, 0, 1].map(|at| (texts[at].to_owned(), 0.1, Some(u64::MAX))));
        let json = |held: &Held<_>| serde_json::to_string(held).expect("plain data");
        assert_eq!(json(&held[0]), format!(r#"["one",0.1,{}]"#, u64::MAX));
        let here: Held<(String, f64, Option<u64>)> = serde_json::from_str(&json(&held[0])).expect("what was written");
        assert_eq!(here, held[0]);
        assert_eq!(here.into_value(), held.swap_remove(0).into_value());
    }
}
