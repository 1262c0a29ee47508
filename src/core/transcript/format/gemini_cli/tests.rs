//! One test for each rule of the reader; all messages are invented.

use super::super::shape::{lines, read as read_file, read_one};
use super::*;

fn user(id: &str, text: &str) -> Value {
    json!({"id": id, "timestamp": "2026-10-05T08:00:00.000Z", "type": "user", "content": text})
}

fn says(id: &str, input: u64, text: &str, calls: Value) -> Value {
    let tokens = json!({"input": input, "cached": 60, "output": 7, "thoughts": 3, "tool": 0, "total": input + 10});
    json!({"id": id, "timestamp": "2026-10-05T08:00:00.000Z", "type": "gemini", "content": text, "model": "m1", "tokens": tokens,
        "thoughts": [], "toolCalls": calls})
}

fn call(id: &str, status: &str, response: Value) -> Value {
    let answer = json!({"functionResponse": {"id": id, "name": "run", "response": response}});
    json!({"id": id, "name": "run", "args": {}, "status": status, "result": [answer], "resultDisplay": "shown"})
}

const HEADER: &str = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-10-05T08:00:00.000Z"}"#;

fn jsonl(records: &[Value]) -> String {
    let records = records.iter().map(Value::to_string);
    [HEADER.to_owned()].into_iter().chain(records).collect::<Vec<_>>().join("\n")
}

#[test]
fn messages_with_one_usage_are_one_response() {
    let mut thought = says("2", 100, "I look.", json!([]));
    thought["thoughts"] = json!([{"subject": "Water", "description": "is it hot?"}]);
    let calls = json!([call("c1", "success", json!({"output": "cold"})), call("c2", "error", json!({"error": "no water"}))]);
    let messages = json!([
        user("1", "Boil it."),
        thought,
        says("3", 100, "", calls),
        {"id": "4", "type": "info", "content": "shown"},
        says("5", 200, "Empty.", json!([])),
        {"id": "6", "type": "hologram"},
    ]);
    let document = json!({"sessionId": "s", "projectHash": "h", "messages": messages});
    let (pretty, on_one_line) = (serde_json::to_string_pretty(&document).expect("a document"), document.to_string());
    assert_eq!(read_one(&FORMAT, &pretty).0, read_one(&FORMAT, &on_one_line).0);
    let document = pretty;
    let (lines, notes) = read_one(&FORMAT, &document);
    let response = "a: I look. [c1 run] [c2 run]";
    assert_eq!(lines, ["u: Boil it.", response, "u: [c1 = cold] [c2 ! no water]", "a: Empty."]);
    assert!(notes.len() == 1 && notes[0].ends_with("messages of the unknown type `hologram` are not read"), "{notes:?}");
    let conversation = read_file(&FORMAT, &document, Branches::Last).conversations.remove(0);
    let usage = conversation.calls[0].usage.expect("a usage");
    assert_eq!((usage.input, usage.cache_read, usage.output, usage.reasoning), (40, 60, 10, Some(3)));
    assert_eq!(conversation.calls.len(), 2);
}

#[test]
fn a_message_that_comes_again_counts_once() {
    let session = [
        user("1", "Boil it."),
        says("2", 100, "", json!([])),
        says("2", 100, "Done.", json!([])),
        json!({"$set": {"summary": "t"}}),
    ];
    assert_eq!(read_one(&FORMAT, &jsonl(&session)), (vec!["u: Boil it.".to_owned(), "a: Done.".to_owned()], vec![]));
}

#[test]
fn a_rewind_is_another_branch() {
    let session = [
        user("1", "Boil it."),
        says("2", 100, "Done.", json!([])),
        user("3", "Cool it."),
        says("4", 200, "Cold.", json!([])),
        json!({"$rewindTo": "3"}),
        user("5", "Pour it."),
        says("6", 300, "Poured.", json!([])),
    ];
    let session = jsonl(&session);
    let (main, notes) = read_one(&FORMAT, &session);
    assert_eq!(main, ["u: Boil it.", "a: Done.", "u: Pour it.", "a: Poured."]);
    assert_eq!(notes, ["4: main has another branch of 2 records here: left out (--branches all reads it)"]);
    let all = read_file(&FORMAT, &session, Branches::All).conversations;
    assert_eq!(lines(&all[1]), ["u: Boil it.", "a: Done.", "u: Cool it.", "a: Cold."]);
    assert_eq!(read_file(&FORMAT, &session, Branches::Last).conversations[0].other_branches.len(), 1);
}

#[test]
fn messages_that_vanish_are_a_compaction() {
    let kept = says("3", 200, "", json!([call("c1", "success", json!({"output": "cold"}))]));
    let session = [
        user("1", "Boil it."),
        says("2", 100, "I look.", json!([])),
        kept.clone(),
        json!({"$set": {"messages": [user("1", "Boil it."), says("2", 100, "I look.", json!([])), kept]}}),
        json!({"$set": {"messages": [user("9", "so far"), kept]}}),
        says("4", 300, "Done.", json!([])),
    ];
    let (lines, notes) = read_one(&FORMAT, &jsonl(&session));
    let fold = "fold: u: <so far> | a: [c1 run] | u: [c1 = cold]";
    assert_eq!(lines, ["u: Boil it.", "a: I look.", "a: [c1 run]", "u: [c1 = cold]", fold, "a: Done."]);
    assert_eq!(notes, Vec::<String>::new());
}
