use super::Policy;
use schemars::generate::SchemaSettings;
use serde_json::Value;
pub fn schema() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<Policy>().to_value()
}
