//! Compares the requests that `--contexts` writes with those of the reference implementation.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::engine::reference::{POLICIES, refused_over, theirs};
use crate::support::program::{fixtures, run};
use crate::support::transcripts;

const TRANSCRIPT: &str = "messages/repair.blocks.jsonl";

/// The reference implementation, beside the recordings.
fn oracle() -> PathBuf {
    let path = transcripts::folder("").join("../reference/lcc.py");
    assert!(path.is_file(), "there is no {}", path.display());
    path
}

/// Every line that a replay wrote.
fn contexts(transcript: &str, policy: &str, settings: &[String]) -> Vec<Value> {
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join("contexts.jsonl");
    let named = file.to_str().expect("a plain path");
    let mut arguments = vec!["replay", transcript, "-p", policy, "--tokenizer", "chars/4", "-o", "csv", "--contexts", named];
    arguments.extend(["--summarizer", "fixed:SUMMARY"]);
    arguments.extend(settings.iter().flat_map(|setting| ["--set", setting]));
    run(arguments).printed();
    let text = std::fs::read_to_string(&file).expect("the contexts");
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect()
}

/// Compares call by call: number, estimate, messages.
#[track_caller]
fn assert_equals_oracle(oracle: &Path, window: u64) {
    for (preset, version) in POLICIES {
        let settings = match window {
            0 => vec![],
            _ if !preset.starts_with("lcc-s08") => continue,
            _ => refused_over(window).to_vec(),
        };
        let theirs = theirs(oracle, version, &fixtures().join(TRANSCRIPT), &window.to_string());
        let ours = contexts(TRANSCRIPT, preset, &settings);
        assert_eq!(ours.len(), theirs.len(), "{preset}: calls");
        for (number, (ours, (estimate, messages))) in (1u64..).zip(ours.iter().zip(&theirs)) {
            let place = [&ours["transcript"], &ours["conversation"], &ours["policy"]];
            assert_eq!(place, [TRANSCRIPT, "main", preset], "{preset}, call {number}");
            assert_eq!(ours["call"], number, "{preset}");
            assert_eq!(ours["messages"], *messages, "{preset}, call {number} with a window of {window}");
            assert_eq!(ours["estimate"], *estimate, "{preset}, call {number} with a window of {window}");
        }
    }
}

#[test]
#[ignore = "needs the reference implementation beside the recordings, and python3: RECOMPACT_TRANSCRIPTS"]
fn contexts_equal_the_reference_implementation() {
    assert_equals_oracle(&oracle(), 0);
}

#[test]
#[ignore = "needs the reference implementation beside the recordings, and python3: RECOMPACT_TRANSCRIPTS"]
fn reactive_layer_equals_the_reference_implementation() {
    let oracle = oracle();
    for window in [8_000, 12_000, 20_000, 40_000] {
        assert_equals_oracle(&oracle, window);
    }
}
