//! Reads a value from a TOML table, and names the key that is wrong.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::util::json_schema;
use crate::util::toml_span::friendly_serde_error;

/// Why a key of a table cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The key; `None` if a key is missing.
    pub key: Option<String>,
    pub what: String,
}

/// Returns the keys that a type takes, from its schema.
pub fn field_names<T: schemars::JsonSchema>() -> Vec<String> {
    let schema = json_schema::schema_of::<T>();
    schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

/// Adds the values of a table and of all tables in it, each by its path behind a prefix: `input.chars`.
pub fn add_by_path(prefix: &str, table: Table, into: &mut impl Extend<(String, Value)>) {
    for (key, value) in table {
        let path = format!("{prefix}{key}");
        match value {
            Value::Table(inner) => add_by_path(&format!("{path}."), inner, into),
            value => into.extend([(path, value)]),
        }
    }
}

/// Reads a table. If that fails, tries the keys one by one, because the reader of a flattened type does not say which is wrong.
/// `required` holds a valid value of each key that must be there.
///
/// # Errors
///
/// Fails if a value has the wrong type, or a required key is missing.
pub fn from_table<T: DeserializeOwned>(table: &Table, required: &Table) -> Result<T, FieldError> {
    let read = |table: Table| table.try_into::<T>();
    read(table.clone()).map_err(|error| {
        let alone = |(key, value): (&String, &Value)| {
            let mut one = required.clone();
            one.insert(key.clone(), value.clone());
            Some((key.clone(), read(one).err()?))
        };
        let (key, error) = table.iter().find_map(alone).map_or((None, error), |(key, error)| (Some(key), error));
        FieldError { key, what: friendly_serde_error(error.message().trim()) }
    })
}
