//! `action.yml` and `.pre-commit-hooks.yaml`: what they run is run here, as GitHub and pre-commit would.

use std::fs;
use std::path::Path;
use std::process::Command;

use saphyr::{LoadableYamlNode, Yaml};
use tempfile::TempDir;

use crate::support::program::{self, fixtures, run};

fn with_yaml<T>(file: &str, work: impl FnOnce(&Yaml) -> T) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    work(&Yaml::load_from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))[0])
}

/// A step of the action that runs a script.
struct Step {
    name: String,
    condition: String,
    script: String,
    /// Variables, and the expressions that they are set to.
    environment: Vec<(String, String)>,
}

fn steps() -> Vec<Step> {
    let text = |node: Option<&Yaml>| node.and_then(Yaml::as_str).unwrap_or_default().to_owned();
    let step = |step: &Yaml| {
        let field = |key| text(step.as_mapping_get(key));
        let environment = step.as_mapping_get("env").and_then(Yaml::as_mapping).into_iter().flatten();
        Step {
            name: field("name"),
            condition: field("if"),
            script: field("run"),
            environment: environment.map(|(name, value)| (text(Some(name)), text(Some(value)))).collect(),
        }
    };
    let steps = |action: &Yaml| action["runs"]["steps"].as_vec().expect("steps").iter().map(step).collect::<Vec<_>>();
    with_yaml("action.yml", steps).into_iter().filter(|step| !step.script.is_empty()).collect()
}

/// A pull request in a folder with the suite, and with programs in front of those of the machine.
struct PullRequest(TempDir);

impl PullRequest {
    /// The policy of the suite keeps `keep_recent` results.
    fn new(keep_recent: usize) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        for part in ["gate", "transcripts"] {
            copy(&fixtures().with_file_name(part), &folder.path().join(part));
        }
        let policy = folder.path().join("gate/policy.toml");
        let text = fs::read_to_string(&policy).expect("the policy");
        let changed = text.lines().map(|line| match line.split_once(" = ") {
            Some(("keep_recent", _)) => format!("keep_recent = {keep_recent}\n"),
            _ => format!("{line}\n"),
        });
        fs::write(&policy, changed.collect::<String>()).expect("our own folder");
        let programs = folder.path().join("bin");
        fs::create_dir(&programs).expect("our own folder");
        let script = |name: &str, text: String| {
            fs::write(programs.join(name), format!("#!/bin/sh\n{text}\n")).expect("our own folder");
            assert!(Command::new("chmod").arg("+x").arg(programs.join(name)).status().is_ok_and(|status| status.success()));
        };
        script("recompact", format!("exec '{}' \"$@\"", program::path().display()));
        script("gh", "echo \"$@\" >> gh.txt".to_owned());
        Self(folder)
    }

    /// Runs the steps. Returns the names of those that failed, the summary, and what `gh` was asked.
    fn run_action(&self) -> (Vec<String>, String, String) {
        let mut failed = Vec::new();
        for Step { name, condition, script, environment } in steps() {
            if !failed.is_empty() && !condition.contains("always()") {
                continue;
            }
            let mut shell = Command::new("bash");
            shell.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script]).current_dir(self.0.path());
            let path = std::env::var("PATH").unwrap_or_default();
            shell.env("PATH", format!("{}:{path}", self.0.path().join("bin").display()));
            shell.env("GITHUB_STEP_SUMMARY", self.0.path().join("summary.md")).env("RECOMPACT_CONFIG", "");
            for (variable, value) in environment {
                shell.env(variable, evaluated(&value));
            }
            if !shell.output().expect("bash").status.success() {
                failed.push(name);
            }
        }
        let read = |file: &str| fs::read_to_string(self.0.path().join(file)).unwrap_or_default();
        (failed, read("summary.md"), read("gh.txt"))
    }
}

/// The value of an expression of GitHub for this pull request.
fn evaluated(written: &str) -> &str {
    match written {
        "${{ inputs.suite }}" => "gate/recompact.toml",
        "${{ github.token }}" => "token",
        "${{ github.event.pull_request.html_url }}" => "pull/7",
        other => panic!("the action uses {other}, which this test does not know"),
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from).into_iter().map(|entry| entry.expect("a readable folder")) {
        let target = to.join(entry.path().strip_prefix(from).expect("below it"));
        if entry.file_type().is_dir() {
            fs::create_dir_all(target).expect("our own folder");
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

#[test]
#[cfg(unix)]
fn action_fails_for_a_policy_that_got_worse_and_comments_on_it() {
    let (failed, summary, asked) = PullRequest::new(12).run_action();
    assert_eq!(failed, [""; 0]);
    assert_eq!(asked, "pr comment pull/7 --edit-last --create-if-none --body-file recompact.md\n");
    let (failed, red, asked) = PullRequest::new(1).run_action();
    assert_eq!(failed, ["Check"]);
    assert!(red.contains("kept.hit") && red != summary && red.lines().count() <= 40, "{red}");
    assert!(asked.starts_with("pr comment pull/7"), "{asked}");
}

#[test]
fn hook_of_pre_commit_is_a_command_of_the_program() {
    with_yaml(".pre-commit-hooks.yaml", |hooks| {
        let entry = hooks[0]["entry"].as_str().expect("a command");
        let words: Vec<&str> = entry.split(' ').collect();
        assert_eq!(words[0], "recompact");
        let folder = fixtures().with_file_name("gate");
        let ran = crate::support::program::run_in(&folder, &words[1..], b"");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(run([words[1], "--help"]).printed().contains(words[2]));
    });
}
