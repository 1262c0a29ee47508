//! The saved form of results: its schema, its command, and version 1 of it.

use std::fs;
use std::process::Command;

use recompact::report::REPORTS;
use recompact::results::saved::{Results, VERSION};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::json_schema;
use crate::support::program::{self, fixtures, rows, run, run_command, run_in, run_once};

/// A study with all that results can hold, but for answers of models.
const REPLAY: [&str; 11] = [
    "replay",
    "claude-code",
    "codex",
    "-p",
    "lcc-s08,recorded",
    "--findings",
    "--set",
    "micro.keep_recent=1",
    "--window",
    "80k",
    "-ojson",
];
const SWEEP: [&str; 9] =
    ["sweep", "codex", "-p", "lcc-s08", "--set", "micro.keep_recent=1,5", "--where", "kept.hard <= 90%", "-ojson"];
/// Results that the last program with version 1 saved, cut short.
const OLD: [&str; 2] = ["version-1.json", "version-1-sweep.json"];

fn old(name: &str) -> String {
    fs::read_to_string(fixtures().join("../results").join(name)).expect("a fixture")
}

#[test]
fn results_match_their_schema() {
    let schema = run(["catalog", "schemas", "results"]).json();
    let replayed = run_once(&REPLAY).json();
    for results in [&replayed, &run_once(&SWEEP).json()] {
        let errors = json_schema::errors(&schema, results);
        assert!(errors.is_empty(), "{errors:#?}");
    }
    // The check sees what is wrong.
    let mut wrong = replayed.clone();
    wrong["version"] = 1.into();
    wrong["rows"][0]["values"]["calls"] = "many".into();
    wrong["summary"][0]["polcy"] = "p".into();
    wrong["columns"][0].as_object_mut().expect("a column").remove("id");
    assert_eq!(json_schema::errors(&schema, &wrong).len(), 4);
}

/// The invented sessions of two harnesses, with the words of the screen that they give.
#[test]
fn json_has_the_answer_of_the_screen() {
    let one = run(["replay", "claude-code", "-p", "claude-code,sliding-window,lcc-s06", "--window", "80k", "-ojson"]).json();
    let verdict = &one["verdict"];
    assert_eq!(
        (&verdict["choice"], &verdict["policy"], &verdict["yardstick"]),
        (&json!("none-fit"), &json!(null), &json!("recorded"))
    );
    let flaws = |policy: &str| {
        let judged = verdict["policies"].as_array().expect("policies").iter().find(|judged| judged["policy"] == policy);
        judged.expect("a policy")["flaws"].clone()
    };
    assert_eq!((flaws("claude-code"), flaws("sliding-window")), (json!(["costs-more"]), json!(["costs-more", "loses-facts"])));
    let screen = run(["replay", "claude-code", "-p", "claude-code,sliding-window,lcc-s06", "--window", "80k"]).printed();
    let first = verdict["reasons"][0].as_str().expect("a sentence");
    assert!(screen.contains(first), "{first}\n{screen}");
    assert_eq!((&one["findings"], &one["coverage"]), (&json!([]), &json!({"found": 3, "left_out": []})));

    let two = &run_once(&REPLAY).json()["verdict"];
    let formats: Vec<&Value> = two["harnesses"].as_array().expect("answers").iter().map(|harness| &harness["format"]).collect();
    assert_eq!((&two["choice"], formats), (&json!("per-harness"), vec![&json!("claude-code"), &json!("codex")]));

    let none = &run_once(&SWEEP).json()["verdict"];
    assert_eq!((&none["choice"], &none["conditions"][0]), (&json!("none-fit"), &json!("kept.hard <= 90%")));
    let swept = &run(["sweep", "codex", "-p", "lcc-s06", "--set", "micro.keep_recent=1,3", "-ojson"]).json()["verdict"];
    assert_eq!((&swept["choice"], &swept["policy"]), (&json!("unconfirmed"), &json!("lcc-s06 micro.keep_recent=1")));
}

#[test]
fn rows_say_what_the_record_says() {
    let results = run_once(&REPLAY).json();
    let row = |transcript: &str, policy: &str| {
        let mut rows = results["rows"].as_array().expect("rows").iter();
        rows.find(|row| row["transcript"] == transcript && row["policy"] == policy).expect("a row").clone()
    };
    let agent = row("claude-code/repair/subagents/agent-afc7507.jsonl", "lcc-s08 · clairvoyant");
    for (field, expected) in [
        ("session", "claude-code/repair"),
        ("format", "claude-code"),
        ("model", "claude-opus-4-6"),
        ("project", "/home/dev/stockbook"),
        ("started", "2026-03-09T09:46:54Z"),
        ("bound_of", "lcc-s08"),
    ] {
        assert_eq!(agent[field], expected, "{field}");
    }
    assert_eq!(row("codex/repair.jsonl", "recorded")["bound_of"], Value::Null);
    assert_eq!(results["program"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(results["dates"]["recordings"][0], "2026-03-09T08:30:00Z");
    assert!(results["dates"]["prices"][1].as_str().is_some_and(|day| day.starts_with("2026-")), "{}", results["dates"]);
}

#[cfg(unix)]
#[test]
fn saved_command_gives_the_same_bytes() {
    for (arguments, paths) in [(&REPLAY[..], "claude-code codex"), (&SWEEP, "codex")] {
        let printed = run_once(arguments).printed();
        let results: Value = serde_json::from_str(&printed).expect("JSON");
        let command = results["study"]["command"].as_str().expect("a command");
        let options = command.strip_prefix("recompact ").expect("the program").replacen("PATH", paths, 1);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{} {options} -o json", program::path().display())]).current_dir(fixtures());
        program::without_own_files(&mut shell);
        assert!(run_command(shell, b"").printed() == printed, "{command}");
    }
}

#[test]
fn results_of_version_1_have_the_names_of_today() {
    for name in OLD {
        let text = old(name);
        let before: Value = serde_json::from_str(&text).expect("JSON");
        let results = Results::from_json(&text).expect("results");
        let now = serde_json::to_value(&results).expect("JSON");
        assert_eq!((before["version"].as_u64(), results.version, &results.program), (Some(1), VERSION, &None));
        for (was, is) in [
            ("/kept/0/of", "/retention/0/group"),
            ("/kept/0/by", "/retention/0/grouped_by"),
            ("/breaks/0/breaks", "/invalidations/0/count"),
            ("/breaks/0/rebilled", "/invalidations/0/tokens_rewritten"),
            ("/dear_breaks/0/freed", "/costliest_invalidations/0/tokens_freed"),
            ("/checks/0/alike", "/checks/0/matching_calls"),
            ("/checks/0/residual", "/checks/0/error"),
            ("/checks/0/ideal_residual", "/checks/0/ideal_error"),
            ("/calibrations/0/deltas", "/calibrations/0/compared_calls"),
            ("/policies/1/quirks", "/policies/1/known_bugs"),
            ("/looked_for", "/checked_findings"),
            ("/sweep/rungs", "/sweep/rounds"),
        ] {
            let written = now.pointer(is).filter(|list| **list != serde_json::json!([]));
            assert_eq!(before.pointer(was), written, "{name}: {was}");
            assert!(before.pointer(was).is_some() || (was == "/looked_for") == name.contains("sweep"), "{name}: {was}");
        }
        assert_eq!(before["rows"], now["rows"], "{name}");
        assert_eq!(Results::from_json(&now.to_string()).expect("results"), results, "{name}");
    }
}

#[test]
fn every_command_reads_results_of_version_1() {
    let folder = TempDir::new().expect("a temporary folder");
    OLD.iter().for_each(|name| fs::write(folder.path().join(name), old(name)).expect("written"));
    for transcript in ["claude-code/repair.jsonl", "codex/repair.jsonl"] {
        fs::create_dir_all(folder.path().join(transcript).parent().expect("a folder")).expect("a folder");
        fs::copy(fixtures().join(transcript), folder.path().join(transcript)).expect("a copy");
    }
    let ran = |arguments: &[&str]| run_in(folder.path(), arguments, b"").printed();
    for report in REPORTS {
        assert!(!ran(&["report", OLD[0], "-o", report.name]).is_empty(), "{}", report.name);
        if !report.shows_cases() {
            assert!(!ran(&["report", OLD[1], "-o", report.name]).is_empty(), "{}", report.name);
        }
    }
    let csv = ran(&["report", OLD[1], "-o", "csv"]);
    assert!(csv.starts_with("policy,of,micro.keep_recent,sessions,allowed,missed,front,recommended,dominated,"), "{csv}");
    assert_eq!(csv.lines().count(), 4, "the policy as it is and two settings: {csv}");
    let same = ["replay", "claude-code", "codex", "-p", "lcc-s08", "--tokenizer", "recorded", "--out", "now.json"];
    ran(&same);
    let diff = ran(&["diff", OLD[0], "now.json"]);
    assert!(diff.starts_with("2 conversations in both results"), "{diff}");
    let now: Value = serde_json::from_slice(&fs::read(folder.path().join("now.json")).expect("results")).expect("JSON");
    let before: Value = serde_json::from_str(&old(OLD[0])).expect("JSON");
    for ((place, policy, values), (.., of_now)) in
        rows(&before).zip(rows(&now).filter(|(_, policy, _)| !policy.starts_with("recorded")))
    {
        // Then every model of Claude dropped the thinking of earlier turns.
        if place.starts_with("claude-code/") {
            continue;
        }
        // Then a failed command of Codex was no error, and summaries did not quote the last one.
        if place.starts_with("codex/") && policy == "lcc-s08" {
            continue;
        }
        // Then the uses of facts were weighed by rarity, and not in bits, and costs were those of counted requests.
        let changed = |column: &str| ["kept.", "cost.", "cache."].iter().any(|group| column.starts_with(group));
        let values = values.as_object().expect("values").iter().filter(|(column, _)| !changed(column));
        for (column, value) in values {
            assert_eq!(value, &of_now[column], "{place}, {policy}: {column}");
        }
    }
}
