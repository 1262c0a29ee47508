//! `action.yml`, the workflow of a release and `.pre-commit-hooks.yaml`: what they run is run here, as GitHub and pre-commit would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use saphyr::{LoadableYamlNode, Yaml};
use tempfile::TempDir;

use crate::support::program::{self, fixtures, run};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn with_yaml<T>(file: &str, work: impl FnOnce(&Yaml) -> T) -> T {
    let path = root().join(file);
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
        the_program(&programs.join("recompact"));
        script(&programs.join("gh"), "echo \"$@\" >> gh.txt");
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
            shell.env("GITHUB_STEP_SUMMARY", self.0.path().join("summary.md"));
            program::without_own_files(&mut shell);
            set(&mut shell, environment);
            if !shell.output().expect("bash").status.success() {
                failed.push(name);
            }
        }
        let read = |file: &str| fs::read_to_string(self.0.path().join(file)).unwrap_or_default();
        (failed, read("summary.md"), read("gh.txt"))
    }
}

fn script(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("our own folder");
    assert!(Command::new("chmod").arg("+x").arg(path).status().is_ok_and(|status| status.success()));
}

/// A file that starts the program, and is smaller.
fn the_program(path: &Path) {
    script(path, &format!("exec '{}' \"$@\"", program::path().display()));
}

fn set(shell: &mut Command, environment: Vec<(String, String)>) {
    for (variable, value) in environment {
        shell.env(variable, evaluated(&value));
    }
}

/// The value of an expression of GitHub for this pull request, in which the action is used by the tag of a release.
fn evaluated(written: &str) -> &str {
    match written {
        "${{ inputs.suite }}" => "gate/recompact.toml",
        "${{ github.token }}" => "token",
        "${{ github.action_repository }}" => "owner/recompact",
        "${{ github.action_ref }}" => "v1",
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

/// A runner without the program, and a server with releases in a folder.
struct Runner(TempDir);

impl Runner {
    fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        for name in ["bin", "server"] {
            fs::create_dir(folder.path().join(name)).expect("our own folder");
        }
        script(&folder.path().join("bin/cargo"), "echo \"$@\"");
        the_program(&folder.path().join("built"));
        Self(folder)
    }

    fn releases(&self) -> PathBuf {
        self.0.path().join("server/owner/recompact/releases/download/v1")
    }

    /// Packs the program as the workflow of a release does, with these variables. Returns whether that succeeds.
    fn release(&self, variables: &[(&str, &str)]) -> bool {
        let mut release = Command::new(root().join(".ci/release"));
        release.arg(TARGET).args([self.releases(), self.0.path().join("built")]);
        program::without_own_files(&mut release);
        release.env_remove("GITHUB_REF_TYPE").envs(variables.iter().copied());
        release.output().expect("bash").status.success()
    }

    /// Runs the first step of the action. Returns whether it succeeds, and all that was printed.
    fn install(&self, system: &str) -> (bool, String) {
        let Step { name, script, environment, .. } = steps().swap_remove(0);
        assert_eq!(name, "Install");
        let mut shell = Command::new("bash");
        shell.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script]);
        shell.env("PATH", format!("{}:/usr/bin:/bin", self.0.path().join("bin").display()));
        shell.env("GITHUB_ACTION_PATH", root()).env("RUNNER_TEMP", self.0.path()).env("GITHUB_PATH", self.0.path().join("path"));
        shell.env("GITHUB_SERVER_URL", format!("file://{}", self.0.path().join("server").display()));
        shell.env("RUNNER_OS", system).env("RUNNER_ARCH", "X64");
        set(&mut shell, environment);
        let ran = shell.output().expect("bash");
        let printed = [ran.stdout, ran.stderr].concat();
        (ran.status.success(), String::from_utf8_lossy(&printed).into_owned())
    }

    /// The program in the folder that the step adds to the path of the next ones.
    fn installed(&self) -> PathBuf {
        let added = fs::read_to_string(self.0.path().join("path")).unwrap_or_default();
        Path::new(added.trim_end()).join("recompact")
    }
}

/// What runs on the system `Linux` `X64` of GitHub.
const TARGET: &str = "x86_64-unknown-linux-musl";

#[test]
#[cfg(unix)]
fn action_downloads_the_program_of_its_release() {
    let runner = Runner::new();
    assert!(runner.release(&[]));
    let (succeeds, printed) = runner.install("Linux");
    assert!(succeeds, "{printed}");
    let ran = Command::new(runner.installed()).arg("--version").output().expect("it was installed");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), concat!("recompact ", env!("CARGO_PKG_VERSION"), "\n"));
    // One byte more.
    let archive = runner.releases().join(format!("recompact-{TARGET}.tar.gz"));
    let mut bytes = fs::read(&archive).expect("the release");
    bytes.push(0);
    fs::write(&archive, bytes).expect("our own folder");
    let (succeeds, printed) = runner.install("Linux");
    assert!(!succeeds && printed.contains("its checksum is wrong") && !printed.contains("install --locked"), "{printed}");
}

#[test]
#[cfg(unix)]
fn action_builds_what_no_release_has_and_says_so() {
    let runner = Runner::new();
    let built = |system: &str, why: &str| {
        let (succeeds, printed) = runner.install(system);
        let said = [format!("recompact: {why}, so it is built here\n"), format!("install --locked --path {}", root().display())];
        assert!(succeeds && said.iter().all(|said| printed.contains(said)), "{printed}");
        assert_eq!(runner.installed(), runner.0.path().join("recompact/bin/recompact"));
        fs::remove_file(runner.0.path().join("path")).expect("it was written");
    };
    built("Linux", "v1 has no program to download");
    built("Plan9", "no program is released for Plan9 X64");
}

#[test]
#[cfg(unix)]
fn tag_of_a_release_is_the_version_of_the_program() {
    let runner = Runner::new();
    let tagged = |tag: &str| runner.release(&[("GITHUB_REF_TYPE", "tag"), ("GITHUB_REF_NAME", tag)]);
    assert!(tagged(concat!("v", env!("CARGO_PKG_VERSION"))));
    assert!(!tagged("v0.0.1"));
}

/// What the action downloads is what the workflow packs.
#[test]
fn every_system_of_the_action_is_in_the_workflow_of_a_release() {
    let install = fs::read_to_string(root().join(".ci/install")).expect("a script");
    let targets = install.lines().filter_map(|line| line.split_once("target=")?.1.strip_suffix(" ;;"));
    let mut downloaded: Vec<String> = targets.filter(|target| !target.is_empty()).map(str::to_owned).collect();
    let mut packed = with_yaml(".github/workflows/release.yml", |workflow| {
        let job = &workflow["jobs"]["program"];
        let commands: Vec<_> =
            job["steps"].as_vec().expect("steps").iter().filter_map(|step| step.as_mapping_get("run")).collect();
        assert!(commands.iter().any(|command| command.as_str().is_some_and(|text| text.contains(".ci/release \"$TARGET\" "))));
        let systems = job["strategy"]["matrix"]["include"].as_vec().expect("systems");
        systems.iter().map(|system| system["target"].as_str().expect("a target").to_owned()).collect::<Vec<_>>()
    });
    downloaded.sort();
    packed.sort();
    assert!(downloaded.len() == 5 && downloaded == packed, "{downloaded:?}, {packed:?}");
}
