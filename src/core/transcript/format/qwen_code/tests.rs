//! One test for each rule of the reader; all records are invented.

use serde_json::json;

use super::super::shape::{lines, read, read_one};
use super::*;
use crate::transcript::conversation::{BlockId, FORK, Identity, Usage};
use crate::transcript::format::Branches;

/// Returns a record with these fields; its parent is `parent`.
fn record(id: &str, parent: Option<&str>, kind: &str, more: Value) -> String {
    let mut record = json!({"uuid": id, "parentUuid": parent, "sessionId": "s", "type": kind, "cwd": "/home/ada/kettle"});
    if let (Value::Object(record), Value::Object(more)) = (&mut record, more) {
        record.extend(more);
    }
    record.to_string()
}

fn typed(id: &str, parent: Option<&str>, text: &str) -> String {
    record(id, parent, "user", json!({"provenance": "real_user", "message": {"role": "user", "parts": [{"text": text}]}}))
}

fn says(id: &str, parent: &str, parts: Value) -> String {
    let usage =
        json!({"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 7, "thoughtsTokenCount": 3});
    let message = json!({"role": "model", "parts": parts});
    record(
        id,
        Some(parent),
        "assistant",
        json!({"model": "qwen3", "message": message, "usageMetadata": usage, "contextWindowSize": 9_000}),
    )
}

fn call(id: &str) -> Value {
    json!({"functionCall": {"id": id, "name": "run", "args": {}}})
}

fn answer(id: &str, response: Value) -> Value {
    json!({"functionResponse": {"id": id, "name": "run", "response": response}})
}

fn results(id: &str, parent: &str, parts: Value) -> String {
    record(id, Some(parent), "tool_result", json!({"message": {"role": "user", "parts": parts}}))
}

fn compression(id: &str, parent: &str, status: i64, history: Value) -> String {
    let info = json!({"originalTokenCount": 900, "newTokenCount": 90, "triggerReason": "manual", "compressionStatus": status});
    let payload = json!({"info": info, "compressedHistory": history});
    record(id, Some(parent), "system", json!({"subtype": "chat_compression", "systemPayload": payload}))
}

#[test]
fn parallel_calls_thoughts_and_errors_are_read() {
    let text = [
        typed("1", None, "Boil it."),
        record("2", Some("1"), "system", json!({"subtype": "ui_telemetry", "systemPayload": {}})),
        says("3", "2", json!([{"text": "hm", "thought": true}, {"text": "I look."}, call("c1"), call("c2")])),
        results("4", "3", json!([answer("c2", json!({"error": "no water"}))])),
        results("5", "4", json!([answer("c1", json!({"output": "cold"}))])),
        record(
            "6",
            Some("5"),
            "user",
            json!({"provenance": "hook", "message": {"role": "user", "parts": [{"text": "be brief"}]}}),
        ),
        record("7", Some("6"), "system", json!({"subtype": "steeping"})),
        says("8", "7", json!([{"text": "Empty."}])),
    ];
    let expected = ["u: Boil it.", "a: {hm} I look. [c1 run] [c2 run]", "u: [c1 = cold] [c2 ! no water] (be brief)", "a: Empty."];
    let note = "7: records of the unknown type `steeping` are not read";
    assert_eq!(read_one(&FORMAT, &text.join("\n")), (expected.map(str::to_owned).into(), vec![note.to_owned()]));
    let conversation = &read(&FORMAT, &text.join("\n"), Branches::Last).conversations[0];
    let usage = Usage { input: 40, cache_read: 60, output: 10, reasoning: Some(3), ..Usage::default() };
    assert_eq!(conversation.calls.iter().map(|call| call.usage).collect::<Vec<_>>(), [Some(usage); 2]);
    assert_eq!((conversation.window, conversation.project.as_deref()), (Some(9_000), Some("/home/ada/kettle")));
}

#[test]
fn a_compression_is_the_whole_new_context_and_keeps_what_it_repeats() {
    let kept = call("c1");
    let history = json!([
        {"role": "user", "parts": [{"text": "so far"}]},
        {"role": "model", "parts": [{"text": "Thanks."}, kept]},
        {"role": "user", "parts": [answer("c1", json!({"output": "cold"}))]},
    ]);
    let text = [
        typed("1", None, "Boil it."),
        says("2", "1", json!([{"text": "I look."}, kept])),
        results("3", "2", json!([answer("c1", json!({"output": "cold"}))])),
        compression("4", "3", 2, json!([])),
        compression("5", "4", 1, history),
        says("6", "5", json!([{"text": "Done."}])),
    ];
    let (lines, notes) = read_one(&FORMAT, &text.join("\n"));
    let fold = "fold: u: <so far> | a: <Thanks.> [c1 run] | u: [c1 = cold]";
    assert_eq!(lines, ["u: Boil it.", "a: I look. [c1 run]", "u: [c1 = cold]", fold, "a: Done."]);
    assert_eq!(notes, ["4: a compression failed; the context stayed"]);
    let conversation = read(&FORMAT, &text.join("\n"), Branches::Last).conversations.remove(0);
    let compaction = &conversation.compactions[0];
    assert_eq!((compaction.tokens_before, compaction.tokens_after), (Some(900), Some(90)));
    let blocks: Vec<_> = compaction.edit.messages().iter().flat_map(|message| &message.blocks).collect();
    let in_messages = |block: &BlockId| conversation.messages.iter().any(|message| message.blocks.contains(block));
    assert_eq!(blocks.iter().map(|block| in_messages(block)).collect::<Vec<_>>(), [false, false, true, true]);
}

#[test]
fn a_rewind_is_another_branch_and_its_bill_stays() {
    let text = [
        typed("1", None, "Boil it."),
        says("2", "1", json!([{"text": "Done."}])),
        typed("3", Some("2"), "Cool it."),
        says("4", "3", json!([{"text": "Cold."}])),
        typed("5", Some("2"), "Pour it."),
        says("6", "5", json!([{"text": "Poured."}])),
    ]
    .join("\n");
    let (main, notes) = read_one(&FORMAT, &text);
    assert_eq!(main, ["u: Boil it.", "a: Done.", "u: Pour it.", "a: Poured."]);
    assert_eq!(notes, ["3: main has another branch of 2 records here: left out (--branches all reads it)"]);
    assert_eq!(read(&FORMAT, &text, Branches::Last).conversations[0].other_branches.len(), 1);
    let all = read(&FORMAT, &text, Branches::All).conversations;
    assert_eq!((all.len(), all[1].name.as_str()), (2, "main~2"));
    assert_eq!(lines(&all[1]), ["u: Boil it.", "a: Done.", "u: Cool it.", "a: Cold."]);
}

#[test]
fn odd_records_cost_only_themselves() {
    let text = [
        typed("1", None, "Boil it."),
        record("2", Some("gone"), "assistant", json!({"message": {"parts": [call("c1")]}, "usageMetadata": [], "model": 3})),
        typed("3", Some("2"), "And?"),
        compression("4", "3", 1, json!(7)),
        says("5", "4", json!([{"text": "Done."}])),
    ];
    let (lines, notes) = read_one(&FORMAT, &text.join("\n"));
    assert_eq!(lines, ["u: Boil it.", "a: [c1 run]", "u: [c1 ? [no result in the record]] And?", "a: Done."]);
    assert_eq!(notes.len(), 4, "{notes:?}");
}

#[test]
fn sessions_of_qwen_code_are_recognised_by_any_line() {
    let certainty = |text: &str| sniff(&Head::new("a.jsonl", text.as_bytes()));
    let line = typed("1", None, "Boil it.");
    assert_eq!(certainty(&line), Certainty::Sure);
    assert_eq!(certainty(&line[..line.len() - 9]), Certainty::Sure, "broken off");
    let claude = r#"{"uuid":"1","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"go"}}"#;
    assert_eq!(certainty(claude), Certainty::No);
}

/// Returns a record of a sub-agent; its parent is the record before it.
fn of_agent(id: u32, kind: &str, more: Value) -> String {
    let before = (id > 1).then(|| (id - 1).to_string());
    let mut text: Value = serde_json::from_str(&record(&id.to_string(), before.as_deref(), kind, more)).expect("a record");
    (text["agentId"], text["isSidechain"]) = ("look-1".into(), true.into());
    text.to_string()
}

fn model(parts: Value) -> Value {
    json!({"message": {"role": "model", "parts": parts}})
}

#[test]
fn a_response_of_a_sub_agent_is_a_record_of_text_and_one_for_each_call() {
    let mut round = model(json!([{"text": "I look."}]));
    (round["usageMetadata"], round["agentRound"]) = (json!({"promptTokenCount": 50, "candidatesTokenCount": 4}), 1.into());
    let answers = json!({"message": {"role": "user", "parts": [answer("c1", json!({"output": "cold"}))]}});
    let text = [
        of_agent(1, "user", json!({"message": {"role": "user", "parts": [{"text": "Is it warm?"}]}})),
        of_agent(2, "assistant", round),
        of_agent(3, "assistant", model(json!([call("c1")]))),
        of_agent(4, "system", json!({"subtype": "agent_session_ready"})),
        of_agent(5, "assistant", model(json!([call("c2")]))),
        of_agent(6, "tool_result", answers),
        of_agent(7, "tool_result", json!({"message": {"role": "user", "parts": [answer("c2", json!({"output": "wet"}))]}})),
        of_agent(8, "assistant", model(json!([call("c3")]))),
    ];
    let reading = read(&FORMAT, &text.join("\n"), Branches::Last);
    let conversation = &reading.conversations[0];
    assert_eq!(
        lines(conversation),
        ["u: Is it warm?", "a: I look. [c1 run] [c2 run]", "u: [c1 = cold] [c2 = wet]", "a: [c3 run]"]
    );
    let outputs: Vec<_> = conversation.calls.iter().map(|call| call.usage.map(|usage| usage.output)).collect();
    assert_eq!(outputs, [Some(4), None]);
    let Identity { session, parent, .. } = &conversation.identity;
    assert_eq!((session.as_deref(), parent.as_deref(), reading.notes.len()), (Some("look-1"), Some("s"), 0));
    assert!(conversation.identity.is_sub_agent());
}

#[test]
fn a_sub_agent_that_is_a_fork_begins_with_the_history_of_its_parent() {
    let history = json!([{"role": "user", "parts": [{"text": "Boil it."}]}, {"role": "model", "parts": [{"text": "I fork."}]}]);
    let text = [
        of_agent(1, "system", json!({"subtype": "agent_bootstrap", "systemPayload": {"kind": "fork", "history": history}})),
        of_agent(2, "user", json!({"message": {"role": "user", "parts": [{"text": "Begin."}]}})),
        of_agent(
            3,
            "system",
            json!({"subtype": "agent_launch_prompt", "systemPayload": {"displayText": "You are a fork. Begin."}}),
        ),
        of_agent(4, "assistant", model(json!([{"text": "Done."}]))),
    ];
    let reading = read(&FORMAT, &text.join("\n"), Branches::Last);
    assert_eq!(lines(&reading.conversations[0]), ["u: (Boil it.)", "a: I fork.", "u: You are a fork. Begin.", "a: Done."]);
    assert_eq!((reading.conversations[0].calls.len(), reading.notes.len()), (1, 0));
}

#[test]
fn forks_and_sessions_that_an_agent_began_name_their_parent() {
    let copied =
        says("2", "1", json!([{"text": "Old."}])).replacen('{', r#"{"forkedFrom": {"sessionId": "p", "messageUuid": "2"},"#, 1);
    let fork = [typed("1", None, "Boil it."), copied, typed("3", Some("2"), "Again."), says("4", "3", json!([{"text": "New."}]))];
    let reading = read(&FORMAT, &fork.join("\n"), Branches::Last);
    let conversation = &reading.conversations[0];
    assert_eq!((conversation.calls.len(), conversation.identity.parent.as_deref()), (1, Some("p")));
    assert_eq!((conversation.identity.start.as_deref(), reading.notes.len()), (Some(FORK), 1));
    let payload = json!({"subtype": "parent_session", "systemPayload": {"parentSessionId": "p"}});
    let child =
        [record("1", None, "system", payload), typed("2", Some("1"), "Boil it."), says("3", "2", json!([{"text": "Hot."}]))];
    let reading = read(&FORMAT, &child.join("\n"), Branches::Last);
    assert!(reading.conversations[0].identity.is_sub_agent() && reading.notes.is_empty());
}

#[test]
fn a_command_that_names_files_is_no_unknown_type() {
    let payload = json!({"subtype": "at_command", "systemPayload": {"filesRead": ["cup.md"], "status": "success"}});
    let text = [
        record("1", None, "system", payload),
        typed("2", Some("1"), "@cup.md Boil it."),
        says("3", "2", json!([{"text": "Hot."}])),
    ];
    assert_eq!(read(&FORMAT, &text.join("\n"), Branches::Last).notes, []);
}
