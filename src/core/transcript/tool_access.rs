//! Finds the files and URLs that a tool call reads and writes.
//!
//! With this, retention knows whether a lost result is recoverable by reading the same file or page again, and whether the file was
//! changed since. Tools of different harnesses differ more in their names than in their inputs. So the shape of the input decides, and
//! the name of the tool counts only if the shape is ambiguous:
//!
//! | input | access |
//! |---|---|
//! | a path with new content (`content`, `old_string`, `edits`, …) | the path is written |
//! | a path alone | the path is read; or written if the name of the tool says so (`delete_file`) |
//! | a path with `command: "view"`, or another verb of an editor | the path is read, or written |
//! | `url` | the URL is read |
//! | a patch | its files are written |
//! | a command | the files that its programs read and write |
//! | a program that calls tools | the files of the commands and patches in it |

mod commands;
mod effects;
mod options;
mod patch;
mod program;
mod shell;

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

pub use effects::{Effect, effect_of, runs_program};

/// What a tool call reads and writes. Paths are as in the call; they are not made absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access<'a> {
    /// Files, folders and URLs whose content is in the result, without duplicates. Reading them again recovers the result.
    pub reads: Vec<Cow<'a, str>>,
    /// Files that the call changes, without duplicates.
    pub writes: Vec<Cow<'a, str>>,
}

impl<'a> Access<'a> {
    fn extend(&mut self, other: Access<'a>) {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
    }

    fn into_owned(self) -> Access<'static> {
        let owned = |paths: Vec<Cow<str>>| paths.into_iter().map(|path| Cow::Owned(path.into_owned())).collect();
        Access { reads: owned(self.reads), writes: owned(self.writes) }
    }

    fn deduplicated(mut self) -> Self {
        for paths in [&mut self.reads, &mut self.writes] {
            let mut known = HashSet::new();
            paths.retain(|path| known.insert(path.clone()));
        }
        self
    }
}

/// Returns the file, folder or URL in a top-level path argument of a tool call.
pub fn named_path(input: &Value) -> Option<&str> {
    // Inputs have few fields, so a linear search is faster than hashing every name.
    let fields = input.as_object()?;
    PATH_KEYS.iter().find_map(|name| fields.iter().find(|(known, _)| known == name)?.1.as_str())
}

/// Names of arguments with one file, folder or URL. If a call has several of them, the first in this list is the one it writes.
const PATH_KEYS: &[&str] = &[
    "file_path",
    "path",
    "filename",
    "file",
    "filePath",
    "absolute_path",
    "notebook_path",
    "target_file",
    "relative_workspace_path",
    "relative_path",
    "dir_path",
    "dir",
    "directory",
    "folder",
    "uri",
    "url",
];
/// Names of arguments with a list of paths: strings, or objects with one of the keys above.
const LIST_KEYS: &[&str] = &["paths", "file_paths", "files", "urls", "include", "edits", "changes", "operations"];
/// Names of arguments that contain the real arguments.
const WRAPPER_KEYS: &[&str] = &["args", "arguments", "params", "parameters", "kwargs", "input"];
/// Names of arguments with the paths of a move.
const MOVE_KEYS: &[&str] = &["old_path", "new_path", "source_path", "destination_path", "old_file_path", "new_file_path"];
/// Names of arguments with new content of a file, or with content to replace.
const CONTENT_KEYS: &[&str] = &[
    "content",
    "contents",
    "old_string",
    "new_string",
    "old_str",
    "new_str",
    "oldText",
    "newText",
    "oldString",
    "newString",
    "edits",
    "file_text",
    "new_source",
    "insert_text",
    "patch",
    "diff",
    "code_edit",
    "replacement",
];
/// Names of arguments with a patch.
const PATCH_KEYS: &[&str] = &["input", "patch", "diff", "patchText", "patch_text"];
/// Names of arguments with a program.
const PROGRAM_KEYS: &[&str] = &["input", "code"];
/// Names of arguments with a shell command.
const COMMAND_KEYS: &[&str] = &["command", "cmd", "script", "commands"];

/// Values of `command` with which an editor tool changes a file.
const EDITOR_WRITE_VERBS: [&str; 5] = ["create", "str_replace", "insert", "undo_edit", "delete"];
/// Words in the names of tools that change files.
const WRITE_TOOL_WORDS: [&str; 12] =
    ["write", "edit", "create", "insert", "replace", "delete", "remove", "append", "patch", "rename", "move", "save"];
/// Words in the names of tools that run shell commands.
const SHELL_TOOL_WORDS: [&str; 6] = ["bash", "shell", "terminal", "command", "exec", "console"];

/// Returns what a call of this tool with this input reads and writes.
pub fn access_of<'a>(tool: &str, input: &'a Value) -> Access<'a> {
    match input {
        Value::String(text) => text_access(tool, text),
        Value::Object(fields) => fields_access(tool, fields, true),
        _ => Access::default(),
    }
    .deduplicated()
}

/// Handles an input that is one string: a program, a patch, or a command if the tool is a shell.
fn text_access<'a>(tool: &str, text: &'a str) -> Access<'a> {
    if program::calls_tools(text) {
        return program_access(text);
    }
    if contains_any(tool, &SHELL_TOOL_WORDS) {
        return shell_access(text);
    }
    patch_access(text)
}

fn program_access(text: &str) -> Access<'_> {
    let mut access = Access::default();
    for literal in program::literals(text) {
        let text_access = if matches!(literal.key, "cmd" | "command") { shell_access } else { patch_access };
        match literal.text {
            Cow::Borrowed(text) => access.extend(text_access(text)),
            Cow::Owned(text) => access.extend(text_access(&text).into_owned()),
        }
    }
    access
}

fn patch_access(text: &str) -> Access<'_> {
    Access { reads: Vec::new(), writes: patch::targets(text) }
}

/// Handles a shell script, which may contain a patch as a here-document.
fn shell_access(script: &str) -> Access<'_> {
    let mut access = commands::script_access(script);
    if script.contains(patch::BEGIN) {
        access.writes.extend(patch::targets(script));
    }
    access
}

/// Handles the fields of an input. With `is_outer`, it also searches lists and wrappers in them.
fn fields_access<'a>(tool: &str, fields: &'a Map<String, Value>, is_outer: bool) -> Access<'a> {
    let mut access = Access { reads: Vec::new(), writes: paths(fields, MOVE_KEYS).collect() };
    let nested = |keys: &'static [&'static str]| keys.iter().filter(move |_| is_outer).filter_map(|key| fields.get(*key));
    for inner in nested(WRAPPER_KEYS).filter_map(Value::as_object) {
        access.extend(fields_access(tool, inner, false));
    }
    let named_path = paths(fields, PATH_KEYS).next();
    let command = COMMAND_KEYS.iter().find_map(|key| fields.get(*key));
    match command.and_then(Value::as_str) {
        Some("view") if named_path.is_some() => access.reads.extend(named_path),
        Some(verb) if named_path.is_some() && EDITOR_WRITE_VERBS.contains(&verb) => access.writes.extend(named_path),
        // A path next to a command is the working directory.
        _ if command.is_some() => access.extend(command_access(command)),
        _ => {
            let texts = |keys: &'static [&'static str]| keys.iter().filter_map(|key| fields.get(*key)?.as_str());
            if let Some(text) = texts(PROGRAM_KEYS).find(|text| program::calls_tools(text)) {
                access.extend(program_access(text));
            } else if named_path.is_none() {
                access.writes.extend(texts(PATCH_KEYS).flat_map(patch::targets));
            }
            let mut listed = Vec::new();
            for item in nested(LIST_KEYS).filter_map(Value::as_array).flatten() {
                match item {
                    Value::Object(fields) => access.extend(fields_access(tool, fields, false)),
                    _ => listed.extend(item.as_str().filter(|path| is_path(path)).map(Cow::Borrowed)),
                }
            }
            if is_write(tool, fields) {
                access.writes.extend(named_path.into_iter().chain(listed).filter(|path| !is_url(path)));
            } else if !sends_data(fields) {
                access.reads.extend(paths(fields, PATH_KEYS).chain(listed));
            }
        }
    }
    access
}

fn paths<'a>(fields: &'a Map<String, Value>, keys: &'static [&'static str]) -> impl Iterator<Item = Cow<'a, str>> {
    keys.iter().filter_map(|key| fields.get(*key)?.as_str()).filter(|text| is_path(text)).map(Cow::Borrowed)
}

/// Handles a script, or a program and its arguments (which may contain the script of a shell).
fn command_access(command: Option<&Value>) -> Access<'_> {
    match command {
        Some(Value::String(script)) => shell_access(script),
        Some(Value::Array(words)) => {
            let words = || words.iter().filter_map(Value::as_str);
            let mut access = commands::argv_access(words());
            access.writes.extend(words().filter(|word| word.contains(patch::BEGIN)).flat_map(patch::targets));
            access
        }
        _ => Access::default(),
    }
}

/// Returns whether the call changes the file it names.
fn is_write(tool: &str, fields: &Map<String, Value>) -> bool {
    let has_value = |key: &&str| fields.get(*key).is_some_and(|value| value.is_string() || value.is_array() || value.is_object());
    CONTENT_KEYS.iter().any(has_value) || contains_any(tool, &WRITE_TOOL_WORDS)
}

/// Returns whether the call sends data to a URL. Repeating it may give another result.
fn sends_data(fields: &Map<String, Value>) -> bool {
    fields.get("method").and_then(Value::as_str).is_some_and(|method| !["GET", "HEAD"].contains(&&*method.to_ascii_uppercase()))
}

fn contains_any(tool: &str, words: &[&str]) -> bool {
    let tool = tool.to_ascii_lowercase();
    words.iter().any(|word| tool.contains(word))
}

fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// Returns whether a text can be a path or a URL: one line, not too long, not a device, not a file descriptor.
fn is_path(text: &str) -> bool {
    let is_one_line = |text: &str| text.len() <= 1024 && !text.chars().any(char::is_control);
    !text.trim().is_empty()
        && is_one_line(text)
        && text != "-"
        && !text.starts_with("/dev/")
        && !text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests;
