//! Shapes of folders.

use serde_json::json;

use super::messages::text;
use super::{Shape, jsonl};

pub const SHAPES: &[Shape] = &[
    Shape { name: "folder: sessions", size: 60, files: |n| (0..n).map(|i| (format!("s{i}.jsonl"), session(i))).collect() },
    Shape {
        name: "folder: copies of one session",
        size: 60,
        files: |n| (0..n).map(|i| (format!("s{i}.jsonl"), session(0))).collect(),
    },
    Shape {
        name: "folder: agents of one session",
        size: 60,
        files: |n| {
            [("s.jsonl".to_owned(), session(0))]
                .into_iter()
                .chain((1..n).map(|i| (format!("s/subagents/agent-{i}.jsonl"), session(i))))
                .collect()
        },
    },
    Shape {
        name: "folder: archives",
        size: 40,
        files: |n| (1..=n).map(|i| (format!(".transcripts/transcript_{i}.jsonl"), session(i))).collect(),
    },
    Shape {
        name: "folder: files that are no transcripts",
        size: 100,
        files: |n| {
            (0..n)
                .map(|i| (format!("f{i}.json"), format!("{{\"value\": {i}}}")))
                .chain([("s.jsonl".to_owned(), session(0))])
                .collect()
        },
    },
];

fn session(i: usize) -> String {
    jsonl([
        json!({"role": "user", "content": format!("Look at /src/f{i}.rs.")}),
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": format!("/src/f{i}.rs")}}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": text(i, 200)}]}),
        json!({"role": "assistant", "content": format!("/src/module{}/file_{}.rs says value_{i}.", i % 7, i / 2)}),
    ])
}
