//! Shapes of texts that a careless parser reads again from each of their parts: sentences that begin like a rule, and commands whose
//! quotes, brackets and documents never end.

use serde_json::{Value, json};

use super::{Shape, one_file};

/// Beginnings of rules of the user, and what the search for rules skips.
const RULES: [&str; 11] =
    ["never ", "- ", "1. ", ". ", "e.g. ", "`", "do not", "a.b", "```\n", "don't you; ", "> [ ] never do it\n"];

/// Beginnings of parts of shell commands, patches and programs.
const COMMANDS: [&str; 12] =
    ["\"$(", "'\"", "<<E\n", "cat a ", "bash -c \"", "\\\"", "${", "tools.\"\\", "a|", "--- x\n+++ y\n", "`", "cmd:\""];

pub const SHAPES: &[Shape] = &[
    Shape { name: "hostile: rules", size: 1_000, files: |n| one_file(RULES.iter().flat_map(|part| typed(&part.repeat(n)))) },
    Shape {
        name: "hostile: commands",
        size: 1_000,
        files: |n| one_file(COMMANDS.iter().enumerate().flat_map(|(i, part)| calls(2 * i, &part.repeat(n)))),
    },
];

fn typed(text: &str) -> [Value; 2] {
    [json!({"role": "user", "content": text}), json!({"role": "assistant", "content": "Done."})]
}

/// Two calls of tools that run what their input says: a command, and a program that may contain commands.
fn calls(id: usize, text: &str) -> [Value; 3] {
    let tool_use =
        |id: usize, name: &str, input: Value| json!({"type": "tool_use", "id": format!("t{id}"), "name": name, "input": input});
    let result = |id: usize| json!({"type": "tool_result", "tool_use_id": format!("t{id}"), "content": "ok"});
    [
        json!({"role": "user", "content": "go on"}),
        json!({"role": "assistant", "content": [tool_use(id, "bash", json!(text)), tool_use(id + 1, "exec", json!({"input": text}))]}),
        json!({"role": "user", "content": [result(id), result(id + 1)]}),
    ]
}
