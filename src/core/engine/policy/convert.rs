//! Writes a policy file anew with the present names of its settings. All else stays as it was written, comments, too.

use std::collections::HashMap;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::{Policy, PolicyError};
use crate::engine::layer::LayerSpec;
use crate::util::toml_span::{FileError, line_at};

/// A policy file with the present names of its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    pub toml: String,
    /// The names that changed, from the first line to the last.
    pub names: Vec<NewName>,
}

/// A setting that a file writes by an old name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewName {
    /// Line of the file, from 1.
    pub line: usize,
    pub old: String,
    pub new: String,
}

/// Converts a policy file. `origin` is its name in error messages.
///
/// # Errors
///
/// Fails if the file is no policy, or if it gives some settings of a part by old names and others in a table of their own.
pub fn convert(text: &str, origin: &str) -> Result<Converted, PolicyError> {
    let policy = Policy::parse(text, origin, &[])?;
    let document = DeTable::parse(text).map_err(|error| FileError::in_toml(origin, text, &error))?;
    let mut renames = Renames { text, found: Vec::new() };
    let kinds: HashMap<&str, &LayerSpec> = policy.layers.iter().map(|layer| (layer.id.as_str(), &layer.spec)).collect();
    for (key, value) in document.get_ref() {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("layer", DeValue::Array(layers)) => {
                let tables = layers.iter().filter_map(|layer| layer.get_ref().as_table());
                tables.zip(&policy.layers).for_each(|(table, layer)| renames.look_at(table, &layer.spec));
            }
            // Both name settings by the ids of their layers.
            ("sweep" | "harness", DeValue::Table(by_layer)) => {
                for (id, settings) in by_layer {
                    if let (Some(kind), Some(settings)) = (kinds.get(id.get_ref().as_ref()), settings.get_ref().as_table()) {
                        renames.look_at(settings, kind);
                    }
                }
            }
            _ => {}
        }
    }
    let converted = renames.applied();
    // A table of settings beside old names of the same part cannot be written twice.
    Policy::parse(&converted.toml, origin, &[])?;
    Ok(converted)
}

struct Renames<'a> {
    text: &'a str,
    /// Where a name is, and the present one.
    found: Vec<(Range<usize>, NewName)>,
}

impl Renames<'_> {
    /// Takes in the old names in a table of settings of one kind of layer.
    fn look_at(&mut self, table: &DeTable, kind: &LayerSpec) {
        for key in table.keys() {
            let old = key.get_ref().as_ref();
            let new = kind.present_name(old);
            if new != old {
                let line = line_at(self.text, key.span().start);
                self.found.push((key.span(), NewName { line, old: old.to_owned(), new: new.to_owned() }));
            }
        }
    }

    fn applied(mut self) -> Converted {
        self.found.sort_by_key(|(span, _)| span.start);
        let mut toml = self.text.to_owned();
        for (span, name) in self.found.iter().rev() {
            toml.replace_range(span.clone(), &name.new);
        }
        Converted { toml, names: self.found.into_iter().map(|(_, name)| name).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r#"name = "mine" # keep_recent = 1
[[layer]]
id = "micro"
do = "clear"
keep_recent = 5   # of all tools
"protect_turn" = true

[[layer]]
id = "auto"
do = "summarize"
keep_recent = 2
input_chars = 10

[sweep]
micro.keep_recent = "3,5"
auto.input_chars = "10,20"
"#;

    #[test]
    fn old_names_become_present_ones_and_all_else_stays() {
        let converted = convert(OLD, "mine.toml").expect("a policy");
        let expected = OLD
            .replace("keep_recent = 5 ", "keep_recent_results = 5 ")
            .replace("\"protect_turn\"", "protect_turns")
            .replace("keep_recent = 2", "keep_recent_messages = 2")
            .replace("micro.keep_recent ", "micro.keep_recent_results ")
            .replace("input_chars", "input.chars");
        assert_eq!(converted.toml, expected);
        let lines: Vec<_> = converted.names.iter().map(|name| (name.line, name.new.as_str())).collect();
        assert_eq!(
            lines,
            [
                (5, "keep_recent_results"),
                (6, "protect_turns"),
                (11, "keep_recent_messages"),
                (12, "input.chars"),
                (15, "keep_recent_results"),
                (16, "input.chars"),
            ]
        );
        let [before, after] = [OLD, &converted.toml].map(|text| Policy::parse(text, "", &[]).expect("a policy"));
        assert_eq!(before.layers, after.layers);
        let again = convert(&converted.toml, "mine.toml").expect("a policy");
        assert_eq!((again.toml, again.names), (converted.toml, Vec::new()));
    }

    /// TOML has no table that is written twice.
    #[test]
    fn old_names_beside_a_table_of_the_same_part_are_an_error() {
        let both = OLD.replace("input_chars = 10", "input_chars = 10\ninput = { side = \"tail\" }");
        assert!(Policy::parse(&both, "mine.toml", &[]).is_ok());
        assert!(convert(&both, "mine.toml").expect_err("a table written twice").to_string().starts_with("mine.toml:13: "));
    }

    #[test]
    fn what_is_no_policy_is_an_error_with_its_line() {
        let wrong = OLD.replace("keep_recent = 2", "keep_recents = 2");
        let error = convert(&wrong, "mine.toml").expect_err("a misspelt name");
        assert!(error.to_string().starts_with("mine.toml:11: "), "{error}");
    }
}
