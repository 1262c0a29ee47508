//! JSON Schemas of the files that users write, for editors.
//!
//! They are generated from the types that serde reads; the doc comments of the types become descriptions.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// Returns the schema of a type, without references. It is draft 7, because TOML editors read that.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    schema
}

/// Removes what does not fit TOML or editors: null, number formats, and line breaks inside paragraphs of descriptions.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(tidy),
        Value::Object(fields) => {
            fields.remove("format");
            if fields.get("default").is_some_and(Value::is_null) {
                fields.remove("default");
            }
            if let Some(Value::String(description)) = fields.get_mut("description") {
                *description = description.replace("\n\n", "\u{0}").replace('\n', " ").replace('\u{0}', "\n\n");
            }
            if let Some(Value::Array(types)) = fields.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = &mut types[..] {
                    fields["type"] = only.take();
                }
            }
            for (name, value) in fields {
                match value.as_object_mut().filter(|_| name == "properties") {
                    // The keys of `properties` are names of settings, not keywords of the schema.
                    Some(settings) => settings.values_mut().for_each(tidy),
                    None => tidy(value),
                }
            }
        }
        _ => {}
    }
}
