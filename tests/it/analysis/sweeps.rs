//! Checks `recompact sweep`: what it chooses, reports and saves, and how it refuses wrong use.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use recompact::analysis::spec::PolicySource;
use recompact::analysis::sweep::{candidates, spaces};
use recompact::engine::policy::PRESETS;

use crate::support::effort;
use crate::support::program::{Ran, fixtures, run, run_in, run_once};

/// Two policies on the invented recordings, with a window small enough for compactions.
const SWEEP: [&str; 15] = [
    "sweep",
    "claude-code",
    "messages/repair.blocks.jsonl",
    "openai-chat",
    "-p",
    "lcc-s08",
    "-p",
    "anthropic-clear",
    "--window",
    "80000",
    "--tokenizer",
    "chars/4",
    "--summarizer",
    "stub:500",
    "--quiet",
];
const GRID: [&str; 6] =
    ["--set", "micro.keep_recent=1,3", "--set", "auto.threshold=20k..60k:40k", "--set", "clear.threshold=20k,40k,60k"];
/// The ten sessions are enough for a hold-out by default.
const ON_ALL_SESSIONS: [&str; 2] = ["--holdout", "0"];

fn sweep(more: &[&str]) -> Ran {
    let all: &[&str] = if more.contains(&"--holdout") { &[] } else { &ON_ALL_SESSIONS };
    run([&SWEEP, &GRID[..], all, more].concat())
}

/// Returns the results of the default sweep.
fn results_of_grid() -> Value {
    run_once(&[&SWEEP, &GRID[..], &ON_ALL_SESSIONS, &["-o", "json"]].concat()).json()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|value| value.as_str().expect("a text")).collect()
}

fn configurations(results: &Value) -> &[Value] {
    results["sweep"]["configurations"].as_array().expect("configurations")
}

#[test]
fn sweep_tries_the_grid_of_two_policies() {
    let results = results_of_grid();
    let found = &results["sweep"];
    // 4 of lcc-s08, 3 of anthropic-clear, and both unchanged.
    let names: Vec<_> = configurations(&results).iter().map(|row| row["policy"].as_str().expect("a name")).collect();
    let expected = [
        "lcc-s08",
        "anthropic-clear",
        "lcc-s08 micro.keep_recent=1 auto.threshold=20k",
        "lcc-s08 micro.keep_recent=1 auto.threshold=60k",
        "lcc-s08 auto.threshold=20k",
        "lcc-s08 auto.threshold=60k",
        "anthropic-clear clear.threshold=20k",
        "anthropic-clear clear.threshold=40k",
        "anthropic-clear clear.threshold=60k",
    ];
    assert_eq!(names, expected);
    assert_eq!(
        configurations(&results)[3]["settings"],
        serde_json::json!([["micro.keep_recent", "1"], ["auto.threshold", "60k"]])
    );
    assert_eq!(found["parameters"].as_array().map(Vec::len), Some(3));
    assert_eq!(texts(&found["parameters"][1]["values"]), ["20k", "60k"]);
    let objectives: Vec<_> = found["objectives"].as_array().expect("objectives").iter().map(|o| &o["column"]).collect();
    assert_eq!(objectives, ["cost.ratio", "kept.hit"]);
    let rung = &found["rounds"][0];
    assert_eq!((rung["configurations"].as_u64(), &rung["sessions"]), (Some(9), &found["sessions"]));
    // Every member of the front and what costs are compared with are compared in full, between the bounds.
    let compared: Vec<_> = results["policies"].as_array().expect("policies").iter().map(|policy| &policy["name"]).collect();
    assert_eq!((compared[0], compared[compared.len() - 1]), (&Value::from("keep-all"), &Value::from("drop-all")));
    assert!(compared.contains(&&found["yardstick"]["policy"]), "{compared:?}");
    for row in configurations(&results) {
        assert!(row["front"] == false || compared.contains(&&row["policy"]), "{row}");
        assert_eq!(row["dominated"].is_number(), row["front"] == true);
    }
}

/// The totals of the search equal those of the comparison, because the replays are the same.
#[test]
fn sweep_totals_equal_the_comparison() {
    let results = results_of_grid();
    let summary = results["summary"].as_array().expect("a summary");
    let mut compared = 0;
    for row in configurations(&results) {
        let Some(of) = summary.iter().find(|of| of["policy"] == row["policy"]) else { continue };
        for (column, value) in row["values"].as_object().expect("values") {
            match (value.as_f64(), of["values"][column].as_f64()) {
                (Some(swept), Some(replayed)) => assert!((swept - replayed).abs() <= 1e-9 * replayed.abs(), "{column}: {row}"),
                values => assert_eq!(values, (None, None), "{column}: {row}"),
            }
            compared += 1;
        }
    }
    assert!(compared >= 18, "{compared}");
}

#[test]
fn sweep_gives_the_same_bytes_for_any_number_of_threads() {
    let cases = [&["-o", "json", "--sample", "5", "--holdout", "0.3", "--seed", "4"][..], &["-o", "json"], &["-o", "table"]];
    for more in &cases[..effort::of(1, 3)] {
        let one = sweep(&[*more, &["--jobs", "1"]].concat()).printed();
        assert!(one == sweep(&[*more, &["--jobs", "8"]].concat()).printed(), "{more:?}");
    }
}

#[test]
fn saved_recommendation_replays_to_the_same_values() {
    let folder = TempDir::new().expect("a temporary folder");
    let [policy, results] = ["policy.toml", "results.json"].map(|name| folder.path().join(name));
    let [policy, results] = [&policy, &results].map(|path| path.to_str().expect("a plain path"));
    sweep(&["-o", "json", "--out", results, "--save", policy]).printed();
    let saved: Value = serde_json::from_str(&fs::read_to_string(results).expect("results")).expect("JSON");
    let recommended = &saved["sweep"]["recommended"];
    assert_eq!(fs::read_to_string(policy).expect("a policy"), recommended["toml"].as_str().expect("a text"));
    let mut replay = SWEEP.to_vec();
    replay[0] = "replay";
    replay.retain(|argument| !["lcc-s08", "anthropic-clear", "-p"].contains(argument));
    let replayed = run([&replay[..], &["-p", policy, "-o", "json"]].concat()).json();
    let values = |results: &Value| {
        let summary = results["summary"].as_array().expect("a summary").clone();
        summary.into_iter().find(|of| of["policy"] == recommended["policy"]).expect("the policy")["values"].clone()
    };
    assert_eq!(values(&saved), values(&replayed));
    let front = configurations(&saved).iter().find(|row| row["policy"] == recommended["policy"]).expect("it was tried");
    assert_eq!(front["front"], true);
    for next in recommended["neighbours"].as_array().expect("neighbours") {
        let better = next["differences"][next["by"].as_str().expect("a column")].as_f64().expect("a difference");
        assert!(if next["by"] == "cost.ratio" { better < 0.0 } else { better > 0.0 }, "{next}");
    }
}

#[test]
fn holdout_reports_only_held_out_sessions() {
    let results = sweep(&["-o", "json", "--holdout", "0.3"]).json();
    let (all, found) = (results_of_grid(), &results["sweep"]);
    let count = |value: &Value| value.as_u64().expect("a count");
    assert_eq!(count(&found["sessions"]) + count(&found["held_out"]), count(&all["sweep"]["sessions"]));
    assert!(count(&found["held_out"]) >= 2);
    let conversations = |results: &Value| {
        let rows = results["rows"].as_array().expect("rows").iter().filter(|row| row["policy"] == "keep-all");
        rows.map(|row| format!("{} {}", row["transcript"], row["conversation"])).collect::<Vec<_>>()
    };
    let (held_out, all) = (conversations(&results), conversations(&all));
    assert!(held_out.len() < all.len() && held_out.iter().all(|one| all.contains(one)), "{held_out:?}");
    let said = sweep(&["--holdout", "0.3", "--show", "choice"]).printed();
    assert!(said.contains(&format!("{} sessions held out: nothing was chosen on them", found["held_out"])), "{said}");
}

/// Without `--sample` every configuration is replayed on every session: on the held-out ones for the default conditions.
#[test]
fn every_configuration_is_replayed_on_every_session() {
    let replayed = |holdout: &str| {
        let more = ["--set", "clear.keep_recent=1,3,5,9,12,15", "-o", "json", "--holdout", holdout];
        let results = sweep(&more).json();
        (configurations(&results).len(), results["sweep"]["policy_calls"].as_u64().expect("a count"))
    };
    let (count, calls) = replayed("0.3");
    assert_eq!((count, calls), replayed("0"));
    let recorded = results_of_grid()["summary"][0]["values"]["calls"].as_u64().expect("a count");
    assert_eq!(calls, recorded * count as u64);
}

#[test]
fn sample_is_halved_and_keeps_unchanged_policies() {
    let more = ["--set", "budget.max_bytes=1KB..900KB:1KB", "--sample", "40", "-o", "json"];
    let results = sweep(&more).json();
    let rounds = results["sweep"]["rounds"].as_array().expect("rounds");
    let numbers: Vec<_> = rounds.iter().map(|rung| (rung["sessions"].as_u64(), rung["configurations"].as_u64())).collect();
    let all = results["sweep"]["sessions"].as_u64().expect("a count");
    // 37 of lcc-s08, all 3 of anthropic-clear, and both unchanged.
    assert_eq!(numbers[0], (Some(all.div_ceil(4)), Some(42)));
    assert_eq!(numbers[1..], [(Some(all.div_ceil(2)), Some(22)), (Some(all), Some(12))]);
    let full = configurations(&results).iter().filter(|row| row["sessions"] == all);
    assert_eq!(full.clone().count(), 12);
    assert_eq!(full.filter(|row| row["policy"] == row["of"]).count(), 2);
    assert!(configurations(&results).iter().all(|row| row["front"] == false || row["sessions"] == all));
}

#[test]
fn recommendation_meets_the_conditions() {
    let results = sweep(&["--where", "kept.hit >= 80%", "--where", "broken.requests = 0", "-o", "json"]).json();
    let by_default =
        ["failed_calls <= 0.5% of requests", "cost.ratio < your recorded runs", "kept.hard <= 5%", "kept.rules_cut == 0"];
    let all = [&["kept.hit >= 80%", "broken.requests == 0"], &by_default[..]].concat();
    assert_eq!(texts(&results["sweep"]["conditions"]), all);
    let yardstick = &results["sweep"]["yardstick"];
    assert_eq!(yardstick["policy"], "recorded");
    for row in configurations(&results) {
        let value = |column: &str| row["values"][column].as_f64();
        let misses = [
            ("broken.requests", value("broken.requests") != Some(0.0)),
            ("cost.ratio", value("cost.ratio") >= yardstick["values"]["cost.ratio"].as_f64()),
            ("failed_calls", value("failed_calls") > Some(0.0)),
            ("kept.hard", value("kept.hard") > Some(0.05)),
            ("kept.hit", value("kept.hit") < Some(0.8)),
        ];
        let missed: Vec<&str> = misses.into_iter().filter(|(_, misses)| *misses).map(|(column, _)| column).collect();
        let said: Vec<&str> = row.get("missed").map(texts).unwrap_or_default();
        assert_eq!((said, row["allowed"] == true), (missed.clone(), missed.is_empty()), "{row}");
        assert!(row["front"] == false || row["allowed"] == true);
    }
}

#[test]
fn recommendation_breaks_no_requests_unless_allowed() {
    // In the session of `messages` the agent calls the compact tool, and each configuration breaks the requests behind it.
    let removed = ["anthropic-clear", "messages/repair.blocks.jsonl"];
    let alone: Vec<&str> = SWEEP.iter().copied().filter(|argument| !removed.contains(argument)).collect();
    // Removes the second `-p`, whose policy was filtered out.
    let alone = [&alone[..5], &alone[6..]].concat();
    let any = ["--where", "cost.ratio < 9", "--where", "kept.hard <= 100%"];
    let grid = [&["--set", "micro.keep_recent=1,3", "--set", "auto.threshold=20k..60k:40k", "-o", "json"], &any[..]].concat();
    let why = |more: &[&str]| {
        let results = run([&alone, &grid[..], &ON_ALL_SESSIONS, more].concat()).json();
        results["sweep"]["recommended"]["why"].as_str().expect("a sentence").to_owned()
    };
    let allowed = why(&["--where", "broken.requests <= 1000"]);
    let end = " It breaks 106 requests, which an API would refuse: --where 'broken.requests == 0' excludes such policies.";
    assert!(allowed.ends_with(end), "{allowed}");
    assert!(!why(&[]).contains("breaks"));
}

/// Sessions that were recorded malformed are no policy's fault.
#[test]
fn what_was_recorded_malformed_prevents_no_recommendation() {
    let grid = ["sweep", "awkward/orphans.jsonl", "-p", "observation-mask", "--set", "mask.keep_recent_results=1,3"];
    // It clears nothing in so short a session, so it costs as much as no compaction.
    let said = run([&grid[..], &["--where", "cost.ratio <= 1"]].concat()).stdout;
    assert!(
        said.contains("Keep `observation-mask`") && said.contains("9 requests would be refused, as they were recorded"),
        "{said}"
    );
}

/// If no configuration meets the conditions, the report shows the nearest one, and nothing can be saved.
#[test]
fn unmet_conditions_give_no_recommendation() {
    let folder = TempDir::new().expect("a temporary folder");
    let policy = folder.path().join("policy.toml");
    let impossible = ["--where", "cost.ratio < 0.01"];
    let said = sweep(&[&impossible[..], &["--show", "recommended"]].concat()).printed();
    assert!(said.starts_with("No recommendation: no configuration meets: cost.ratio < 0.01, broken.caused <= 0.5% of"), "{said}");
    assert!(said.contains("  nearest  "), "{said}");
    let ran = sweep(&[&impossible[..], &["--save", policy.to_str().expect("a plain path")]].concat());
    assert_eq!((ran.code, policy.exists()), (2, false));
    assert!(
        ran.stderr.ends_with("policy.toml: nothing was saved, because no configuration meets the conditions\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn sweep_refuses_wrong_use_before_reading() {
    let refused: [(&[&str], &str); 14] = [
        (&["--set", "micro.keep_recent=1..many"], "micro.keep_recent: `1..many`: a range is written `1..10` or `20k..120k:20k`"),
        (&["--set", "micro.keep_recent=9..3"], "micro.keep_recent: `9..3`: the range ends below its beginning"),
        (&["--set", "micro.keep_recent="], "micro.keep_recent: a value is missing"),
        (&["--set", "micro.keep_recent=1,some"], "--set micro.keep_recent=some: layer `micro`: "),
        (&["--set", "micro.keep_recnt_results=1,2"], "did you mean `keep_recent_results`?"),
        (&["--set", "macro.keep_recent=1,2"], "no policy here has a layer `macro`; did you mean `micro`?"),
        (&["--set", "micro.keep_recent=5"], "nothing is varied: give a setting several values"),
        (&["--set", "auto.threshold=1..1m"], "1000000 configurations are more than the 20000 that can be swept"),
        (&["--set", "micro.keep_recent=1,2", "--where", "kept.hard"], "a condition is written `kept.hard <= 0.02`"),
        (&["--set", "micro.keep_recent=1,2", "--where", "kept.hrad < 1"], "--where kept.hrad: there is no such column; did you"),
        (&["--set", "micro.keep_recent=1,2", "--minimize", "costs"], "--minimize costs: there is no such column"),
        (&["--set", "micro.keep_recent=1,2", "--holdout", "30"], "write a share below 1"),
        (&["--set", "micro.keep_recent=1,2", "--sample", "0"], "write a number, at least 1"),
        (&["--set", "micro.keep_recent=1,2", "-p", "lcc-s08"], "the policy `lcc-s08` is named twice"),
    ];
    for (more, said) in refused {
        let ran = run([&["sweep", "no-such-folder", "-p", "lcc-s08"], more].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{more:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said) && !ran.stderr.contains("no such file"), "{more:?}: {}", ran.stderr);
    }
}

#[test]
fn sweep_refuses_unsuitable_transcripts() {
    let given = ["-p", "lcc-s08", "--set", "micro.keep_recent=1,2"];
    let ran = run_in(&crate::support::program::fixtures(), [&["sweep", "-"], &given[..]].concat(), b"{}");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("standard input can be read only once"), "{}", ran.stderr);
    let ran = run([&["sweep", "codex", "--holdout", "0.3"], &given[..]].concat());
    let said = "recompact: --holdout 0.3: the transcripts have 1 session; 5 are needed so that each side has 2\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (2, said));
    let ran = run([&["sweep", "codex", "--save", "codex/repair.jsonl"], &given[..]].concat());
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("codex/repair.jsonl: is read, so it cannot be written too"), "{}", ran.stderr);
    let ran = run([&["sweep", "no-such-folder"], &given[..]].concat());
    assert!(ran.code == 2 && ran.stderr.contains("no-such-folder: no such file or folder"), "{}", ran.stderr);
}

#[test]
fn sweep_table_matches_snapshot() {
    let printed = sweep(&["--set", "clear.keep_recent=1,3", "--full"]).printed();
    let (report, policy) = printed.split_once("The recommended policy (").expect("the policy comes last");
    let wide: Vec<_> = report.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    let (found, _) = report.split_once("\nSummary: ").expect("the comparison follows");
    insta::assert_snapshot!("sweep", found);
    let (_, policy) = policy.split_once('\n').expect("lines");
    recompact::engine::policy::Policy::parse(policy, "printed", &[]).expect("what is printed can be pasted");
    let markdown = sweep(&["--set", "clear.keep_recent=1,3", "-o", "markdown", "--full"]).printed();
    assert!(markdown.contains("\n```text\nname = \"anthropic-clear"), "{markdown}");
}

/// A conversation that begins with a response has no request, so it is no session to choose on or to hold out; and a copy must
/// not be on both sides.
#[test]
fn sweep_counts_only_compared_sessions() {
    let folder = TempDir::new().expect("a temporary folder");
    let write = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).expect("a folder to write to");
    let fixture = |name: &str| fs::read(fixtures().join(name)).expect("a fixture");
    write("1.jsonl", &fixture("messages/repair.blocks.jsonl"));
    write("2.jsonl", &fixture("claude-code/kept-tail.jsonl"));
    write("3.json", br#"[{"role": "assistant", "content": "How can I help?"}, {"role": "user", "content": "Not at all."}]"#);
    write("4.jsonl", &fixture("messages/repair.sdkrepr.jsonl"));
    let asked = "sweep 1.jsonl 2.jsonl 3.json 4.jsonl -q -p lcc-s08 --tokenizer chars/4 --set micro.keep_recent=1,2 -o json";
    let results = run_in(folder.path(), asked.split(' '), b"").json();
    let mut compared = texts_of(&results["rows"], "transcript");
    compared.dedup();
    assert_eq!(compared, ["1.jsonl", "2.jsonl"]);
    assert_eq!(results["sweep"]["sessions"], 2);
    assert_eq!(results["notes"][0]["what"], "a copy: its calls are in 1.jsonl too, and count only there");
    assert_eq!(results["notes"][0]["path"], "4.jsonl");
}

/// `recompact sweep DIR -p claude-code` needs no `--set`.
#[test]
fn every_preset_with_settings_has_values_to_try() {
    for preset in PRESETS.iter().filter(|preset| !["keep-all", "drop-all", "recorded"].contains(&preset.name)) {
        let source = PolicySource { origin: preset.name.to_owned(), text: preset.toml.to_owned() };
        let spaces = spaces(&[source], &[]).unwrap_or_else(|error| panic!("{error}"));
        let (tried, _) = candidates(spaces, "keep-all", None, 1).unwrap_or_else(|error| panic!("{error}"));
        assert!((3..=200).contains(&tried.len()), "{}: {}", preset.name, tried.len());
    }
    let results = run([&SWEEP[..5], &["observation-mask", "--tokenizer", "chars/4", "-q", "-o", "json"]].concat()).json();
    let parameters = texts_of(&results["sweep"]["parameters"], "parameter");
    assert_eq!(parameters, ["mask.clear_at_least", "mask.keep_recent_results"]);
}

#[test]
fn wrong_values_of_a_policy_name_its_file() {
    let refused = |sweep: &str, said: &str| {
        let folder = TempDir::new().expect("a temporary folder");
        let policy = format!("name = \"own\"\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\n{sweep}");
        fs::write(folder.path().join("own.toml"), policy).expect("a folder to write to");
        let ran = run_in(folder.path(), ["sweep", "own.toml", "-p", "own.toml"], b"");
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    };
    refused("", "`own` has no [sweep] with values to try: give them, as in `--set micro.SETTING=1..10`");
    refused("[sweep]\nmicr.keep_recent = \"1,2\"", "own.toml:6: [sweep] micr.keep_recent: the policy has no layer `micr`");
    refused(
        "[sweep]\nmicro.keep_recent = \"9..3\"",
        "own.toml:6: [sweep] micro.keep_recent: `9..3`: the range ends below its beginning",
    );
    refused("[sweep]\nmicro.keep_recent = 3", "own.toml:5: invalid type: integer `3`, expected a string");
}

fn texts_of<'a>(rows: &'a Value, key: &str) -> Vec<&'a str> {
    rows.as_array().expect("rows").iter().filter_map(|row| row[key].as_str()).collect()
}

/// `small-1` is both the baseline and what the first configuration of `small` would be called.
#[test]
fn sweep_baseline_keeps_its_name_and_settings() {
    let folder = TempDir::new().expect("a temporary folder");
    let policy = |file: &str, name: &str, keep_recent: u8| {
        let text = format!("name = \"{name}\"\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\nkeep_recent = {keep_recent}\n");
        fs::write(folder.path().join(file), text).expect("a folder to write to");
    };
    fs::copy(fixtures().join("messages/repair.blocks.jsonl"), folder.path().join("1.jsonl")).expect("a fixture");
    policy("small.toml", "small", 3);
    policy("baseline.toml", "small-1", 90);
    policy("other.toml", "small", 4);
    let run = |command: &str| run_in(folder.path(), command.split(' '), b"");
    let sweep = "sweep 1.jsonl -q --tokenizer chars/4 -p small.toml --set micro.keep_recent=1,2 -o json --baseline";
    let results = run(&format!("{sweep} baseline.toml")).json();
    let tomls = results["policies"].as_array().expect("policies");
    let baseline = tomls.iter().find(|policy| policy["name"] == "small-1").expect("the baseline");
    assert!(baseline["toml"].as_str().is_some_and(|toml| toml.contains("keep_recent_results = 90")), "{baseline}");
    assert!(configurations(&results).iter().all(|row| row["policy"] != "small-1"));
    assert_eq!(run(&format!("{sweep} small")).json()["sweep"]["sessions"], 1, "a policy by its own name, as replay takes it");
    for command in [&format!("{sweep} other.toml"), "replay 1.jsonl -q -p small.toml --baseline other.toml"] {
        let Ran { code, stderr, .. } = run(command);
        assert_eq!((code, stderr.as_str()), (2, "recompact: --baseline other.toml: another policy is named `small` too\n"));
    }
}

#[test]
fn sweep_says_that_an_objective_without_values_decides_nothing() {
    let folder = TempDir::new().expect("a temporary folder");
    let hello = br#"[{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello."}]"#;
    fs::write(folder.path().join("1.json"), hello).expect("a folder to write to");
    let asked = "sweep 1.json -q -p lcc-s08 --tokenizer chars/4 --set micro.keep_recent=1,2 --minimize tokens.sent --maximize kept.hit --full";
    let report = run_in(folder.path(), asked.split(' '), b"").printed();
    let words: Vec<&str> = report.split_whitespace().collect();
    let said = "maximize kept.hit (no configuration has a value, so it decides nothing)";
    assert!(words.join(" ").contains(said), "{report}");
}
