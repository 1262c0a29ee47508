//! Decides whether a tool call only reads: then it can be made again, and it changes nothing that another call has read.
//!
//! A listing, a search, a diff, a log, a run of tests or of a linter prints again what it printed, until something is written. What
//! is not known to read counts as a change.

use serde_json::Value;

use super::options::READERS;
use super::shell::{self, Word};
use super::{Access, COMMAND_KEYS, SHELL_TOOL_WORDS, WRITE_TOOL_WORDS, commands, contains_any, patch, program};

/// What a tool call does to the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It reads, and can be made again.
    Reads,
    /// It changes no file, and making it again gives nothing: a plan, a question.
    Nothing,
    /// It changes files, or may do so.
    Changes,
}

/// Words in the names of tools that read.
const READ_TOOL_WORDS: [&str; 14] =
    ["read", "view", "get", "list", "ls", "search", "find", "grep", "glob", "fetch", "show", "query", "lookup", "describe"];
/// Words in the names of tools that change no file.
const IDLE_TOOL_WORDS: [&str; 5] = ["todo", "plan", "think", "ask", "wait"];

/// Words in the names of tools that run a program that the agent wrote.
const PROGRAM_TOOL_WORDS: [&str; 7] = ["javascript", "js", "python", "code", "repl", "eval", "evaluate"];

/// Whether a tool runs commands or programs that the agent writes.
pub fn runs_program(tool: &str) -> bool {
    contains_any(tool, &SHELL_TOOL_WORDS) || words_of(tool).iter().any(|word| PROGRAM_TOOL_WORDS.contains(&word.as_str()))
}

/// Returns the effect of a call of this tool with this input. `access` is what it reads and writes.
pub fn effect_of(tool: &str, input: &Value, access: &Access) -> Effect {
    if !access.writes.is_empty() {
        return Effect::Changes;
    }
    let script = match input {
        Value::String(text) if program::calls_tools(text) => return program_effect(text),
        Value::String(text) => Some(text.as_str()).filter(|_| contains_any(tool, &SHELL_TOOL_WORDS)),
        Value::Object(fields) => match COMMAND_KEYS.iter().find_map(|key| fields.get(*key)) {
            Some(Value::String(script)) if script != "view" => Some(script.as_str()),
            Some(Value::Array(words)) => return argv_effect(words),
            _ => None,
        },
        _ => None,
    };
    if let Some(script) = script {
        return if script_reads(script, 0) { Effect::Reads } else { Effect::Changes };
    }
    let words = words_of(tool);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    match () {
        () if has(&IDLE_TOOL_WORDS) || words.iter().any(|word| word.starts_with("todo")) => Effect::Nothing,
        () if !access.reads.is_empty() => Effect::Reads,
        () if has(&WRITE_TOOL_WORDS) || !has(&READ_TOOL_WORDS) => Effect::Changes,
        () => Effect::Reads,
    }
}

/// Returns the words in the name of a tool: `get_user`, `WebSearch`, `mcp__fs__list-files`.
fn words_of(tool: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for letter in tool.chars() {
        if !letter.is_alphanumeric() || after_small && letter.is_uppercase() {
            words.push(String::new());
        }
        after_small = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// A program that calls tools reads if it only runs commands, and each of them reads.
fn program_effect(text: &str) -> Effect {
    let mut scripts = program::literals(text).filter(|literal| matches!(literal.key, "cmd" | "command")).peekable();
    let only_commands = text.split("tools.").skip(1).all(|call| call.starts_with("exec_command") || call.starts_with("shell"));
    let reads = only_commands && scripts.peek().is_some() && scripts.all(|script| script_reads(&script.text, 0));
    if reads { Effect::Reads } else { Effect::Changes }
}

fn argv_effect(words: &[Value]) -> Effect {
    let words: Vec<_> =
        words.iter().filter_map(Value::as_str).map(|text| Word { text: text.into(), has_expansion: false }).collect();
    if command_reads(&words, 0) { Effect::Reads } else { Effect::Changes }
}

/// Whether every command of a script reads.
fn script_reads(script: &str, depth: usize) -> bool {
    let commands = shell::commands(script);
    let is_empty = commands.iter().all(|command| command.words.is_empty());
    let writes = |output: &Word| output.has_expansion || !output.text.starts_with("/dev/");
    !is_empty
        && !script.contains(patch::BEGIN)
        && commands.iter().all(|command| {
            !command.outputs.iter().any(writes) && !command.words.iter().any(runs_more) && command_reads(&command.words, depth)
        })
}

/// Whether a word has a substitution, whose commands the scanner of scripts skips.
fn runs_more(word: &Word) -> bool {
    word.has_expansion && (word.text.is_empty() || word.text.contains("$(") || word.text.contains('`'))
}

fn command_reads(words: &[Word], depth: usize) -> bool {
    let (name, arguments) = commands::program(words);
    if let Some(script) = commands::nested_script(name, arguments) {
        return depth < commands::MAX_SCRIPT_DEPTH && script_reads(&script.text, depth + 1);
    }
    let operands: Vec<&str> = arguments.iter().map(|word| &*word.text).collect();
    let has = |options: &[&str]| operands.iter().any(|word| options.contains(word));
    let first =
        |known: &[&str]| operands.iter().find(|word| !word.starts_with(['-', '+'])).is_some_and(|verb| known.contains(verb));
    match name {
        "" => true,
        "find" | "gfind" => !has(&["-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint"]),
        "sed" | "perl" => !operands.iter().any(|word| word.starts_with("-i") || word.starts_with("--in-place") || *word == "-pi"),
        "xargs" => {
            let program =
                arguments.iter().position(|word| !word.text.starts_with('-') && !word.text.bytes().all(|b| b.is_ascii_digit()));
            program.is_some_and(|at| command_reads(&arguments[at..], depth + 1) && depth < commands::MAX_SCRIPT_DEPTH)
        }
        "git" => git_reads(&operands),
        "gh" => {
            operands.get(1).is_some_and(|verb| ["view", "list", "status", "diff", "checks"].contains(verb))
                || api_reads(&operands)
        }
        "curl" | "wget" => {
            let access = commands::argv_access(words.iter().map(|word| &*word.text));
            access.writes.is_empty() && !access.reads.is_empty()
        }
        "cargo" => {
            first(&["test", "check", "build", "clippy", "nextest", "tree", "metadata", "doc", "bench"]) && !has(&["--fix"])
        }
        "go" => first(&["test", "vet", "build", "list", "doc", "env", "version"]),
        "npm" | "pnpm" | "yarn" | "bun" | "mise" | "make" | "just" | "task" | "nx" | "turbo" => runner_checks(name, &operands),
        "npx" | "bunx" => {
            runs(&operands, &["tsc", "eslint", "jest", "vitest", "mocha"]) && !has(&["--fix", "-u", "--updateSnapshot"])
        }
        "python" | "python3" | "uv" | "poetry" => {
            runs(&operands, &["pytest", "unittest", "mypy", "ruff", "pyright"]) && !has(&["--fix"])
        }
        "ruff" | "eslint" | "golangci-lint" | "biome" => !has(&["--fix", "--write", "format", "fmt"]),
        "mix" => first(&["test", "compile", "credo", "dialyzer"]) || has(&["--check-formatted"]),
        "gradle" | "gradlew" | "mvn" | "mvnw" | "dotnet" | "swift" | "zig" | "deno" | "bazel" => {
            first(&["test", "check", "build", "verify", "compile", "lint"])
        }
        _ => READING_PROGRAMS.contains(&name) || READERS.iter().any(|reader| reader.names.contains(&name)),
    }
}

/// Programs that read, test or check, with any arguments; and words of the shell.
const READING_PROGRAMS: [&str; 55] = [
    ":",
    "[",
    "[[",
    "ack",
    "basename",
    "break",
    "case",
    "cd",
    "column",
    "continue",
    "ctest",
    "date",
    "df",
    "dirname",
    "done",
    "echo",
    "egrep",
    "env",
    "esac",
    "exit",
    "export",
    "false",
    "fi",
    "flake8",
    "for",
    "free",
    "hostname",
    "id",
    "jest",
    "lsof",
    "mypy",
    "paste",
    "phpunit",
    "popd",
    "printenv",
    "printf",
    "ps",
    "pushd",
    "pwd",
    "pyright",
    "pytest",
    "rspec",
    "seq",
    "set",
    "shellcheck",
    "sleep",
    "test",
    "tr",
    "true",
    "tsc",
    "uname",
    "vitest",
    "wait",
    "which",
    "whoami",
];

/// Verbs of git that read, whatever follows.
const GIT_READS: [&str; 20] = [
    "blame",
    "cat-file",
    "count-objects",
    "describe",
    "diff",
    "diff-tree",
    "for-each-ref",
    "grep",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge-base",
    "name-rev",
    "reflog",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];

fn git_reads(operands: &[&str]) -> bool {
    let mut rest = operands;
    while let [option, after @ ..] = rest {
        match *option {
            "-C" | "-c" => rest = after.get(1..).unwrap_or_default(),
            option if option.starts_with('-') => rest = after,
            _ => break,
        }
    }
    let Some((verb, arguments)) = rest.split_first() else { return true };
    let lists = || {
        arguments.first().is_some_and(|argument| matches!(*argument, "list" | "show" | "get" | "-v" | "--get" | "--list" | "-l"))
    };
    match *verb {
        "branch" => arguments
            .iter()
            .all(|argument| matches!(*argument, "-a" | "-r" | "-v" | "-vv" | "--list" | "--show-current" | "--all")),
        "remote" | "stash" | "tag" | "worktree" | "config" | "notes" => arguments.is_empty() && *verb != "stash" || lists(),
        verb => GIT_READS.contains(&verb),
    }
}

/// Whether `gh api` reads.
fn api_reads(operands: &[&str]) -> bool {
    let sends = |word: &&str| {
        ["-X", "-f", "-F", "--method", "--field", "--raw-field", "--input"].iter().any(|option| word.starts_with(option))
    };
    operands.first() == Some(&"api") && !operands.iter().any(sends)
}

/// Whether a runner of tasks runs tests or checks: `npm test`, `make lint`, `mise run test:unit`; or a package manager lists.
fn runner_checks(name: &str, operands: &[&str]) -> bool {
    let mut verbs = operands.iter().filter(|word| !word.starts_with('-') && !matches!(**word, "run" | "exec"));
    let is_check = |verb: &str| {
        let rest =
            ["test", "check", "lint", "typecheck", "type-check", "build"].iter().find_map(|known| verb.strip_prefix(known));
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let lists = |verb: &str| matches!(verb, "ls" | "list" | "outdated") && !matches!(name, "make" | "just" | "task");
    verbs.next().is_some_and(|verb| is_check(verb) || lists(verb)) && !operands.contains(&"--fix")
}

/// Whether the first operands name one of these programs.
fn runs(operands: &[&str], programs: &[&str]) -> bool {
    let named = operands.iter().filter(|word| !word.starts_with('-') && !matches!(**word, "run" | "exec"));
    named.take(1).any(|program| programs.contains(program))
}
