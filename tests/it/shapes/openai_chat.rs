//! Shapes of OpenAI's chat messages, and of blocks written by Python's `repr`.

use serde_json::{Value, json};

use super::messages::text;
use super::{Shape, one_file};

pub const SHAPES: &[Shape] = &[
    Shape { name: "openai-chat: messages on lines", size: 200, files: |n| one_file(conversation(n)) },
    Shape { name: "openai-chat: one document", size: 200, files: |n| document(json!({"messages": conversation(n)})) },
    Shape {
        name: "openai-chat: a list of conversations",
        size: 100,
        files: |n| document((0..n).map(|i| json!({"task_id": i, "traj": conversation(2)})).collect()),
    },
    Shape {
        name: "openai-chat: trials of one task",
        size: 100,
        files: |n| document((0..n).map(|i| json!({"task_id": 7, "trial": i, "traj": conversation(2)})).collect()),
    },
    Shape {
        name: "openai-chat: conversations with one name",
        size: 100,
        files: |n| document((0..n).map(|_| json!({"id": "x", "messages": conversation(2)})).collect()),
    },
    Shape {
        name: "openai-chat: conversations on lines",
        size: 100,
        files: |n| one_file((0..n).map(|_| json!({"messages": conversation(2)}))),
    },
    Shape {
        name: "openai-chat: calls in one message",
        size: 200,
        files: |n| {
            one_file(
                [user("go"), json!({"role": "assistant", "content": null, "tool_calls": (0..n).map(call).collect::<Vec<_>>()})]
                    .into_iter()
                    .chain((0..n).map(|i| result(i, i)))
                    .chain([json!({"role": "assistant", "content": "Done."})]),
            )
        },
    },
    Shape {
        name: "openai-chat: calls with one id",
        size: 200,
        files: |n| {
            one_file([user("go")].into_iter().chain(
                (0..n).flat_map(|i| [json!({"role": "assistant", "content": null, "tool_calls": [call(0)]}), result(0, i)]),
            ))
        },
    },
    Shape {
        name: "openai-chat: results without calls",
        size: 200,
        files: |n| {
            one_file(
                [user("go")]
                    .into_iter()
                    .chain((0..n).map(|i| result(i, i)))
                    .chain([json!({"role": "assistant", "content": "Done."})]),
            )
        },
    },
    Shape {
        name: "openai-chat: system messages",
        size: 300,
        files: |n| one_file((0..n).map(|i| json!({"role": "system", "content": text(i, 60)})).chain(conversation(2))),
    },
    Shape {
        name: "repr: blocks of one message",
        size: 200,
        files: |n| {
            one_file([
                user("go"),
                json!({"role": "assistant", "content": format!("[{}]", (0..n).map(|i| format!("TextBlock(citations=None, text='line {i}', type='text')")).collect::<Vec<_>>().join(", "))}),
                user("go on"),
                json!({"role": "assistant", "content": "Done."}),
            ])
        },
    },
    Shape {
        name: "repr: nested lists",
        size: 2_000,
        files: |n| {
            one_file([
                user("go"),
                json!({"role": "assistant", "content": format!("[ToolUseBlock(id='t0', input={{'x': {}{}}}, name='f', type='tool_use')]", "[".repeat(n), "]".repeat(n))}),
                user("go on"),
                json!({"role": "assistant", "content": "Done."}),
            ])
        },
    },
    Shape {
        name: "repr: escapes",
        size: 3_000,
        files: |n| {
            one_file([
                user("go"),
                json!({"role": "assistant", "content": format!("[TextBlock(citations=None, text='{}', type='text')]", "\\\\n\\x41".repeat(n))}),
                user("go on"),
                json!({"role": "assistant", "content": "Done."}),
            ])
        },
    },
];

fn document(value: Value) -> Vec<(String, String)> {
    vec![("session.json".to_owned(), value.to_string())]
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn call(i: usize) -> Value {
    let arguments = json!({"path": format!("/src/f{}.rs", i / 2)}).to_string();
    json!({"id": format!("c{i}"), "type": "function", "function": {"name": "read_file", "arguments": arguments}})
}

fn result(id: usize, i: usize) -> Value {
    json!({"role": "tool", "tool_call_id": format!("c{id}"), "content": text(i, 80)})
}

fn conversation(n: usize) -> Vec<Value> {
    let rounds = (0..n).flat_map(|i| [json!({"role": "assistant", "content": null, "tool_calls": [call(i)]}), result(i, i)]);
    let begin = [json!({"role": "system", "content": "You help."}), user("Fix /src/f1.rs.")];
    begin.into_iter().chain(rounds).chain([json!({"role": "assistant", "content": "Done with /src/f0.rs."})]).collect()
}
