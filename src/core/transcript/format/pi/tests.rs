//! One test for each rule of the reader; all entries are invented.

use super::super::shape::{lines, read, read_one};
use super::*;
use crate::transcript::format::Branches;

fn entry(id: &str, parent: Option<&str>, more: Value) -> String {
    let mut entry = json!({"id": id, "parentId": parent, "timestamp": "2026-10-05T08:00:00.000Z"});
    if let (Value::Object(entry), Value::Object(more)) = (&mut entry, more) {
        entry.extend(more);
    }
    entry.to_string()
}

fn message(id: &str, parent: Option<&str>, message: Value) -> String {
    entry(id, parent, json!({"type": "message", "message": message}))
}

fn typed(id: &str, parent: Option<&str>, text: &str) -> String {
    message(id, parent, json!({"role": "user", "content": text}))
}

fn says(id: &str, parent: &str, content: Value) -> String {
    let usage = json!({"input": 40, "output": 7, "cacheRead": 50, "cacheWrite": 10, "totalTokens": 107});
    message(
        id,
        Some(parent),
        json!({"role": "assistant", "content": content, "model": "m1", "usage": usage, "stopReason": "stop"}),
    )
}

fn call(id: &str) -> Value {
    json!({"type": "toolCall", "id": id, "name": "run", "arguments": {}})
}

fn result(id: &str, parent: &str, call: &str, text: &str, is_error: bool) -> String {
    let content = json!([{"type": "text", "text": text}]);
    message(id, Some(parent), json!({"role": "toolResult", "toolCallId": call, "content": content, "isError": is_error}))
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-10-05T08:00:00.000Z","cwd":"/home/ada/kettle"}"#;

#[test]
fn entries_are_read_as_pi_sends_them() {
    let session = [
        HEADER.to_owned(),
        message("1", None, json!({"role": "system", "content": "", "sections": {"a": "Be brief.", "b": "Be kind."}})),
        typed("2", Some("1"), "Boil it."),
        says(
            "3",
            "2",
            json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look."}, call("c1"), call("c2")]),
        ),
        result("4", "3", "c2", "no water", true),
        result("5", "4", "c1", "cold", false),
        message("6", Some("5"), json!({"role": "bashExecution", "command": "ls", "output": "cup", "exitCode": 0})),
        message("7", Some("6"), json!({"role": "bashExecution", "command": "pwd", "excludeFromContext": true})),
        entry("8", Some("7"), json!({"type": "custom_message", "content": "be quick"})),
        entry("9", Some("8"), json!({"type": "custom", "data": {}})),
        message(
            "10",
            Some("9"),
            json!({"role": "assistant", "content": text("Half"), "stopReason": "aborted", "usage": {"input": 90, "output": 2}}),
        ),
        entry("11", Some("10"), json!({"type": "hologram"})),
        says("12", "11", text("Empty.")),
    ]
    .join("\n");
    let (lines, notes) = read_one(&FORMAT, &session);
    let user = "u: [c1 = cold] [c2 ! no water] (Ran `ls`\n```\ncup\n```) (be quick)";
    assert_eq!(lines, ["u: Boil it.", "a: {hm} I look. [c1 run] [c2 run]", user, "a: Empty."]);
    assert_eq!(
        notes,
        [
            "11: a response that was aborted is not sent again; it was left out",
            "12: entries of the unknown type `hologram` are not read",
        ]
    );
    let conversation = read(&FORMAT, &session, Branches::Last).conversations.remove(0);
    let usage = Usage { input: 40, cache_read: 50, cache_write_5m: 10, output: 7, ..Usage::default() };
    assert_eq!(conversation.calls.iter().map(|call| call.usage).collect::<Vec<_>>(), [Some(usage); 2]);
    assert_eq!(conversation.other_branches[0].billed().map(|usage| usage.input), Some(90));
    assert_eq!(conversation.system.as_deref(), Some("Be brief.\n\nBe kind."));
    assert_eq!(conversation.project.as_deref(), Some("/home/ada/kettle"));
}

#[test]
fn a_compaction_keeps_the_entries_from_the_first_kept_one() {
    let bill = json!({"input": 500, "output": 20, "cacheRead": 0, "cacheWrite": 0});
    let compaction =
        json!({"type": "compaction", "summary": "so far", "firstKeptEntryId": "4", "tokensBefore": 900, "usage": bill});
    let session = [
        HEADER.to_owned(),
        typed("1", None, "Boil it."),
        says("2", "1", json!([call("c1")])),
        result("3", "2", "c1", "cold", false),
        says("4", "3", json!([call("c2")])),
        result("5", "4", "c2", "hot", false),
        entry("6", Some("5"), compaction),
        says("7", "6", text("Done.")),
    ];
    let session = session.join("\n");
    let fold = "fold: u: <The conversation history before this point was compacted into the following summary:\n\n<summary>\nso far\n\
        </summary>> | a: [c2 run] | u: [c2 = hot]";
    let expected = ["u: Boil it.", "a: [c1 run]", "u: [c1 = cold]", "a: [c2 run]", "u: [c2 = hot]", fold, "a: Done."];
    assert_eq!(read_one(&FORMAT, &session), (expected.map(str::to_owned).to_vec(), vec![]));
    let compaction = read(&FORMAT, &session, Branches::Last).conversations.remove(0).compactions.remove(0);
    assert_eq!((compaction.tokens_before, compaction.summary_usage.map(|usage| usage.output)), (Some(900), Some(20)));
}

/// Version 1 has no ids: the first kept entry is a line, and what the header counts as is 0.
#[test]
fn version_1_is_a_list() {
    let session = [
        HEADER.replace("\"version\":3,", ""),
        json!({"type": "message", "message": {"role": "user", "content": "Boil it."}}).to_string(),
        json!({"type": "message", "message": {"role": "assistant", "content": text("Done."), "stopReason": "stop"}}).to_string(),
        json!({"type": "message", "message": {"role": "user", "content": "Cool it."}}).to_string(),
        json!({"type": "compaction", "summary": "so far", "firstKeptEntryIndex": 3, "tokensBefore": 900}).to_string(),
        json!({"type": "message", "message": {"role": "assistant", "content": text("Cold."), "stopReason": "stop"}}).to_string(),
    ];
    let (lines, notes) = read_one(&FORMAT, &session.join("\n"));
    assert_eq!((lines.len(), notes), (5, vec![]));
    assert!(lines[3].starts_with("fold: u: <The conv") && lines[3].ends_with("</summary>> | u: Cool it."), "{}", lines[3]);
}

#[test]
fn the_branch_of_the_last_entry_is_read() {
    let session = [
        HEADER.to_owned(),
        typed("1", None, "Boil it."),
        says("2", "1", text("Done.")),
        typed("3", Some("2"), "Cool it."),
        says("4", "3", text("Cold.")),
        entry("5", Some("2"), json!({"type": "branch_summary", "fromId": "4", "summary": "It was cooled."})),
        typed("6", Some("5"), "Pour it."),
        says("7", "6", text("Poured.")),
        entry("8", Some("7"), json!({"type": "label", "label": "end"})),
    ]
    .join("\n");
    let (main, notes) = read_one(&FORMAT, &session);
    assert_eq!((main.len(), main[3].as_str()), (4, "a: Poured."));
    assert!(main[2].ends_with("<summary>\nIt was cooled.</summary>) Pour it."), "{}", main[2]);
    assert_eq!(notes, ["4: main has another branch of 2 records here: left out (--branches all reads it)"]);
    let all = read(&FORMAT, &session, Branches::All).conversations;
    assert_eq!(lines(&all[1]), ["u: Boil it.", "a: Done.", "u: Cool it.", "a: Cold."]);
    assert_eq!(read(&FORMAT, &session, Branches::Last).conversations[0].other_branches.len(), 1);
}

#[test]
fn hostile_entries_cost_only_themselves() {
    let session = [
        HEADER.to_owned(),
        typed("1", Some("1"), "Boil it."),
        says("2", "gone", json!([call("c1"), {"type": "smell"}, 7])),
        result("3", "2", "c9", "lost", false),
        entry("4", Some("3"), json!({"type": "compaction", "summary": 7, "firstKeptEntryId": "gone", "usage": []})),
        entry("5", Some("4"), json!({"type": "message"})),
        message("6", Some("5"), json!({"role": "ghost", "content": {}})),
    ];
    let (lines, notes) = read_one(&FORMAT, &session.join("\n"));
    assert_eq!(lines[..3], ["u: Boil it.", "a: [c1 run]", "u: [c1 ? No result provided] (lost)"]);
    assert!(notes.len() >= 6, "{notes:?}");
}
