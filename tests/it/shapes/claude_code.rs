//! Shapes of Claude Code's session files.

use serde_json::{Value, json};

use super::messages::text;
use super::{Shape, one_file};

pub const SHAPES: &[Shape] = &[
    Shape { name: "claude-code: a session", size: 200, files: |n| one_file((0..n).flat_map(|i| turn(i, before(i)))) },
    Shape {
        name: "claude-code: lines of one response",
        size: 400,
        files: |n| {
            one_file(
                [user("u", None, "go")]
                    .into_iter()
                    .chain((0..n).map(|i| line(i, if i == 0 { "u".to_owned() } else { id("a", i - 1) }, "m"))),
            )
        },
    },
    Shape {
        name: "claude-code: lines of one response, results between",
        size: 200,
        files: |n| {
            one_file(
                [user("u", None, "go")]
                    .into_iter()
                    .chain((0..n).flat_map(|i| [line(i, if i == 0 { "u".to_owned() } else { id("r", i - 1) }, "m"), result(i)])),
            )
        },
    },
    Shape {
        name: "claude-code: a circle of parents",
        size: 300,
        files: |n| one_file((0..n).flat_map(|i| turn(i, Some(id("r", (i + n - 1) % n))))),
    },
    Shape {
        name: "claude-code: records that are their own parents",
        size: 300,
        files: |n| one_file((0..n).map(|i| user(&id("u", i), Some(id("u", i)), "go"))),
    },
    Shape {
        name: "claude-code: branches of one record",
        size: 200,
        files: |n| one_file([user("u", None, "go")].into_iter().chain((0..n).flat_map(|i| turn(i, Some("u".to_owned()))))),
    },
    Shape {
        name: "claude-code: a rewind after every turn",
        size: 150,
        files: |n| {
            one_file((0..n).flat_map(|i| {
                let mut records = turn(2 * i, i.checked_sub(1).map(|i| id("r", 2 * i))).to_vec();
                records.extend(turn(2 * i + 1, i.checked_sub(1).map(|i| id("r", 2 * i))));
                records
            }))
        },
    },
    Shape { name: "claude-code: side chains", size: 150, files: |n| one_file((0..n).flat_map(|i| side(i, None))) },
    Shape {
        name: "claude-code: side chains of a session",
        size: 100,
        files: |n| {
            one_file((0..n).flat_map(|i| {
                let mut records = turn(i, before(i)).to_vec();
                records.extend(side(i, Some(id("r", i))));
                records
            }))
        },
    },
    Shape {
        name: "claude-code: one long side chain",
        size: 200,
        files: |n| {
            one_file(
                (0..n).flat_map(|i| turn(i, before(i)).map(|record| with(record, json!({"isSidechain": true, "agentId": "a1"})))),
            )
        },
    },
    Shape {
        name: "claude-code: agents in one file",
        size: 150,
        files: |n| {
            one_file((0..n).flat_map(|i| side(i, None).map(|record| with(record, json!({"agentId": format!("agent{i}")})))))
        },
    },
    Shape {
        name: "claude-code: compactions",
        size: 100,
        files: |n| {
            one_file((0..n).flat_map(|i| {
                let mut records = turn(i, i.checked_sub(1).map(|i| id("s", i))).to_vec();
                records.extend(compaction(i, id("r", i)));
                records
            }))
        },
    },
    Shape {
        name: "claude-code: compactions that keep a tail",
        size: 80,
        files: |n| {
            one_file((0..n).flat_map(|i| {
                let mut records = turn(i, i.checked_sub(1).map(|i| id("s", i))).to_vec();
                records.extend(keeping(i));
                records
            }))
        },
    },
    Shape {
        name: "claude-code: compactions without turns",
        size: 200,
        files: |n| one_file(turn(0, None).into_iter().chain((0..n).flat_map(|i| compaction(i, id("s", i.saturating_sub(1)))))),
    },
    Shape {
        name: "claude-code: micro compactions",
        size: 100,
        files: |n| {
            one_file((0..n).flat_map(|i| { let mut records = turn(i, i.checked_sub(1).map(|i| id("b", i))).to_vec(); records.push(record("system", &id("b", i), Some(id("r", i)), json!({"subtype": "microcompact_boundary", "microcompactMetadata": {"trigger": "auto", "preTokens": 9000, "tokensSaved": 10, "compactedToolIds": [format!("t{i}")]}}))); records }))
        },
    },
    Shape {
        name: "claude-code: results cleared by the provider",
        size: 200,
        files: |n| {
            let cleared = |i| json!({"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": i}]});
            one_file((0..n).flat_map(|i| changed(i, |message| message["context_management"] = cleared(i))))
        },
    },
    Shape {
        name: "claude-code: requests that shrink",
        size: 200,
        files: |n| {
            one_file((0..n).flat_map(|i| {
                changed(i, |message| {
                    message["usage"]["cache_read_input_tokens"] = json!(if i % 2 == 0 { 100_000 } else { 50_000 })
                })
            }))
        },
    },
    Shape {
        name: "claude-code: turns with thinking",
        size: 200,
        files: |n| {
            let thinking =
                json!([{"type": "thinking", "thinking": text(0, 2_400), "signature": "x"}, {"type": "text", "text": "Done."}]);
            one_file((0..n).flat_map(|i| {
                let parent = i.checked_sub(1).map(|i| id("a", i));
                let [typed, mut response, _] = turn(i, parent);
                response["message"]["content"] = thinking.clone();
                [typed, response]
            }))
        },
    },
    Shape {
        name: "claude-code: summaries",
        size: 500,
        files: |n| {
            one_file(
                (0..n).map(|i| json!({"type": "summary", "summary": text(i, 40), "leafUuid": id("r", i)})).chain(turn(0, None)),
            )
        },
    },
    Shape {
        name: "claude-code: one id for all records",
        size: 300,
        files: |n| one_file((0..n).map(|i| with(user("u", Some("u".to_owned()), &text(i, 40)), json!({"n": i})))),
    },
    Shape {
        name: "claude-code: parents that are missing",
        size: 300,
        files: |n| one_file((0..n).flat_map(|i| turn(i, Some(id("gone", i))))),
    },
    Shape {
        name: "claude-code: records in reverse order",
        size: 200,
        files: |n| one_file((0..n).rev().flat_map(|i| turn(i, before(i)))),
    },
    Shape {
        name: "claude-code: attachments",
        size: 300,
        files: |n| {
            one_file(
                turn(0, None)
                    .into_iter()
                    .chain((0..n).map(|i| {
                        record(
                            "attachment",
                            &id("x", i),
                            Some(if i == 0 { id("r", 0) } else { id("x", i - 1) }),
                            json!({"attachment": {"type": "total_tokens_reminder", "text": text(i, 60)}}),
                        )
                    }))
                    .chain(turn(1, Some(id("x", n - 1)))),
            )
        },
    },
    Shape {
        name: "claude-code: model calls of one response",
        size: 300,
        files: |n| {
            one_file([
                user("u", None, "go"),
                with(
                    line(0, "u".to_owned(), "m"),
                    json!({"message": {"id": "m", "role": "assistant", "model": "claude-sonnet-4-5", "content": [{"type": "text", "text": "x"}], "usage": {"input_tokens": n, "output_tokens": n, "iterations": (0..n).map(|_| json!({"type": "message", "input_tokens": 1, "output_tokens": 1})).collect::<Vec<_>>()}}}),
                ),
                result(0),
            ])
        },
    },
    Shape {
        name: "claude-code: unknown records",
        size: 1_000,
        files: |n| {
            one_file((0..n).map(|i| json!({"type": "progress", "uuid": id("p", i), "data": text(i, 60)})).chain(turn(0, None)))
        },
    },
    Shape {
        name: "claude-code: lines that are not JSON",
        size: 500,
        files: |n| vec![("session.jsonl".to_owned(), super::jsonl(turn(0, None)) + &"{\"type\": \"user\", \n".repeat(n))],
    },
    Shape {
        name: "claude-code: records on one line",
        size: 300,
        files: |n| {
            vec![("session.jsonl".to_owned(), (0..n).flat_map(|i| turn(i, before(i))).map(|record| record.to_string()).collect())]
        },
    },
];

fn id(kind: &str, i: usize) -> String {
    format!("{kind}{i}")
}

fn before(i: usize) -> Option<String> {
    i.checked_sub(1).map(|i| id("r", i))
}

fn with(mut record: Value, more: Value) -> Value {
    if let (Value::Object(record), Value::Object(more)) = (&mut record, more) {
        record.extend(more);
    }
    record
}

fn record(kind: &str, uuid: &str, parent: Option<String>, more: Value) -> Value {
    let common = json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "isSidechain": false,
        "timestamp": "2026-01-01T00:00:00.000Z"});
    with(common, more)
}

fn user(uuid: &str, parent: Option<String>, text: &str) -> Value {
    record("user", uuid, parent, json!({"message": {"role": "user", "content": text}}))
}

/// One line of a response: record `a{i}`, call `t{i}`.
fn line(i: usize, parent: String, response: &str) -> Value {
    let call =
        json!({"type": "tool_use", "id": format!("t{i}"), "name": "Read", "input": {"file_path": format!("/src/f{}.rs", i / 2)}});
    let usage =
        json!({"input_tokens": 3, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 200 * i, "output_tokens": 20});
    let message = json!({"id": response, "role": "assistant", "model": "claude-sonnet-4-5", "content": [call], "usage": usage});
    record("assistant", &id("a", i), Some(parent), json!({"requestId": response, "message": message}))
}

/// The result of call `t{i}`: record `r{i}`.
fn result(i: usize) -> Value {
    let content = json!([{"type": "tool_result", "tool_use_id": format!("t{i}"), "content": text(i, 80)}]);
    record("user", &id("r", i), Some(id("a", i)), json!({"message": {"role": "user", "content": content}}))
}

/// Something typed, a call and its result; the last record is `r{i}`.
fn turn(i: usize, parent: Option<String>) -> [Value; 3] {
    [user(&id("u", i), parent, &format!("Now file f{i}.rs.")), line(i, id("u", i), &id("m", i)), result(i)]
}

/// A turn with another response.
fn changed(i: usize, change: impl Fn(&mut Value)) -> [Value; 3] {
    let [typed, mut response, result] = turn(i, before(i));
    change(&mut response["message"]);
    [typed, response, result]
}

/// A turn of an agent of its own.
fn side(i: usize, parent: Option<String>) -> [Value; 3] {
    let mut records = turn(1_000_000 + i, parent);
    for record in &mut records {
        record["isSidechain"] = json!(true);
    }
    records
}

/// A compaction after a record: boundary `b{i}` and summary `s{i}`.
fn compaction(i: usize, after: String) -> [Value; 2] {
    let metadata = json!({"trigger": "auto", "preTokens": 150_000});
    let more = json!({"subtype": "compact_boundary", "logicalParentUuid": after, "compactMetadata": metadata});
    let summary = json!({"isCompactSummary": true, "isVisibleInTranscriptOnly": true});
    [record("system", &id("b", i), None, more), with(user(&id("s", i), Some(id("b", i)), &text(i, 200)), summary)]
}

/// A compaction that keeps the turn before it.
fn keeping(i: usize) -> [Value; 2] {
    let [boundary, summary] = compaction(i, id("r", i));
    let segment = json!({"headUuid": id("a", i), "anchorUuid": id("s", i), "tailUuid": id("r", i)});
    let metadata = json!({"trigger": "auto", "preTokens": 150_000, "preservedSegment": segment});
    [with(boundary, json!({"compactMetadata": metadata})), summary]
}
