//! Invented databases, which each test builds by SQL.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::transcript::format::shape::lines;
use crate::transcript::format::{ReadOptions, Reading};

const SCHEMA: &str = "
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, version text, revert text, time_updated integer);
    CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
    CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text);
    CREATE TABLE event (id text PRIMARY KEY, data text);
    CREATE INDEX message_of ON message (session_id, time_created, id);
    CREATE INDEX part_of ON part (message_id, id);
    CREATE INDEX part_in ON part (session_id);";

/// The session of a kettle, as an export has it.
fn export(id: &str, parent: Option<&str>) -> Value {
    let done = json!({"status": "completed", "input": {}, "output": "cold é\u{1F600}", "time": {"compacted": 35}});
    let tokens = json!({"input": 40, "output": 7, "cache": {"read": 50, "write": 0}});
    let says = |n: i64, parts: Value| {
        let info = json!({"id": format!("msg_{id}_{n}"), "role": "assistant", "time": {"created": 10 * n}, "tokens": tokens, "finish": "stop"});
        json!({"info": info, "parts": parts})
    };
    let asks = |n: i64, parts: Value| json!({"info": {"id": format!("msg_{id}_{n}"), "role": "user", "time": {"created": 10 * n}}, "parts": parts});
    let mut summary = says(5, json!([{"type": "text", "text": "so far"}]));
    summary["info"]["summary"] = json!(true);
    let info = json!({"id": id, "parentID": parent, "directory": "/home/ada/kettle", "version": "1.2.3", "revert": {"messageID": format!("msg_{id}_8")}});
    json!({"info": info, "messages": [
        asks(1, json!([{"type": "text", "text": "Boil it."}])),
        says(2, json!([{"type": "step-start"}, {"type": "tool", "tool": "run", "callID": "c1", "state": done}])),
        says(3, json!([{"type": "tool", "tool": "run", "callID": "c2", "state": {"status": "error", "error": "no water"}}])),
        asks(4, json!([{"type": "compaction", "auto": true, "tail_start_id": format!("msg_{id}_3")}])),
        summary,
        asks(6, json!([])),
        says(7, json!([{"type": "text", "text": "Done."}])),
        asks(8, json!([{"type": "text", "text": "Never mind."}])),
    ]})
}

/// Returns a database of this name with these exports, its parts in the order of their ids and not of the rows.
fn database(name: &str, exports: &[Value]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    let sql = Connection::open(&path).expect("a database");
    sql.execute_batch(SCHEMA).expect("tables");
    for (place, export) in exports.iter().enumerate() {
        let (info, text) = (&export["info"], |key: &str| export["info"][key].as_str());
        let row =
            (text("id"), text("parentID"), text("directory"), text("version"), info["revert"].to_string(), 1_000 + place as i64);
        sql.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)", row).expect("a session");
        for message in export["messages"].as_array().expect("messages").iter().rev() {
            let (mut data, id) = (message["info"].clone(), message["info"]["id"].as_str());
            let created = data["time"]["created"].as_i64();
            data.as_object_mut().expect("an object").remove("id");
            sql.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (id, text("id"), created, data.to_string()))
                .expect("a message");
            for (n, part) in message["parts"].as_array().expect("parts").iter().enumerate().rev() {
                let row = (format!("prt_{}_{n}", id.unwrap_or_default()), id, text("id"), part.to_string());
                sql.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row).expect("a part");
            }
        }
    }
    (folder, path)
}

fn parsed(bytes: &[u8]) -> Reading {
    (super::super::FORMAT.read)(bytes, &ReadOptions::default())
}

const LIMIT: u64 = 1 << 20;

#[test]
fn a_database_and_an_export_of_it_hold_the_same_conversation() {
    let exports = [export("ses_1", None), export("ses_2", Some("ses_1"))];
    let (_folder, path) = database("opencode.db", &exports);
    for (id, export) in ["ses_1", "ses_2"].into_iter().zip(&exports) {
        let bytes = read(&path, id, LIMIT).expect("a session");
        let (stored, exported) = (parsed(&bytes), parsed(export.to_string().as_bytes()));
        assert_eq!((stored.conversations.len(), stored.notes.len()), (1, 1), "{:?}", stored.notes);
        let (stored, exported) = (&stored.conversations[0], &exported.conversations[0]);
        assert_eq!(lines(stored), lines(exported));
        assert_eq!(lines(stored).len(), 8);
        assert_eq!((&stored.calls, &stored.identity, &stored.project), (&exported.calls, &exported.identity, &exported.project));
        assert_eq!(
            stored.messages.iter().map(|message| message.line).collect::<Vec<_>>(),
            [1, 2, 2, 3, 3, 7],
            "a message a line"
        );
    }
}

#[test]
fn sessions_are_listed_with_their_family() {
    let parents = [("ses_1", None), ("ses_2", Some("ses_1")), ("ses_3", Some("ses_2")), ("ses_4", Some("ses_9"))];
    let exports: Vec<Value> = parents.iter().map(|(id, parent)| export(id, *parent)).collect();
    let (_folder, path) = database("opencode.db", &exports);
    let listed = sessions(&path, None).expect("a database").expect("a store");
    let families: Vec<_> = listed.iter().map(|session| (session.id.as_str(), session.family.as_str())).collect();
    assert_eq!(families, [("ses_1", "ses_1"), ("ses_2", "ses_1"), ("ses_3", "ses_1"), ("ses_4", "ses_4")]);
    assert_eq!(listed[1].changed, SystemTime::UNIX_EPOCH + Duration::from_millis(1_001));
    assert!(listed[0].size > 200 && listed[0].size < read(&path, "ses_1", LIMIT).expect("a session").len() as u64);
    for session in &listed {
        let alone = sessions(&path, Some(&session.id)).expect("a database").expect("a store");
        assert_eq!(alone, std::slice::from_ref(session), "it is the same alone");
    }
}

#[test]
fn a_circle_of_parents_has_one_head() {
    assert_eq!(heads(&[Some(1), Some(2), Some(0), Some(3), None, Some(4), Some(5)]), [0, 0, 0, 3, 4, 4, 4]);
    let chain: Vec<Option<usize>> = (0..100_000_usize).map(|at| at.checked_sub(1)).collect();
    assert!(heads(&chain).iter().all(|head| *head == 0), "in one pass");
}

#[test]
fn a_fork_is_named_by_its_database() {
    for (file, agent) in [("kilo.db", "kilo"), ("opencode-beta.db", "opencode"), ("a-copy.db", "opencode")] {
        let (_folder, path) = database(file, &[export("ses_1", None)]);
        let reading = parsed(&read(&path, "ses_1", LIMIT).expect("a session"));
        assert_eq!(reading.conversations[0].identity.agent.as_deref(), Some(agent));
    }
}

#[test]
fn rows_that_are_no_json_cost_only_themselves() {
    let (_folder, path) = database("opencode.db", &[export("ses_1", None)]);
    let sql = Connection::open(&path).expect("a database");
    sql.execute_batch(
        "UPDATE part SET data = '{\"type\": \"te' WHERE id LIKE '%_1_0'; UPDATE part SET data = x'00ff' WHERE id LIKE '%_7_0';
         UPDATE message SET data = '[1' WHERE id LIKE '%_3'; UPDATE message SET data = NULL WHERE id LIKE '%_6';",
    )
    .expect("other rows");
    let reading = parsed(&read(&path, "ses_1", LIMIT).expect("a session"));
    assert!(reading.notes.len() >= 3, "{:?}", reading.notes);
    assert_eq!(lines(&reading.conversations[0])[0], "a: [c1 run]", "the rest is read");
}

#[test]
fn a_session_beyond_the_limit_is_not_held_in_memory() {
    let (_folder, path) = database("opencode.db", &[export("ses_1", None)]);
    let sql = Connection::open(&path).expect("a database");
    sql.execute("UPDATE part SET data = hex(zeroblob(500000)) WHERE id LIKE '%_1_0'", ()).expect("a large part");
    assert!(read(&path, "ses_1", 1_000).is_err_and(|error| error.0.ends_with("; --max-file allows more")), "one value");
    sql.execute("UPDATE part SET data = hex(zeroblob(400))", ()).expect("parts");
    let bytes = read(&path, "ses_1", 1_000).expect("a beginning").len();
    assert!((1_001..2_500).contains(&bytes), "{bytes}");
}

#[test]
fn other_databases_are_no_stores() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("other.db");
    let sql = Connection::open(&path).expect("a database");
    sql.execute_batch("CREATE TABLE session (id text); CREATE TABLE message (id text)").expect("tables");
    assert_eq!(sessions(&path, None).expect("a database"), None);
    // A view could be without an end.
    sql.execute_batch("CREATE VIEW part AS WITH RECURSIVE n(data) AS (SELECT 1 UNION ALL SELECT data FROM n) SELECT data FROM n")
        .expect("a view");
    assert_eq!(sessions(&path, None).expect("a database"), None);
}

#[test]
fn no_table_is_searched_from_its_beginning() {
    let (_folder, path) = database("opencode.db", &[export("ses_1", None)]);
    let sql = Connection::open(&path).expect("a database");
    sql.execute_batch("DROP INDEX part_in").expect("no index");
    assert_eq!(sessions(&path, None).expect("a database").expect("a store")[0].size, 0, "it is not known without a search");
    sql.execute_batch("DROP INDEX part_of; CREATE INDEX some ON part (message_id) WHERE id > 'p'").expect("no index of all");
    let error = sessions(&path, None).expect_err("no index").0;
    assert!(error.starts_with("an opencode database whose `part` has no index of `message_id`"), "{error}");
}

#[test]
fn what_is_committed_is_read_while_the_agent_writes() {
    let (folder, path) = database("opencode.db", &[export("ses_1", None)]);
    let sql = Connection::open(&path).expect("a database");
    sql.pragma_update(None, "journal_mode", "wal").expect("a log");
    sql.execute("UPDATE session SET version = '9.9'", ()).expect("a change in the log");
    sql.execute_batch("BEGIN IMMEDIATE; UPDATE session SET version = '10.0'").expect("a change that is not committed");
    let version = |path: &Path| parsed(&read(path, "ses_1", LIMIT).expect("a session")).conversations[0].identity.version.clone();
    assert_eq!(version(&path).as_deref(), Some("9.9"));
    // A copy without the log is a database of its own.
    let copy = folder.path().join("a%b?c.db");
    fs::copy(&path, &copy).expect("a copy");
    assert_eq!(version(&copy).as_deref(), Some("1.2.3"));
}

/// A database that no program has open has no log, and gets none.
#[test]
fn reading_leaves_nothing_beside_a_database() {
    let (folder, path) = database("opencode.db", &[export("ses_1", None)]);
    let writer = Connection::open(&path).expect("a database");
    writer.pragma_update(None, "journal_mode", "wal").expect("a log");
    drop(writer);
    assert_eq!(sessions(&path, None).expect("a store").map(|all| all.len()), Some(1));
    assert!(!read(&path, "ses_1", LIMIT).expect("a session").is_empty());
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn a_locked_database_is_refused_by_that() {
    let (_folder, path) = database("opencode.db", &[export("ses_1", None)]);
    let sql = Connection::open(&path).expect("a database");
    sql.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    let error = sessions(&path, None).expect_err("locked").0;
    assert!(error.contains("locked") && error.ends_with("; another program locks it: try again later"), "{error}");
}

#[test]
fn damaged_databases_are_errors_and_not_panics() {
    let (folder, path) = database("opencode.db", &[export("ses_1", None), export("ses_2", Some("ses_1"))]);
    let whole = fs::read(&path).expect("a file");
    let damaged = folder.path().join("damaged.db");
    let mut refused = 0;
    let mut check = |bytes: &[u8]| {
        fs::write(&damaged, bytes).expect("a file");
        refused += usize::from(sessions(&damaged, None).is_err() || read(&damaged, "ses_1", LIMIT).is_err());
        if let Ok(bytes) = read(&damaged, "ses_1", LIMIT) {
            parsed(&bytes);
        }
    };
    for end in (0..whole.len()).step_by(whole.len() / 40) {
        check(&whole[..end]);
    }
    for at in (16..whole.len()).step_by(whole.len() / 60) {
        let mut bytes = whole.clone();
        bytes[at..].iter_mut().take(64).for_each(|byte| *byte ^= 0xff);
        check(&bytes);
    }
    assert!(refused > 40, "{refused}");
}
