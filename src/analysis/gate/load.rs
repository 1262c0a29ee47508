//! Parses TOML into a [`Gate`], with the line of each error.

use toml::{Table, Value};

use crate::analysis::study::TokenCounter;
use crate::engine::policy::Setting;
use crate::llm::client::Address;
use crate::metrics::column::Direction;
use crate::results::condition::Condition;
use crate::util::text::did_you_mean;
use crate::util::toml_span::{FileError, TomlSpans, friendly_serde_error, line_at};

use super::column::by_id;
use super::file::{SuiteFile, SuiteTable};
use super::{Gate, Rule, RuleKind, Suite};

const FILE_SETTINGS: &[&str] = &["baseline", "suite"];
const SUITE_SETTINGS: &[&str] = &[
    "name",
    "transcripts",
    "policies",
    "set",
    "summarizer",
    "cassette",
    "window",
    "overhead",
    "tokenizer",
    "prices",
    "limits",
    "tolerance",
];

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
        let toml_error =
            |e: toml::de::Error| (e.span().map(|span| line_at(text, span.start)), friendly_serde_error(e.message().trim()));
        let table: Table = toml::from_str(text).map_err(|e| wrong(toml_error(e)))?;
        let spans = TomlSpans::new(text, "suite");
        check_keys(&table, &spans).map_err(wrong)?;
        let file: SuiteFile = toml::from_str(text).map_err(|e| wrong(toml_error(e)))?;
        check_relative(&file.baseline).map_err(|message| wrong((spans.line(None, "baseline"), message)))?;
        let mut suites: Vec<Suite> = Vec::new();
        for (index, asked) in file.suite.into_iter().enumerate() {
            if suites.iter().any(|known| known.table.name == asked.name) {
                let message = format!("there is already a suite named `{}`", asked.name);
                return Err(wrong((spans.line(Some(index), "name"), message)));
            }
            let with_name = |(line, what)| wrong((line, format!("suite `{}`: {what}", asked.name)));
            check_suite(&asked, index, &spans).map_err(with_name)?;
            let rules = rules(&asked, index, &spans).map_err(with_name)?;
            suites.push(Suite { line: spans.line(Some(index), "transcripts"), rules, table: asked });
        }
        if suites.is_empty() {
            Err(wrong((None, "there is no suite: write `[[suite]]`".to_owned())))
        } else {
            Ok(Self { baseline: file.baseline, suites })
        }
    }
}

/// Rejects unknown keys: a misspelt limit that is ignored would never be checked.
fn check_keys(file: &Table, spans: &TomlSpans) -> Result<(), LineError> {
    if let Some(key) = file.keys().find(|key| !FILE_SETTINGS.contains(&key.as_str())) {
        let message = format!("a suite file has no setting `{key}`{}", did_you_mean(key, FILE_SETTINGS));
        return Err((spans.line(None, key), message));
    }
    let Some(Value::Array(suites)) = file.get("suite") else {
        return Err((spans.line(None, "suite"), "a suite file has a table `[[suite]]` for each suite".to_owned()));
    };
    for (index, suite) in suites.iter().enumerate() {
        let Some(suite) = suite.as_table() else {
            return Err((spans.line(None, "suite"), "`suite` is written `[[suite]]`".to_owned()));
        };
        let name = suite.get("name").and_then(Value::as_str).unwrap_or("?");
        if let Some(key) = suite.keys().find(|key| !SUITE_SETTINGS.contains(&key.as_str())) {
            let message = format!("suite `{name}`: a suite has no setting `{key}`{}", did_you_mean(key, SUITE_SETTINGS));
            return Err((spans.line(Some(index), key), message));
        }
        let dotted =
            suite.get("tolerance").and_then(Value::as_table).and_then(|of| of.iter().find(|(_, value)| value.is_table()));
        if let Some((column, _)) = dotted {
            let line = spans.line_of_key(index, "tolerance", column);
            return Err((
                line,
                format!("suite `{name}`: column ids contain a dot, so write them in quotes: \"{column}.…\" = \"1%\""),
            ));
        }
    }
    Ok(())
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
    if asked.policies.is_empty() {
        return at("policies", "`policies` is empty, and a gate without policies would always pass".to_owned());
    }
    for (at, path) in asked.transcripts.iter().enumerate() {
        check_relative(path).map_err(|message| (spans.line_of_item(index, "transcripts", at), message))?;
    }
    for (at, setting) in asked.set.iter().enumerate() {
        setting.parse::<Setting>().map_err(|message| (spans.line_of_item(index, "set", at), message))?;
    }
    if let Some(Err(error)) = asked.tokenizer.as_ref().map(|name| name.parse::<TokenCounter>()) {
        return at("tokenizer", format!("`tokenizer`: {error}"));
    }
    match asked.summarizer.as_deref().and_then(Address::parse) {
        Some(Err(what)) => at("summarizer", what),
        Some(Ok(_)) if asked.cassette.is_none() => {
            let message = "a gate never calls a model: set `cassette` to the folder with its recorded answers (`recompact replay --cassette` fills it)";
            at("summarizer", message.to_owned())
        }
        None if asked.cassette.is_some() => {
            at("cassette", "`cassette` has answers of models, but `summarizer` is not a model".to_owned())
        }
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
        let condition: Condition = written.parse().map_err(|message| (line, message))?;
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
