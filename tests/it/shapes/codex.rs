//! Shapes of Codex' rollouts.

use serde_json::{Value, json};

use super::messages::text;
use super::{Shape, one_file};

pub const SHAPES: &[Shape] = &[
    Shape { name: "codex: a session", size: 200, files: |n| one_file(begin().chain((0..n).flat_map(call))) },
    Shape {
        name: "codex: token counts",
        size: 500,
        files: |n| one_file(begin().chain(call(0)).chain((0..n).map(tokens)).chain(call(1))),
    },
    Shape {
        name: "codex: contexts of turns",
        size: 500,
        files: |n| {
            one_file(
                begin().chain((0..n).map(|_| line("turn_context", json!({"cwd": "/w", "model": "gpt-5-codex"})))).chain(call(1)),
            )
        },
    },
    Shape {
        name: "codex: compactions",
        size: 100,
        files: |n| {
            one_file(
                begin()
                    .chain((0..n).flat_map(|i| call(i).into_iter().chain([line("compacted", json!({"message": text(i, 200)}))]))),
            )
        },
    },
    Shape {
        name: "codex: compactions that replace the history",
        size: 100,
        files: |n| {
            one_file(begin().chain((0..n).flat_map(|i| {
                call(i).into_iter().chain([line(
                    "compacted",
                    json!({"message": "", "replacement_history": [message("user", "Fix it."), message("user", &text(i, 100))]}),
                )])
            })))
        },
    },
    Shape {
        name: "codex: one long replacement history",
        size: 300,
        files: |n| {
            one_file(begin().chain(call(0)).chain([line("compacted", json!({"message": "", "replacement_history": (0..n).map(|i| message("user", &text(i, 60))).collect::<Vec<_>>()}))]).chain(call(1)))
        },
    },
    Shape {
        name: "codex: turns taken back",
        size: 150,
        files: |n| {
            one_file(begin().chain((0..n).flat_map(|i| {
                [
                    item(message("user", &text(i, 60))),
                    item(message("assistant", "Done.")),
                    line("event_msg", json!({"type": "thread_rolled_back", "num_turns": 1})),
                ]
            })))
        },
    },
    Shape {
        name: "codex: outputs without calls",
        size: 300,
        files: |n| one_file(begin().chain((0..n).map(output)).chain(call(0))),
    },
    Shape {
        name: "codex: calls without outputs",
        size: 300,
        files: |n| one_file(begin().chain((0..n).map(|i| call(i)[0].clone())).chain(call(n))),
    },
    Shape {
        name: "codex: reasoning",
        size: 300,
        files: |n| {
            one_file(begin().chain((0..n).map(|i| item(json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": text(i, 60)}], "encrypted_content": "abc"})))).chain(call(0)))
        },
    },
    Shape {
        name: "codex: events",
        size: 1_000,
        files: |n| {
            one_file(
                begin()
                    .chain((0..n).map(|i| line("event_msg", json!({"type": "agent_message", "message": text(i, 60)}))))
                    .chain(call(0)),
            )
        },
    },
];

fn line(kind: &str, payload: Value) -> Value {
    json!({"timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "payload": payload})
}

fn item(payload: Value) -> Value {
    line("response_item", payload)
}

fn message(role: &str, text: &str) -> Value {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn begin() -> impl Iterator<Item = Value> {
    let meta = json!({"id": "s", "cwd": "/w", "originator": "codex_cli", "cli_version": "0.50.0"});
    [
        line("session_meta", meta),
        line("turn_context", json!({"cwd": "/w", "model": "gpt-5-codex"})),
        item(message("user", "Fix it.")),
    ]
    .into_iter()
}

fn tokens(i: usize) -> Value {
    let usage = json!({"input_tokens": 200 * i, "cached_input_tokens": 100 * i, "output_tokens": 20, "reasoning_output_tokens": 0, "total_tokens": 200 * i + 20});
    line(
        "event_msg",
        json!({"type": "token_count", "info": {"total_token_usage": usage, "last_token_usage": usage, "model_context_window": 272_000}}),
    )
}

fn output(i: usize) -> Value {
    item(json!({"type": "function_call_output", "call_id": format!("c{i}"), "output": text(i, 80)}))
}

/// A call of the shell with its token count and its output.
fn call(i: usize) -> [Value; 3] {
    let arguments = json!({"command": ["bash", "-lc", format!("cat /src/f{}.rs", i / 2)]}).to_string();
    [
        item(json!({"type": "function_call", "name": "shell", "arguments": arguments, "call_id": format!("c{i}")})),
        tokens(i),
        output(i),
    ]
}
