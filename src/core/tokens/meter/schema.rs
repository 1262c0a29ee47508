//! JSON schemas of meters and size units, so that editors can check policy files.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::{Meter, SizeUnit};

impl JsonSchema for SizeUnit {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Measure".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": SizeUnit::ALL.map(|(_, name)| name) })
    }
}

impl JsonSchema for Meter {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Meter".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let measure = SizeUnit::ALL.map(|(_, name)| name).join("|");
        // A number above 0: at least one digit before or after the point is not 0.
        let by = r"(?:[0-9]*[1-9][0-9]*(?:\.[0-9]*)?|[0-9]*\.[0-9]*[1-9][0-9]*)";
        json_schema!({
            "type": "string",
            "pattern": format!(r"^\s*(?:recorded\+|recorded-or-)?(?:(?:{measure})(?:/{by})?|ceil\((?:{measure})/{by}\))\s*$"),
            "examples": ["o200k", "chars/4", "ceil(chars/4)", "recorded+ceil(chars/4)"],
        })
    }
}
