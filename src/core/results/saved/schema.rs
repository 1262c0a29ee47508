//! The JSON Schema of saved results, generated from the types that write them.

use serde_json::Value;

use super::{Results, VERSION};
use crate::util::json_schema;

/// Returns the schema of what `-o json` writes. It requires what is always written. A later program of the same version may write
/// more fields, so it allows others.
pub fn schema() -> Value {
    let mut schema = json_schema::schema_of_output::<Results>();
    schema["title"] = "Results of recompact".into();
    schema["properties"]["version"]["const"] = VERSION.into();
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_describes_rows_with_what_the_record_says() {
        let schema = schema();
        let row = &schema["properties"]["rows"]["items"];
        for field in ["session", "format", "model", "project", "started", "bound_of", "values"] {
            assert!(row["properties"][field]["description"].is_string() || field == "values", "{field}: {row}");
        }
        assert_eq!(row["properties"]["values"]["additionalProperties"]["type"], serde_json::json!(["number", "null"]));
        let required = |of: &Value| of["required"].as_array().into_iter().flatten().cloned().collect::<Vec<_>>();
        assert!(required(&schema).contains(&"version".into()) && !required(&schema).contains(&"sweep".into()), "{schema}");
        assert!(required(row).contains(&"transcript".into()) && !required(row).contains(&"model".into()), "{row}");
    }
}
