//! Checks `recompact check`: pass, failure and error; and the same bytes from any number of threads.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::effort;
use crate::support::program::{Ran, fixtures, run_in};

/// A copy of the suite with its policy, its baseline and its transcripts, to be changed.
struct Project(TempDir);

impl Project {
    fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let files = ["gate/recompact.toml", "gate/policy.toml", "gate/recompact.baseline.json"].into_iter();
        let transcripts =
            ["claude-code/kept-tail.jsonl", "claude-code/repair.jsonl", "codex/repair.jsonl", "openai-chat/tasks.json"];
        for file in files.map(str::to_owned).chain(transcripts.map(|file| format!("transcripts/{file}"))) {
            let to = folder.path().join(&file);
            fs::create_dir_all(to.parent().expect("in the folder")).expect("a folder in it");
            fs::copy(fixtures().join("..").join(&file), to).expect("a fixture");
        }
        Self(folder)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join("gate").join(file)
    }

    fn replace(&self, file: &str, was: &str, is: &str) {
        let text = fs::read_to_string(self.path(file)).expect("a file of the suite");
        assert!(text.contains(was), "{file} holds {was}");
        fs::write(self.path(file), text.replace(was, is)).expect("our own folder");
    }

    /// Runs `recompact check` in the folder of the suite.
    fn check(&self, arguments: &[&str]) -> Ran {
        run_in(&self.0.path().join("gate"), [&["check"], arguments].concat(), b"")
    }
}

/// Keeps far less: three results, a summary over half as much.
fn for_the_worse(project: &Project) {
    project.replace("policy.toml", "keep_recent = 12", "keep_recent = 0");
}

#[test]
fn check_passes_and_ignores_harmless_changes() {
    let project = Project::new();
    let green = project.check(&[]).printed();
    assert!(green.starts_with("2 suites, 3 policies, 9 rules: recompact.toml\n\nAll 9 rules hold.\n"), "{green}");
    project.replace("policy.toml", "about = \"clears", "# A comment.\nabout = \"still clears");
    project.replace("policy.toml", "id = \"auto\"", "id = \"summary\"");
    assert_eq!(project.check(&[]).printed(), green);
}

#[test]
fn check_reports_a_worse_policy_with_numbers() {
    let project = Project::new();
    for_the_worse(&project);
    let red = project.check(&[]);
    assert_eq!((red.code, red.stderr.as_str()), (1, "recompact: recompact.toml: 2 of 9 rules do not hold\n"));
    insta::assert_snapshot!("gate-table", red.stdout);
    insta::assert_snapshot!("gate-markdown", project.check(&["-o", "markdown"]).stdout);
    insta::assert_snapshot!("gate-json", project.check(&["-o", "json"]).stdout);
}

#[test]
fn check_gives_the_same_bytes_for_any_number_of_threads() {
    let project = Project::new();
    for_the_worse(&project);
    let outputs = ["json", "table", "markdown", "sarif", "junit", "github"];
    for output in &outputs[..effort::of(2, 6)] {
        let one = project.check(&["-o", output, "--jobs", "1"]).stdout;
        assert!(!one.is_empty() && one == project.check(&["-o", output, "--jobs", "8"]).stdout, "{output}");
    }
}

#[test]
fn check_writes_several_reports() {
    let project = Project::new();
    for_the_worse(&project);
    let also = ["--also", "junit=gate.xml", "--also", "sarif=gate.sarif", "--also", "markdown=gate.md", "-o", "github"];
    let ran = project.check(&also);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.starts_with("::error file=recompact.toml,line=11,title="), "{}", ran.stdout);
    let read = |file: &str| fs::read_to_string(project.path(file)).expect(file);
    let sarif: Value = serde_json::from_str(&read("gate.sarif")).expect("JSON");
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!((&place["artifactLocation"]["uri"], &place["region"]["startLine"]), (&"recompact.toml".into(), &11.into()));
    assert!(read("gate.xml").contains("name=\"ours: kept.hit &gt;= 0.65\""));
    assert!(read("gate.md").starts_with("**2 of 9 rules do not hold.**\n"));
    for (wrong, what) in [
        (&["--also", "junit"][..], "write REPORT=FILE"),
        (&["--also", "csv=a.csv"], "check has no csv report (it has: table, json, markdown, sarif, junit, github)"),
        (&["-o", "html"], "check has no html report"),
        (
            &["--also", "json=recompact.toml"],
            "--also json recompact.toml: SUITE.toml reads this file, so it cannot be written too",
        ),
        (&["--also", "json=a", "--also", "table=a"], "--also table a: --also json writes this file too"),
        (&["--also", "json=../transcripts/codex/repair.jsonl"], "is read, so it cannot be written too"),
        (&["no.toml"], "no.toml: the suite file cannot be read: "),
    ] {
        let ran = project.check(wrong);
        assert!(ran.code == 2 && ran.stderr.contains(what), "{wrong:?}: {}", ran.stderr);
    }
}

#[test]
fn baseline_update_is_reproducible() {
    let project = Project::new();
    let committed = fs::read(project.path("recompact.baseline.json")).expect("a baseline");
    assert_eq!(project.check(&["--update", "-q"]).code, 0);
    let written = fs::read(project.path("recompact.baseline.json")).expect("a baseline");
    assert!(written == committed, "an update without a change changes nothing");
    for_the_worse(&project);
    assert_eq!(project.check(&["--update"]).code, 1, "limits are judged all the same");
    assert_eq!(project.check(&[]).stderr, "recompact: recompact.toml: 1 of 9 rules does not hold\n");
}

#[test]
fn check_fails_what_it_could_not_judge() {
    type Change = fn(&Project);
    let changes: [(&str, Change, &str); 7] = [
        (
            "no baseline",
            |of| fs::remove_file(of.path("recompact.baseline.json")).expect("a file"),
            "4 of 9 rules could not be judged",
        ),
        ("no JSON", |of| of.replace("recompact.baseline.json", "{", ""), "recompact.baseline.json: not a baseline"),
        ("renamed", |of| of.replace("policy.toml", "\"ours\"", "\"theirs\""), "3 of 9 rules could not be judged"),
        (
            "gone",
            |of| fs::remove_file(of.path("../transcripts/claude-code/kept-tail.jsonl")).expect("a file"),
            "2 of 9 rules could",
        ),
        (
            "nothing",
            |of| of.replace("recompact.toml", "openai-chat/tasks.json", "openai-chat/*.jsonl"),
            "recompact.toml:22: suite `service desk`: ../transcripts/openai-chat/*.jsonl: no file matches",
        ),
        (
            "no calls",
            |of| {
                fs::write(of.path("../transcripts/openai-chat/tasks.json"), r#"[{"role": "user", "content": "hi"}]"#)
                    .expect("a file")
            },
            "suite `service desk`: nothing was replayed: no conversation holds a model call",
        ),
        (
            "unreadable",
            |of| fs::write(of.path("../transcripts/openai-chat/tasks.json"), "hello").expect("a file"),
            "suite `service desk`: ../transcripts/openai-chat/tasks.json: not a transcript",
        ),
    ];
    for (name, change, what) in changes {
        let project = Project::new();
        change(&project);
        let ran = project.check(&["--show", "rules,failures"]);
        assert!(ran.code == 2 && ran.stderr.contains(what), "{name}: {} {}", ran.code, ran.stderr);
        if name != "no JSON" {
            assert!(ran.stdout.contains("kept.hit >= 0.65"), "{name}: what could be judged is shown: {}", ran.stdout);
        }
    }
}

#[test]
fn incomplete_baseline_is_not_written() {
    let project = Project::new();
    let committed = fs::read(project.path("recompact.baseline.json")).expect("a baseline");
    project.replace("recompact.toml", "openai-chat/tasks.json", "openai-chat/none.json");
    let ran = project.check(&["--update"]);
    assert!(ran.code == 2 && ran.stdout.contains("the baseline was not written"), "{}", ran.stdout);
    assert!(fs::read(project.path("recompact.baseline.json")).expect("a baseline") == committed);
}

#[test]
fn suite_errors_have_file_and_line() {
    for (file, was, is, what) in [
        (
            "recompact.toml",
            "limits = [\n",
            "limit = [\n",
            "recompact.toml:10: suite `repair`: a suite has no setting `limit`; did you mean",
        ),
        (
            "policy.toml",
            "keep_recent",
            "keep_recnt",
            "policy.toml:7: layer `micro`: `clear` has no setting `keep_recnt`; did you mean",
        ),
        (
            "recompact.toml",
            "micro.keep_recent=1",
            "micr.keep_recent=1",
            "--set micr.keep_recent=1: no policy here has a layer `micr`",
        ),
    ] {
        let project = Project::new();
        project.replace(file, was, is);
        let ran = project.check(&[]);
        assert!(ran.code == 2 && ran.stderr.contains(what), "{is}: {}", ran.stderr);
    }
}

/// Names in the baseline do not depend on the folder in which the program runs; only the path of the suite file does.
#[test]
fn check_runs_in_another_folder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ran = run_in(root, ["check", "fixtures/gate/recompact.toml"], b"").printed();
    assert!(ran.starts_with("2 suites, 3 policies, 9 rules: fixtures/gate/recompact.toml\n"), "{ran}");
}

/// A model answers only from its cassette; a missing answer is an error.
#[test]
fn check_asks_no_model() {
    let project = Project::new();
    project.replace("policy.toml", "threshold = 40_000", "threshold = 10_000");
    fs::create_dir(project.path("answers")).expect("our own folder");
    project.replace(
        "recompact.toml",
        "window = 80_000",
        "window = 80_000\nsummarizer = \"openai:small\"\ncassette = \"answers\"",
    );
    let ran = project.check(&[]);
    assert!(ran.code == 2 && ran.stderr.contains("no summary for ours (auto)"), "{}", ran.stderr);
}
