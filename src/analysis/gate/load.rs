//! Parses TOML into a [`Gate`], with the line of each error.

use toml::{Table, Value};

use crate::engine::policy::Setting;
use crate::llm::client::Address;
use crate::metrics::column::Direction;
use crate::results::condition::Condition;
use crate::util::ValueError;
use crate::util::text::did_you_mean;
use crate::util::toml_span::{FileError, TomlSpans};
use crate::util::toml_table::field_names;

use super::column::by_id;
use super::file::{SuiteTable, default_baseline};
use super::{Gate, Rule, RuleKind, Suite, SuiteLines};

/// `defaults` are those of the command line, which reads them itself.
const FILE_SETTINGS: &[&str] = &["baseline", "suite", "defaults"];
/// Line number and message of an error.
type LineError = (Option<usize>, String);

impl Gate {
    /// Parses a suite file. `origin` names the file in errors.
    ///
    /// # Errors
    ///
    /// Fails on unknown keys and columns, suites without rules, and paths that exist on one machine only.
    pub fn parse(text: &str, origin: &str) -> Result<Self, FileError> {
        let wrong = |(line, what)| FileError { origin: origin.to_owned(), line, what };
        let file: Table = toml::from_str(text).map_err(|error| FileError::in_toml(origin, text, &error))?;
        let spans = TomlSpans::new(text, "suite");
        let tables = suite_tables(&file, &spans).map_err(wrong)?;
        let baseline = match file.get("baseline") {
            None => default_baseline(),
            Some(Value::String(path)) => path.clone(),
            Some(_) => return Err(wrong((spans.line(None, "baseline"), "`baseline` is a path in quotes".to_owned()))),
        };
        check_relative(&baseline).map_err(|message| wrong((spans.line(None, "baseline"), message)))?;
        let mut suites: Vec<Suite> = Vec::new();
        for (index, table) in tables.into_iter().enumerate() {
            let name = table.get("name").and_then(Value::as_str).unwrap_or("?");
            let with_name = |(line, what)| wrong((line, format!("suite `{name}`: {what}")));
            check_keys(table, index, &spans).map_err(with_name)?;
            let asked = SuiteTable::from_toml(table).map_err(|error| {
                // A key that is missing has no line, so the first one of the suite is named.
                let lines = table.keys().filter_map(|key| spans.line(Some(index), key));
                let line = error.key.as_deref().and_then(|key| spans.line(Some(index), key)).or_else(|| lines.min());
                with_name((line, error.key.map_or(error.what.clone(), |key| format!("`{key}`: {}", error.what))))
            })?;
            if suites.iter().any(|known| known.table.name == asked.name) {
                let message = format!("there is already a suite named `{}`", asked.name);
                return Err(wrong((spans.line(Some(index), "name"), message)));
            }
            check_suite(&asked, index, &spans).map_err(with_name)?;
            let rules = rules(&asked, index, &spans).map_err(with_name)?;
            suites.push(Suite { lines: SuiteLines::new(table, index, &spans), rules, table: asked });
        }
        if suites.is_empty() {
            Err(wrong((None, "there is no suite: write `[[suite]]`".to_owned())))
        } else {
            Ok(Self { baseline, suites })
        }
    }
}

/// Returns the tables of the suites.
fn suite_tables<'t>(file: &'t Table, spans: &TomlSpans) -> Result<Vec<&'t Table>, LineError> {
    if let Some(key) = file.keys().find(|key| !FILE_SETTINGS.contains(&key.as_str())) {
        let message = format!("a suite file has no setting `{key}`{}", did_you_mean(key, FILE_SETTINGS));
        return Err((spans.line(None, key), message));
    }
    let line = || spans.line(None, "suite");
    let Some(Value::Array(suites)) = file.get("suite") else {
        return Err((line(), "a suite file has a table `[[suite]]` for each suite".to_owned()));
    };
    let table = |suite: &'t Value| suite.as_table().ok_or_else(|| (line(), "`suite` is written `[[suite]]`".to_owned()));
    suites.iter().map(table).collect()
}

/// Rejects unknown keys: a misspelt limit that is ignored would never be checked.
fn check_keys(suite: &Table, index: usize, spans: &TomlSpans) -> Result<(), LineError> {
    let known = field_names::<SuiteTable>();
    if let Some(key) = suite.keys().find(|key| !known.contains(key)) {
        let message = format!("a suite has no setting `{key}`{}", did_you_mean(key, &known));
        return Err((spans.line(Some(index), key), message));
    }
    let dotted = suite.get("tolerance").and_then(Value::as_table).and_then(|of| of.iter().find(|(_, value)| value.is_table()));
    match dotted {
        Some((column, _)) => {
            let message = format!("column ids contain a dot, so write them in quotes: \"{column}.…\" = \"1%\"");
            Err((spans.line_of_key(index, "tolerance", column), message))
        }
        None => Ok(()),
    }
}

/// Checks everything except limits and tolerances.
fn check_suite(asked: &SuiteTable, index: usize, spans: &TomlSpans) -> Result<(), LineError> {
    let at =
        |key: &str, message: String| Err((spans.line(Some(index), key).or_else(|| spans.line(Some(index), "name")), message));
    if asked.name.trim().is_empty() {
        return at("name", "`name` is empty".to_owned());
    }
    if asked.transcripts.is_empty() {
        return at("transcripts", "`transcripts` is empty, and a gate without transcripts would always pass".to_owned());
    }
    let study = &asked.study;
    if study.policies.is_empty() {
        return at("policies", "`policies` is empty, and a gate without policies would always pass".to_owned());
    }
    if study.sweep.is_some() {
        return at("sweep", "a gate checks policies that are chosen; `recompact sweep` searches".to_owned());
    }
    for (at, path) in asked.transcripts.iter().enumerate() {
        check_relative(path).map_err(|message| (spans.line_of_item(index, "transcripts", at), message))?;
    }
    for (at, setting) in study.set.iter().enumerate() {
        setting.parse::<Setting>().map_err(|error| (spans.line_of_item(index, "set", at), error.into()))?;
    }
    let models: Vec<_> = study.summarizer.iter().filter_map(|written| Address::parse(written)).collect();
    if let Some(Err(what)) = models.iter().find(|model| model.is_err()) {
        return at("summarizer", what.to_string());
    }
    match (models.is_empty(), &asked.cassette) {
        (false, None) => {
            let message = "a gate never calls a model: set `cassette` to the folder with its recorded answers (`recompact replay --cassette` fills it)";
            at("summarizer", message.to_owned())
        }
        (true, Some(_)) => at("cassette", "`cassette` has answers of models, but `summarizer` is not a model".to_owned()),
        _ => Ok(()),
    }
}

/// Rejects paths that are not relative: the baseline contains the names of transcripts and is used on every machine.
fn check_relative(path: &str) -> Result<(), String> {
    match path {
        "" => Err("a path is empty".to_owned()),
        "-" => Err("standard input is different every time: name files".to_owned()),
        path if path.starts_with(['/', '\\', '~']) || path.get(1..2) == Some(":") => {
            Err(format!("`{path}` exists on one machine only: write it relative to this file"))
        }
        _ => Ok(()),
    }
}

fn rules(asked: &SuiteTable, index: usize, spans: &TomlSpans) -> Result<Vec<Rule>, LineError> {
    let mut rules = Vec::new();
    for (at, written) in asked.limits.iter().enumerate() {
        let line = spans.line_of_item(index, "limits", at);
        let condition: Condition = written.parse().map_err(|error: ValueError| (line, error.into()))?;
        let column = by_id(&condition.column).map_err(|message| (line, message))?;
        rules.push(Rule { column, kind: RuleKind::Limit(condition), line });
    }
    for (id, tolerance) in &asked.tolerance {
        let line = spans.line_of_key(index, "tolerance", id);
        let column = by_id(id).map_err(|message| (line, message))?;
        if column.better == Direction::Neither {
            return Err((line, format!("`{id}` has no better direction, so it cannot be worse: use `limits` instead")));
        }
        if tolerance.amount_for(1.0).is_none() {
            return Err((
                line,
                format!("`{id}`: `{tolerance}` is not a tolerance: write \"1%\" of the baseline, or a number of 0 or more"),
            ));
        }
        rules.push(Rule { column, kind: RuleKind::Tolerance(tolerance.clone()), line });
    }
    if rules.is_empty() {
        Err((spans.line(Some(index), "name"), "has neither `limits` nor a `tolerance`, so it would always pass".to_owned()))
    } else {
        Ok(rules)
    }
}

#[cfg(test)]
mod tests;
