//! One test for each rule of the reader; all messages are invented.

use super::super::shape::{lines, read, read_one};
use super::*;

fn export(more: Value, messages: &[Value]) -> String {
    let mut info = json!({"id": "ses_1", "version": "1.2.3", "directory": "/home/ada/kettle"});
    if let (Value::Object(info), Value::Object(more)) = (&mut info, more) {
        info.extend(more);
    }
    serde_json::to_string_pretty(&json!({"info": info, "messages": messages})).expect("a document")
}

fn user(id: &str, parts: Value) -> Value {
    json!({"info": {"id": id, "role": "user", "time": {"created": 1}}, "parts": parts})
}

fn typed(id: &str, text: &str) -> Value {
    user(id, json!([{"type": "text", "text": text}]))
}

fn says(id: &str, created: i64, more: Value, parts: Value) -> Value {
    let tokens = json!({"input": 40, "output": 7, "reasoning": 3, "cache": {"read": 50, "write": 0}, "total": 100});
    let mut info =
        json!({"id": id, "role": "assistant", "time": {"created": created}, "tokens": tokens, "modelID": "m1", "finish": "stop"});
    if let (Value::Object(info), Value::Object(more)) = (&mut info, more) {
        info.extend(more);
    }
    json!({"info": info, "parts": parts})
}

fn text(text: &str) -> Value {
    json!([{"type": "step-start"}, {"type": "text", "text": text}])
}

fn tool(id: &str, state: Value) -> Value {
    json!({"type": "tool", "tool": "run", "callID": id, "state": state})
}

fn done(id: &str, output: &str) -> Value {
    tool(id, json!({"status": "completed", "input": {}, "output": output, "metadata": {"output": output}}))
}

#[test]
fn parts_are_read_as_opencode_sends_them() {
    let image = json!({"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"});
    let parts = json!([
        {"type": "text", "text": "Boil it."},
        {"type": "text", "text": "unseen", "ignored": true},
        {"type": "text", "text": "of the file", "synthetic": true},
        {"type": "file", "mime": "text/plain", "url": "file:///a"},
        image,
        {"type": "hologram"},
    ]);
    let calls = json!([
        {"type": "reasoning", "text": "hm"},
        {"type": "text", "text": "I look."},
        done("c1", "cold"),
        tool("c2", json!({"status": "error", "input": {}, "error": "no water"})),
        tool("c3", json!({"status": "running", "input": {}})),
        tool("c4", json!({"status": "completed", "input": {}, "output": "see", "attachments": [image]})),
    ]);
    let messages = [
        user("msg_1", parts),
        says("msg_2", 2, json!({}), calls),
        says("msg_3", 3, json!({"error": {"name": "APIError"}}), json!([])),
        says("msg_4", 4, json!({}), text("Empty.")),
    ];
    let reading = read(&FORMAT, &export(json!({"parentID": "ses_0"}), &messages), Branches::Last);
    let conversation = &reading.conversations[0];
    assert_eq!(
        lines(conversation),
        [
            "u: Boil it. (of the file) [image]",
            "a: {hm} I look. [c1 run] [c2 run] [c3 run] [c4 run]",
            "u: [c1 = cold] [c2 ! no water] [c3 ? [Tool execution was interrupted]] [c4 = see]",
            "a: Empty.",
        ]
    );
    let notes: Vec<&str> = reading.notes.iter().map(|note| note.what.as_str()).collect();
    let identity = &conversation.identity;
    assert_eq!((identity.label().as_deref(), identity.parent.as_deref()), (Some("opencode 1.2.3"), Some("ses_0")));
    assert!(identity.is_sub_agent() && identity.session.as_deref() == Some("ses_1"));
    assert!(notes.contains(&"parts of the unknown type `hologram` are not read"), "{notes:?}");
    assert!(notes.contains(&"a response that failed is not sent again; it was left out"), "{notes:?}");
    // The total shows that 7 includes the 3 of the reasoning, or else it would be 100.
    let usage = conversation.calls[0].usage.expect("a usage");
    assert_eq!((usage.input, usage.cache_read, usage.output, usage.reasoning), (40, 50, 10, Some(3)));
    assert_eq!(conversation.other_branches.len(), 1);
}

fn compacted() -> Vec<Value> {
    vec![
        typed("msg_1", "Boil it."),
        says("msg_2", 2, json!({}), json!([done("c1", "cold")])),
        says("msg_3", 3, json!({}), json!([done("c2", "hot")])),
        user("msg_4", json!([{"type": "compaction", "auto": true, "tail_start_id": "msg_3"}])),
        says("msg_5", 5, json!({"summary": true, "mode": "compaction"}), text("so far")),
        user("msg_6", json!([{"type": "text", "text": "Go on.", "synthetic": true}])),
        says("msg_7", 7, json!({}), text("Done.")),
    ]
}

#[test]
fn a_compaction_keeps_the_tail() {
    let document = export(json!({}), &compacted());
    let (lines, notes) = read_one(&FORMAT, &document);
    // Its text to go on is a part of it: under another policy it would not have been said.
    let fold = "fold: u: (What did we do so far?) | a: <so far> | a: [c2 run] | u: [c2 = hot] | u: (Go on.)";
    let expected = ["u: Boil it.", "a: [c1 run]", "u: [c1 = cold]", "a: [c2 run]", "u: [c2 = hot]", fold, "a: Done."];
    assert_eq!((lines, notes), (expected.map(str::to_owned).to_vec(), vec![]));
    let conversation = read(&FORMAT, &document, Branches::Last).conversations.remove(0);
    let compaction = &conversation.compactions[0];
    assert_eq!((compaction.trigger.as_deref(), compaction.summary_usage.map(|usage| usage.input)), (Some("auto"), Some(40)));
    assert_eq!(conversation.calls.len(), 3, "the summary is no call of the agent");
}

#[test]
fn a_summary_that_failed_replaces_nothing() {
    let mut messages = compacted();
    messages[4]["info"]["error"] = json!({"name": "APIError"});
    let (lines, _) = read_one(&FORMAT, &export(json!({}), &messages));
    assert_eq!(lines[4..], ["u: [c2 = hot] (What did we do so far?) (Go on.)", "a: Done."]);
}

#[test]
fn a_pruned_result_is_cleared_before_the_next_call() {
    let mut messages = vec![typed("msg_1", "Boil it."), says("msg_2", 2, json!({}), json!([done("c1", "cold")]))];
    messages[1]["parts"][0]["state"]["time"] = json!({"compacted": 35});
    for (id, created) in [("msg_3", 30), ("msg_4", 40), ("msg_5", 50)] {
        messages.push(says(id, created, json!({}), json!([done(id, "hot")])));
    }
    let (lines, _) = read_one(&FORMAT, &export(json!({}), &messages));
    assert_eq!(lines[3..7], ["a: [msg_3 run]", "u: [msg_3 = hot]", "clear: c1", "a: [msg_4 run]"]);
}

#[test]
fn what_was_taken_back_is_another_branch() {
    let messages = [
        typed("msg_1", "Boil it."),
        says("msg_2", 2, json!({}), text("Done.")),
        typed("msg_3", "Cool it."),
        says("msg_4", 4, json!({}), text("Cold.")),
    ];
    let document = export(json!({"revert": {"messageID": "msg_3"}}), &messages);
    let (main, notes) = read_one(&FORMAT, &document);
    assert_eq!(main, ["u: Boil it.", "a: Done."]);
    assert!(notes[0].ends_with("main has another branch of 2 records here: left out (--branches all reads it)"), "{notes:?}");
    let all = read(&FORMAT, &document, Branches::All).conversations;
    assert_eq!((all[1].name.as_str(), lines(&all[1]).len()), ("main~2", 4));
    assert_eq!(read(&FORMAT, &document, Branches::Last).conversations[0].other_branches.len(), 1);
    let none = export(json!({"revert": {"messageID": messages[0]["info"]["id"]}}), &messages);
    let billed = &read(&FORMAT, &none, Branches::Last).conversations[0];
    assert_eq!((billed.messages.len(), billed.other_branches.len()), (0, 2), "its bill is left");
}

#[test]
fn of_a_cut_document_the_whole_messages_are_read() {
    let document = export(json!({}), &compacted());
    for end in (0..document.len()).step_by(7) {
        let reading = read(&FORMAT, &document[..end], Branches::Last);
        assert!(!reading.notes.is_empty(), "cut at {end}");
    }
    let at = document.find("msg_3").expect("the message");
    let (lines, notes) = read_one(&FORMAT, &document[..at]);
    assert_eq!((lines.len(), notes.len()), (3, 1), "{notes:?}");
    assert!(notes[0].ends_with("; the messages before it were kept"), "{notes:?}");
}
