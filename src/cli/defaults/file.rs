//! The files that hold defaults, and what is written in them.

use std::env;
use std::io::ErrorKind;
use std::path::Path;

use recompact::transcript::source::read_settings;
use recompact::util::toml_span::{FileError, line_of_path};
use toml::{Table, Value};

use crate::cli::session_folders::shown;
use crate::cli::user_files::UserFile;

/// The file of a project, in the current folder; it may hold suites too.
const OF_PROJECT: &str = "recompact.toml";
/// The file of a user.
const OF_USER: UserFile = UserFile {
    variable: "RECOMPACT_CONFIG",
    parents: ["XDG_CONFIG_HOME", "APPDATA"],
    in_home: [".config", ".config"],
    path: "recompact/config.toml",
};
/// The table of both files.
const TABLE: &str = "defaults";

/// One default as it is written.
pub struct Entry {
    /// The file, as people write its path.
    pub origin: String,
    line: Option<usize>,
    /// The command that has this default; `None`: every command that has the option.
    pub command: Option<String>,
    /// The long name of the option, or `paths`.
    pub option: String,
    /// As they would be typed.
    pub values: Vec<String>,
}

impl Entry {
    /// An error at the line of this default.
    pub fn error(&self, what: String) -> FileError {
        FileError { origin: self.origin.clone(), line: self.line, what }
    }
}

/// Reads the defaults of the project and of the user. The project's come first, because they count more, and in each file those of a
/// single command.
///
/// # Errors
///
/// Fails if a file is there but cannot be read, and if the one that the variable names is not there.
pub fn entries() -> Result<Vec<Entry>, FileError> {
    let mut entries = of_file(Path::new(OF_PROJECT), OF_PROJECT)?;
    if let Some(path) = OF_USER.find() {
        must_be_there(&path)?;
        entries.extend(of_file(&path, &shown(&path))?);
    }
    Ok(entries)
}

/// Fails if the variable names a file that is not there: its defaults would be missing without a word.
fn must_be_there(path: &Path) -> Result<(), FileError> {
    let variable = OF_USER.variable;
    if path.exists() || env::var_os(variable).is_none() {
        return Ok(());
    }
    let what = format!("there is no such file, which {variable} names; set it to an empty text to use no defaults");
    Err(FileError { origin: shown(path), line: None, what })
}

fn of_file(path: &Path, origin: &str) -> Result<Vec<Entry>, FileError> {
    match read_settings(path) {
        Ok(text) => parse(&text, origin),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(FileError { origin: origin.to_owned(), line: None, what: error.to_string() }),
    }
}

fn parse(text: &str, origin: &str) -> Result<Vec<Entry>, FileError> {
    let file: Table = toml::from_str(text).map_err(|error| FileError::in_toml(origin, text, &error))?;
    let wrong = |path: &[&str], what: String| FileError { origin: origin.to_owned(), line: line_of_path(text, path), what };
    let Some(defaults) = file.get(TABLE) else { return Ok(Vec::new()) };
    let defaults = defaults.as_table().ok_or_else(|| wrong(&[TABLE], format!("`{TABLE}` is written `[{TABLE}]`")))?;
    let entry = |command: Option<&str>, option: &str, value: &Value| {
        let path: Vec<&str> = [TABLE].into_iter().chain(command).chain([option]).collect();
        let values = as_typed(value).ok_or_else(|| wrong(&path, format!("`{option}` is a value or a list of values")))?;
        let line = line_of_path(text, &path);
        let option = option.replace('_', "-");
        Ok(Entry { origin: origin.to_owned(), line, command: command.map(str::to_owned), option, values })
    };
    let of_commands = defaults.iter().filter_map(|(command, options)| Some((command, options.as_table()?)));
    let of_commands = of_commands
        .flat_map(|(command, options)| options.iter().map(move |(option, value)| (Some(command.as_str()), option, value)));
    let of_all = defaults.iter().filter(|(_, value)| !value.is_table()).map(|(option, value)| (None, option, value));
    of_commands.chain(of_all).map(|(command, option, value)| entry(command, option, value)).collect()
}

/// A value, or each value of a list, as it would be typed; `None` if it is not one.
fn as_typed(value: &Value) -> Option<Vec<String>> {
    let one = |value: &Value| match value {
        Value::String(text) => Some(in_home(text)),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => Some(value.to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    };
    match value {
        Value::Array(values) => values.iter().map(one).collect(),
        value => Some(vec![one(value)?]),
    }
}

/// Writes out the home folder, as a shell does.
fn in_home(text: &str) -> String {
    let path = text.strip_prefix("~/").and_then(|rest| Some(env::home_dir()?.join(rest)));
    path.map_or_else(|| text.to_owned(), |path| path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `line, command, option: values` of each entry.
    fn parsed(text: &str) -> Result<Vec<String>, String> {
        let line = |entry: &Entry| {
            let command = entry.command.as_deref().unwrap_or("-");
            format!("{} {command} {}: {}", entry.line.unwrap_or(0), entry.option, entry.values.join(" "))
        };
        parse(text, "c.toml").map(|entries| entries.iter().map(line).collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn defaults_of_a_command_come_before_those_of_all() {
        let text = "[[suite]]\nname = \"s\"\n[defaults]\nwindow = \"200k\"\npolicy = [\"a\", \"b\"]\nmax_file = 3\n\
                    [defaults.sweep]\nwindow = 7\nexact = true\n";
        let expected = ["8 sweep window: 7", "9 sweep exact: true", "4 - window: 200k", "5 - policy: a b", "6 - max-file: 3"];
        let mut entries = parsed(text).expect("a file");
        entries.sort_by_key(|entry| expected.iter().position(|one| one == entry));
        assert_eq!(entries, expected);
        assert_eq!(parsed("[[suite]]\nname = \"s\"\n"), Ok(vec![]));
    }

    #[test]
    fn errors_name_the_line() {
        for (text, error) in [
            ("[defaults\n", "c.toml:1: "),
            ("\ndefaults = 3\n", "c.toml:2: `defaults` is written `[defaults]`"),
            ("[defaults]\nsince = 2026-01-01\n", "c.toml:2: `since` is a value or a list of values"),
            ("[defaults.sweep]\na = 1\nset = [[1]]\n", "c.toml:3: `set` is a value or a list of values"),
        ] {
            let found = parsed(text).expect_err(text);
            assert!(found.starts_with(error), "{found}");
        }
    }
}
