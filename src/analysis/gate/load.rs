//! TOML → [`Gate`], with the line of what is wrong.

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

/// What is wrong, and on which line.
type Wrong = (Option<usize>, String);

impl Gate {
    /// Reads a suite file. `origin` is what errors call it.
    ///
    /// # Errors
    ///
    /// What cannot be meant: unknown keys and columns, a suite without rules, a path that leads to one machine only.
    pub fn parse(text: &str, origin: &str) -> Result<Self, FileError> {
        let wrong = |(line, what)| FileError { origin: origin.to_owned(), line, what };
        let of_toml =
            |e: toml::de::Error| (e.span().map(|span| line_at(text, span.start)), friendly_serde_error(e.message().trim()));
        let table: Table = toml::from_str(text).map_err(|e| wrong(of_toml(e)))?;
        let places = TomlSpans::of(text, "suite");
        check_keys(&table, &places).map_err(wrong)?;
        let file: SuiteFile = toml::from_str(text).map_err(|e| wrong(of_toml(e)))?;
        relative(&file.baseline).map_err(|what| wrong((places.line(None, "baseline"), what)))?;
        let mut suites: Vec<Suite> = Vec::new();
        for (index, asked) in file.suite.into_iter().enumerate() {
            if suites.iter().any(|known| known.asked.name == asked.name) {
                let what = format!("a suite named `{}` stands above already", asked.name);
                return Err(wrong((places.line(Some(index), "name"), what)));
            }
            let called = |(line, what)| wrong((line, format!("suite `{}`: {what}", asked.name)));
            check(&asked, index, &places).map_err(called)?;
            let rules = rules(&asked, index, &places).map_err(called)?;
            suites.push(Suite { line: places.line(Some(index), "transcripts"), rules, asked });
        }
        match suites.is_empty() {
            true => Err(wrong((None, "there is no suite: write `[[suite]]`".to_owned()))),
            false => Ok(Self { baseline: file.baseline, suites }),
        }
    }
}

/// A misspelt key that is ignored would be a limit nobody checks.
fn check_keys(file: &Table, places: &TomlSpans) -> Result<(), Wrong> {
    if let Some(key) = file.keys().find(|key| !FILE_SETTINGS.contains(&key.as_str())) {
        let what = format!("a suite file has no setting `{key}`{}", did_you_mean(key, FILE_SETTINGS));
        return Err((places.line(None, key), what));
    }
    let Some(Value::Array(suites)) = file.get("suite") else {
        return Err((places.line(None, "suite"), "a suite file has a table `[[suite]]` for each suite".to_owned()));
    };
    for (index, suite) in suites.iter().enumerate() {
        let Some(suite) = suite.as_table() else {
            return Err((places.line(None, "suite"), "`suite` is written `[[suite]]`".to_owned()));
        };
        let name = suite.get("name").and_then(Value::as_str).unwrap_or("?");
        if let Some(key) = suite.keys().find(|key| !SUITE_SETTINGS.contains(&key.as_str())) {
            let what = format!("suite `{name}`: a suite has no setting `{key}`{}", did_you_mean(key, SUITE_SETTINGS));
            return Err((places.line(Some(index), key), what));
        }
        let dotted =
            suite.get("tolerance").and_then(Value::as_table).and_then(|of| of.iter().find(|(_, value)| value.is_table()));
        if let Some((column, _)) = dotted {
            let line = places.line_of_key(index, "tolerance", column);
            return Err((
                line,
                format!("suite `{name}`: the ids of columns hold a dot, so they stand in quotes: \"{column}.…\" = \"1%\""),
            ));
        }
    }
    Ok(())
}

/// What is not about limits.
fn check(asked: &SuiteTable, index: usize, places: &TomlSpans) -> Result<(), Wrong> {
    let at = |key: &str, what: String| Err((places.line(Some(index), key).or_else(|| places.line(Some(index), "name")), what));
    if asked.name.trim().is_empty() {
        return at("name", "`name` is empty".to_owned());
    }
    if asked.transcripts.is_empty() {
        return at("transcripts", "`transcripts` is empty, and a gate that looks at nothing would hold".to_owned());
    }
    if asked.policies.is_empty() {
        return at("policies", "`policies` is empty, and a gate that looks at nothing would hold".to_owned());
    }
    for (at, path) in asked.transcripts.iter().enumerate() {
        relative(path).map_err(|what| (places.line_of_item(index, "transcripts", at), what))?;
    }
    for (at, setting) in asked.set.iter().enumerate() {
        setting.parse::<Setting>().map_err(|what| (places.line_of_item(index, "set", at), what))?;
    }
    if let Some(Err(error)) = asked.tokenizer.as_ref().map(|name| name.parse::<TokenCounter>()) {
        return at("tokenizer", format!("`tokenizer`: {error}"));
    }
    match asked.summarizer.as_deref().and_then(Address::parse) {
        Some(Err(what)) => at("summarizer", what),
        Some(Ok(_)) if asked.cassette.is_none() => {
            let what = "a gate asks no model: name the folder with its recorded answers as `cassette` (`recompact replay --cassette` fills it)";
            at("summarizer", what.to_owned())
        }
        None if asked.cassette.is_some() => {
            at("cassette", "`cassette` holds answers of models, and no `summarizer` here is a model".to_owned())
        }
        _ => Ok(()),
    }
}

/// Names of transcripts stand in the baseline, which is for every machine.
fn relative(path: &str) -> Result<(), String> {
    match path {
        "" => Err("a path is empty".to_owned()),
        "-" => Err("standard input is not the same twice: name files".to_owned()),
        path if path.starts_with(['/', '\\', '~']) || path.get(1..2) == Some(":") => {
            Err(format!("`{path}` leads somewhere on one machine only: write it relative to this file"))
        }
        _ => Ok(()),
    }
}

fn rules(asked: &SuiteTable, index: usize, places: &TomlSpans) -> Result<Vec<Rule>, Wrong> {
    let mut rules = Vec::new();
    for (at, written) in asked.limits.iter().enumerate() {
        let line = places.line_of_item(index, "limits", at);
        let condition: Condition = written.parse().map_err(|what| (line, what))?;
        let column = by_id(&condition.column).map_err(|what| (line, what))?;
        rules.push(Rule { column, demand: RuleKind::Limit(condition), line });
    }
    for (id, tolerated) in &asked.tolerance {
        let line = places.line_of_key(index, "tolerance", id);
        let column = by_id(id).map_err(|what| (line, what))?;
        if column.better == Direction::Neither {
            return Err((
                line,
                format!("`{id}` is neither good nor bad, so nothing of it is worse; `limits` can say what it must be"),
            ));
        }
        if tolerated.of(1.0).is_none() {
            return Err((
                line,
                format!("`{id}`: `{tolerated}` is no tolerance: write \"1%\" of the baseline, or a number of 0 or more"),
            ));
        }
        rules.push(Rule { column, demand: RuleKind::Tolerance(tolerated.clone()), line });
    }
    match rules.is_empty() {
        true => Err((
            places.line(Some(index), "name"),
            "has neither `limits` nor a `tolerance`, so it would hold whatever happens".to_owned(),
        )),
        false => Ok(rules),
    }
}

#[cfg(test)]
mod tests;
