//! What people type: lists of policies, sizes with units, files whose ending says what they hold.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::program::{Ran, fixtures, run, run_in};

const TRANSCRIPT: &str = "claude-code/kept-tail.jsonl";

fn policies(arguments: &[&str]) -> Vec<String> {
    let results = run([&["replay", TRANSCRIPT, "-q", "-o", "json"], arguments].concat()).json();
    let policies = results["policies"].as_array().expect("policies").iter();
    policies.map(|policy| policy["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn policies_are_listed_with_commas() {
    let both = policies(&["-p", "lcc-s06", "-p", "claude-code"]);
    assert_eq!(policies(&["-p", "lcc-s06,claude-code"]), both);
    assert_eq!(policies(&["-p", "lcc-s06, claude-code"]), both);
    let all = policies(&["-p", "all"]);
    assert!(all.len() > 10 && both.iter().all(|name| all.contains(name)), "{all:?}");
    let family = policies(&["-p", "learn-claude-code,pi"]);
    assert!(["lcc-s06", "lcc-s08-late", "pi"].iter().all(|name| family.iter().any(|of| of == name)), "{family:?}");
    let twice = run(["replay", TRANSCRIPT, "-p", "lcc-s06,lcc-s06"]);
    assert!(twice.code == 2 && twice.stderr.contains("the policy `lcc-s06` is named twice"), "{}", twice.stderr);
}

#[test]
fn a_file_name_may_have_a_comma() {
    let folder = TempDir::new().expect("a temporary folder");
    fs::copy(fixtures().join(TRANSCRIPT), folder.path().join("a.jsonl")).expect("a copy");
    fs::write(folder.path().join("a,b.toml"), "name = \"own\"\n").expect("a policy");
    let results = run_in(folder.path(), ["replay", "a.jsonl", "-p", "a,b.toml", "-q", "-o", "json"], b"").json();
    assert_eq!(results["policies"][1]["name"], "own");
}

#[test]
fn the_window_takes_units() {
    let study = |window: &str| {
        run(["replay", TRANSCRIPT, "-p", "lcc-s06", "--window", window, "-q", "-o", "json"]).json()["study"]["spec"]["window"]
            .clone()
    };
    for written in ["100000", "100k", "100_000", "0.1M"] {
        assert_eq!(study(written), 100_000, "{written}");
    }
}

#[test]
fn a_path_alone_is_replayed() {
    let folder = TempDir::new().expect("a temporary folder");
    fs::create_dir(folder.path().join("repair")).expect("a folder");
    fs::copy(fixtures().join(TRANSCRIPT), folder.path().join("repair/a.jsonl")).expect("a copy");
    let ran = |arguments: &[&str]| run_in(folder.path(), arguments, b"");
    let table = |ran: Ran| ran.stdout.split("Next").next().expect("a screen").to_owned();
    let replayed = table(ran(&["replay", "repair"]));
    for arguments in [&["repair"][..], &["repair/a.jsonl"], &["-v", "./repair"]] {
        assert_eq!(table(ran(arguments)), replayed, "{arguments:?}");
    }
    // Options of `replay` need no command before them; those of the program stay its own.
    let few = table(ran(&["replay", "repair", "-p", "lcc-s06", "--width", "90"]));
    for arguments in [&["-p", "lcc-s06", "--width", "90", "repair"][..], &["--width=90", "repair", "-p", "lcc-s06"]] {
        assert_eq!(table(ran(arguments)), few, "{arguments:?}");
    }
    assert!(ran(&["--version"]).stdout.starts_with("recompact ") && ran(&["--help"]).stdout.contains("First steps"));
    assert_eq!(ran(&["--fulll"]).code, 2);
    let wrong = ran(&["./report"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("recompact: report: no such file or folder"), "{}", wrong.stderr);
    let wrong = ran(&["repair2"]);
    assert!(wrong.code == 2 && wrong.stderr.starts_with("error: unrecognized subcommand 'repair2'"), "{}", wrong.stderr);
}

#[test]
fn results_of_an_earlier_run_in_the_folder_are_written_over() {
    let folder = TempDir::new().expect("a temporary folder");
    fs::copy(fixtures().join(TRANSCRIPT), folder.path().join("a.jsonl")).expect("a copy");
    let replay = || run_in(folder.path(), ["replay", ".", "-q", "-p", "lcc-s06", "--out", "results.json"], b"").printed();
    let rows = || {
        let text = fs::read_to_string(folder.path().join("results.json")).expect("results");
        serde_json::from_str::<Value>(&text).expect("JSON")["rows"].take()
    };
    replay();
    let first = rows();
    replay();
    assert!(first.is_array() && rows() == first);
}

#[test]
fn tabs_of_a_text_stay() {
    let folder = TempDir::new().expect("a temporary folder");
    let lines = "{\"role\":\"user\",\"content\":\"\\tif\"}\n{\"role\":\"assistant\",\"content\":\"ok\"}\n";
    fs::write(folder.path().join("a.messages.jsonl"), lines).expect("a session");
    let shown = run_in(folder.path(), ["show", "a.messages.jsonl", "--call", "1"], b"").printed();
    assert!(shown.contains("  | \tif\n"), "{shown}");
}

#[test]
fn sizes_of_a_policy_take_units_and_shares() {
    let folder = TempDir::new().expect("a temporary folder");
    fs::copy(fixtures().join(TRANSCRIPT), folder.path().join("a.jsonl")).expect("a copy");
    let fires = |threshold: &str| {
        let policy = format!(
            "name = \"own\"\nmeter = \"chars/4\"\nwindow = \"20k\"\n\n[[layer]]\nid = \"clear\"\ndo = \"clear\"\nthreshold = {threshold}\n"
        );
        fs::write(folder.path().join("own.toml"), policy).expect("a policy");
        run_in(folder.path(), ["replay", "a.jsonl", "-p", "own.toml", "--window", "20k", "-q", "-o", "csv"], b"")
    };
    let plain = fires("4000").printed();
    for written in ["\"4 KB\"", "\"20%\"", "\"20 %\"", "\"0.2 * window\"", "4000.0"] {
        assert_eq!(fires(written).printed(), plain, "{written}");
    }
    assert_ne!(fires("\"90%\"").printed(), plain);
    for (written, said) in [
        ("0.8", "own.toml:8: layer `clear`: `0.8` is not a size: for a share of the window write \"80%\" or \"0.8 * window\""),
        ("\"30 KX\"", "own.toml:8: layer `clear`: `30 KX` is not a size: unexpected `KX`"),
        ("true", "own.toml:8: layer `clear`: "),
    ] {
        let refused = fires(written);
        assert!(refused.code == 2 && refused.stderr.contains(said), "{}", refused.stderr);
    }
}

#[test]
fn the_ending_of_the_file_chooses_the_report() {
    let folder = TempDir::new().expect("a temporary folder");
    fs::copy(fixtures().join(TRANSCRIPT), folder.path().join("a.jsonl")).expect("a copy");
    let replay = ["replay", "a.jsonl", "-p", "lcc-s06", "-q", "--findings", "--out", "saved.json"];
    assert_eq!(run_in(folder.path(), replay, b"").printed(), "");
    let written = |more: &[&str]| {
        run_in(folder.path(), [&["report", "saved.json"], more].concat(), b"").printed();
        fs::read_to_string(folder.path().join(more[1])).expect("a report")
    };
    for (file, begin) in [
        ("r.html", "<!DOCTYPE html>"),
        ("r.JSON", "{"),
        ("r.csv", "transcript,"),
        ("r.md", "**"),
        ("r.sarif", "{"),
        ("r.xml", "<?xml"),
        ("r.txt", "1 session, "),
        ("report", "1 session, "),
    ] {
        assert!(written(&["--out", file]).starts_with(begin), "{file}");
    }
    assert!(written(&["--out", "r.html", "-o", "csv"]).starts_with("transcript,"), "-o comes first");
    let refused = run_in(folder.path(), ["inspect", "a.jsonl", "--out", "x.html"], b"");
    assert!(refused.code == 2 && refused.stderr.contains("inspect has no html report"), "{}", refused.stderr);
}
