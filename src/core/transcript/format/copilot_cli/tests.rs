//! One test for each rule of the reader; all events are invented.

use super::super::Branches;
use super::super::shape::{read as read_file, read_one};
use super::*;

fn event(kind: &str, data: Value) -> String {
    json!({"type": kind, "data": data, "id": "e", "timestamp": "2026-10-05T08:00:00.000Z", "parentId": null}).to_string()
}

fn says(call: &str, content: &str, tools: &[&str]) -> String {
    let requests: Vec<Value> = tools.iter().map(|id| json!({"toolCallId": id, "name": "run", "arguments": {}})).collect();
    event(
        "assistant.message",
        json!({"messageId": "m", "model": "m1", "content": content, "toolRequests": requests, "outputTokens": 7, "apiCallId": call}),
    )
}

fn result(id: &str, success: bool, text: &str) -> String {
    let data = match success {
        true => json!({"toolCallId": id, "success": true, "result": {"content": text, "detailedContent": "shown"}}),
        false => json!({"toolCallId": id, "success": false, "error": {"message": text}}),
    };
    event("tool.execution_complete", data)
}

#[test]
fn events_are_read_as_copilot_sends_them() {
    let session = [
        event("session.start", json!({"sessionId": "s", "producer": "copilot-agent", "context": {"cwd": "/home/ada/kettle"}})),
        event("system.message", json!({"content": "Be brief."})),
        event("user.message", json!({"content": "Boil it.", "transformedContent": "Now: 8\n\nBoil it."})),
        event("hook.start", json!({})),
        says("1", "I look.", &["c1"]),
        says("1", "", &["c2"]),
        result("c2", false, "no water"),
        result("c1", true, "cold"),
        event("subagent.started", json!({})),
        event("assistant.reasoning", json!({"content": "copy"})),
        says("2", "Empty.", &["c3"]),
        event("abort", json!({"reason": "user"})),
        event("user.message", json!({"content": "Why?"})),
        says("3", "No water.", &[]),
    ]
    .join("\n");
    let (lines, notes) = read_one(&FORMAT, &session);
    assert_eq!(
        lines,
        [
            "u: Now: 8\n\nBoil it.",
            "a: I look. [c1 run] [c2 run]",
            "u: [c1 = cold] [c2 ! no water]",
            "a: Empty. [c3 run]",
            "u: [c3 ? [no result in the record]] Why?",
            "a: No water.",
        ]
    );
    assert_eq!(
        notes,
        [
            "1: of its calls the session records only the output tokens (28 in all), so it has no bill",
            "9: events of the unknown type `subagent.started` are not read",
            "11: call `c3` has no result; `[no result in the record]` was inserted",
        ]
    );
    let conversation = read_file(&FORMAT, &session, Branches::Last).conversations.remove(0);
    assert_eq!((conversation.system.as_deref(), conversation.calls.len()), (Some("Be brief."), 3));
    assert_eq!(conversation.calls[1].usage, None, "without the tokens of the request there is no bill");
}

#[test]
fn of_a_compaction_only_the_summary_is_known() {
    let compaction = json!({"success": true, "summaryContent": "so far", "preCompactionTokens": 900, "trigger": "auto"});
    let failed = json!({"success": false, "error": "none"});
    let session = [
        event("user.message", json!({"content": "Boil it."})),
        says("1", "I look.", &["c1"]),
        result("c1", true, "cold"),
        event("session.compaction_start", json!({})),
        event("session.compaction_complete", failed),
        event("session.compaction_complete", compaction),
        says("2", "Done.", &[]),
    ];
    let (lines, notes) = read_one(&FORMAT, &session.join("\n"));
    assert_eq!(lines, ["u: Boil it.", "a: I look. [c1 run]", "u: [c1 = cold]", "fold: u: <so far>", "a: Done."]);
    assert_eq!(
        notes,
        [
            "1: of its calls the session records only the output tokens (14 in all), so it has no bill",
            "5: a compaction failed; the context stayed",
            "6: the record does not say which messages a compaction kept; only its summary is read",
        ]
    );
}
