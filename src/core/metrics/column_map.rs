//! Values by column id, in the order of the columns: small maps that are written often and searched rarely.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::metrics::column::ColumnId;
use crate::util::numbers::{EXACT, Numbers};
use crate::util::spill::Spill;

/// Map from column ids that keeps the order of insertion. A lookup scans the few dozen ids; if two entries have one id, the
/// first counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnMap<L> {
    /// The ids of the values, in their order. Large studies keep hundreds of thousands of maps, so maps with the same ids share them.
    ids: Arc<Vec<ColumnId>>,
    values: L,
}

/// Values of one row: `None` (null in JSON) if the metric does not apply.
pub type Values = ColumnMap<Numbers>;

/// Both ends of each confidence interval.
pub type Intervals = ColumnMap<Vec<[f64; 2]>>;

/// How a map keeps its values.
pub trait List: Default + FromIterator<Self::Item> {
    /// A value.
    type Item: Copy;

    /// Returns the value at this place.
    fn nth(&self, place: usize) -> Option<Self::Item>;

    /// Returns all values, in order.
    fn iter(&self) -> impl Iterator<Item = Self::Item>;
}

impl<T: Copy> List for Vec<T> {
    type Item = T;

    fn nth(&self, place: usize) -> Option<T> {
        self.get(place).copied()
    }

    fn iter(&self) -> impl Iterator<Item = T> {
        self.as_slice().iter().copied()
    }
}

impl List for Numbers {
    type Item = Option<f64>;

    fn nth(&self, place: usize) -> Option<Option<f64>> {
        self.nth(place)
    }

    fn iter(&self) -> impl Iterator<Item = Option<f64>> {
        self.iter()
    }
}

impl<L: List> ColumnMap<L> {
    /// Returns the entry of this column.
    pub fn entry(&self, id: &str) -> Option<L::Item> {
        self.values.nth(self.place(id)?)
    }

    /// Adds an entry, or replaces the existing entry of this column.
    pub fn set(&mut self, id: impl Into<ColumnId>, value: L::Item) {
        let id = id.into();
        match self.place(&id) {
            Some(place) => {
                let entries = self.values.iter().enumerate();
                self.values = entries.map(|(at, old)| if at == place { value } else { old }).collect();
            }
            None => {
                Arc::make_mut(&mut self.ids).push(id);
                self.values = self.values.iter().chain([value]).collect();
            }
        }
    }

    /// Returns whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the ids that have an entry, in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(AsRef::as_ref)
    }

    /// Sorts the entries by the position that `place` returns for an id, and keeps one entry per id.
    pub fn sort_by_place(&mut self, place: impl Fn(&str) -> usize) {
        let values: Vec<L::Item> = self.values.iter().collect();
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by_key(|at| place(&self.ids[*at]));
        order.dedup_by(|second, first| self.ids[*second] == self.ids[*first]);
        *self = order.into_iter().map(|at| (self.ids[at].clone(), values[at])).collect();
    }

    /// Takes the ids from one of the known lists if they are the same; else they become known.
    pub fn share_ids(&mut self, known: &mut KnownIds) {
        match known.0.iter().find(|known| **known == self.ids) {
            Some(known) => self.ids = known.clone(),
            None => known.0.push(self.ids.clone()),
        }
    }

    /// Returns whether both have one list of ids in memory.
    #[cfg(test)]
    pub fn shares_ids_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.ids, &other.ids)
    }

    fn place(&self, id: &str) -> Option<usize> {
        self.ids.iter().position(|known| is_same(known, id))
    }

    fn entries(&self) -> impl Iterator<Item = (&ColumnId, L::Item)> {
        self.ids.iter().zip(self.values.iter())
    }
}

/// Lists of ids that maps share: those of a policy, and those of a bound.
#[derive(Debug, Default)]
pub struct KnownIds(Vec<Arc<Vec<ColumnId>>>);

/// Ids are nearly always the same static text, so their addresses are compared first.
fn is_same(known: &str, id: &str) -> bool {
    (known.as_ptr() == id.as_ptr() && known.len() == id.len()) || known == id
}

impl<L: List<Item = Option<f64>>> ColumnMap<L> {
    /// Returns the value of a column; `None` if the entry or its value is missing.
    pub fn get(&self, id: &str) -> Option<f64> {
        self.entry(id).flatten()
    }

    /// Like [`Self::get`], but looks first at the place where another map had the column, and stores the place where this one has it.
    /// Most maps of a study have the same columns in the same order.
    pub fn get_near(&self, id: &str, place: &mut usize) -> Option<f64> {
        if !self.ids.get(*place).is_some_and(|known| is_same(known, id)) {
            *place = self.place(id)?;
        }
        self.values.nth(*place).flatten()
    }
}

impl Values {
    /// Returns the same values as a list, in which a look-up does not read the values before it.
    pub fn unpacked(&self) -> ColumnMap<Vec<Option<f64>>> {
        ColumnMap { ids: self.ids.clone(), values: self.values.iter().collect() }
    }

    /// Moves the values to a file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written. The values then stay in memory.
    pub fn spill(&mut self, to: &Spill) -> io::Result<()> {
        self.values.spill(to)
    }
}

impl<I: Into<ColumnId>, L: List> FromIterator<(I, L::Item)> for ColumnMap<L> {
    fn from_iter<E: IntoIterator<Item = (I, L::Item)>>(entries: E) -> Self {
        let (ids, values): (Vec<ColumnId>, Vec<L::Item>) = entries.into_iter().map(|(id, value)| (id.into(), value)).unzip();
        Self { ids: Arc::new(ids), values: values.into_iter().collect() }
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.entries().map(|(id, value)| (id, value.map(JsonNumber))))
    }
}

impl Serialize for Intervals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.entries().map(|(id, ends)| (id, ends.map(JsonNumber))))
    }
}

/// Number that is written without `.0` if it is whole, and as null if JSON cannot represent it.
pub struct JsonNumber(pub f64);

impl Serialize for JsonNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            value if !value.is_finite() => serializer.serialize_none(),
            value if value.fract() == 0.0 && value.abs() <= EXACT => serializer.serialize_i64(value as i64),
            value => serializer.serialize_f64(value),
        }
    }
}

/// Serializes an optional number as [`JsonNumber`] does, for `serialize_with`.
pub fn json_number<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(JsonNumber).serialize(serializer)
}

impl<'de, L: List<Item: Deserialize<'de>>> Deserialize<'de> for ColumnMap<L> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<L>(PhantomData<L>);

        impl<'de, L: List<Item: Deserialize<'de>>> Visitor<'de> for Entries<L> {
            type Value = ColumnMap<L>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object of column ids and values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ColumnMap<L>, A::Error> {
                let entries = std::iter::from_fn(|| map.next_entry::<String, L::Item>().transpose());
                entries.collect()
            }
        }

        deserializer.deserialize_map(Entries(PhantomData))
    }
}

impl<L: List<Item: JsonSchema>> JsonSchema for ColumnMap<L> {
    fn schema_name() -> Cow<'static, str> {
        format!("ColumnMap_of_{}", L::Item::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<L::Item>() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_map_writes_integers_and_nulls() {
        let values: Values =
            [("a", Some(3.0)), ("b", Some(0.25)), ("c", None), ("d", Some(f64::NAN)), ("e", Some(-0.0))].into_iter().collect();
        let json = serde_json::to_string(&values).expect("values are JSON");
        assert_eq!(json, r#"{"a":3,"b":0.25,"c":null,"d":null,"e":0}"#);
        let back: Values = serde_json::from_str(&json).expect("what was written");
        assert_eq!((back.get("a"), back.get("b"), back.get("c"), back.get("zzz")), (Some(3.0), Some(0.25), None, None));
    }

    #[test]
    fn column_map_keeps_position_when_set_twice() {
        let mut values: Values = [("a", Some(1.0)), ("b", None)].into_iter().collect();
        values.set("a", Some(2.0));
        assert_eq!(values.ids().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(values.get("a"), Some(2.0));
    }
}
