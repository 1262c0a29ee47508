//! Sessions whose records name a parent in another file: a session with all its descendants is one session everywhere.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::program::run_in;

/// Rollouts of Codex: file, more fields of the first record. Four families: `a` with a sub-agent, a fork of that, and the fork's own
/// sub-agent; `b`; two sub-agents of one parent that is not here; a circle of two.
const ROLLOUTS: [(&str, &str); 9] = [
    ("1-child", r#""id": "a1", "parent_thread_id": "a""#),
    ("2-head", r#""id": "a""#),
    ("3-grandchild", r#""id": "a12", "forked_from_id": "a1""#),
    ("4-alone", r#""id": "b""#),
    ("5-orphan", r#""id": "c1", "parent_thread_id": "c""#),
    ("6-orphan", r#""id": "c2", "parent_thread_id": "c""#),
    ("7-circle", r#""id": "d1", "parent_thread_id": "d2""#),
    ("8-circle", r#""id": "d2", "parent_thread_id": "d1""#),
    ("9-great-grandchild", r#""id": "a123", "parent_thread_id": "a12""#),
];

/// All records are the session's own.
const OWN: &str = r#""subagent_history_start_ordinal": 0, "cwd": "/srv/kettle""#;

/// A rollout of two calls, whose texts are its own.
fn rollout(path: &Path, n: usize, meta: &str) {
    let mut text = format!(
        "{{\"timestamp\": \"2026-10-05T08:00:00Z\", \"ordinal\": 0, \"type\": \"session_meta\", \"payload\": {{{meta}, {OWN}}}}}\n"
    );
    let mut add = |payload: Value| {
        let record = json!({"timestamp": "2026-10-05T08:00:01Z", "type": "response_item", "payload": payload});
        writeln!(text, "{record}").expect("a text takes all");
    };
    let said = |role: &str, kind: &str, said: String| json!({"type": "message", "role": role, "content": [{"type": kind, "text": said}]});
    add(said("user", "input_text", format!("Boil kettle {n}.")));
    add(
        json!({"type": "function_call", "name": "shell", "call_id": format!("call_{n}"), "arguments": format!("{{\"command\":\"boil {n}\"}}")}),
    );
    add(
        json!({"type": "function_call_output", "call_id": format!("call_{n}"), "output": format!("kettle {n} has 90 degrees\n").repeat(90)}),
    );
    add(said("assistant", "output_text", format!("Kettle {n} boils.")));
    fs::write(path, text).expect("a file");
}

fn machine() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (n, (name, meta)) in ROLLOUTS.iter().enumerate() {
        rollout(&folder.path().join(format!("{name}.jsonl")), n, meta);
    }
    folder
}

#[test]
fn every_command_counts_a_session_with_its_descendants_once() {
    let folder = machine();
    let shown = |arguments: &[&str]| run_in(folder.path(), arguments.iter().chain(&["-q"]), b"").printed();
    let inspected = shown(&["inspect", "."]);
    assert!(
        inspected.starts_with("9 conversations of 9 transcripts (4 sessions), 6 of them of sub-agents, 18 calls"),
        "{inspected}"
    );
    let replayed = shown(&["replay", ".", "-p", "lcc-s06"]);
    assert!(replayed.starts_with("9 conversations of 4 sessions, 18 calls;"), "{replayed}");
    let swept =
        run_in(folder.path(), ["sweep", ".", "-p", "lcc-s06", "-q", "--set", "micro.keep_recent_results=1,2", "-o", "json"], b"")
            .json();
    assert_eq!(swept["sweep"]["sessions"], 4, "{}", swept["sweep"]);
}

#[test]
fn rows_name_the_session_of_the_head() {
    let folder = machine();
    let results = run_in(folder.path(), ["replay", ".", "-p", "lcc-s06", "-q", "-o", "json"], b"").json();
    let rows = results["rows"].as_array().expect("rows");
    let mut sessions: Vec<(&str, &str)> =
        rows.iter().map(|row| (row["transcript"].as_str().expect("a name"), row["session"].as_str().expect("a name"))).collect();
    sessions.dedup();
    let expected = [
        ("1-child.jsonl", "2-head"),
        ("2-head.jsonl", "2-head"),
        ("3-grandchild.jsonl", "2-head"),
        ("4-alone.jsonl", "4-alone"),
        ("5-orphan.jsonl", "5-orphan"),
        ("6-orphan.jsonl", "5-orphan"),
        ("7-circle.jsonl", "7-circle"),
        ("8-circle.jsonl", "7-circle"),
        ("9-great-grandchild.jsonl", "2-head"),
    ];
    assert_eq!(sessions, expected);
    // Without the head, its child is a session of its own, and the others still belong to it.
    fs::remove_file(folder.path().join("2-head.jsonl")).expect("it is there");
    let replayed = run_in(folder.path(), ["replay", ".", "-p", "lcc-s06", "-q"], b"").printed();
    assert!(replayed.starts_with("8 conversations of 4 sessions, 16 calls;"), "{replayed}");
}

/// The records of Gemini CLI's sub-agents name no parent: their folder does.
#[test]
fn a_folder_named_after_a_session_holds_its_sub_agents() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let chat = |path: &str, id: &str, kind: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let tokens = json!({"input": 100, "output": 9, "cached": 0, "thoughts": 0, "tool": 0, "total": 109});
        let messages = json!([
            {"id": "1", "timestamp": "2026-10-05T08:00:00Z", "type": "user", "content": format!("Boil kettle {id}.")},
            {
                "id": "2", "timestamp": "2026-10-05T08:00:01Z", "type": "gemini",
                "content": format!("{id} boils."), "model": "gemini-2.5-pro", "tokens": tokens,
            },
        ]);
        let document = json!({"sessionId": id, "projectHash": "f00d", "kind": kind, "messages": messages});
        fs::write(path, document.to_string()).expect("a file");
    };
    chat("chats/session-1.json", "kettle", "main");
    chat("chats/kettle/lid.json", "lid", "subagent");
    chat("chats/session-2.json", "lamp", "subagent");
    let shown = run_in(folder.path(), ["inspect", ".", "-q"], b"").printed();
    assert!(shown.starts_with("3 conversations of 3 transcripts (2 sessions), 2 of them of sub-agents"), "{shown}");
}

/// A fork of Codex is read with the beginning of its parent's file, which lies beside it or in the folder of another day.
#[test]
fn a_fork_is_read_with_the_history_in_the_file_of_its_parent() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let record = |ordinal: u64, kind: &str, payload: Value| {
        json!({"timestamp": "2026-10-05T08:00:00Z", "ordinal": ordinal, "type": kind, "payload": payload}).to_string() + "\n"
    };
    let said =
        |role: &str, kind: &str, said: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": said}]});
    let turn = |first: u64, typed: &str, answer: &str| {
        record(first, "response_item", said("user", "input_text", typed))
            + &record(first + 1, "response_item", said("assistant", "output_text", answer))
    };
    let parent = record(0, "session_meta", json!({"id": "aa-1"}))
        + &turn(1, "Boil the kettle.", "It boils.")
        + &turn(3, "Pour it out.", "It is empty.");
    let base = json!({"id": "aa-2", "forked_from_id": "aa-1", "history_base": {"thread_id": "aa-1", "end_ordinal_exclusive": 3}});
    let fork = record(3, "session_meta", base) + &turn(4, "Make tea.", "It is tea.");
    let save = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    save("01/rollout-01-aa-1.jsonl", &parent);
    save("02/rollout-02-aa-2.jsonl", &fork);
    save("beside/rollout-01-aa-1.jsonl", &parent);
    save("beside/rollout-02-aa-2.jsonl", &fork);
    save("alone/rollout-02-aa-2.jsonl", &fork);
    let request = |paths: &[&str]| {
        let shown = run_in(folder.path(), [&["show"], paths, &["-q"]].concat(), b"").printed();
        ["Boil the kettle.", "Pour it out.", "Make tea."].map(|text| shown.contains(text))
    };
    assert_eq!(request(&["beside/rollout-02-aa-2.jsonl"]), [true, false, true]);
    assert_eq!(request(&["alone/rollout-02-aa-2.jsonl"]), [false, false, true]);
    let json = run_in(folder.path(), ["inspect", "01", "02", "-q", "-o", "json"], b"").json();
    let counts =
        json["conversations"].as_array().expect("a list").iter().map(|one| (one["messages"].clone(), one["calls"].clone()));
    assert_eq!(counts.collect::<Vec<_>>(), [(json!(4), json!(2)), (json!(4), json!(1))]);
}
