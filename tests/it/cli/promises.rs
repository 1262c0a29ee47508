//! Checks what users and scripts rely on: the same bytes from any number of threads, equal reports, help that fits the terminal.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::effort;
use crate::support::program::{rows, run, run_once};

const STUDY: [&str; 14] = [
    "replay",
    "claude-code",
    "messages/repair.blocks.jsonl",
    "openai-chat/tasks.json",
    "-p",
    "lcc-s08",
    "-p",
    "claude-code",
    "--window",
    "80000",
    "--tokenizer",
    "chars/4",
    "--summarizer",
    "stub:500",
];

/// Reports to compare: the most used ones, and all of them in a long run.
fn outputs() -> &'static [&'static str] {
    effort::of(&["json", "table"], &["json", "csv", "markdown", "table"])
}

/// The study, with more arguments.
fn study(more: &[&str]) -> String {
    run([&STUDY, more].concat()).printed()
}

/// Its results.
fn results(more: &[&str]) -> Value {
    run_once(&[&STUDY[..], &["-o", "json"], more].concat()).json()
}

#[test]
fn replay_gives_the_same_bytes_for_any_number_of_threads() {
    for output in outputs() {
        let one = study(&["-o", output, "--jobs", "1"]);
        assert!(!one.is_empty());
        assert!(one == study(&["-o", output, "--jobs", "8"]), "{output}");
    }
}

#[test]
fn order_of_the_paths_changes_no_byte() {
    let paths = ["openai-chat/tasks.json", "claude-code", "messages/repair.blocks.jsonl"];
    for command in [&["replay", "-p", "lcc-s08"][..], &["sweep", "-p", "lcc-s06", "--set", "micro.keep_recent=1,9"], &["inspect"]]
    {
        let printed = |paths: &[&str]| run([command, &["-o", "json", "--tokenizer", "chars/4"], paths].concat()).printed();
        let [first, .., last] = paths;
        // The file is also in the folder, and named by another path.
        let other_order = [last, "claude-code/../claude-code/repair.jsonl", paths[1], first];
        assert!(printed(&paths) == printed(&other_order), "{command:?}");
    }
}

#[test]
fn report_of_saved_results_equals_report_of_the_run() {
    let folder = TempDir::new().expect("a temporary folder");
    let saved = folder.path().join("results.json");
    let saved = saved.to_str().expect("a plain path");
    assert_eq!(study(&["-o", "json", "--out", saved]), "", "what goes to a file is not printed too");
    for output in outputs() {
        // Only the commands that the screen proposes differ. At this width they need no second line, which would leave out a check.
        let report = |printed: String| printed.split_once("\nNext\n").map_or(printed.clone(), |(report, _)| report.to_owned());
        let options = ["-o", output, "--width", "200"];
        let of_saved = run([&["report", saved], &options[..]].concat()).printed();
        assert!(report(of_saved) == report(study(&options)), "{output}");
    }
}

#[test]
fn results_have_the_documented_form() {
    let results = results(&[]);
    assert_eq!(results["version"], 2);
    let columns = results["columns"].as_array().expect("columns");
    let ids: Vec<&str> = columns.iter().map(|column| column["id"].as_str().expect("an id")).collect();
    let kept = ["kept.hit", "kept.soft", "kept.stale", "kept.hard", "kept.efficiency", "kept.constraints"];
    let sent = ["calls", "tokens.baseline", "tokens.sent", "tokens.saved", "persisted.bytes", "archived.bytes"];
    for promised in sent.into_iter().chain(kept) {
        assert!(ids.contains(&promised), "{promised}");
    }
    for column in columns {
        assert!(["unit", "better", "about"].iter().all(|field| column[field].is_string()), "{column}");
        assert!(column["estimated"].is_boolean(), "{column}");
    }
    for (place, policy, values) in rows(&results) {
        assert!(values.as_object().is_some_and(|values| values.keys().eq(&ids)), "{place}, {policy}: a value for every column");
    }
    let policies: Vec<_> = results["summary"].as_array().expect("a summary").iter().map(|of| &of["policy"]).collect();
    let bounds = ["lcc-s08 · clairvoyant", "claude-code · clairvoyant", "recorded · clairvoyant"];
    let expected = ["keep-all", "lcc-s08", bounds[0], "claude-code", bounds[1], "recorded", bounds[2], "drop-all"];
    assert_eq!(policies, expected, "the bounds and the recorded runs are in every comparison");
    for policy in results["policies"].as_array().expect("policies") {
        let text = policy["toml"].as_str().expect("a text");
        recompact::engine::policy::Policy::parse(text, "saved", &[]).expect("the effective policy is a policy");
    }
}

#[test]
fn saved_policy_holds_its_settings() {
    let results = results(&["--set", "micro.keep_recent=7"]);
    let policies = results["policies"].as_array().expect("policies");
    let toml = |name: &str| policies.iter().find(|policy| policy["name"] == name).and_then(|policy| policy["toml"].as_str());
    assert!(toml("lcc-s08").is_some_and(|toml| toml.contains("keep_recent_results = 7")));
    assert!(toml("claude-code").is_some_and(|toml| !toml.contains("keep_recent_results = 7")));
}

#[test]
fn baseline_option_sets_what_savings_compare_with() {
    let results = results(&["--baseline", "lcc-s08"]);
    assert!(rows(&results).filter(|(_, policy, _)| *policy == "lcc-s08").all(|(.., values)| values["tokens.saved"] == 0.0));
}

#[test]
fn misses_option_limits_the_listed_facts() {
    let replay = ["replay", "messages", "-p", "lcc-s08", "-o", "json"];
    let misses = |count: &str| run(replay.iter().chain(&["--misses", count])).json()["misses"].as_array().map_or(0, Vec::len);
    assert_eq!(["0", "2"].map(misses), [0, 2]);
    for wrong in ["--misses=-1", "--misses=many", "--exact=yes"] {
        let ran = run(replay.iter().chain([&wrong]));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{wrong}: {}", ran.stderr);
    }
}

/// With `--exact` there is a row for the upper bound, which keeps at least as much as the clairvoyant oracle.
#[cfg(feature = "exact")]
#[test]
fn exact_option_adds_the_upper_bound() {
    let kept = |more: &[&str], policy: &str| {
        let study = ["replay", "messages", "-p", "lcc-s06", "--tokenizer", "chars/4", "-o", "json"];
        let results = run_once(&[&study, more].concat()).json();
        let mut rows = rows(&results);
        rows.find(|(_, name, _)| *name == policy).and_then(|(.., values)| values["kept.hit"].as_f64())
    };
    assert_eq!(["lcc-s06 · upper bound", "lcc-s06 · clairvoyant by line"].map(|bound| kept(&[], bound)), [None; 2]);
    assert!(kept(&["--exact"], "lcc-s06 · upper bound") >= kept(&["--exact"], "lcc-s06 · clairvoyant by line"));
}

#[cfg(not(feature = "exact"))]
#[test]
fn without_its_solver_the_exact_bound_says_how_to_get_it() {
    let ran = run(["replay", "messages", "-p", "lcc-s06", "--exact"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    for said in ["--exact", "without the solver", "the feature `exact`"] {
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}

#[test]
fn replay_reads_a_policy_file() {
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join("mine.toml");
    fs::write(&file, "name = \"mine\"\n\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\nkeep_recent = 5\n").expect("a file in it");
    let file = file.to_str().expect("a plain path");
    let results = run(["replay", "messages", "-p", file, "-o", "json", "--tokenizer", "chars/4"]).json();
    let saved = |values: &Value| values["tokens.saved"].as_f64() > Some(0.5);
    assert!(rows(&results).filter(|(_, policy, _)| *policy == "mine").all(|(.., values)| saved(values)));
}

/// A machine's clock was set back: the time between two calls is then not known, and no pause.
#[test]
fn a_clock_that_goes_back_is_no_pause() {
    let folder = TempDir::new().expect("a temporary folder");
    let fixture = fs::read_to_string(crate::support::program::fixtures().join("claude-code/kept-tail.jsonl")).expect("a fixture");
    let cost = |minute: fn(usize) -> usize| {
        let mut lines: Vec<Value> = fixture.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        for (at, line) in lines.iter_mut().enumerate().filter(|(_, line)| !line["timestamp"].is_null()) {
            let minutes = minute(at);
            line["timestamp"] = format!("2026-01-02T{:02}:{:02}:00Z", minutes / 60, minutes % 60).into();
        }
        let file = folder.path().join("a.jsonl");
        fs::write(&file, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).expect("a file in it");
        let results = run(["replay", file.to_str().expect("a plain path"), "-p", "pi", "-q", "-o", "json"]).json();
        let values = rows(&results).find(|row| row.1 == "pi").expect("a row").2;
        values["cost.usd"].as_f64().expect("a cost")
    };
    let at_once = cost(|_| 600);
    assert_eq!(cost(|at| 600 - at), at_once, "a minute back at each line");
    assert_eq!(cost(|at| if at == 20 { 0 } else { 600 }), at_once, "ten hours back, once, and forward again");
    assert!(cost(|at| at * 10) > at_once, "ten minutes forward let the cache end");
}

/// A snapshot whose every line fits a terminal of 100 columns.
#[track_caller]
fn assert_fits(name: &str, text: &str) {
    let wide: Vec<_> = text.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(wide.is_empty(), "{name}: {wide:#?}");
    insta::assert_snapshot!(name, text);
}

#[test]
fn tables_match_snapshots_and_fit_100_columns() {
    assert_fits("inspect", &run(["inspect", "claude-code"]).printed());
    let small_window = ["--window", "80000", "--summarizer", "stub:1000"];
    let replay = ["replay", "claude-code", "-p", "lcc-s08", "-p", "claude-code"].into_iter().chain(small_window);
    assert_fits("replay", &run(replay).printed());
}

#[test]
fn help_matches_snapshots_and_fits_100_columns() {
    assert_fits("help", &run(["--help"]).printed());
    for command in ["inspect", "replay", "sweep", "probe", "check", "report", "catalog", "export-settings"] {
        assert_fits(&format!("help-{command}"), &run([command, "--help"]).printed());
    }
    for command in ["new", "check"] {
        assert_fits(&format!("help-policy-{command}"), &run(["policy", command, "--help"]).printed());
    }
}

/// All options of a command take part in a study; a newcomer meets those that most people need.
#[test]
fn help_is_short_and_help_all_is_whole() {
    for command in ["inspect", "replay", "sweep", "audit", "probe", "show", "check"] {
        let (help, all) = (run([command, "--help"]).printed(), run([command, "--help-all"]).printed());
        assert!(help.lines().count() <= 60, "{command}: {}", help.lines().count());
        let options = |text: &str| {
            let is_option = |word: &&str| word.starts_with("--");
            let names = text.lines().filter(|line| line.starts_with("  ")).flat_map(str::split_whitespace).filter(is_option);
            names.map(|name| name.trim_end_matches(',').to_owned()).collect::<BTreeSet<_>>()
        };
        let (help, all) = (options(&help), options(&all));
        assert!(help.is_subset(&all) && help.len() < all.len(), "{command}: {help:?}");
        assert_eq!(run([command, "-h"]).printed(), run([command, "--help"]).printed(), "{command}");
    }
    assert_fits("help-all-replay", &run(["replay", "--help-all"]).printed());
}

#[test]
fn catalog_matches_snapshots_and_fits_100_columns() {
    assert_fits("catalog", &run(["catalog"]).printed());
    let all = run(["catalog", "all"]).printed();
    assert!(all.lines().all(|line| line.chars().count() <= 100), "{all}");
    assert_fits("catalog-layers-clear", &run(["catalog", "layers", "clear"]).printed());
    let policy = run(["catalog", "policies", "lcc-s08"]).printed();
    let begin: Vec<_> = policy.lines().take(6).collect();
    insta::assert_snapshot!("catalog-policies-lcc-s08", begin.join("\n"));
}

#[test]
fn verbose_says_what_is_read_and_changes_nothing_else() {
    let inspect = ["inspect", "messages/repair.blocks.jsonl", "--tokenizer", "chars/4"];
    let quiet = run(inspect).printed();
    let verbose = run([&inspect[..], &["-v"]].concat());
    assert_eq!((verbose.code, verbose.stdout), (0, quiet));
    let said: Vec<&str> =
        verbose.stderr.lines().map(|line| line.split_once(" s] ").expect("seconds before the text").1).collect();
    let [read, done] = said[..] else { panic!("{said:?}") };
    assert!(
        read.starts_with("read messages/repair.blocks.jsonl: ") && read.contains(" bytes, 1 conversation, parsed in "),
        "{read}"
    );
    assert_eq!(done, "done");
}
