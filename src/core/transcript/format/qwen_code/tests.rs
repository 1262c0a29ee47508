//! One test for each rule of the reader; all records are invented.

use serde_json::json;

use super::super::shape::{lines, read, read_one};
use super::*;
use crate::transcript::conversation::{BlockId, Usage};
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
        record("7", Some("6"), "system", json!({"subtype": "slash_command"})),
        says("8", "7", json!([{"text": "Empty."}])),
    ];
    let expected = ["u: Boil it.", "a: {hm} I look. [c1 run] [c2 run]", "u: [c1 = cold] [c2 ! no water] (be brief)", "a: Empty."];
    let note = "7: records of the unknown type `slash_command` are not read";
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
