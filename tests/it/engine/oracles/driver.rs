//! Starts a driver in the environment of its program, and reads its answers.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::support::program;

/// A driver and the environment that `.ci/oracles` made for it.
pub struct Driver {
    script: PathBuf,
    environment: PathBuf,
}

/// Returns whether RECOMPACT_ORACLE names this driver; empty, it names all.
pub fn is_asked(driver: &str) -> bool {
    let only = std::env::var("RECOMPACT_ORACLE").unwrap_or_default();
    only.is_empty() || only.split(',').any(|name| name == driver)
}

/// Returns the names in RECOMPACT_ORACLE that no driver has: with them nothing would be compared.
pub fn unknown<'a>(only: &'a str, drivers: &[&str]) -> Vec<&'a str> {
    only.split(',').filter(|name| !name.is_empty() && !drivers.contains(name)).collect()
}

/// Exit code of a driver whose program cannot be had.
const NOT_HERE: i32 = 77;

impl Driver {
    /// Returns the driver with this name; `None` if its program is not installed.
    pub fn of(name: &str) -> Option<Self> {
        let environments = PathBuf::from(std::env::var_os("RECOMPACT_ORACLES").expect("RECOMPACT_ORACLES names a folder"));
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracles");
        let named =
            [format!("oracle_{name}.py"), format!("oracle_{name}.mjs"), format!("{name}.mjs")].map(|file| scripts.join(file));
        let script = named.into_iter().find(|script| script.is_file()).unwrap_or_else(|| panic!("no driver {name}"));
        let driver = Self { script, environment: environments.join(name) };
        if !driver.environment.is_dir() {
            return None;
        }
        let status = driver.command(&["--version"]).stdout(Stdio::null()).status().expect("the driver starts");
        assert!(status.success() || status.code() == Some(NOT_HERE), "{}: {status}", driver.script.display());
        status.success().then_some(driver)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let python = self.environment.join("bin/python");
        let mut command = Command::new(if python.is_file() { &python } else { Path::new("node") });
        command.arg(&self.script).args(arguments).current_dir(&self.environment).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    /// Returns the versions of the packages that answer.
    pub fn version(&self) -> String {
        let output = self.command(&["--version"]).output().expect("the driver starts");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Lets a live driver run its program, and returns what it printed.
    pub fn run(&self, variant: &str) -> String {
        let mut command = self.command(&[variant]);
        let output =
            command.env("RECOMPACT_PROGRAM", program::path()).stderr(Stdio::inherit()).output().expect("the driver starts");
        assert!(output.status.success(), "{} {variant}: {}", self.script.display(), output.status);
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Asks the driver for the requests of all recordings.
    pub fn ask(&self, variant: &str, recordings: &str) -> Answers {
        let mut input = tempfile::tempfile().expect("a temporary file");
        input.write_all(recordings.as_bytes()).expect("the recordings are written");
        let input = rewound(input);
        let mut command = self.command(&[variant]);
        let mut child = command.stdin(input).stdout(Stdio::piped()).spawn().expect("the driver starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe"));
        Answers { child, lines }
    }
}

fn rewound(mut file: File) -> File {
    std::io::Seek::rewind(&mut file).expect("a file");
    file
}

/// The answers of a driver, one line for each call.
pub struct Answers {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Answers {
    /// Makes the items of the request before into those of the next one, and returns the harness's estimate of it.
    pub fn next(&mut self, items: &mut Vec<String>) -> Option<u64> {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line of the driver");
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("the driver gave `{line}`: {error}"));
        items.truncate(answer["shared"].as_u64().expect("a number") as usize);
        items.extend(answer["then"].as_array().expect("items").iter().map(Value::to_string));
        answer["estimate"].as_u64()
    }
}

impl Drop for Answers {
    /// A test that fails leaves no driver behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
