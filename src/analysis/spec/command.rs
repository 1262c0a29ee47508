//! The command that runs a spec again.

use serde_json::{Map, Value};

use super::record::fields;
use super::{PolicySpec, StudySpec};
use crate::llm::client::Address;
use crate::util::text::shell_word;

/// What a command has in place of its transcripts: where they are is no part of a study.
const PATHS: &str = "PATH";

/// Fields whose option has another name.
const OPTIONS: [(&str, &str); 2] = [("policies", "policy"), ("newest", "limit")];

/// Returns the command of a spec: `recompact replay PATH --policy lcc-s08`. It has an option for each field that is not as usual.
/// `None` if no options can say it: policies without a file, no bounds, references that the command line would choose otherwise.
pub(super) fn command(spec: &StudySpec) -> Option<String> {
    let is_named = |policy: &PolicySpec| matches!(policy, PolicySpec::Named(_));
    let compares = spec.summarizer.len() > 1 || spec.summarizer.iter().any(|name| Address::parse(name).is_some());
    if !spec.bounds || spec.references != compares || !spec.policies.iter().all(is_named) {
        return None;
    }
    let command = if spec.sweep.is_some() { "sweep" } else { "replay" };
    let spec = StudySpec { references: false, ..spec.clone() };
    let mut words = vec!["recompact".to_owned(), command.to_owned(), PATHS.to_owned()];
    add_options(&mut words, &fields(&spec), &fields(&StudySpec::default()));
    Some(words.join(" "))
}

/// Adds an option for each field that differs from the usual ones.
fn add_options(words: &mut Vec<String>, fields: &Map<String, Value>, usual: &Map<String, Value>) {
    for (name, value) in fields.iter().filter(|(name, value)| usual.get(*name) != Some(value)) {
        let option =
            OPTIONS.iter().find(|(field, _)| field == name).map_or_else(|| name.replace('_', "-"), |(_, o)| (*o).to_owned());
        match value {
            Value::Null | Value::Bool(false) => {}
            Value::Bool(true) => words.push(format!("--{option}")),
            Value::Array(values) => values.iter().for_each(|value| add_option(words, &option, &plain(value))),
            Value::Object(inner) if name == "sweep" => add_options(words, inner, &Map::new()),
            Value::Object(inner) => {
                inner.iter().for_each(|(key, value)| add_option(words, &option, &format!("{key}={}", plain(value))));
            }
            value => add_option(words, &option, &plain(value)),
        }
    }
}

/// A value that begins as an option does is part of the same word.
fn add_option(words: &mut Vec<String>, option: &str, value: &str) {
    let word = shell_word(value);
    words.push(if value.starts_with('-') { format!("--{option}={word}") } else { format!("--{option} {word}") });
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::spec::SweepSpec;

    #[test]
    fn command_has_what_is_not_as_usual() {
        let spec = StudySpec::new("my policy.toml").set("micro.keep_recent=1").window(200_000);
        let written = "recompact replay PATH --policy 'my policy.toml' --set micro.keep_recent=1 --window 200000";
        assert_eq!(command(&spec).as_deref(), Some(written));
        let mut spec = StudySpec::new("lcc-s08");
        spec.summarizer = vec!["openai:m".to_owned()];
        spec.references = true;
        spec.param.insert("stop".to_owned(), Value::from(0));
        spec.findings = true;
        spec.read.project = Some("-x".to_owned());
        let written = "recompact replay PATH --policy lcc-s08 --summarizer openai:m --param stop=0 --findings --project=-x";
        assert_eq!(command(&spec).as_deref(), Some(written));
        let sweep = SweepSpec::new(Some(8), vec!["kept.hard <= 2%".to_owned()], Default::default(), Some(0.0));
        let written = "recompact sweep PATH --policy lcc-s08 --sample 8 --where 'kept.hard <= 2%' --holdout 0.0";
        assert_eq!(command(&StudySpec::new("lcc-s08").sweep(sweep)).as_deref(), Some(written));
    }

    #[test]
    fn spec_without_a_command_has_none() {
        let mut spec = StudySpec::new("lcc-s08");
        spec.bounds = false;
        assert_eq!(command(&spec), None);
        let mut spec = StudySpec::new("lcc-s08");
        spec.references = true;
        assert_eq!(command(&spec), None);
        let spec = StudySpec { policies: vec![PolicySpec::Inline(toml::Table::new())], ..StudySpec::default() };
        assert_eq!(command(&spec), None);
    }
}
