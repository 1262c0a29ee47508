//! Secrets that transcripts hold do not leave in reports.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::program::run_in;

/// Put together here, so that no scanner reports this file as a leak.
fn key() -> String {
    format!("{}_{}", "ghp", "q7Lk2vXzR9mTb4WcY8nHs3JfDp6GaKe5UtV1")
}

/// A session that reads a key, then nine other files, and then uses the key.
fn session() -> TempDir {
    let call = |id: usize, input: Value| json!({"role": "assistant", "content": [{"type": "tool_use", "id": format!("t{id}"), "name": "Bash", "input": input}]});
    let result = |id: usize, text: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("t{id}"), "content": text}]});
    let mut lines = vec![json!({"role": "user", "content": "Publish the release."})];
    lines.extend([
        call(0, json!({"command": "vault read kv/release"})),
        result(0, &format!("TOKEN={}\nREGION=eu-west-3\n{}", key(), "# Rotated.\n".repeat(40))),
    ]);
    for id in 1..10 {
        lines.extend([call(id, json!({"command": format!("cat src/part{id}.rs")})), result(id, &"fn part() {}\n".repeat(40))]);
    }
    lines.push(call(10, json!({"command": format!("publish --token {}", key())})));
    let folder = TempDir::new().expect("a temporary folder");
    let text: String = lines.into_iter().map(|line| format!("{line}\n")).collect();
    fs::write(folder.path().join("s.jsonl"), text).expect("a file in it");
    folder
}

#[test]
fn secrets_are_hidden_unless_they_are_wanted() {
    let folder = session();
    let printed = |arguments: &[&str]| {
        let ran = run_in(folder.path(), arguments, b"");
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
        ran.stdout
    };
    for report in [&["--full"][..], &["-o", "json"], &["-o", "html"], &["-o", "sarif"], &["-o", "markdown", "--full"]] {
        let replay = ["replay", "s.jsonl", "-p", "lcc-s06", "--findings", "--tokenizer", "chars/4"];
        assert!(!printed(&[&replay, report].concat()).contains(&key()), "{report:?}");
    }
    let json = |more: &[&str]| {
        let replay = ["replay", "s.jsonl", "-p", "lcc-s06", "--tokenizer", "chars/4", "-o", "json"];
        serde_json::from_str::<Value>(&printed(&[&replay, more].concat())).expect("JSON")
    };
    let facts = |results: &Value| {
        let misses = results["misses"].as_array().expect("misses").iter();
        misses.map(|miss| (miss["fact"].clone(), miss["context"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(facts(&json(&[]))[0], (json!("[secret]"), Value::Null));
    let (fact, context) = facts(&json(&["--show-secrets"])).swap_remove(0);
    assert_eq!(fact, key());
    assert!(context.as_str().is_some_and(|context| context.starts_with(&format!("TOKEN={}\nREGION=eu-west-3\n# Rot", key()))));

    let show = |more: &[&str]| printed(&[&["show", "s.jsonl", "--call", "5", "--full"], more].concat());
    assert!(show(&[]).contains("TOKEN=[secret]") && !show(&[]).contains(&key()));
    assert!(show(&["--show-secrets"]).contains(&key()));
}
