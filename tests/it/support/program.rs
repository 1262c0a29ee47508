//! Runs the program as a shell would, in the folder of the fixtures, so that its output has no path of the machine.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use recompact::cli::Captured;
use serde_json::Value;

/// Result of one run.
#[derive(Debug, Clone)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// The folder of the invented transcripts.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/transcripts")
}

/// Runs `recompact ARGUMENTS…` on the fixtures. What only prints runs in this process, because it is asked for hundreds of times.
pub fn run<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Ran {
    let arguments: Vec<OsString> = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
    if only_prints(&arguments) { run_here(&arguments) } else { run_in(&fixtures(), &arguments, b"") }
}

/// Returns whether a command depends on nothing but its arguments, and writes no file.
fn only_prints(arguments: &[OsString]) -> bool {
    let words: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let is_printed = match words[..] {
        ["catalog" | "guide" | "man" | "completions" | "export-settings", ..] | ["policy", "new", ..] => true,
        _ => words.contains(&"--help") || words.contains(&"--help-all"),
    };
    is_printed && !words.contains(&"--out")
}

fn run_here(arguments: &[OsString]) -> Ran {
    let named = [OsString::from("recompact")].into_iter().chain(arguments.iter().cloned());
    let Captured { code, stdout, stderr } = recompact::cli::run_captured(named);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: code.into(), stdout: text(stdout), stderr: text(stderr) }
}

/// A few commands print the same in a process of their own.
#[test]
fn commands_in_this_process_print_what_the_program_prints() {
    for arguments in [
        &["--help"][..],
        &["replay", "--help"],
        &["replay", "--help-all"],
        &["catalog", "layers", "clear"],
        &["catalog", "nothing"],
        &["guide"],
        &["policy", "new", "clear-results"],
        &["export-settings", "--for", "cdoex"],
        &["export-settings", "--partial"],
    ] {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let (here, there) = (run_here(&arguments), run_in(&fixtures(), &arguments, b""));
        assert_eq!((here.code, here.stdout, here.stderr), (there.code, there.stdout, there.stderr), "{arguments:?}");
    }
}

/// Like [`run`], but runs the program only once for the same arguments, however many tests ask.
pub fn run_once(arguments: &[&str]) -> Ran {
    static RAN: LazyLock<Mutex<HashMap<String, Ran>>> = LazyLock::new(Mutex::default);
    let key = arguments.join("\0");
    let mut ran = RAN.lock().unwrap_or_else(PoisonError::into_inner);
    ran.entry(key).or_insert_with(|| run(arguments)).clone()
}

/// Runs it in another folder, with this standard input.
pub fn run_in<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>, stdin: &[u8]) -> Ran {
    let mut command = command(folder);
    command.args(arguments);
    run_command(command, stdin)
}

/// The program: the one that was built with the tests, or `RECOMPACT_PROGRAM`. Runs over recordings are faster with a released one.
pub fn path() -> PathBuf {
    std::env::var_os("RECOMPACT_PROGRAM").map_or_else(
        || env!("CARGO_BIN_EXE_recompact").into(),
        |program| Path::new(&program).canonicalize().expect("RECOMPACT_PROGRAM is a program"),
    )
}

/// The program, to be run in a folder.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(path());
    without_own_files(&mut command).current_dir(folder);
    command
}

/// Lets a command start the program without the defaults and the cache of the person who runs the tests.
pub fn without_own_files(command: &mut Command) -> &mut Command {
    command.env_remove("RUST_BACKTRACE").env("RECOMPACT_CONFIG", "").env("RECOMPACT_CACHE", "")
}

/// Runs it with this standard input, and checks that it does not panic.
pub fn run_command(mut command: Command, stdin: &[u8]) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program that was just built starts");
    // The program may end before it reads anything.
    let _ = child.stdin.take().expect("a pipe").write_all(stdin);
    let output = child.wait_with_output().expect("the program ends");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8 on standard error");
    assert!(!stderr.contains("panicked"), "{stderr}");
    Ran {
        code: output.status.code().expect("an exit code, not a signal"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
        stderr,
    }
}

impl Ran {
    /// Returns what it printed; fails if the run failed or printed a warning.
    #[track_caller]
    pub fn printed(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""));
        self.stdout
    }

    #[track_caller]
    pub fn json(self) -> Value {
        serde_json::from_str(&self.printed()).expect("JSON")
    }
}

/// Returns the rows of results: transcript and conversation, policy, values by column.
pub fn rows(results: &Value) -> impl Iterator<Item = (String, &str, &Value)> {
    let text = |value: &'_ Value| value.as_str().expect("a text").to_owned();
    let replayed = results["rows"].as_array().expect("rows").iter().filter(|row| row["bound_of"].is_null());
    replayed.map(move |row| {
        let place = format!("{} {}", text(&row["transcript"]), text(&row["conversation"]));
        (place, row["policy"].as_str().expect("a policy"), &row["values"])
    })
}

/// Returns the bytes of every file below a folder, by path.
pub fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(|entry| entry.expect("a readable folder"));
    let files = entries.filter(|entry| !entry.file_type().is_dir());
    files.map(|file| (file.path().to_owned(), fs::read(file.path()).expect("a readable file"))).collect()
}
