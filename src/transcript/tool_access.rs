//! What a tool call reads and writes, as far as its input tells: whether a lost result can be had again by asking for the same
//! file or page, and whether a file is still what it was.
//!
//! Tools of many harnesses differ in their names and less in their inputs, so the input's shape decides and a tool's name only
//! where the shape leaves it open:
//!
//! | input | |
//! |---|---|
//! | a path beside new content (`content`, `old_string`, `edits`, …) | written |
//! | a path alone | read; written if the tool's name says so (`delete_file`) |
//! | a path beside `command: "view"`, or another verb of an editor | read, or written |
//! | `url` | read |
//! | a patch | its files are written |
//! | a command | what its programs read and write |
//! | a program that calls tools | what the commands and patches in it do |

mod commands;
mod options;
mod patch;
mod program;
mod shell;

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

/// What a tool call reads and writes. Paths are as the call has them: nothing is made absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access<'a> {
    /// Files, folders and URLs whose content its result is: asking again gives it again. Each once.
    pub reads: Vec<Cow<'a, str>>,
    /// Files it changes. Each once.
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

    fn each_once(mut self) -> Self {
        for paths in [&mut self.reads, &mut self.writes] {
            let mut known = HashSet::new();
            paths.retain(|path| known.insert(path.clone()));
        }
        self
    }
}

/// The file, folder or page that a tool call names in an argument of its own.
pub fn named(input: &Value) -> Option<&str> {
    // Inputs have a few fields: to walk them is quicker than to hash every name.
    let fields = input.as_object()?;
    PATHS.iter().find_map(|name| fields.iter().find(|(known, _)| known == name)?.1.as_str())
}

/// What tools call a file, a folder or a page: of several, the first is the one that is written.
const PATHS: &[&str] = &[
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
/// Several of them: texts, or objects that have one of the above.
const LISTS: &[&str] = &["paths", "file_paths", "files", "urls", "include", "edits", "changes", "operations"];
/// Where arguments stand one level deeper.
const WRAPPERS: &[&str] = &["args", "arguments", "params", "parameters", "kwargs", "input"];
const MOVED: &[&str] = &["old_path", "new_path", "source_path", "destination_path", "old_file_path", "new_file_path"];
/// What is to stand in a file, or what shall give way to it.
const CONTENTS: &[&str] = &[
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
const PATCHES: &[&str] = &["input", "patch", "diff", "patchText", "patch_text"];
const PROGRAMS: &[&str] = &["input", "code"];
const COMMANDS: &[&str] = &["command", "cmd", "script", "commands"];

/// Verbs of editors that are told in `command` what to do with a path.
const EDITOR_WRITES: [&str; 5] = ["create", "str_replace", "insert", "undo_edit", "delete"];
/// Verbs in the names of tools that change files.
const WRITING: [&str; 12] =
    ["write", "edit", "create", "insert", "replace", "delete", "remove", "append", "patch", "rename", "move", "save"];
/// Names of tools that run commands.
const SHELLS: [&str; 6] = ["bash", "shell", "terminal", "command", "exec", "console"];

/// What a call of this tool with this input reads and writes.
pub fn of<'a>(tool: &str, input: &'a Value) -> Access<'a> {
    match input {
        Value::String(text) => of_text(tool, text),
        Value::Object(fields) => of_fields(tool, fields, true),
        _ => Access::default(),
    }
    .each_once()
}

/// An input that is one text: a program, a patch, or a command if the tool is a shell.
fn of_text<'a>(tool: &str, text: &'a str) -> Access<'a> {
    if program::calls_tools(text) {
        return of_program(text);
    }
    if says(tool, &SHELLS) {
        return of_shell(text);
    }
    of_patch(text)
}

fn of_program(text: &str) -> Access<'_> {
    let mut access = Access::default();
    for literal in program::literals(text) {
        let of = if matches!(literal.key, "cmd" | "command") { of_shell } else { of_patch };
        match literal.text {
            Cow::Borrowed(text) => access.extend(of(text)),
            Cow::Owned(text) => access.extend(of(&text).into_owned()),
        }
    }
    access
}

fn of_patch(text: &str) -> Access<'_> {
    Access { reads: Vec::new(), writes: patch::targets(text) }
}

/// A command, in which a patch may stand as a here-document.
fn of_shell(script: &str) -> Access<'_> {
    let mut access = commands::of_script(script);
    if script.contains(patch::BEGIN) {
        access.writes.extend(patch::targets(script));
    }
    access
}

/// `outer`: lists and wrappers within are looked into.
fn of_fields<'a>(tool: &str, fields: &'a Map<String, Value>, outer: bool) -> Access<'a> {
    let mut access = Access { reads: Vec::new(), writes: paths(fields, MOVED).collect() };
    let listed = |keys: &'static [&'static str]| keys.iter().filter(move |_| outer).filter_map(|key| fields.get(*key));
    for within in listed(WRAPPERS).filter_map(Value::as_object) {
        access.extend(of_fields(tool, within, false));
    }
    let named = paths(fields, PATHS).next();
    let command = COMMANDS.iter().find_map(|key| fields.get(*key));
    match command.and_then(Value::as_str) {
        Some("view") if named.is_some() => access.reads.extend(named),
        Some(verb) if named.is_some() && EDITOR_WRITES.contains(&verb) => access.writes.extend(named),
        // A path beside a command is the folder it runs in.
        _ if command.is_some() => access.extend(of_command(command)),
        _ => {
            let texts = |keys: &'static [&'static str]| keys.iter().filter_map(|key| fields.get(*key)?.as_str());
            if let Some(text) = texts(PROGRAMS).find(|text| program::calls_tools(text)) {
                access.extend(of_program(text));
            } else if named.is_none() {
                access.writes.extend(texts(PATCHES).flat_map(patch::targets));
            }
            let mut all = Vec::new();
            for item in listed(LISTS).filter_map(Value::as_array).flatten() {
                match item {
                    Value::Object(fields) => access.extend(of_fields(tool, fields, false)),
                    _ => all.extend(item.as_str().filter(|path| is_path(path)).map(Cow::Borrowed)),
                }
            }
            if writes(tool, fields) {
                access.writes.extend(named.into_iter().chain(all).filter(|path| !is_url(path)));
            } else if !sends(fields) {
                access.reads.extend(paths(fields, PATHS).chain(all));
            }
        }
    }
    access
}

fn paths<'a>(fields: &'a Map<String, Value>, keys: &'static [&'static str]) -> impl Iterator<Item = Cow<'a, str>> {
    keys.iter().filter_map(|key| fields.get(*key)?.as_str()).filter(|text| is_path(text)).map(Cow::Borrowed)
}

/// A script, or a program and its arguments, among which the script of a shell may be.
fn of_command(command: Option<&Value>) -> Access<'_> {
    match command {
        Some(Value::String(script)) => of_shell(script),
        Some(Value::Array(words)) => {
            let words = || words.iter().filter_map(Value::as_str);
            let mut access = commands::of_arguments(words());
            access.writes.extend(words().filter(|word| word.contains(patch::BEGIN)).flat_map(patch::targets));
            access
        }
        _ => Access::default(),
    }
}

/// Whether the call changes the file it names.
fn writes(tool: &str, fields: &Map<String, Value>) -> bool {
    let holds = |key: &&str| fields.get(*key).is_some_and(|value| value.is_string() || value.is_array() || value.is_object());
    CONTENTS.iter().any(holds) || says(tool, &WRITING)
}

/// Whether the call sends something to a page: to ask again is not to get the same.
fn sends(fields: &Map<String, Value>) -> bool {
    fields.get("method").and_then(Value::as_str).is_some_and(|method| !["GET", "HEAD"].contains(&&*method.to_ascii_uppercase()))
}

fn says(tool: &str, words: &[&str]) -> bool {
    let tool = tool.to_ascii_lowercase();
    words.iter().any(|word| tool.contains(word))
}

fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// Whether a text can be a path or a URL: one line, of a length that systems allow, no device, no descriptor.
fn is_path(text: &str) -> bool {
    let plain = |text: &str| text.len() <= 1024 && !text.chars().any(char::is_control);
    !text.trim().is_empty()
        && plain(text)
        && text != "-"
        && !text.starts_with("/dev/")
        && !text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests;
