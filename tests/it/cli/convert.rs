//! `recompact convert`: where it writes, what it says, and what it refuses.

use std::fs;

use serde_json::{Value, json};

use crate::support::program::run;

const SESSION: &str = "pi/kettle.jsonl";

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn one_conversation_is_printed_and_its_losses_are_named() {
    let ran = run(["convert", SESSION, "--to", "openai-chat"]);
    let messages = lines(&ran.stdout);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let of = |role: &str| messages.iter().filter(|message| message["role"] == role).count();
    // The last call is not answered.
    assert_eq!((of("assistant"), of("tool")), (6, 5));
    assert!(messages.iter().all(|message| message["role"] != "tool" || message["tool_call_id"].is_string()));
    let compaction = "1 recorded compaction is not in the output: the history is written as it grew\n";
    assert!(ran.stderr.contains(compaction), "{}", ran.stderr);
    assert!(ran.stderr.contains("not in the output, because openai-chat has no place for it: "), "{}", ran.stderr);
    assert_eq!(run(["convert", SESSION, "--to", "openai-chat", "--strict"]).code, 1);
}

/// Any reader of ATIF sees calls and results in the steps of the agent. What the form has no place for is in `extra`, so it is not lost.
#[test]
fn a_trajectory_has_a_step_for_each_response() {
    let ran = run(["convert", SESSION, "--to", "atif"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.stderr.contains("compaction"), "{}", ran.stderr);
    let trajectory: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&trajectory["schema_version"], &trajectory["agent"]["name"]), (&json!("ATIF-v1.8"), &json!("pi")));
    let steps = trajectory["steps"].as_array().expect("steps");
    let ids: Vec<u64> = steps.iter().filter_map(|step| step["step_id"].as_u64()).collect();
    assert_eq!(ids, (1..=steps.len() as u64).collect::<Vec<_>>());
    let agent: Vec<&Value> = steps.iter().filter(|step| step["source"] == "agent").collect();
    assert_eq!(agent.len(), 6);
    let results = |step: &&Value| step["observation"]["results"].as_array().map_or(0, Vec::len);
    assert_eq!(agent.iter().map(results).sum::<usize>(), 5, "the last call is not answered");
    let calls = |step: &&Value| step["tool_calls"].as_array().map_or(0, Vec::len);
    assert_eq!(agent.iter().map(calls).sum::<usize>(), 6);
    assert!(agent.iter().all(|step| step["metrics"]["prompt_tokens"].is_u64()));
    assert_eq!(trajectory["extra"]["recompact"]["compactions"].as_array().map(Vec::len), Some(1));
}

/// A sub-agent is a trajectory of its own, which names its parent where harbor's agents do.
#[test]
fn a_trajectory_of_a_sub_agent_names_its_parent() {
    let ran = run(["convert", "claude-code/repair/subagents", "--to", "atif"]);
    let trajectory: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let agent = &trajectory["agent"];
    assert_eq!((&trajectory["session_id"], &agent["name"]), (&json!("afc7507"), &json!("claude-code")));
    let parent = &trajectory["extra"]["recompact"]["identity"]["parent"];
    assert!(parent.is_string() && agent["extra"]["parent_session_id"] == *parent, "{agent}");
}

#[test]
fn nothing_is_lost_where_the_form_is_the_same() {
    let ran = run(["convert", "messages/repair.blocks.jsonl", "--to", "messages", "--strict"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(lines(&ran.stdout).iter().filter(|message| message["role"] == "assistant").count(), 94);
}

#[test]
fn several_conversations_need_a_new_folder() {
    let ran = run(["convert", "openai-chat/tasks.json", "--to", "messages"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.contains("several conversations were found: name a new folder for them with --out FOLDER"),
        "{}",
        ran.stderr
    );
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().join("new");
    let out = folder.to_str().expect("UTF-8");
    let convert = ["convert", "openai-chat/tasks.json", "pi", "--to", "messages", "--out", out];
    assert_eq!(run(convert).code, 0);
    let tasks = folder.join("openai-chat_tasks.json_");
    let names = |folder: &std::path::Path| -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let folders = names(&folder);
    assert_eq!(folders.len(), 2, "{folders:?}");
    assert!(folder.join(&folders[0]).to_string_lossy().starts_with(&*tasks.to_string_lossy()), "{folders:?}");
    assert_eq!(names(&folder.join(&folders[0])), ["0.jsonl", "1.jsonl", "2.jsonl", "3.jsonl", "4.jsonl", "5.jsonl"]);
    let again = run(convert);
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("the folder is not empty; name a new one"), "{}", again.stderr);
}

#[test]
fn no_file_is_replaced() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let file = place.path().join("kettle.jsonl");
    let convert = ["convert", SESSION, "--to", "messages", "--quiet", "--out", file.to_str().expect("UTF-8")];
    assert_eq!(run(convert).code, 0);
    let written = fs::read(&file).expect("it was written");
    let again = run(convert);
    assert_eq!((again.code, fs::read(&file).expect("still there") == written), (2, true));
    assert!(again.stderr.contains("exists already, and is not replaced"), "{}", again.stderr);
}

#[test]
fn an_unknown_form_names_the_known_ones() {
    let ran = run(["convert", SESSION, "--to", "openai"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("messages") && ran.stderr.contains("openai-chat"), "{}", ran.stderr);
}

/// No request of the chat API has a result without its call.
#[test]
fn what_a_model_would_see_otherwise_fails() {
    let ran = run(["convert", "awkward/orphans.jsonl", "--to", "openai-chat"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("openai-chat cannot hold 13 blocks as the model saw them"), "{}", ran.stderr);
    assert_eq!(run(["convert", "awkward/orphans.jsonl", "--to", "messages"]).code, 0);
}
