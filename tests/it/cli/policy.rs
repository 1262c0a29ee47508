//! `recompact policy`: files to begin with, and checks of policies.

use std::fs;
use std::path::Path;

use recompact::engine::policy::{PRESETS, PROPOSALS, PURPOSES};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::effort;
use crate::support::program::{Ran, fixtures, run, run_in};

const SESSIONS: &str = "claude-code";

/// A folder with one policy of one layer.
fn policy(layer: &str) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let text = format!("name = \"mine\"\nmeter = \"o200k\"\n\n[[layer]]\nid = \"clear\"\ndo = \"clear\"\n{layer}\n");
    fs::write(folder.path().join("mine.toml"), text).expect("a folder to write to");
    folder
}

fn check(folder: &Path, more: &[&str]) -> Ran {
    run_in(folder, [&["policy", "check", "mine.toml", "-q"], more].concat(), b"")
}

fn sessions() -> String {
    fixtures().join(SESSIONS).to_string_lossy().into_owned()
}

#[test]
fn purposes_are_listed_and_an_unknown_one_names_the_nearest() {
    let list = run(["policy", "new"]).printed();
    for purpose in PURPOSES.iter().chain(PROPOSALS) {
        assert!(list.contains(&format!("\n  {} ", purpose.name)), "{list}");
        assert_eq!(run(["policy", "new", purpose.name]).printed(), purpose.toml);
    }
    assert!(list.lines().count() <= 60 && list.lines().all(|line| line.chars().count() <= 100), "{list}");
    let unknown = run(["policy", "new", "clear-results"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""));
    assert!(
        unknown.stderr.contains("there is no purpose `clear-results`; did you mean `clear-old-results`?"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn every_purpose_is_clean_and_replays_every_fixture() {
    let folder = TempDir::new().expect("a temporary folder");
    let purposes = || PURPOSES.iter().chain(PROPOSALS);
    let files: Vec<String> = purposes().map(|purpose| format!("{}.toml", purpose.name)).collect();
    for (purpose, file) in purposes().zip(&files) {
        let ran = run_in(folder.path(), ["policy", "new", purpose.name, "--out", file], b"");
        let said = format!("{file} was written; recompact replay SESSIONS -p {file}\n");
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (0, "", said));
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let checked = run_in(folder.path(), [&["policy", "check"], &files[..]].concat(), b"").printed();
    assert!(checked.contains("\nNothing to warn about.\n"), "{checked}");
    let all = fixtures().to_string_lossy().into_owned();
    let replayed =
        run_in(folder.path(), ["replay", &all, "--tokenizer", "chars/4", "-q", "-p", &files.join(","), "-o", "json"], b"").json();
    let rows = replayed["rows"].as_array().expect("rows");
    for purpose in purposes() {
        let name = format!("my-{}", purpose.name);
        assert!(rows.iter().filter(|row| row["policy"] == name.as_str()).count() > 10, "{name}");
    }
}

#[test]
fn a_new_policy_replaces_no_file() {
    let folder = policy("");
    let before = fs::read(folder.path().join("mine.toml")).expect("a file");
    let ran = run_in(folder.path(), ["policy", "new", "sliding-window", "--out", "mine.toml"], b"");
    assert_eq!(ran.code, 2);
    assert_eq!(ran.stderr, "recompact: mine.toml: exists already, and is not replaced; name another file\n");
    assert_eq!(fs::read(folder.path().join("mine.toml")).expect("a file"), before);
}

#[test]
fn an_old_file_is_printed_with_present_names() {
    let folder = policy("keep_recent = 1 # of all tools");
    let converted = run_in(folder.path(), ["policy", "convert", "mine.toml"], b"");
    let before = fs::read_to_string(folder.path().join("mine.toml")).expect("a file");
    assert_eq!((converted.code, converted.stdout), (0, before.replace("keep_recent =", "keep_recent_results =")));
    assert_eq!(converted.stderr, "1 new name\nmine.toml:7: `keep_recent` is now `keep_recent_results`\n");
    let onto_itself = run_in(folder.path(), ["policy", "convert", "mine.toml", "--out", "mine.toml"], b"");
    assert_eq!(onto_itself.code, 2);
    assert_eq!(fs::read_to_string(folder.path().join("mine.toml")).expect("a file"), before);
    let absent = run_in(folder.path(), ["policy", "convert", "other.toml"], b"");
    assert_eq!((absent.code, absent.stdout.as_str()), (2, ""));
    assert!(absent.stderr.starts_with("recompact: other.toml: "), "{}", absent.stderr);
}

#[test]
fn every_preset_can_be_checked_on_sessions() {
    let sessions = effort::of("claude-code/kept-tail.jsonl", SESSIONS);
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    let checked = run([&["policy", "check"], &names[..], &["--on", sessions, "-q", "-o", "json"]].concat());
    assert!(checked.code < 2, "{}", checked.stderr);
    let checked: Value = serde_json::from_str(&checked.stdout).expect("JSON");
    let policies = checked["policies"].as_array().expect("policies").iter().map(|policy| policy["policy"].as_str());
    assert!(policies.eq(names.iter().copied().map(Some)), "every preset is checked");
    for preset in effort::in_turn(PRESETS, 0) {
        let screen = run(["policy", "check", preset.name, "--on", sessions, "-q"]).stdout;
        assert!(screen.lines().count() <= 40, "{screen}");
    }
}

#[test]
fn a_tool_that_no_session_uses_is_a_warning_at_its_line() {
    let folder = policy("keep_recent_results = 1\npreserve_tools = [\"read\"]");
    let plain = check(folder.path(), &[]).printed();
    assert!(plain.starts_with("1 policy checked without sessions: only the files\n\nNothing to warn about.\n"), "{plain}");
    let ran = check(folder.path(), &["--on", &sessions()]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, "recompact: 1 warning\n"));
    assert!(ran.stdout.contains("`mine` has 1 warning."), "{}", ran.stdout);
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("mine.toml:8 warning clear `preserve_tools` names") && words.contains("did you mean `Read`?"),
        "{words}"
    );
    let github = check(folder.path(), &["--on", &sessions(), "-o", "github"]).stdout;
    assert!(github.starts_with("::warning file=mine.toml,line=8"), "{github}");
    let json: Value = serde_json::from_str(&check(folder.path(), &["--on", &sessions(), "-o", "json"]).stdout).expect("JSON");
    assert_eq!(json["policies"][0]["remarks"][0]["kind"], "unknown-tool");
    assert!(json["sessions"]["tools"]["Read"].as_u64().is_some_and(|calls| calls > 0), "{json}");
}

#[test]
fn an_error_in_a_file_is_wrong_use() {
    let folder = policy("keep_recnt = 1");
    fs::write(folder.path().join("other.toml"), "name = \"other\"\nwindw = 1\n").expect("a folder to write to");
    let ran = check(folder.path(), &["--on", &sessions()]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.starts_with("recompact: mine.toml:7: layer `clear`: `clear` has no setting `keep_recnt`; did you mean "));
    let both = run_in(folder.path(), ["policy", "check", "mine.toml", "other.toml"], b"");
    assert!(
        both.code == 2 && both.stderr.contains("\nrecompact: other.toml:2: a policy has no setting `windw`"),
        "{}",
        both.stderr
    );
}

#[test]
fn a_check_writes_over_no_policy() {
    let folder = policy("");
    let ran = check(folder.path(), &["--out", "mine.toml"]);
    assert!(ran.code == 2 && ran.stderr.contains("POLICY reads this file"), "{}", ran.stderr);
}
