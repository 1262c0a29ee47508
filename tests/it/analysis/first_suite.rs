//! `recompact check --init`, and the suite of the guide: they hold on a folder of any format, and mean something there.

use std::fs;
use std::path::Path;

use recompact::guide::page;
use tempfile::TempDir;

use crate::support::program::{Ran, command, fixtures, run_command, run_in};

/// Transcripts of each format, the policy of the suite that is written for them, and the least number of its limits.
const FOLDERS: [(&str, &[&str], &str); 3] = [
    ("claude-code", &["claude-code/kept-tail.jsonl", "claude-code/repair.jsonl"], "claude-code"),
    ("codex", &["codex/repair.jsonl"], "codex-cli"),
    ("openai-chat", &["openai-chat/repair.jsonl", "openai-chat/tasks.json"], ""),
];

/// A folder with these transcripts in the folder `runs`.
fn folder(transcripts: &[&str]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    fs::create_dir(folder.path().join("runs")).expect("our own folder");
    for transcript in transcripts {
        let name = Path::new(transcript).file_name().expect("a file");
        fs::copy(fixtures().join(transcript), folder.path().join("runs").join(name)).expect("a fixture");
    }
    folder
}

fn check(folder: &Path, arguments: &[&str]) -> Ran {
    run_in(folder, [&["check"], arguments].concat(), b"")
}

#[test]
fn a_first_suite_passes_and_fails_if_everything_is_dropped() {
    for (format, transcripts, policy) in FOLDERS {
        let folder = folder(transcripts);
        let written = check(folder.path(), &["--init", "runs", "--quiet"]).printed();
        assert!(written.starts_with(&format!("recompact.toml was written:\n  {format}: ")), "{written}");
        assert!(
            written.contains("\n  recompact check --update  also") && written.contains("\n      suite: recompact.toml\n"),
            "{written}"
        );
        let suite = fs::read_to_string(folder.path().join("recompact.toml")).expect("the suite");
        assert!(suite.contains("\ntranscripts = [\"runs\"]\n") && suite.contains("\n    \"kept.hit >= "), "{suite}");
        assert!(suite.contains(&format!("\npolicies = [\"{policy}")), "{suite}");
        let passed = check(folder.path(), &["--quiet"]).printed();
        assert!(passed.contains("\nAll 5 rules hold.\n") || passed.contains("\nAll 6 rules hold.\n"), "{passed}");
        let line = suite.lines().find(|line| line.starts_with("policies = ")).expect("the policies");
        fs::write(folder.path().join("recompact.toml"), suite.replace(line, "policies = [\"drop-all\"]")).expect("our own file");
        let dropped = check(folder.path(), &["--quiet"]);
        assert_eq!(dropped.code, 1, "{format}: {}{}", dropped.stdout, dropped.stderr);
    }
}

#[test]
fn every_line_of_a_first_suite_is_explained() {
    let folder = folder(FOLDERS[0].1);
    check(folder.path(), &["--init", "runs", "--quiet"]).printed();
    insta::assert_snapshot!("first-suite", fs::read_to_string(folder.path().join("recompact.toml")).expect("the suite"));
}

#[test]
fn a_first_suite_replaces_no_file_and_needs_calls() {
    let folder = folder(FOLDERS[1].1);
    fs::create_dir(folder.path().join("gate")).expect("our own folder");
    let elsewhere = check(folder.path(), &["gate/mine.toml", "--init", "runs", "--quiet"]).printed();
    assert!(elsewhere.contains("\n  recompact check gate/mine.toml           passes now"), "{elsewhere}");
    let suite = fs::read_to_string(folder.path().join("gate/mine.toml")).expect("the suite");
    assert!(suite.contains("\ntranscripts = [\"../runs\"]\n"), "{suite}");
    assert_eq!(check(folder.path(), &["gate/mine.toml", "--quiet"]).code, 0);
    let again = check(folder.path(), &["gate/mine.toml", "--init", "runs"]);
    assert_eq!(again.stderr, "recompact: gate/mine.toml: exists already, and is not replaced; name another file\n");
    assert_eq!((again.code, fs::read_to_string(folder.path().join("gate/mine.toml")).expect("the suite")), (2, suite));
    let both = check(folder.path(), &["--init", "runs", "--out", "suite.toml"]);
    assert!(both.code == 2 && both.stderr.contains("'--init [<PATH>]' cannot be used with '--out <FILE>'"), "{}", both.stderr);
    let none = check(folder.path(), &[]);
    assert!(none.stderr.ends_with("; `recompact check --init FOLDER` writes a first one for the transcripts in a folder\n"));
    let missing = check(folder.path(), &["--init", "none"]);
    assert!(missing.code == 2 && missing.stderr.starts_with("recompact: none: "), "{}", missing.stderr);
    fs::write(folder.path().join("runs/repair.jsonl"), "{\"role\": \"user\", \"content\": \"hi\"}\n").expect("our own file");
    let empty = check(folder.path(), &["--init", "runs"]);
    assert_eq!((empty.code, folder.path().join("recompact.toml").exists()), (2, false));
    assert!(empty.stderr.contains("no conversation holds a model call"), "{}", empty.stderr);
}

/// Without a path, each usual folder that holds sessions has a suite.
#[test]
#[cfg(unix)]
fn a_first_suite_of_this_machine_has_each_harness() {
    let home = TempDir::new().expect("a temporary folder");
    let sessions = [(".claude/projects/p", "claude-code/kept-tail.jsonl"), (".codex/sessions", "codex/repair.jsonl")];
    for (to, transcript) in sessions {
        fs::create_dir_all(home.path().join(to)).expect("our own folder");
        fs::copy(fixtures().join(transcript), home.path().join(to).join("one.jsonl")).expect("a fixture");
    }
    let work = home.path().join("work");
    fs::create_dir(&work).expect("our own folder");
    let ran = |arguments: &[&str]| {
        let mut command = command(&work);
        command.env("HOME", home.path()).env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME").args(arguments);
        run_command(command, b"").printed()
    };
    let said = ran(&["check", "--init", "--quiet"]);
    assert!(said.contains("copy those that the check needs"), "{said}");
    let suite = fs::read_to_string(work.join("recompact.toml")).expect("the suite");
    for path in ["../.claude/projects", "../.codex/sessions"] {
        assert!(suite.contains(&format!("\ntranscripts = [\"{path}\"]\n")), "{suite}");
    }
    assert!(ran(&["check", "--quiet"]).contains(" rules hold.\n"));
}

/// The suite of the guide, with the policy that the page begins, on a folder of each format.
#[test]
fn the_suite_of_the_guide_works_as_it_is_written() {
    let page = page("ci").expect("the page").source;
    let suite = page.split_once("```toml\n").and_then(|(_, rest)| rest.split_once("```")).expect("a suite").0;
    let new = page.lines().find_map(|line| line.strip_prefix("recompact policy new ")).expect("the line that begins a policy");
    for (format, transcripts, _) in FOLDERS {
        let folder = folder(transcripts);
        fs::rename(folder.path().join("runs"), folder.path().join("transcripts")).expect("our own folder");
        fs::create_dir(folder.path().join("policies")).expect("our own folder");
        fs::write(folder.path().join("recompact.toml"), suite).expect("our own folder");
        let words = ["policy", "new"].into_iter().chain(new.split('#').next().unwrap_or_default().split_whitespace());
        assert_eq!(run_in(folder.path(), words, b"").code, 0, "{format}");
        let updated = check(folder.path(), &["--update", "--quiet"]);
        assert_eq!((updated.code, updated.stderr.as_str()), (0, ""), "{format}: {}", updated.stdout);
        assert_eq!(check(folder.path(), &["--quiet"]).code, 0, "{format}");
    }
}

/// An update says what it wrote in a line of its own, not among the points to check.
#[test]
fn an_update_says_what_it_wrote() {
    let folder = folder(FOLDERS[1].1);
    check(folder.path(), &["--init", "runs", "--quiet"]).printed();
    let suite = fs::read_to_string(folder.path().join("recompact.toml")).expect("the suite");
    fs::write(folder.path().join("recompact.toml"), suite + "\n[suite.tolerance]\n\"tokens.sent\" = \"1%\"\n")
        .expect("our own file");
    let said = check(folder.path(), &["--update", "--quiet"]).printed();
    let baseline = fs::read_to_string(folder.path().join("recompact.baseline.json")).expect("the baseline");
    let values = baseline.matches("\"column\"").count();
    let line = format!("\n`recompact.baseline.json` was written with {values} values: commit it.\n");
    assert!(said.contains(&line) && !said.contains("Check before you trust it"), "{said}");
    let json = check(folder.path(), &["--update", "--quiet", "-o", "json"]).json();
    assert_eq!((&json["written"]["values"], &json["notes"]), (&values.into(), &serde_json::json!([])));
}

/// The rule says which column has no value, why, and what to do: for a tolerance, a new baseline would have none either.
#[test]
fn a_rule_about_a_column_without_a_value_says_why() {
    let folder = folder(&["openai-chat/tasks.json"]);
    let message = |rule: &str, code: i32| {
        let text = format!("[[suite]]\nname = \"s\"\ntranscripts = [\"runs\"]\npolicies = [\"keep-all\"]\n{rule}\n");
        fs::write(folder.path().join("recompact.toml"), text).expect("our own file");
        let ran = check(folder.path(), &["--quiet", "-o", "json"]);
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(ran.code, code, "{rule}: {}", ran.stderr);
        json["verdicts"][0]["message"].as_str().unwrap_or_default().to_owned()
    };
    let why = "it is weighted by summary.needed_weight (weight of the uses that summary.needed is about: its denominator), which is 0 in \
               all transcripts here: delete this rule, or add transcripts with such a value";
    let limit = message("limits = [\"summary.needed >= 70%\"]", 1);
    assert!(limit.contains(&format!("summary.needed has no value here and must be at least 70.0%; {why}.")), "{limit}");
    let tolerance = message("tolerance = { \"summary.needed\" = 0.01 }", 2);
    assert!(tolerance.ends_with(&format!("could not be judged: it has no value here; {why}")), "{tolerance}");
    let ratio = message("limits = [\"summary.false <= 1%\"]", 1);
    assert!(ratio.contains("; it divides by summary.facts, which is 0 or missing in all transcripts here: "), "{ratio}");
}
