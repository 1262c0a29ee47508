//! Sub-agents whose messages are only in `progress` records.

use std::collections::HashSet;
use std::sync::Arc;

use super::*;

/// A record that reports a message of the sub-agent `agent`.
fn report(uuid: &str, parent: &str, agent: &str, message: Value) -> Value {
    let data = json!({"type": "agent_progress", "agentId": agent, "prompt": "look", "message": message});
    record("progress", uuid, Some(parent), json!({"parentToolUseID": "t1", "data": data}))
}

fn reported(r#type: &str, uuid: &str, message: Value) -> Value {
    json!({"type": r#type, "uuid": uuid, "timestamp": "2026-05-01T10:00:00Z", "requestId": format!("q-{uuid}"), "message": message})
}

fn answer(uuid: &str, block: Value, input: u64) -> Value {
    let message = json!({"id": format!("m-{uuid}"), "model": "haiku", "content": [block], "usage": {"input_tokens": input}});
    reported("assistant", uuid, message)
}

/// A session that starts a sub-agent, what it reports, and its last answer.
fn session(reports: &[Value]) -> Vec<Value> {
    let mut records = vec![user("u1", None, "go"), calls("r1", "u1", "t1")];
    records.extend_from_slice(reports);
    records.extend([result("u2", "r1", "t1"), says("r2", "u2", "done")]);
    records
}

fn names(records: &[Value], options: &ReadOptions) -> Vec<(String, usize)> {
    let conversations = read(&file(records), options).conversations;
    conversations.into_iter().map(|conversation| (conversation.name, conversation.calls.len())).collect()
}

#[test]
fn a_sub_agent_that_is_only_reported_is_a_conversation() {
    let whole = [
        report("p1", "r1", "a1", reported("user", "x1", json!({"content": [{"type": "text", "text": "look"}]}))),
        report("p2", "p1", "a1", answer("x2", use_of("t2"), 7)),
        report("p3", "p2", "a1", reported("user", "x3", json!({"content": [{"type": "tool_result", "tool_use_id": "t2"}]}))),
        report("p4", "p3", "a1", answer("x4", json!({"type": "text", "text": "found"}), 9)),
    ];
    // Versions that report responses only: the prompt is in the data of each report.
    let responses = [whole[1].clone(), whole[3].clone()];
    for (reports, messages) in [
        (&whole[..], &["user: look (User)", "assistant: use t2", "user: result t2", "assistant: found"]),
        (&responses, &["user = look (User)", "assistant: use t2", "user: placeholder t2", "assistant: found"]),
    ] {
        let conversations = read(&file(&session(reports)), &ReadOptions::default()).conversations;
        let [main, agent] = &conversations[..] else { panic!("{} conversations", conversations.len()) };
        assert_eq!((main.name.as_str(), agent.name.as_str()), ("main", "agent-a1"));
        assert_eq!((main.calls.len(), agent.calls.len()), (2, 2));
        assert_eq!(show(agent, &agent.messages), messages);
        let input: u64 = agent.calls.iter().filter_map(|call| call.usage).map(|usage| usage.input).sum();
        assert_eq!(input, 16);
        assert_eq!(agent.calls[0].request_id.as_deref(), Some("q-x2"));
    }
}

#[test]
fn a_skill_that_runs_as_an_agent_is_reported_too() {
    let mut report = report("p1", "r1", "a1", answer("x1", json!({"type": "text", "text": "found"}), 7));
    report["data"]["type"] = json!("skill_progress");
    assert_eq!(names(&session(&[report]), &ReadOptions::default()), [("main".to_owned(), 2), ("agent-a1".to_owned(), 1)]);
}

#[test]
fn a_sub_agent_with_records_or_a_file_of_its_own_is_read_once() {
    let reports =
        [report("p1", "r1", "a1", answer("x1", use_of("t2"), 7)), report("p2", "p1", "b2", answer("y1", use_of("t3"), 7))];
    let side = json!({"isSidechain": true, "agentId": "a1"});
    let own = [with(user("s1", None, "look"), side.clone()), with(says("s2", "s1", "found"), side)];
    let main = ("main".to_owned(), 2);
    let agent = |name: &str| (name.to_owned(), 1);
    let records: Vec<Value> = session(&reports).into_iter().chain(own).collect();
    assert_eq!(names(&records, &ReadOptions::default()), [main.clone(), agent("agent-b2"), agent("agent-a1")]);
    let own_files = vec![Arc::new(HashSet::from(["agent-a1".to_owned()]))];
    let options = ReadOptions { own_files, ..ReadOptions::default() };
    assert_eq!(names(&session(&reports), &options), [main.clone(), agent("agent-b2")]);
    // Reported again, after the session was resumed.
    let twice = [reports[0].clone(), report("p9", "p1", "a1", answer("x1", use_of("t2"), 7))];
    assert_eq!(names(&session(&twice), &ReadOptions::default()), [main, agent("agent-a1")]);
}

#[test]
fn a_sub_agent_whose_answers_are_not_reported_is_not_read() {
    let prompt = reported("user", "x1", json!({"content": "look"}));
    assert_eq!(names(&session(&[report("p1", "r1", "a1", prompt)]), &ReadOptions::default()), [("main".to_owned(), 2)]);
}

#[test]
fn other_progress_is_not_read() {
    let bash =
        record("progress", "p1", Some("r1"), json!({"data": {"type": "bash_progress", "output": "x", "message": "running"}}));
    let odd = record("progress", "p2", Some("p1"), json!({"data": "half"}));
    assert_eq!(names(&session(&[bash, odd]), &ReadOptions::default()), [("main".to_owned(), 2)]);
}

#[test]
fn what_a_person_typed_while_the_agent_worked_is_typed() {
    let queued = |mode: &str, text: &str| {
        let attachment = json!({"type": "queued_command", "prompt": text, "commandMode": mode});
        json!({"type": "attachment", "sessionId": "s1", "isSidechain": false, "attachment": attachment})
    };
    let records = [
        user("u1", None, "go"),
        calls("r1", "u1", "t1"),
        result("u2", "r1", "t1"),
        queued("prompt", "and the tests"),
        queued("task-notification", "task 1 is done"),
        says("r2", "u2", "done"),
    ];
    let last = "user: result t1, and the tests (User), task 1 is done (Injected)";
    check(&records, &["user = go (User)", "assistant: use t1", last, "assistant: done"]);
}
