//! Nothing that a command reads is written over, however the two are named.

use std::fs;

use tempfile::TempDir;

use crate::support::program::{files, fixtures, run_in};

const POLICY: &str = "name = \"ours\"\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\n";
const PRICES: &str = "[[model]]\nnames = [\"m\"]\ninput = 1\noutput = 5\ncache_read = 0.1\ncache_write_5m = 1.25\n";

/// A folder with a transcript and every file that an option may name.
fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file in it");
    fs::create_dir(folder.path().join("cassette")).expect("a folder in it");
    write("t.jsonl", &fs::read_to_string(fixtures().join("messages/repair.blocks.jsonl")).expect("a fixture"));
    write("p.toml", POLICY);
    write("prices.toml", PRICES);
    let suite = "baseline = \"b.json\"\n[[suite]]\nname = \"s\"\ntranscripts = [\"t.jsonl\"]\npolicies = [\"p.toml\"]\nlimits = [\"kept.hit >= 0\"]\n";
    write("recompact.toml", suite);
    write("b.json", "{\"version\": 1, \"values\": []}");
    #[cfg(unix)]
    std::os::unix::fs::symlink("p.toml", folder.path().join("link.toml")).expect("a link");
    folder
}

#[test]
fn files_that_are_read_are_not_written() {
    let refused: &[(&[&str], &str)] = &[
        (&["replay", "t.jsonl", "-p", "p.toml", "--out", "p.toml"], "--out p.toml: --policy reads this file"),
        (&["replay", "t.jsonl", "-p", "./p.toml", "--out", "cassette/../p.toml"], "--policy reads this file"),
        (&["replay", "t.jsonl", "-p", "lcc-s06", "--baseline", "p.toml", "--out", "p.toml"], "--baseline reads this file"),
        (&["replay", "t.jsonl", "-p", "lcc-s06", "--prices", "prices.toml", "--out", "prices.toml"], "--prices reads this file"),
        (&["replay", "t.jsonl", "-p", "lcc-s06", "--contexts", "z", "--out", "./z"], "--contexts z: --out writes this file too"),
        (&["replay", "t.jsonl", "-p", "p.toml", "--contexts", "p.toml"], "--contexts p.toml: --policy reads this file"),
        (
            &["replay", "t.jsonl", "-p", "lcc-s06", "--cassette", "cassette", "--out", "cassette/x.json"],
            "--cassette reads this file",
        ),
        (&["replay", "t.jsonl", "-p", "lcc-s06", "--out", "t.jsonl"], "t.jsonl: is read, so it cannot be written too"),
        (
            &["sweep", "t.jsonl", "-p", "p.toml", "--set", "micro.keep_recent=1,2", "--save", "p.toml"],
            "--save p.toml: --policy reads",
        ),
        (
            &["sweep", "t.jsonl", "-p", "p.toml", "--set", "micro.keep_recent=1,2", "--save", "s", "--out", "s"],
            "--out writes this file too",
        ),
        (&["inspect", "t.jsonl", "--prices", "prices.toml", "--out", "prices.toml"], "--prices reads this file"),
        (
            &["probe", "t.jsonl", "-p", "p.toml", "--model", "openai:m", "--dry-run", "--out", "p.toml"],
            "--policy reads this file",
        ),
        (&["report", "cassette", "--out", "cassette/x.json"], "RESULTS.json reads this file"),
        (&["check", "--out", "recompact.toml"], "SUITE.toml reads this file"),
        (&["check", "--out", "p.toml"], "a suite's policy reads this file"),
        (&["check", "--also", "json=b.json"], "the baseline reads this file"),
        (&["check", "--update", "--also", "json=b.json"], "--update writes this file too"),
    ];
    let folder = folder();
    let before = files(folder.path());
    for (arguments, said) in refused {
        let ran = run_in(folder.path(), *arguments, b"");
        assert!(ran.code == 2 && ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
        assert!(files(folder.path()) == before, "{arguments:?} changed a file");
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_to_what_they_name() {
    let folder = folder();
    let ran = run_in(folder.path(), ["replay", "t.jsonl", "-p", "p.toml", "--out", "link.toml"], b"");
    assert!(ran.code == 2 && ran.stderr.contains("--policy reads this file"), "{}", ran.stderr);
    std::os::unix::fs::symlink("later.json", folder.path().join("dangling")).expect("a link");
    let ran = run_in(folder.path(), ["inspect", "t.jsonl", "-o", "json", "--out", "dangling", "--tokenizer", "chars/4"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(fs::symlink_metadata(folder.path().join("dangling")).expect("a link").is_symlink());
    assert!(fs::read_to_string(folder.path().join("later.json")).expect("its target").starts_with('{'));
}

#[test]
fn results_may_be_written_to_devices() {
    let folder = folder();
    if cfg!(unix) {
        let arguments =
            ["replay", "t.jsonl", "-p", "p.toml", "--tokenizer", "chars/4", "--out", "/dev/null", "--contexts", "/dev/null"];
        assert_eq!(run_in(folder.path(), arguments, b"").code, 0);
    }
}
