//! Checks the invented transcripts through the program: the contents of each, and its replay under every policy.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::effort;
use crate::support::program::{fixtures, rows, run};
use recompact::engine::policy::PRESETS;

/// Transcript, conversation; responses, tool_uses, tool_results (without stand-ins); recorded compactions.
const EXPECTED: &[(&str, &str, [u64; 3], &[&str])] = &[
    ("atif/kettle.json", "main", [3, 3, 3], &[]),
    ("claude-code/kept-tail.jsonl", "main", [22, 26, 26], &["summary"]),
    ("claude-code/repair/subagents/agent-afc7507.jsonl", "agent-afc7507", [5, 6, 6], &[]),
    ("claude-code/repair.jsonl", "main", [93, 126, 125], &["clear", "summary"]),
    ("cline/kettle.messages.json", "main", [3, 3, 3], &[]),
    ("cline-task/kettle/api_conversation_history.json", "main", [5, 4, 4], &["summary"]),
    ("codex/repair.jsonl", "main", [93, 126, 125], &["summary"]),
    ("copilot-cli/kettle.jsonl", "main", [4, 4, 3], &["summary"]),
    ("gemini-cli/kettle.jsonl", "main", [4, 4, 4], &["summary"]),
    ("messages/repair.blocks.jsonl", "main", [94, 126, 126], &[]),
    ("messages/repair.sdkrepr.jsonl", "main", [94, 126, 126], &[]),
    ("openai-chat/repair.jsonl", "main", [93, 125, 125], &[]),
    ("openai-chat/tasks.json", "0", [5, 3, 3], &[]),
    ("openai-chat/tasks.json", "1", [4, 2, 2], &[]),
    ("openai-chat/tasks.json", "2", [6, 4, 4], &[]),
    ("openai-chat/tasks.json", "3", [6, 4, 4], &[]),
    ("openai-chat/tasks.json", "4", [6, 3, 3], &[]),
    ("openai-chat/tasks.json", "5", [7, 4, 4], &[]),
    ("opencode/kettle.json", "main", [6, 6, 6], &["clear", "summary"]),
    ("openhands/kettle.jsonl", "main", [5, 5, 5], &["summary"]),
    ("pi/kettle.jsonl", "main", [6, 6, 5], &["summary"]),
    ("qwen-code/kettle.jsonl", "main", [6, 6, 5], &["summary"]),
    ("requests/kettle.jsonl", "main", [6, 5, 5], &["summary"]),
    ("swe-agent/kettle.traj", "main", [4, 4, 3], &[]),
    ("usage-rows/week.jsonl", "1-kettle", [14, 0, 0], &["summary"]),
    ("usage-rows/week.jsonl", "2-lamp", [3, 0, 0], &[]),
];

const FOLDERS: [&str; 16] = [
    "atif",
    "claude-code",
    "cline",
    "cline-task",
    "codex",
    "copilot-cli",
    "gemini-cli",
    "messages",
    "openai-chat",
    "opencode",
    "openhands",
    "pi",
    "qwen-code",
    "requests",
    "swe-agent",
    "usage-rows",
];

/// Short sessions, which each preset replays.
const SHORT: &str = "openai-chat/tasks.json";

/// Every study replays these.
const BOUNDS: [&str; 2] = ["keep-all", "drop-all"];

/// The presets that replay in a turn besides the bounds: all in a long run.
fn presets(turn: usize) -> Vec<&'static str> {
    let candidates: Vec<_> = PRESETS.iter().map(|preset| preset.name).filter(|name| !BOUNDS.contains(name)).collect();
    effort::in_turn(&candidates, turn).into_iter().copied().collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn inspect_counts_every_fixture() {
    let inspected = run(["inspect", "-o", "json"].into_iter().chain(FOLDERS)).json()["conversations"].clone();
    let inspected = inspected.as_array().expect("a list");
    assert_eq!(inspected.len(), EXPECTED.len());
    for (found, (transcript, conversation, counts, compactions)) in inspected.iter().zip(EXPECTED) {
        assert_eq!((&found["transcript"], &found["conversation"]), (&(*transcript).into(), &(*conversation).into()));
        assert_eq!(&found["format"], transcript.split('/').next().expect("a folder"));
        assert_eq!(["calls", "tool_uses", "tool_results"].map(|count| &found[count]), *counts, "{transcript}");
        let kinds = found["recorded_compactions"].as_array().expect("a list").iter().map(|compaction| &compaction["kind"]);
        assert_eq!(kinds.collect::<Vec<_>>(), *compactions, "{transcript}");
    }
}

/// The same conversation as objects and as printed Python objects.
#[test]
fn printed_and_json_twins_have_equal_tokens() {
    let twins = ["messages/repair.blocks.jsonl", "messages/repair.sdkrepr.jsonl"];
    let inspected = run(["inspect", "-o", "json"].into_iter().chain(twins)).json()["conversations"].clone();
    for same in ["calls", "messages", "turns", "tool_uses", "tool_results", "tokens", "growth", "largest_results"] {
        assert_eq!(inspected[0][same], inspected[1][same], "{same}");
    }
    // In one study the second would be a copy of the first.
    let policies = presets(0);
    let replayed = twins.map(|twin| run(["replay", twin, "-o", "json", "-p", &policies.join(",")]).json());
    let [first, second] =
        replayed.each_ref().map(|results| rows(results).map(|(_, policy, values)| (policy, values)).collect::<Vec<_>>());
    assert_eq!(first.len(), policies.len() + BOUNDS.len());
    assert_eq!(first, second);
}

/// In the usual run the presets take turns with the folders: four have the same long session in four formats.
#[test]
fn every_policy_replays_every_fixture() {
    let folders = FOLDERS.into_iter().chain(["awkward", "lamp"]).enumerate();
    let in_turn = folders.map(|(turn, folder)| (vec![SHORT, folder], presets(turn))).collect();
    let mut conversations = BTreeSet::new();
    for (paths, policies) in effort::of(in_turn, vec![(vec!["."], presets(0))]) {
        let replayed = run([&["replay", "-o", "json", "--quiet", "-p", &policies.join(",")], &paths[..]].concat()).json();
        let places: BTreeSet<_> = rows(&replayed).map(|(place, ..)| place).collect();
        let replayed_too = BOUNDS.len() + usize::from(!policies.contains(&"recorded"));
        assert_eq!(rows(&replayed).count(), places.len() * (policies.len() + replayed_too));
        rows(&replayed).for_each(|(place, policy, values)| check_row(&place, policy, values));
        conversations.extend(places);
    }
    let more = "one is a copy, 7 awkward ones hold a conversation, and 16 lamps two of which have a child";
    assert_eq!(conversations.len(), EXPECTED.len() - 1 + 7 + 18, "{more}");
}

fn check_row(place: &str, policy: &str, values: &Value) {
    let value = |column: &str| number(&values[column]);
    let saved = 1.0 - value("tokens.sent") / value("tokens.baseline");
    assert!((value("tokens.saved") - saved).abs() < 1e-9, "{place}, {policy}");
    assert!(value("tokens.peak") >= value("tokens.final") && value("tokens.sent") >= value("tokens.peak"), "{place}, {policy}");
    if policy == "keep-all" {
        assert_eq!(values["tokens.saved"], 0.0, "{place}");
        assert_eq!(["persisted.files", "archived.files", "summaries"].map(value), [0.0; 3], "{place}");
        assert_eq!(value("broken.requests") > 0.0, place.starts_with("awkward/orphans"), "{place}");
    }
    if let Some((.., counts, _)) = EXPECTED.iter().find(|(transcript, name, ..)| place == format!("{transcript} {name}")) {
        assert_eq!(values["calls"], counts[0], "{place}, {policy}");
    }
}

/// lcc-s08 cuts between calls and their results, and its compact tool answers behind the summary; its later version does neither.
#[test]
fn cut_through_tool_pairs_is_reported() {
    let replayed = run(["replay", "messages/repair.blocks.jsonl", "-p", "lcc-s08", "-p", "lcc-s08-late", "-o", "json"]).json();
    let broken = |name: &str| {
        let row = rows(&replayed).find(|(_, policy, _)| *policy == name);
        row.map(|(.., values)| number(&values["broken.requests"])).expect("a row")
    };
    assert_eq!((broken("lcc-s08"), broken("lcc-s08-late")), (48.0, 0.0));
    let layers = replayed["layers"].as_array().expect("layers");
    let snip = layers.iter().find(|row| row["policy"] == "lcc-s08" && row["layer"] == "snip").expect("a row of the layer");
    assert_eq!(snip["note"], "broke 22 requests: orphan tool_result");
}

/// Replays the recorded compactions: the replay sends what the agent sent.
#[test]
fn recorded_policy_saves_tokens_at_its_own_compactions() {
    for (transcript, ..) in EXPECTED.iter().filter(|(.., compactions)| compactions.contains(&"summary")) {
        let replayed = run(["replay", transcript, "-p", "recorded", "-o", "json"]).json();
        let saved =
            rows(&replayed).find(|(_, policy, _)| *policy == "recorded").map(|(.., values)| number(&values["tokens.saved"]));
        assert!(saved > Some(0.0), "{transcript}: {saved:?}");
    }
}

#[test]
fn reports_hold_no_path_of_the_machine() {
    let folder = fixtures();
    let machine = folder.parent().expect("a folder").to_str().expect("a plain path");
    let outputs = ["json", "table", "csv", "markdown"];
    for output in &outputs[..effort::of(2, 4)] {
        let printed = run(["replay", "claude-code", "-p", "lcc-s08", "-o", output]).printed();
        assert!(!printed.contains(machine), "{output}");
        assert!(!run(["inspect", "claude-code", "-o", output]).printed().contains(machine), "{output}");
    }
}
