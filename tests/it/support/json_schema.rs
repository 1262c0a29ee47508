//! Checks JSON against a schema, by the keywords that our schemas use. It is stricter than JSON Schema: an object has no field that
//! its schema does not describe. `.ci/validate-reports` asks a complete validator.

use serde_json::{Map, Value};

/// Keywords that describe and do not restrict.
const WORDS: [&str; 5] = ["$schema", "title", "description", "default", "format"];

/// Returns what is wrong with a value, each with its place.
pub fn errors(schema: &Value, value: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    check(schema, value, "$", &mut errors);
    errors
}

fn check(schema: &Value, value: &Value, place: &str, errors: &mut Vec<String>) {
    let keywords = match schema {
        Value::Object(keywords) => keywords,
        Value::Bool(true) => return,
        _ => return errors.push(format!("{place}: nothing is allowed here")),
    };
    for (keyword, rule) in keywords {
        let holds = match keyword.as_str() {
            "type" => list(rule).any(|name| is_a(value, name)),
            "enum" => list(rule).any(|one| one == value),
            "const" => rule == value,
            "minimum" => value.as_f64().is_none_or(|number| Some(number) >= rule.as_f64()),
            "minItems" => value.as_array().is_none_or(|items| Some(items.len() as u64) >= rule.as_u64()),
            "maxItems" => value.as_array().is_none_or(|items| Some(items.len() as u64) <= rule.as_u64()),
            "required" => value
                .as_object()
                .is_none_or(|object| list(rule).all(|name| object.contains_key(name.as_str().unwrap_or_default()))),
            "anyOf" | "oneOf" => list(rule).any(|one| self::errors(one, value).is_empty()),
            "allOf" => list(rule).all(|one| self::errors(one, value).is_empty()),
            "items" => {
                check_items(rule, value, place, errors);
                true
            }
            "properties" | "additionalProperties" => {
                check_fields(keywords, value, place, errors);
                true
            }
            word => {
                assert!(WORDS.contains(&word), "the tests know no keyword `{word}`");
                true
            }
        };
        if !holds {
            errors.push(format!("{place}: {value:.200} is not {keyword} {rule:.200}"));
        }
    }
}

fn list(rule: &Value) -> impl Iterator<Item = &Value> {
    rule.as_array().map_or(std::slice::from_ref(rule), Vec::as_slice).iter()
}

fn is_a(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap_or_default() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("there is no type {other}"),
    }
}

/// One schema for all items, or a list with one for each.
fn check_items(rule: &Value, value: &Value, place: &str, errors: &mut Vec<String>) {
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        let schema = rule.as_array().map_or(rule, |schemas| &schemas[at]);
        check(schema, item, &format!("{place}[{at}]"), errors);
    }
}

fn check_fields(keywords: &Map<String, Value>, value: &Value, place: &str, errors: &mut Vec<String>) {
    for (name, field) in value.as_object().into_iter().flatten() {
        let described = keywords.get("properties").and_then(|properties| properties.get(name));
        match described.or(keywords.get("additionalProperties")) {
            Some(schema) => check(schema, field, &format!("{place}.{name}"), errors),
            None => errors.push(format!("{place}: the schema does not describe `{name}`")),
        }
    }
}
