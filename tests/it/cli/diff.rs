//! `recompact diff` on saved results of the program.

use std::fs;

use tempfile::TempDir;

use crate::support::program::{fixtures, run_in};

/// A folder with the results of two replays that differ in a threshold, and with a transcript.
fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    fs::copy(fixtures().join("claude-code/repair.jsonl"), folder.path().join("a.jsonl")).expect("a copy");
    for (file, keep) in [("before.json", "3"), ("after.json", "0")] {
        let set = format!("micro.keep_recent={keep}");
        run_in(folder.path(), ["replay", "a.jsonl", "-p", "lcc-s06", "--set", &set, "--out", file], b"").printed();
    }
    folder
}

#[test]
fn diff_says_what_changed() {
    let folder = folder();
    let diff = |more: &[&str]| run_in(folder.path(), [&["diff", "before.json", "after.json"], more].concat(), b"").printed();
    insta::assert_snapshot!("diff", diff(&["--full"]));
    insta::assert_snapshot!("diff-markdown", diff(&["-o", "markdown"]));
    assert!(diff(&[]).lines().count() <= 40);
    let csv = diff(&["-o", "csv"]);
    assert!(csv.starts_with("policy,column,before,after\nlcc-s06,tokens.sent,"), "{csv}");
    let same = run_in(folder.path(), ["diff", "before.json", "before.json"], b"").printed();
    assert!(same.contains("No policy costs, keeps or breaks anything else than before.\n"), "{same}");
}

#[test]
fn diff_needs_results_of_the_same_conversations() {
    let folder = folder();
    fs::write(folder.path().join("other.json"), r#"{"version":1,"columns":[],"rows":[],"summary":[]}"#).expect("a file");
    let failed = |arguments: &[&str]| run_in(folder.path(), arguments, b"");
    for (arguments, said) in [
        (&["diff", "before.json", "a.jsonl"][..], "recompact: a.jsonl: not JSON: "),
        (&["diff", "before.json", "other.json"], "recompact: other.json: holds no rows to compare\n"),
        (&["diff", "before.json", "nowhere.json"], "recompact: nowhere.json: no such file or folder"),
        (
            &["diff", "before.json", "after.json", "--out", "after.json"],
            "recompact: --out after.json: AFTER.json reads this file",
        ),
        (
            &["diff", "before.json", "after.json", "--show", "cache"],
            "recompact: --show cache: diff has no such section; it has:\n",
        ),
    ] {
        let ran = failed(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.starts_with(said), "{said}: {}", ran.stderr);
    }
}
