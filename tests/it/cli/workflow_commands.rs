//! No line of the output begins with a workflow command, whatever transcripts, files and tools are called.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use crate::support::program::run_in;

#[test]
fn names_cannot_start_a_workflow_command() {
    let folder = TempDir::new().expect("a temporary folder");
    let long = "x ::error::long ".repeat(12);
    for name in ["::error::name.jsonl", "##[error]name.jsonl", "b/::warning::c.jsonl"] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("in the folder")).expect("a folder in it");
        let uses =
            |id: &str, tool: &str| json!({"type": "tool_use", "id": id, "name": tool, "input": {"path": "::error::/src/a.rs"}});
        let text = "::error::text\n##[error]text\n/src/a.rs";
        let lines = [
            json!({"role": "user", "content": format!("{long}\n::error::typed. Never touch ::error::x.")}),
            json!({"role": "assistant", "content": [uses("::error::id", "::error::tool"), uses("2", &long)]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "::error::id", "content": text},
                {"type": "tool_result", "tool_use_id": "2", "content": text}]}),
            json!({"role": "assistant", "content": "::error::/src/a.rs"}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "::error::orphan", "content": text}]}),
            json!({"role": "assistant", "content": "/src/a.rs again"}),
        ];
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(path, lines + "::error::no JSON\n").expect("a file in it");
    }
    fs::write(folder.path().join("::error::empty.jsonl"), "").expect("a file in it");
    fs::write(
        folder.path().join("p.toml"),
        "name = \"::error::policy\"\n[[layer]]\nid = \"::error::layer\"\ndo = \"drop\"\nmax_messages = 2\n",
    )
    .expect("a file in it");
    for report in ["table", "markdown", "csv", "json", "html"] {
        for command in [&["replay", ".", "-p", "p.toml", "--findings", "--misses", "9"][..], &["inspect", "."], &["audit", "."]] {
            if command[0] != "replay" && report == "html" {
                continue;
            }
            let ran = run_in(folder.path(), [command, &["-o", report, "--tokenizer", "chars/4"]].concat(), b"");
            for line in ran.stdout.lines().chain(ran.stderr.lines()) {
                let line = line.trim_start();
                assert!(!line.starts_with("::") && !line.starts_with("##["), "{command:?} -o {report}: {line}");
            }
        }
    }
}
