//! JSON Schemas, generated from the types that serde reads and writes; the doc comments of the types become descriptions.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Returns the schema of files that users write, for editors. It has no references, and is draft 7, because TOML editors read that.
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut schema = generated::<T>(SchemaSettings::draft07());
    each_schema(&mut schema, &|fields| {
        tidy(fields);
        remove_null(fields);
    });
    schema
}

/// Returns the schema of what the program writes: it requires the fields that are always written.
pub fn schema_of_output<T: JsonSchema>() -> Value {
    let mut schema = generated::<T>(SchemaSettings::draft07().for_serialize());
    each_schema(&mut schema, &tidy);
    schema
}

fn generated<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Changes a schema and all schemas in it.
fn each_schema(schema: &mut Value, change: &dyn Fn(&mut Map<String, Value>)) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| each_schema(schema, change)),
        Value::Object(fields) => {
            change(fields);
            for (name, value) in fields {
                match value.as_object_mut().filter(|_| name == "properties") {
                    // The keys of `properties` are names of settings, not keywords of the schema.
                    Some(settings) => settings.values_mut().for_each(|schema| each_schema(schema, change)),
                    None => each_schema(value, change),
                }
            }
        }
        _ => {}
    }
}

/// Removes number formats, defaults of null, and line breaks inside paragraphs of descriptions.
fn tidy(fields: &mut Map<String, Value>) {
    fields.remove("format");
    if fields.get("default").is_some_and(Value::is_null) {
        fields.remove("default");
    }
    if let Some(Value::String(description)) = fields.get_mut("description") {
        *description = description.replace("\n\n", "\u{0}").replace('\n', " ").replace('\u{0}', "\n\n");
    }
}

/// Removes null from the types: TOML has none.
fn remove_null(fields: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &mut types[..] {
            fields["type"] = only.take();
        }
    }
}
