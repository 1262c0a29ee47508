//! Shapes of one long text: in a result of a tool, or typed by the user.

use serde_json::{Value, json};

use super::{Shape, one_file};

pub const SHAPES: &[Shape] = &[
    Shape { name: "lines", size: 2_000, files: |n| of_tool(repeat(n, |i| format!("line {i}\n"))) },
    Shape { name: "paths", size: 1_000, files: |n| of_tool(repeat(n, |i| format!("/src/a{i}/b{i}.rs\n"))) },
    Shape { name: "one path", size: 2_000, files: |n| of_tool(repeat(n, |_| "/src/a.rs ".to_owned())) },
    Shape { name: "one deep path", size: 5_000, files: |n| of_tool(repeat(n, |_| "/a".to_owned())) },
    Shape { name: "one long word", size: 20_000, files: |n| of_tool("x".repeat(n)) },
    Shape { name: "one long number", size: 20_000, files: |n| of_tool("7".repeat(n)) },
    Shape { name: "dots", size: 10_000, files: |n| of_tool("a.".repeat(n)) },
    Shape { name: "dashes", size: 10_000, files: |n| of_tool("a-".repeat(n)) },
    Shape { name: "quotation marks", size: 10_000, files: |n| of_tool("\"a".repeat(n)) },
    Shape { name: "back ticks", size: 10_000, files: |n| of_tool("`a ".repeat(n)) },
    Shape { name: "backslashes", size: 10_000, files: |n| of_tool("\\".repeat(n)) },
    Shape { name: "brackets", size: 10_000, files: |n| of_tool("[(".repeat(n)) },
    Shape { name: "angle brackets", size: 5_000, files: |n| of_tool("<a><b".repeat(n)) },
    Shape { name: "colons", size: 10_000, files: |n| of_tool("a:1:".repeat(n)) },
    Shape { name: "URLs", size: 1_000, files: |n| of_tool(repeat(n, |i| format!("https://example.org/{i}/page?x={i} "))) },
    Shape { name: "slashes of one URL", size: 5_000, files: |n| of_tool(format!("http://{}", "a//".repeat(n))) },
    Shape { name: "hashes", size: 500, files: |n| of_tool(repeat(n, |i| format!("{:040x} ", i * 7_919))) },
    Shape { name: "versions", size: 1_000, files: |n| of_tool(repeat(n, |i| format!("crate-{i} 1.{i}.3\n"))) },
    Shape {
        name: "errors in one text",
        size: 1_000,
        files: |n| of_tool(repeat(n, |i| format!("error[E{i:04}]: no field `f{i}`\n"))),
    },
    Shape { name: "blank lines", size: 20_000, files: |n| of_tool("\n".repeat(n)) },
    Shape { name: "spaces", size: 20_000, files: |n| of_tool(" ".repeat(n)) },
    Shape { name: "one letter", size: 20_000, files: |n| of_tool("a".repeat(n)) },
    Shape { name: "letters beyond ASCII", size: 5_000, files: |n| of_tool("schön größe ".repeat(n)) },
    Shape { name: "combining marks", size: 5_000, files: |n| of_tool("e\u{301}\u{302}".repeat(n)) },
    Shape { name: "one letter with many marks", size: 5_000, files: |n| of_tool("\u{301}".repeat(n)) },
    Shape { name: "control characters", size: 10_000, files: |n| of_tool("\u{1b}[31m\u{7}".repeat(n)) },
    Shape { name: "workflow commands", size: 2_000, files: |n| of_tool("::error::x\n##[error]y\n".repeat(n)) },
    Shape { name: "numbered lines", size: 2_000, files: |n| of_tool(repeat(n, |i| format!("{i:6}\tlet x{i} = {i};\n"))) },
    Shape {
        name: "placeholders",
        size: 2_000,
        files: |n| of_tool(repeat(n, |i| format!("<persisted-output>\nFull output saved to: /t/{i}.txt\n</persisted-output>\n"))),
    },
    Shape {
        name: "rules in one text",
        size: 300,
        files: |n| of_user(repeat(n, |i| format!("Never touch file_{i}.rs in step {i}.\n"))),
    },
    Shape { name: "phrases with gaps", size: 200, files: |n| of_user(("leave as keep as ".repeat(20) + "\n").repeat(n)) },
    Shape { name: "one sentence", size: 5_000, files: |n| of_user("must never do not always ".repeat(n)) },
    Shape { name: "questions", size: 1_000, files: |n| of_user(repeat(n, |i| format!("Is file_{i}.rs only read?\n"))) },
    Shape {
        name: "JSON in a text",
        size: 1_000,
        files: |n| of_tool(json!((0..n).map(|i| json!({"id": i, "path": format!("/a/{i}.rs")})).collect::<Vec<_>>()).to_string()),
    },
    Shape { name: "secrets", size: 500, files: |n| of_tool(repeat(n, |i| format!("token = \"{i:032x}\" password={i:020}\n"))) },
];

fn repeat(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

/// A conversation in which a tool returns this text, and four calls follow.
fn of_tool(text: String) -> Vec<(String, String)> {
    let begin = json!({"role": "user", "content": "Look at it."});
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t0", "content": text}]});
    one_file([begin, read(0), result].into_iter().chain(later()))
}

/// A conversation that begins with this text of the user.
fn of_user(text: String) -> Vec<(String, String)> {
    one_file([json!({"role": "user", "content": text})].into_iter().chain(later()))
}

fn read(i: usize) -> Value {
    json!({"role": "assistant", "content": [{"type": "tool_use", "id": format!("t{i}"), "name": "Read", "input": {"file_path": format!("/src/a{i}/b{i}.rs")}}]})
}

fn later() -> impl Iterator<Item = Value> {
    let step = |i| {
        [
            read(i),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("t{i}"), "content": format!("line {i} of /src/a.rs")}]}),
        ]
    };
    (1..5).flat_map(step).chain([json!({"role": "assistant", "content": "Done with /src/a.rs, line 3."})])
}
