//! Checks `--prices`: the cost of recorded calls, and invalid lists.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::program::{fixtures, run, run_in};

/// `claude-opus-4-6`, as the fixture's sessions say: 22 calls of 66 input, 334,886 read, 23,280 written, 1,776 output.
const SESSION: &str = "claude-code/kept-tail.jsonl";

/// A different price for each kind of token, so that a sum shows which prices were used.
const MINE: &str = "[[model]]\nnames = [\"claude-opus-4-6\"]\ninput = 1\noutput = 10\ncache_read = 0.1\ncache_write_5m = 100\n";

fn usd(arguments: &[&str]) -> Value {
    let inspected = run(["inspect", SESSION, "-o", "json", "--tokenizer", "chars/4"].iter().chain(arguments)).json();
    inspected["conversations"][0]["recorded_usage"]["usd"].clone()
}

#[track_caller]
fn assert_usd(arguments: &[&str], millionths: f64) {
    let usd = usd(arguments).as_f64().expect("a price");
    assert!((usd * 1e6 - millionths).abs() < 1e-3, "{arguments:?}: {usd}");
}

#[test]
fn recorded_calls_have_their_price() {
    let sum =
        |input: f64, read: f64, write: f64, output: f64| 66.0 * input + 334_886.0 * read + 23_280.0 * write + 1_776.0 * output;
    assert_usd(&[], sum(5.0, 0.5, 6.25, 25.0));
    assert_usd(&["--prices", "claude-opus-4-1-20250805"], sum(15.0, 1.5, 18.75, 75.0));
    assert_usd(&["--prices", "gpt-5.5"], sum(5.0, 0.5, 5.0, 30.0));
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join("mine.toml");
    fs::write(&file, MINE).expect("a file in it");
    let file = file.to_str().expect("a plain path");
    assert_usd(&["--prices", file], sum(1.0, 0.1, 100.0, 10.0));
    fs::write(file, MINE.replace("opus", "other")).expect("a file in it");
    assert_usd(&["--prices", file], sum(5.0, 0.5, 6.25, 25.0));
    let table = r#"{"claude-opus-4-6": {"input_cost_per_token": 2e-06, "output_cost_per_token": 1e-05}}"#;
    fs::write(file, table).expect("a file in it");
    assert_usd(&["--prices", file], sum(2.0, 2.0, 2.0, 10.0));
    run(["replay", SESSION, "-p", "lcc-s08", "--tokenizer", "chars/4", "--prices", "gpt-5.5"]).printed();
}

#[test]
fn output_tokens_are_recorded_unless_a_placeholder() {
    let output = |session: &str| {
        let results = run(["replay", session, "-p", "keep-all", "-o", "json"]).json();
        results["summary"][0]["values"]["cost.output"].as_f64().expect("a price") * 1e6 / 25.0
    };
    assert_eq!(output(SESSION).round(), 1_776.0);
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join("stream.jsonl");
    let line = |role: &str, message: Value| {
        let parent = (role == "assistant").then_some("user");
        json!({"type": role, "uuid": role, "parentUuid": parent, "sessionId": "s", "message": message}).to_string()
    };
    let asked = line("user", json!({"role": "user", "content": "Well?"}));
    // 1,000 characters of text are 336 tokens, and the frame of a response has 57.
    for (recorded, paid) in [(300, 300.0), (2, 393.0)] {
        let answer = json!({
            "id": "m", "role": "assistant", "model": "claude-opus-4-6", "usage": {"output_tokens": recorded},
            "content": [{"type": "text", "text": "x".repeat(1_000)}]
        });
        fs::write(&file, format!("{asked}\n{}\n", line("assistant", answer))).expect("a file in it");
        assert_eq!(output(file.to_str().expect("a plain path")).round(), paid);
    }
}

#[test]
fn self_check_compares_with_recorded_bill() {
    let checked = |arguments: &[&str]| {
        let replayed = ["replay", SESSION, "-p", "lcc-s08", "-o", "json", "--tokenizer", "chars/4"];
        let mut check = run(replayed.iter().chain(arguments)).json()["checks"][0].clone();
        let replayed = check["events"]["replayed"].take();
        (check, replayed)
    };
    let (own, replayed) = checked(&[]);
    assert_eq!((replayed, &own["events"]["evicted"]), (json!(1), &json!(1)));
    // What happened at Anthropic says nothing about another provider.
    assert_eq!(checked(&["--prices", "gpt-5.5"]), (own.clone(), json!(0)));
    // Without its cache event the simulated session is cheaper than the bill.
    let (ideal, replayed) = checked(&["--cache", "ideal"]);
    assert_eq!((replayed, &ideal["error"]), (json!(0), &own["ideal_error"]));
    assert!(own["error"].as_f64().is_some_and(|error| error.abs() < 0.001), "{own}");
    assert!(ideal["error"].as_f64().is_some_and(|error| error < -0.04), "{ideal}");
}

#[test]
fn inspection_reports_show_the_price() {
    let usage =
        |report: &str, prices: &str| run(["inspect", SESSION, "-o", report, "--show", "usage", "--prices", prices]).printed();
    let row = |text: String| text.lines().find(|line| line.contains("334,886")).map(str::to_owned).unwrap_or_default();
    assert!(row(usage("table", "claude-opus-4-6")).ends_with("$0.3577"));
    assert!(row(usage("markdown", "gpt-5.5")).ends_with("$0.3375 |"));
    let csv = usage("csv", "claude-opus-4-6");
    assert!(csv.contains(",recorded_usd,") && csv.contains(",22,66,334886,23280,0,1776,0.35767"), "{csv}");
    let unknown =
        run(["inspect", "awkward/unknown-types.jsonl", "--quiet", "--show", "usage", "--tokenizer", "chars/4"]).printed();
    assert!(unknown.contains("–: no known price; set one with --prices (a model or a price list)\n"), "{unknown}");
}

#[test]
fn calls_shared_by_branches_are_billed_once() {
    let calls = |branches: &str| -> Vec<Value> {
        let inspected = run(["inspect", "claude-code/repair.jsonl", "-o", "json", "--branches", branches]).json();
        inspected["conversations"].as_array().expect("a list").iter().map(|of| of["recorded_usage"]["calls"].clone()).collect()
    };
    assert_eq!((calls("last"), calls("all")), (vec![95.into()], vec![93.into(), 2.into()]));
}

#[test]
fn catalog_page_of_a_price_is_a_price_list() {
    let page = run(["catalog", "prices", "claude-sonnet-5"]).printed();
    assert_eq!(page.matches("[[model]]").count(), 2, "{page}");
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join("sonnet.toml");
    fs::write(&file, page).expect("a file in it");
    run(["inspect", SESSION, "--prices", file.to_str().expect("a plain path")]).printed();
    let snapshot = run(["catalog", "prices", "gpt-5.3-codex"]).printed();
    assert!(snapshot.contains("window = 272000\n") && snapshot.contains("source = \"litellm "), "{snapshot}");
    let provider = run(["catalog", "providers", "anthropic"]).printed();
    assert!(provider.contains("within 20 blocks") && provider.contains("Source:"), "{provider}");
}

#[test]
fn invalid_price_lists_are_refused() {
    let folder = TempDir::new().expect("a temporary folder");
    let session = fixtures().join(SESSION);
    let session = session.to_str().expect("a plain path");
    for (name, text) in [
        ("misspelt.toml", MINE.replace("cache_read", "cache_raed")),
        ("negative.toml", MINE.replace("= 10\n", "= -10\n")),
        ("free.toml", MINE.replace("= 1\n", "= 0\n")),
        ("twice.toml", format!("{MINE}{MINE}")),
        ("empty.toml", String::new()),
        ("broken.toml", MINE.replace("= 10\n", "=\n")),
    ] {
        fs::write(folder.path().join(name), text).expect("a file in it");
    }
    let refused = [
        ("misspelt.toml", "misspelt.toml:5: `claude-opus-4-6`: a price has no setting `cache_raed`; did you mean `cache_read`?"),
        (
            "negative.toml",
            "negative.toml:4: `claude-opus-4-6`: `output` is -10, but a price is a number, 0 or more, and at most a dollar per token\n",
        ),
        (
            "free.toml",
            "free.toml:3: `claude-opus-4-6`: `input` is 0, but costs are compared as multiples of it: remove the model, and ratios \
             are used\n",
        ),
        ("twice.toml", "twice.toml:8: `claude-opus-4-6`: `claude-opus-4-6` already has another price: "),
        ("empty.toml", "empty.toml: a list of prices has a table `[[model]]` for each price\n"),
        ("broken.toml", "broken.toml:4: "),
        (
            "claude-opus-4-66",
            "--prices claude-opus-4-66: neither a model with a known price nor a readable file (No such file or \
             directory (os error 2)); did you mean `claude-opus-4-6`? (known: claude-opus-4-5, ",
        ),
        ("", "--prices : neither a model"),
    ];
    for (given, said) in refused {
        for command in [&["inspect", session][..], &["replay", session, "-p", "lcc-s08"]] {
            let ran = run_in(folder.path(), command.iter().chain(&["--prices", given]), b"");
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{given}");
            assert!(ran.stderr.starts_with(&format!("recompact: {said}")), "{}", ran.stderr);
        }
    }
}
