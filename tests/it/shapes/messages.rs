//! Shapes of messages and calls, in Anthropic's format.

use serde_json::{Value, json};

use super::{Shape, one_file};

pub const SHAPES: &[Shape] = &[
    Shape { name: "calls one after another", size: 300, files: |n| one_file(loop_of(n, |i| i, |i| text(i, 80))) },
    Shape { name: "calls with long results", size: 60, files: |n| one_file(loop_of(n, |i| i, |i| text(i, 4_000))) },
    Shape { name: "calls with one id", size: 300, files: |n| one_file(loop_of(n, |_| 0, |i| text(i, 80))) },
    Shape {
        name: "short answers to calls that showed a file",
        size: 300,
        files: |n| {
            let first = [call(n, 0), result(n, &text(0, 4_000))];
            one_file(begin().chain(first).chain((0..n).flat_map(|i| [call(i, 0), result(i, "as before")])).chain([says(0)]))
        },
    },
    Shape { name: "calls in one message", size: 300, files: |n| one_file(at_once(n, |i| i)) },
    Shape { name: "calls in one message with one id", size: 300, files: |n| one_file(at_once(n, |_| 0)) },
    Shape {
        name: "rounds of ten calls",
        size: 40,
        files: |n| one_file((0..n).flat_map(|round| at_once(10, move |i| 10 * round + i))),
    },
    Shape { name: "calls without results", size: 300, files: |n| one_file(begin().chain((0..n).map(|i| call(i, i)))) },
    Shape {
        name: "results without calls",
        size: 300,
        files: |n| one_file(begin().chain((0..n).flat_map(|i| [result(i, &text(i, 80)), says(i)]))),
    },
    Shape { name: "results without calls in one message", size: 300, files: |n| one_file(begin().chain([results(n), says(0)])) },
    Shape {
        name: "results in reverse order",
        size: 300,
        files: |n| {
            one_file(
                begin().chain((0..n).map(|i| call(i, i))).chain((0..n).rev().map(|i| result(i, &text(i, 80)))).chain([says(0)]),
            )
        },
    },
    Shape { name: "chat", size: 400, files: |n| one_file((0..n).flat_map(|i| [user(&text(i, 60)), says(i)])) },
    Shape { name: "long chat", size: 60, files: |n| one_file((0..n).flat_map(|i| [user(&text(i, 3_000)), says(i)])) },
    Shape {
        name: "messages of the user only",
        size: 400,
        files: |n| one_file((0..n).map(|i| user(&text(i, 60))).chain([says(0)])),
    },
    Shape { name: "messages of the agent only", size: 400, files: |n| one_file(begin().chain((0..n).map(says))) },
    Shape {
        name: "text blocks in one message",
        size: 400,
        files: |n| {
            one_file([blocks("user", n, |i| json!({"type": "text", "text": text(i, 60)})), says(0), user("go on"), says(1)])
        },
    },
    Shape {
        name: "thinking",
        size: 300,
        files: |n| {
            one_file((0..n).flat_map(|i| {
                [
                    user("go on"),
                    blocks("assistant", 1, |_| json!({"type": "thinking", "thinking": text(i, 80), "signature": "s"})),
                ]
            }))
        },
    },
    Shape {
        name: "images",
        size: 200,
        files: |n| {
            one_file((0..n).flat_map(|i| [blocks("user", 1, |_| json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}})), says(i)]))
        },
    },
    Shape { name: "the same result", size: 300, files: |n| one_file(loop_of(n, |i| i, |_| text(1, 200))) },
    Shape {
        name: "the same file read",
        size: 300,
        files: |n| {
            one_file(
                begin()
                    .chain((0..n).flat_map(|i| [use_of(i, "Read", json!({"file_path": "/src/a.rs"})), result(i, &text(i, 200))]))
                    .chain([says(0)]),
            )
        },
    },
    Shape {
        name: "the same file written and read",
        size: 150,
        files: |n| {
            one_file(begin().chain((0..n).flat_map(|i| {
                [
                    use_of(2 * i, "Write", json!({"file_path": "/src/a.rs", "content": text(i, 100)})),
                    result(2 * i, "ok"),
                    use_of(2 * i + 1, "Read", json!({"file_path": "/src/a.rs"})),
                    result(2 * i + 1, &text(i, 100)),
                ]
            })))
        },
    },
    Shape {
        name: "commands",
        size: 300,
        files: |n| {
            one_file(
                begin()
                    .chain((0..n).flat_map(|i| {
                        [
                            use_of(
                                i,
                                "Bash",
                                json!({"command": format!("cd /w && cat f{i}.txt | grep -n x{i} > out{i}; echo done")}),
                            ),
                            result(i, &text(i, 80)),
                        ]
                    }))
                    .chain([says(0)]),
            )
        },
    },
    Shape {
        name: "parts of a command",
        size: 300,
        files: |n| {
            one_file(begin().chain([
                use_of(
                    0,
                    "Bash",
                    json!({"command": (0..n).map(|i| format!("cat f{i}.txt | head && ")).collect::<String>() + "true"}),
                ),
                result(0, "ok"),
                says(0),
            ]))
        },
    },
    Shape {
        name: "fields of an input",
        size: 300,
        files: |n| {
            one_file(begin().chain([
                use_of(
                    0,
                    "Form",
                    (0..n).map(|i| (format!("field{i}"), json!(text(i, 40)))).collect::<serde_json::Map<_, _>>().into(),
                ),
                result(0, "ok"),
                says(0),
            ]))
        },
    },
    Shape {
        name: "list in an input",
        size: 300,
        files: |n| {
            one_file(begin().chain([
                use_of(0, "Form", json!({"items": (0..n).map(|i| text(i, 40)).collect::<Vec<_>>()})),
                result(0, "ok"),
                says(0),
            ]))
        },
    },
    Shape {
        name: "parts of a result",
        size: 300,
        files: |n| {
            one_file(begin().chain([call(0, 0), json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t0", "content": (0..n).map(|i| json!({"type": "text", "text": text(i, 60)})).collect::<Vec<_>>()}]}), says(0)]))
        },
    },
    Shape {
        name: "errors",
        size: 300,
        files: |n| {
            one_file(begin().chain((0..n).flat_map(|i| [call(i, i), json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("t{i}"), "is_error": true, "content": format!("error: no such file /src/f{i}.rs")}]})])))
        },
    },
    Shape {
        name: "tools with names of their own",
        size: 300,
        files: |n| {
            one_file(
                begin().chain((0..n).flat_map(|i| [use_of(i, &format!("tool_{i}"), json!({"x": i})), result(i, &text(i, 80))])),
            )
        },
    },
    Shape {
        name: "rules one by one",
        size: 200,
        files: |n| one_file((0..n).flat_map(|i| [user(&format!("Never touch /src/f{i}.rs in step {i}.")), says(i)])),
    },
    Shape {
        name: "empty messages",
        size: 300,
        files: |n| one_file((0..n).flat_map(|i| [user(""), json!({"role": "assistant", "content": []}), user("x"), says(i)])),
    },
    Shape {
        name: "unknown blocks",
        size: 300,
        files: |n| one_file((0..n).flat_map(|i| [blocks("user", 1, |_| json!({"type": "odd", "value": text(i, 60)})), says(i)])),
    },
];

/// The first message.
fn begin() -> impl Iterator<Item = Value> {
    [user("Fix the build in /src, and never change /src/keep.rs.")].into_iter()
}

/// A text of this many characters with facts: names, paths and numbers that later texts use again.
pub fn text(i: usize, chars: usize) -> String {
    let mut text = String::new();
    let mut word = i;
    while text.len() < chars {
        text += &format!("line {word} of /src/module{}/file_{}.rs says value_{word} = {}\n", word % 7, word / 2, word * 37);
        word += 1;
    }
    text
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn says(i: usize) -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": format!("Now /src/module{}/file_{}.rs, value_{i}.", i % 7, i / 2)}]})
}

fn blocks(role: &str, n: usize, block: impl Fn(usize) -> Value) -> Value {
    json!({"role": role, "content": (0..n).map(block).collect::<Vec<_>>()})
}

fn tool_use(i: usize, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": format!("t{i}"), "name": name, "input": input})
}

fn use_of(i: usize, name: &str, input: Value) -> Value {
    json!({"role": "assistant", "content": [tool_use(i, name, input)]})
}

/// A call that reads file `i`.
fn read(id: usize, i: usize) -> Value {
    tool_use(id, "Read", json!({"file_path": format!("/src/module{}/file_{}.rs", i % 7, i / 2)}))
}

fn call(id: usize, i: usize) -> Value {
    json!({"role": "assistant", "content": [read(id, i)]})
}

fn result_block(id: usize, text: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": format!("t{id}"), "content": text})
}

fn result(id: usize, text: &str) -> Value {
    json!({"role": "user", "content": [result_block(id, text)]})
}

fn results(n: usize) -> Value {
    blocks("user", n, |i| result_block(i, &text(i, 80)))
}

fn loop_of(n: usize, id: fn(usize) -> usize, output: impl Fn(usize) -> String) -> impl Iterator<Item = Value> {
    begin().chain((0..n).flat_map(move |i| [call(id(i), i), result(id(i), &output(i))])).chain([says(n)])
}

/// `n` calls in one message, and their results in one message.
fn at_once(n: usize, id: impl Fn(usize) -> usize) -> Vec<Value> {
    let calls = blocks("assistant", n, |i| read(id(i), id(i)));
    let results = blocks("user", n, |i| result_block(id(i), &text(id(i), 80)));
    vec![user("go on"), calls, results, says(id(0))]
}
