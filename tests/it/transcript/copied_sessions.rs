//! Checks that a session that is in two files counts once: a resumed session begins with the lines of the earlier file.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::program::{fixtures, run_in};

/// A folder with the recorded session in `whole.jsonl` and its first half in `earlier.jsonl`.
fn resumed_session() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let recorded = fs::read_to_string(fixtures().join("claude-code/repair.jsonl")).expect("a fixture");
    let half: Vec<&str> = recorded.lines().take(recorded.lines().count() / 2).collect();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a folder to write to");
    write("earlier.jsonl", &half.join("\n"));
    write("whole.jsonl", &recorded);
    folder
}

fn replayed(folder: &TempDir, transcripts: &[&str]) -> Value {
    run_in(folder.path(), [&["replay", "-p", "lcc-s06", "-o", "json"], transcripts].concat(), b"").json()
}

#[test]
fn replay_counts_resumed_session_once() {
    let folder = resumed_session();
    let (both, whole) = (replayed(&folder, &["."]), replayed(&folder, &["whole.jsonl"]));
    for part in ["rows", "summary", "checks"] {
        assert!(whole[part].as_array().is_some_and(|rows| !rows.is_empty()), "{part}");
        assert_eq!(both[part], whole[part], "{part}");
    }
    let note = &both["notes"][0];
    assert_eq!(note["path"], "earlier.jsonl");
    assert_eq!(note["what"], "a copy: its calls are in whole.jsonl too, and count only there");
}

#[test]
fn inspect_counts_calls_of_resumed_session_once() {
    let folder = resumed_session();
    let both = run_in(folder.path(), ["inspect", ".", "-o", "json"], b"").json()["conversations"].clone();
    let whole = run_in(folder.path(), ["inspect", "whole.jsonl", "-o", "json"], b"").json()["conversations"].clone();
    let sum = |inspected: &Value, count: &str| -> u64 {
        let counts = inspected.as_array().expect("a list").iter().map(|one| one["recorded_usage"][count].as_u64().expect("a count"));
        counts.sum()
    };
    assert!(sum(&whole, "calls") > 0);
    for count in ["calls", "input", "cache_read", "cache_write", "output"] {
        assert_eq!(sum(&both, count), sum(&whole, count), "{count}");
    }
    // The first file has its calls; the second one repeats all of them.
    assert_eq!(sum(&both, "repeated_calls"), both[0]["recorded_usage"]["calls"].as_u64().expect("a count"));
    let table = run_in(folder.path(), ["inspect", "."], b"").stdout;
    assert!(table.contains("calls of an earlier conversation, in whole.jsonl ("), "{table}");
}
