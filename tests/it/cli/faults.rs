//! Lets each system call of a run fail once, and checks that every file is the old one or the new one, and that the exit code says so.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

use super::resume;
use crate::support::program::{self, files, fixtures};

/// A kind of call that fails.
struct Fault {
    /// Names of system calls, separated by commas.
    calls: &'static str,
    error: &'static str,
    /// Only calls that touch a file of the user fail.
    of_user: bool,
}

const FAULTS: &[Fault] = &[
    Fault { calls: "openat", error: "EACCES", of_user: true },
    Fault { calls: "read", error: "EIO", of_user: true },
    Fault { calls: "pread64", error: "EIO", of_user: true },
    Fault { calls: "statx", error: "EIO", of_user: true },
    Fault { calls: "getdents64", error: "EIO", of_user: true },
    Fault { calls: "write", error: "ENOSPC", of_user: false },
    Fault { calls: "rename,renameat,renameat2,link,linkat", error: "EIO", of_user: false },
    Fault { calls: "fsync,fdatasync", error: "EIO", of_user: false },
    Fault { calls: "mkdir,mkdirat", error: "EACCES", of_user: false },
    Fault { calls: "fchmod,fchmodat,chmod", error: "EPERM", of_user: false },
];

/// A command that reads files and writes others.
struct Scenario {
    name: &'static str,
    arguments: &'static str,
    /// Makes the folder in which it runs.
    setup: fn() -> TempDir,
}

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "replay",
        arguments: "replay a.jsonl b.jsonl -p policy.toml --tokenizer chars/4 -o json --out results.json",
        setup: || with(&["results.json"]),
    },
    Scenario { name: "check --update", arguments: "check recompact.toml --update", setup: || with(&["base.json"]) },
    Scenario {
        name: "cassette",
        arguments: "replay a.jsonl -p policy.toml --tokenizer chars/4 --summarizer command:./answer --cassette answers -o json --out results.json",
        setup: || with(&[]),
    },
    Scenario {
        name: "materialize",
        arguments: "replay a.jsonl -p lcc-s08 --set budget.max_bytes=10 --set budget.min_chars=1 --tokenizer chars/4 --materialize written -o json --out results.json",
        setup: || with(&["results.json"]),
    },
    Scenario { name: "resume", arguments: resume::RESUMED, setup: resume::stopped },
];

/// A folder with transcripts, a policy, a suite, a summarizer, and old files of these names.
fn with(old: &[&str]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a folder to write to");
    let transcript = fs::read_to_string(fixtures().join("messages/repair.blocks.jsonl")).expect("a fixture");
    let lines: String = transcript.split_inclusive('\n').take(30).collect();
    write("a.jsonl", &lines);
    write("b.jsonl", &lines.replace("src", "lib"));
    write("policy.toml", POLICY);
    write("recompact.toml", SUITE);
    write("answer", "#!/bin/sh\ncat >/dev/null\necho a summary\n");
    let made = Command::new("chmod").arg("+x").arg(folder.path().join("answer")).status().expect("chmod");
    assert!(made.success());
    for name in old {
        write(name, "{}");
    }
    folder
}

const POLICY: &str = "name = \"own\"\nmeter = \"chars/4\"\n\n[[layer]]\nid = \"auto\"\ndo = \"summarize\"\nthreshold = 500\n\
                      input.chars = 4_000\n";
const SUITE: &str = "baseline = \"base.json\"\n\n[[suite]]\nname = \"all\"\ntranscripts = [\"a.jsonl\", \"b.jsonl\"]\n\
                     policies = [\"lcc-s06\"]\ntokenizer = \"chars/4\"\nlimits = [\"kept.hit >= 0\"]\n";

/// Contents of a folder, by path below it.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn contents(folder: &Path) -> Files {
    let below = |path: PathBuf| path.strip_prefix(folder).expect("a file in the folder").to_owned();
    files(folder).into_iter().map(|(path, bytes)| (below(path), bytes)).collect()
}

/// What a run left.
struct Outcome {
    code: Option<i32>,
    stderr: String,
    files: Files,
    /// The fault came about.
    failed: bool,
}

/// Runs a scenario in a copy of its folder; the n-th of these calls fails.
fn run(scenario: &Scenario, original: &Path, fault: Option<(&Fault, usize)>) -> Outcome {
    let folder = TempDir::new().expect("a temporary folder");
    let old: Vec<PathBuf> = contents(original).into_keys().collect();
    for path in &old {
        fs::copy(original.join(path), folder.path().join(path)).expect("a file to copy");
    }
    let log = TempDir::new().expect("a temporary folder");
    let log = log.path().join("strace");
    let mut command = Command::new("strace");
    command.args(["-f", "--seccomp-bpf", "-qq", "-o"]).arg(&log);
    if let Some((Fault { calls, error, of_user }, n)) = fault {
        command.args(["-e", &format!("trace={calls}"), "-e", &format!("inject={calls}:error={error}:when={n}")]);
        for path in old.iter().filter(|_| *of_user) {
            command.arg("-P").arg(folder.path().join(path));
        }
    } else {
        command.args(["-e", "trace=none"]);
    }
    command.arg(program::path()).args(scenario.arguments.split(' ')).args(["--jobs", "1", "--quiet"]);
    let output = program::without_own_files(&mut command).current_dir(folder.path()).output().expect("strace");
    let failed = fs::read_to_string(&log).unwrap_or_default().contains("(INJECTED)");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Outcome { code: output.status.code(), stderr, files: contents(folder.path()), failed }
}

/// Returns what is wrong with a run in which a call failed. `new`: the files of a run without a fault.
fn wrong(old: &Files, new: &Files, outcome: &Outcome) -> Option<String> {
    let Outcome { code, stderr, files, .. } = outcome;
    if stderr.contains("panicked") || !matches!(code, Some(0..=2)) {
        return Some(format!("exit code {code:?}: {stderr}"));
    }
    let is_same = |path: &PathBuf, files: &Files, bytes: &[u8]| files.get(path).is_some_and(|other| is_like(path, other, bytes));
    let (mut is_complete, mut names_the_rest) = (true, false);
    for (path, bytes) in files {
        let is_new = is_same(path, new, bytes);
        is_complete &= is_new;
        // Results say what they lack, and so does the program.
        let is_partial = (*code == Some(2) || stderr.contains("left out: ")) && left_out(bytes);
        names_the_rest |= is_partial;
        if !is_new && !is_partial && !is_same(path, old, bytes) {
            return Some(format!("{}: neither old nor new, exit code {code:?}: {stderr}", path.display()));
        }
    }
    if let Some(lost) = old.keys().find(|path| !files.contains_key(*path)) {
        return Some(format!("{} is gone", lost.display()));
    }
    is_complete &= new.keys().all(|path| files.contains_key(path));
    (*code != Some(2) && !is_complete && !names_the_rest)
        .then(|| format!("exit code {code:?}, but not all files are new: {stderr}"))
}

/// Whether a file holds the same as another. Entries of a cassette and results hold the time that answers took.
fn is_like(path: &Path, one: &[u8], other: &[u8]) -> bool {
    let parsed = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    let without_times = |bytes: &[u8]| {
        let mut results = parsed(bytes)?;
        let answers = results["spending"].as_array_mut()?.iter_mut().filter_map(Value::as_object_mut);
        answers.for_each(|answer| answer.retain(|key, _| !key.contains("seconds")));
        Some(results)
    };
    let is_entry = || path.starts_with("answers") && parsed(one).is_some() && parsed(other).is_some();
    one == other || is_entry() || without_times(one).is_some_and(|own| Some(own) == without_times(other))
}

fn left_out(bytes: &[u8]) -> bool {
    let results: Value = serde_json::from_slice(bytes).unwrap_or_default();
    results["coverage"]["left_out"].as_array().is_some_and(|list| !list.is_empty())
}

#[test]
#[ignore = "runs the program some two hundred times under strace"]
fn a_failing_system_call_leaves_the_old_file_or_the_new_one() {
    let cases: Vec<_> = SCENARIOS.iter().flat_map(|scenario| FAULTS.iter().map(move |fault| (scenario, fault))).collect();
    let check = |(scenario, fault): &(&Scenario, &Fault)| {
        let folder = (scenario.setup)();
        let (old, expected) = (contents(folder.path()), run(scenario, folder.path(), None));
        assert_eq!(expected.code, Some(0), "{}: {}", scenario.name, expected.stderr);
        let mut found = Vec::new();
        for n in 1.. {
            let outcome = run(scenario, folder.path(), Some((fault, n)));
            if !outcome.failed {
                return (n - 1, found);
            }
            let wrong = wrong(&old, &expected.files, &outcome);
            found.extend(wrong.map(|wrong| format!("{}, {} number {n}: {wrong}", scenario.name, fault.calls)));
        }
        unreachable!("a run has a last call")
    };
    let results: Vec<(usize, Vec<String>)> = cases.par_iter().map(check).collect();
    let (runs, found): (Vec<usize>, Vec<Vec<String>>) = results.into_iter().unzip();
    let found = found.concat();
    eprintln!("{} faults in {} scenarios", runs.iter().sum::<usize>(), SCENARIOS.len());
    assert!(runs.iter().sum::<usize>() > 100, "too few calls failed: {runs:?}");
    assert!(found.is_empty(), "{}", found.join("\n"));
}
