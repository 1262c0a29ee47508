//! Checks models on the command line: answers are kept, give the same bytes again, and are never asked twice. The model is
//! `wc -c`, which answers with the length of its input.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::program::{Ran, files, fixtures, rows, run_in};

const MODEL: &str = "command:wc -c";
const ASKED: [&str; 9] =
    ["replay", "codex/repair.jsonl", "messages/repair.blocks.jsonl", "-p", "lcc-s08", "--tokenizer", "chars/4", "-o", "json"];

fn ask(cassette: &Path, more: &[&str]) -> Ran {
    let cassette = cassette.to_str().expect("UTF-8");
    let arguments = [&ASKED[..], &["--summarizer", MODEL, "--cassette", cassette], more].concat();
    run_in(&fixtures(), arguments, b"")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Returns the answers on a cassette; none if the cassette does not exist.
fn answers(cassette: &Path) -> usize {
    if cassette.exists() { files(cassette).len() } else { 0 }
}

/// Returns the number of answers that a whole study needs.
fn all_of_them() -> (TempDir, String, usize) {
    let cassette = folder();
    let printed = ask(cassette.path(), &[]).printed();
    let answers = answers(cassette.path());
    assert!(answers >= 4, "{answers} answers");
    (cassette, printed, answers)
}

/// Returns the results without the duration of the answers, which differs between runs.
fn without_seconds(results: &str) -> Value {
    let mut results: Value = serde_json::from_str(results).expect("JSON");
    results["spending"][0]["seconds"] = Value::Null;
    results
}

#[test]
fn cassette_replay_gives_the_same_bytes_without_calls() {
    let (cassette, live, answers) = all_of_them();
    for more in [&[][..], &["--cassette-mode", "replay"], &["--cassette-mode", "replay", "--jobs", "1"]] {
        assert!(ask(cassette.path(), more).printed() == live, "{more:?}");
    }
    let spending = &serde_json::from_str::<Value>(&live).expect("JSON")["spending"];
    assert_eq!((&spending[0]["model"], &spending[0]["answers"]), (&Value::from(MODEL), &Value::from(answers)));
    let listed = run_in(cassette.path(), ["report", ".", "-o", "json"], b"").json();
    assert_eq!(&listed["spending"], spending);
    let table = run_in(cassette.path(), ["report", "."], b"").printed();
    assert!(table.contains("Model calls") && table.contains(MODEL), "{table}");
}

#[test]
fn summarizer_comparison_shows_bounds_of_the_model() {
    let (_, live, _) = all_of_them();
    let results: Value = serde_json::from_str(&live).expect("JSON");
    let mut names: Vec<&str> = rows(&results).map(|(_, policy, _)| policy).collect();
    names.sort_unstable();
    names.dedup();
    let variants = ["lcc-s08 · command:wc -c", "lcc-s08 · extract", "lcc-s08 · stub:500"];
    assert_eq!(names, [&["drop-all", "keep-all"][..], &variants, &["recorded"]].concat());
    let summaries = |name: &str| {
        let of_policy = rows(&results).filter(|(_, policy, _)| *policy == name);
        of_policy.map(|(_, _, values)| values["summaries"].as_f64().expect("a count")).sum::<f64>()
    };
    assert!(variants.iter().all(|name| summaries(name) > 0.0) && summaries("keep-all") == 0.0);
}

#[test]
fn missing_cassette_answer_is_named() {
    let cassette = folder();
    let ran = ask(&cassette.path().join("empty"), &["--cassette-mode", "replay"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    for place in ["codex/repair.jsonl: conversation ", "messages/repair.blocks.jsonl: conversation main, call "] {
        let line = ran.stderr.lines().find(|line| line.contains(place)).unwrap_or_else(|| panic!("{}", ran.stderr));
        assert!(line.contains("no summary for lcc-s08 · command:wc -c (auto)") && line.contains("holds no answer"), "{line}");
    }
    assert!(!cassette.path().join("empty").exists());
}

#[test]
fn limits_stop_before_they_are_exceeded_and_keep_paid_answers() {
    let (_, live, needed) = all_of_them();
    let cassette = folder();
    let mut runs = 0;
    let last = loop {
        let before = answers(cassette.path());
        let ran = ask(cassette.path(), &["--max-calls", "3", "--jobs", "1"]);
        runs += 1;
        let asked = answers(cassette.path()) - before;
        assert!(asked <= 3);
        if ran.stderr.is_empty() {
            break ran.printed();
        }
        assert_eq!(asked, 3);
        assert!(ran.stderr.contains("--max-calls 3: the limit is reached"), "{}", ran.stderr);
        assert!(runs < 50);
    };
    assert!(without_seconds(&last) == without_seconds(&live));
    assert_eq!((answers(cassette.path()), runs), (needed, needed.div_ceil(3)));
}

#[test]
fn replicates_get_separate_answers() {
    let (_, _, once) = all_of_them();
    let cassette = folder();
    let results = ask(cassette.path(), &["--replicates", "2"]).json();
    assert_eq!(answers(cassette.path()), 2 * once);
    let names: Vec<&str> = rows(&results).map(|(_, policy, _)| policy).collect();
    assert!(["lcc-s08 · command:wc -c #1", "lcc-s08 · command:wc -c #2"].iter().all(|name| names.contains(name)));
}

#[test]
fn dry_run_forecasts_calls_and_makes_none() {
    let cassette = folder();
    let path = cassette.path().join("empty");
    let page = ask(&path, &["--dry-run"]).printed();
    assert!(page.contains("command:wc -c: ") && page.contains(" new calls, 0 on the cassette; ~"), "{page}");
    assert!(page.contains("unknown price") && !path.exists());
    let (cassette, _, needed) = all_of_them();
    let page = ask(cassette.path(), &["--dry-run"]).printed();
    assert!(page.contains(&format!("command:wc -c: 0 new calls, {needed} on the cassette; ~0 tokens in")), "{page}");
}

#[test]
fn invalid_model_options_are_refused_before_any_call() {
    let refused: [(&[&str], &str); 9] = [
        (
            &["--summarizer", "openai:gpt-5.5"],
            "openai:gpt-5.5: no API key: OPENAI_API_KEY is not set; --base-url uses another server",
        ),
        (&["--summarizer", "openai:"], "write openai:MODEL"),
        (&["--summarizer", "command:cat", "--summarizer", "command:cat"], "the summarizer `command:cat` is named twice"),
        (&["--summarizer", "command:cat", "--max-cost", "1"], "--max-cost: the price of command:cat is not known"),
        (
            &["--summarizer", "command:cat", "--baseline", "lcc-s08"],
            "name one of its variants: lcc-s08 · command:cat, lcc-s08 · extract",
        ),
        (&["--summarizer", "command:cat", "--param", "temperature"], "`temperature`: write FIELD=VALUE"),
        (&["--cassette-mode", "replay"], "--cassette <DIR>"),
        (&["--summarizer", "command:cat", "--max-cost", "nan"], "write an amount in USD, such as 2.50"),
        (&["--summarizer", "command:cat", "--timeout", "0"], "0 is not in 1.."),
    ];
    for (arguments, said) in refused {
        let ran = run_in(&fixtures(), [&ASKED[..], arguments].concat(), b"");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
    }
    let sweep = ["sweep", "codex", "-p", "lcc-s08", "--set", "micro.keep_recent=1..3", "--summarizer", MODEL];
    let ran = run_in(&fixtures(), sweep, b"");
    assert!(ran.code == 2 && ran.stderr.contains("a sweep takes one summarizer and no model"), "{}", ran.stderr);
    let ran = run_in(&fixtures(), ["report", "codex"], b"");
    assert!(ran.code == 2 && ran.stderr.contains("codex: holds no answers"), "{}", ran.stderr);
}

#[test]
fn truncated_cassette_entry_is_an_error() {
    let (cassette, _, _) = all_of_them();
    let (path, bytes) = files(cassette.path()).swap_remove(0);
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("our own file");
    let ran = ask(cassette.path(), &["--strict"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("delete it, and its question is asked again"), "{}", ran.stderr);
}
