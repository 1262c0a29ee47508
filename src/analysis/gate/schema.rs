//! JSON Schema of a suite file, for editors.

use serde_json::{Value, json};

use super::column;
use super::file::SuiteFile;
use crate::util::json_schema;

/// Returns the schema of a suite file, with the columns for completion.
pub fn schema() -> Value {
    let mut schema = json_schema::schema_of::<SuiteFile>();
    schema["title"] = "A suite file of recompact".into();
    let ids = column::ids();
    let any = ids.iter().map(|id| id.replace('.', r"\.")).collect::<Vec<_>>().join("|");
    let suite = &mut schema["properties"]["suite"]["items"];
    suite["additionalProperties"] = false.into();
    schema["additionalProperties"] = false.into();
    let rules = &mut schema["properties"]["suite"]["items"]["properties"];
    rules["tolerance"]["propertyNames"] = json!({ "enum": ids });
    rules["limits"]["items"]["pattern"] = format!(r"^\s*({any})\s*(<=|>=|==?|<|>)\s*-?[0-9.]+(e[0-9]+)?\s*%?\s*$").into();
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suite_schema_completes_columns_and_settings() {
        let schema = schema();
        let suite = &schema["properties"]["suite"]["items"];
        assert_eq!((&schema["additionalProperties"], &suite["additionalProperties"]), (&false.into(), &false.into()));
        let pattern = suite["properties"]["limits"]["items"]["pattern"].as_str().expect("a pattern");
        let limits = regex::Regex::new(pattern).expect("a pattern");
        for (limit, is_one) in [
            ("kept.hit >= 0.85", true),
            ("finding.thrash==0", true),
            (" cost.ratio < 90 %", true),
            ("kept.hits >= 0.85", false),
            ("kept.hit", false),
        ] {
            assert_eq!(limits.is_match(limit), is_one, "{limit}");
        }
        let columns = suite["properties"]["tolerance"]["propertyNames"]["enum"].as_array().expect("columns");
        assert!(columns.contains(&"finding.pairs".into()) && columns.contains(&"tokens.saved".into()));
    }
}
