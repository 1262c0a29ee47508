//! Databases of many sessions, which the tests build from invented ones: each session is a transcript by its id.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::program::{fixtures, rows, run_in};

/// Creates a database of opencode with a session, and the session of a sub-agent that it started.
pub fn opencode(path: &Path) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let sql = Connection::open(path).expect("a database");
    sql.execute_batch(
        "CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, version text, time_updated integer);
         CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
         CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text);
         CREATE INDEX message_of ON message (session_id, time_created, id);
         CREATE INDEX part_of ON part (message_id, id);
         CREATE INDEX part_in ON part (session_id);",
    )
    .expect("tables");
    for (id, parent, calls) in [("ses_main", None, 6), ("ses_child", Some("ses_main"), 3)] {
        sql.execute("INSERT INTO session VALUES (?, ?, '/srv/kettle', '1.2.3', 1000)", (id, parent)).expect("a session");
        add(&sql, id, 0, &json!({"role": "user"}), &json!({"type": "text", "text": format!("Boil the kettle of {id}.")}));
        for call in 1..=calls {
            let tokens = json!({"input": 900 * call, "output": 20, "cache": {"read": 0, "write": 0}});
            let info = json!({"role": "assistant", "modelID": "claude-opus-4-6", "finish": "tool-calls", "tokens": tokens});
            let output = format!("{id} {call}: the water has 20 degrees\n").repeat(80);
            let state = json!({"status": "completed", "input": {"path": format!("src/{id}_{call}.rs")}, "output": output});
            let part = json!({"type": "tool", "tool": "read", "callID": format!("call_{id}_{call}"), "state": state});
            add(&sql, id, call, &info, &part);
        }
    }
}

/// Adds a message of one part.
fn add(sql: &Connection, session: &str, n: i64, info: &Value, part: &Value) {
    let (id, mut info) = (format!("msg_{session}_{n}"), info.clone());
    info["time"] = json!({"created": 1_790_000_000_000 + 60_000 * n});
    sql.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (&id, session, n, info.to_string())).expect("a message");
    sql.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (format!("prt_{id}"), id, session, part.to_string())).expect("a part");
}

fn machine() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    opencode(&folder.path().join("opencode.db"));
    folder
}

#[test]
fn a_database_is_inspected_session_by_session() {
    let folder = machine();
    let shown = run_in(folder.path(), ["inspect", "opencode.db", "-q", "--width", "150"], b"").printed();
    assert!(
        shown.starts_with("2 conversations of 2 transcripts (1 session), 1 of them of sub-agents, 9 calls (opencode 2)\n"),
        "{shown}"
    );
    let names: Vec<&str> = shown.lines().filter(|line| line.contains("#ses_") && line.contains(" opencode ")).collect();
    assert!(
        names[0].trim_start().starts_with("opencode.db#ses_main") && names[1].contains("↳ opencode.db#ses_m…agents/ses_child"),
        "{shown}"
    );
    let replayed = run_in(folder.path(), ["replay", "opencode.db", "-p", "lcc-s06", "-q"], b"").printed();
    assert!(replayed.starts_with("2 conversations of 1 session, 9 calls;"), "{replayed}");
    let alone = run_in(folder.path(), ["inspect", "opencode.db#ses_child", "-q", "--full", "--width", "150"], b"").printed();
    assert!(alone.contains("main, child of ses_main (not here)") && alone.contains("opencode 1.2.3"), "{alone}");
    let json = run_in(folder.path(), ["inspect", ".", "-q", "-o", "json"], b"").json();
    let child = &json["conversations"][1];
    assert_eq!(child["transcript"], "opencode.db#ses_main/subagents/ses_child");
    let identity =
        json!({"agent": "opencode", "version": "1.2.3", "session": "ses_child", "parent": "ses_main", "start": "subagent"});
    assert_eq!(child["identity"], identity);
}

#[test]
fn every_command_takes_one_session_of_a_database() {
    let folder = machine();
    for command in [&["show", "opencode.db#ses_main"][..], &["audit", "opencode.db#ses_main", "-q"]] {
        let ran = run_in(folder.path(), command, b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    let replayed = ["replay", "opencode.db#ses_main", "-p", "lcc-s06", "-q", "-o", "json"];
    let results = run_in(folder.path(), replayed, b"").json();
    assert!(rows(&results).all(|(place, ..)| place == "opencode.db#ses_main main"));
    let ran = run_in(folder.path(), ["inspect", "opencode.db#ses_9", "-q"], b"");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("opencode.db: no session `ses_9` in this database"), "{}", ran.stderr);
}

/// Writes a conversation of OpenHands as its SDK keeps it: one event a file.
fn openhands(folder: &Path) {
    fs::create_dir_all(folder.join("events")).expect("folders");
    fs::write(folder.join("base_state.json"), "{\"id\": \"c1\"}").expect("a file");
    let events = fs::read_to_string(fixtures().join("openhands/kettle.jsonl")).expect("a fixture");
    for (n, event) in events.lines().enumerate() {
        let event: Value = serde_json::from_str(event).expect("JSON");
        let name = format!("event-{n:05}-{n}.json");
        fs::write(folder.join("events").join(name), format!("{event:#}")).expect("a file");
    }
}

#[test]
fn a_session_of_several_files_is_one_transcript() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    openhands(&folder.path().join("conversations/c1"));
    let task = folder.path().join("globalStorage/kilocode.kilo-code/tasks/t1");
    fs::create_dir_all(&task).expect("folders");
    for file in ["api_conversation_history.json", "ui_messages.json", "task_metadata.json"] {
        fs::copy(fixtures().join("cline-task/kettle").join(file), task.join(file)).expect("a copy");
    }
    let json = run_in(folder.path(), ["inspect", ".", "-q", "--strict", "-o", "json"], b"").json();
    let found = json["conversations"].as_array().expect("a list").iter().map(|one| {
        let usage = one["recorded_usage"]["calls"].clone();
        (one["transcript"].clone(), one["format"].clone(), one["calls"].clone(), usage, one["identity"].clone())
    });
    let tasks = "globalStorage/kilocode.kilo-code/tasks/t1/api_conversation_history.json";
    let expected = [
        (json!("conversations/c1/base_state.json"), json!("openhands"), json!(5), json!(0), json!({"agent": "openhands"})),
        (json!(tasks), json!("cline-task"), json!(5), json!(5), json!({"agent": "kilo-code", "session": "t1"})),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert_eq!(json["coverage"], json!({"found": 2, "left_out": []}), "the other files are no transcripts");
    let joined = run_in(&fixtures(), ["replay", "openhands", "-p", "recorded", "-q", "-o", "json"], b"").json();
    let stored = run_in(folder.path(), ["replay", "conversations", "-p", "recorded", "-q", "-o", "json"], b"").json();
    let values =
        |results: &Value| rows(results).map(|(_, policy, values)| (policy.to_owned(), values.clone())).collect::<Vec<_>>();
    assert_eq!(values(&joined), values(&stored));
}

#[test]
fn damaged_and_other_databases_are_refused_by_name() {
    let folder = machine();
    let bytes = fs::read(folder.path().join("opencode.db")).expect("a file");
    fs::write(folder.path().join("cut.db"), &bytes[..bytes.len() / 3]).expect("a file");
    Connection::open(folder.path().join("notes.db"))
        .and_then(|sql| sql.execute_batch("CREATE TABLE note (x)"))
        .expect("a database");
    let cases = [
        (["inspect", "cut.db"], &b""[..], "cut.db: a SQLite database that cannot be read: "),
        (["inspect", "notes.db"], b"", "notes.db: a SQLite database without the tables of opencode, not read yet"),
        (["inspect", "-"], &bytes, "-: an opencode database, which is read only as a file of its own"),
    ];
    for (arguments, stdin, said) in cases {
        let ran = run_in(folder.path(), arguments, stdin);
        assert_eq!(ran.code, 2, "{arguments:?}");
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
}
