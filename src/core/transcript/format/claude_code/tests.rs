//! Tests of each peculiarity of the format; all lines are invented.

mod billed;
mod continuations;
mod reports;
mod stream;
mod unseen;

use serde_json::{Value, json};

use super::super::shape::may_be;
use super::*;
use crate::transcript::conversation::{Block, BlockKind, Conversation, Iteration, Message, Origin, RecordedEdit, Role, Usage};
use crate::transcript::format::Level;

fn record(r#type: &str, uuid: &str, parent: Option<&str>, more: Value) -> Value {
    let common = json!({"type": r#type, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "isSidechain": false});
    with(common, more)
}

fn with(mut record: Value, more: Value) -> Value {
    if let (Value::Object(record), Value::Object(more)) = (&mut record, more) {
        record.extend(more);
    }
    record
}

/// Returns a message that a person typed.
fn user(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    record("user", uuid, parent, json!({"message": {"role": "user", "content": text}}))
}

/// Returns the result of a tool call.
fn result(uuid: &str, parent: &str, call: &str) -> Value {
    let content = json!([{"type": "tool_result", "tool_use_id": call, "content": "done"}]);
    record("user", uuid, Some(parent), json!({"message": {"role": "user", "content": content}}))
}

/// Returns a line of the response `id`.
fn response(uuid: &str, parent: &str, id: &str, block: Value) -> Value {
    let message = json!({"id": id, "model": "claude", "role": "assistant", "content": [block]});
    record("assistant", uuid, Some(parent), json!({"message": message}))
}

fn says(uuid: &str, parent: &str, text: &str) -> Value {
    response(uuid, parent, &format!("m-{uuid}"), json!({"type": "text", "text": text}))
}

/// Returns a response of one line with the tool call `call`.
fn calls(uuid: &str, parent: &str, call: &str) -> Value {
    response(uuid, parent, &format!("m-{uuid}"), use_of(call))
}

fn use_of(call: &str) -> Value {
    json!({"type": "tool_use", "id": call, "name": "Read", "input": {}})
}

fn attachment(uuid: &str, parent: &str, text: &str) -> Value {
    record("attachment", uuid, Some(parent), json!({"attachment": {"type": "total_tokens_reminder", "text": text}}))
}

fn boundary(uuid: &str, logical_parent: &str, metadata: Value) -> Value {
    let more = json!({"subtype": "compact_boundary", "logicalParentUuid": logical_parent, "compactMetadata": metadata});
    record("system", uuid, None, more)
}

fn summary(uuid: &str, parent: &str, text: &str) -> Value {
    with(user(uuid, Some(parent), text), json!({"isCompactSummary": true, "isVisibleInTranscriptOnly": true}))
}

fn file(records: &[Value]) -> Vec<u8> {
    records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}

fn read_all(records: &[Value]) -> Reading {
    read(&file(records), &ReadOptions { branches: Branches::All, ..ReadOptions::default() })
}

/// Returns the only conversation of these records, and the notes.
#[track_caller]
fn read_one(records: &[Value]) -> (Conversation, Vec<String>) {
    let mut reading = read(&file(records), &ReadOptions::default());
    assert_eq!(reading.conversations.len(), 1);
    let notes = reading.notes.iter().map(|note| format!("{}: {}", note.line.unwrap_or(0), note.what)).collect();
    (reading.conversations.remove(0), notes)
}

/// Formats messages as short lines: `role: blocks`, with `=` for a bare string.
fn show(conversation: &Conversation, messages: &[Message]) -> Vec<String> {
    let show = |message: &Message| {
        let blocks: Vec<String> = message.blocks.iter().map(|b| show_block(conversation, conversation.block(*b))).collect();
        format!("{}{} {}", message.role.as_str(), if message.is_string_content { " =" } else { ":" }, blocks.join(", "))
    };
    messages.iter().map(show).collect()
}

fn show_block(conversation: &Conversation, block: &Block) -> String {
    match (block.kind, block.origin) {
        (BlockKind::ToolUse(pair), _) => format!("use {}", conversation.pair(pair).id),
        (BlockKind::ToolResult(pair), Origin::Placeholder) => format!("placeholder {}", conversation.pair(pair).id),
        (BlockKind::ToolResult(pair), _) => format!("result {}", conversation.pair(pair).id),
        (_, Origin::Agent) => block.text().into_owned(),
        (_, origin) => format!("{} ({origin:?})", block.text()),
    }
}

#[track_caller]
fn check(records: &[Value], expected: &[&str]) {
    let (conversation, _) = read_one(records);
    assert_eq!(show(&conversation, &conversation.messages), expected);
}

#[test]
fn one_response_in_many_lines_with_results_between() {
    let records = [
        user("u", None, "go"),
        response("a1", "u", "m1", json!({"type": "thinking", "thinking": "hm"})),
        response("a2", "a1", "m1", use_of("t1")),
        result("r1", "a2", "t1"),
        response("a3", "a2", "m1", use_of("t2")),
        result("r2", "a3", "t2"),
        says("b", "r2", "ok"),
    ];
    check(&records, &["user = go (User)", "assistant: hm, use t1, use t2", "user: result t1, result t2", "assistant: ok"]);
}

#[test]
fn parallel_results_come_in_the_order_of_their_calls_and_are_no_branches() {
    // The parent of the next response is the last result; the other result is a leaf.
    let records = [
        user("u", None, "go"),
        response("a1", "u", "m1", use_of("t1")),
        response("a2", "a1", "m1", use_of("t2")),
        result("r2", "a2", "t2"),
        attachment("x", "r2", "9 left"),
        result("r1", "a1", "t1"),
        says("b", "r1", "ok"),
    ];
    let expected =
        ["user = go (User)", "assistant: use t1, use t2", "user: result t1, result t2, 9 left (Injected)", "assistant: ok"];
    check(&records, &expected);
    assert_eq!(read_one(&records).1, [""; 0]);
}

#[test]
fn user_lines_between_responses_are_one_message() {
    let records = [
        user("u", None, "go"),
        calls("a", "u", "t"),
        result("r", "a", "t"),
        record(
            "user",
            "i",
            Some("r"),
            json!({"message": {"content": [{"type": "text", "text": "[Request interrupted by user]"}]}}),
        ),
        user("u2", Some("i"), "no, here"),
        says("b", "u2", "ok"),
    ];
    let between = "user: result t, [Request interrupted by user] (Injected), no, here (User)";
    check(&records, &["user = go (User)", "assistant: use t", between, "assistant: ok"]);
}

#[test]
fn bookkeeping_and_copies_for_the_screen_are_not_read() {
    let records = [
        json!({"type": "summary", "summary": "a title", "leafUuid": "elsewhere"}),
        json!({"type": "file-history-snapshot", "messageId": "u", "snapshot": {"timestamp": 5}, "content": [1]}),
        with(user("u", None, "go"), json!({"toolUseResult": {"stdout": "much"}, "session_id": "other"})),
        record("progress", "p", Some("u"), json!({"data": {"type": "bash_progress", "output": "much"}})),
        response("e", "p", "m0", json!({"type": "text", "text": "API Error"})),
        json!({"type": "queue-operation", "operation": "enqueue", "content": ["x"], "timestamp": 7, "sessionId": "s1"}),
        record("of-tomorrow", "q", Some("p"), json!({"uuid": 5, "content": 1.5})),
        says("a", "p", "ok"),
        with(user("v", Some("a"), "for the screen"), json!({"isVisibleInTranscriptOnly": true})),
    ];
    let mut records = records.to_vec();
    records[4]["message"]["model"] = json!("<synthetic>");
    check(&records, &["user = go (User)", "assistant: ok"]);
    assert_eq!(read_one(&records).0.records, 2);
}

#[test]
fn glued_broken_and_repeated_lines_are_handled() {
    let text = format!(
        "{}{}\n{{\"type\":\"user\",\"uu\n{}\n{}",
        user("u", None, "go"),
        json!({"type": "summary", "summary": "t"}),
        user("u", None, "go"),
        says("a", "lost", "ok")
    );
    let reading = read(text.as_bytes(), &ReadOptions::default());
    let conversation = &reading.conversations[0];
    assert_eq!(show(conversation, &conversation.messages), ["user = go (User)", "assistant: ok"]);
    let notes: Vec<_> = reading.notes.iter().map(|note| (note.line, note.level)).collect();
    assert_eq!(notes, [(Some(2), Level::Skipped), (Some(3), Level::Info)]);
}

#[test]
fn a_call_has_the_usage_of_its_last_line() {
    let usage = |output: u64| {
        json!({"input_tokens": 3, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 11, "output_tokens": output,
               "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 7},
               "output_tokens_details": {"thinking_tokens": 2}, "iterations": [{"input_tokens": 3}]})
    };
    let mut records = [
        user("u", None, "go"),
        response("a1", "u", "m1", json!({"type": "text", "text": "o"})),
        response("a2", "a1", "m1", json!({"type": "text", "text": "k"})),
    ];
    records[1]["message"]["usage"] = usage(1);
    records[2]["message"]["usage"] = usage(20);
    records[1]["timestamp"] = json!("2026-01-02T03:04:05.678Z");
    records[1]["requestId"] = json!("req1");
    let (conversation, _) = read_one(&records);
    let call = &conversation.calls[0];
    let expected = Usage { input: 3, cache_read: 50, cache_write_5m: 4, cache_write_1h: 7, output: 20, reasoning: Some(2) };
    assert_eq!(call.usage, Some(expected));
    assert_eq!((call.response, call.time), (1, Some(1_767_323_045_678)));
    assert_eq!((call.model.as_deref(), call.message_id.as_deref()), (Some("claude"), Some("m1")));
    assert_eq!(call.request_id.as_deref(), Some("req1"));

    records[2]["message"]["usage"] = json!({"cache_creation_input_tokens": 11, "input_tokens": null});
    let (conversation, _) = read_one(&records);
    assert_eq!(conversation.calls[0].usage, Some(Usage { cache_write_5m: 11, ..Usage::default() }));
}

/// A request that stopped for an advisor: the numbers beside the list add up both iterations of the model itself.
#[test]
fn a_request_of_several_iterations_has_the_size_of_the_last() {
    let mut records = [user("u", None, "go"), response("a", "u", "m1", json!({"type": "text", "text": "ok"}))];
    records[1]["message"]["usage"] = json!({
        "input_tokens": 2, "cache_read_input_tokens": 210, "cache_creation_input_tokens": 15, "output_tokens": 30,
        "iterations": [
            {"type": "message", "input_tokens": 1, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 10,
             "cache_creation": {"ephemeral_1h_input_tokens": 10}, "output_tokens": 20},
            {"type": "advisor_message", "model": "claude-adviser", "input_tokens": 140, "output_tokens": 9},
            {"type": "message", "input_tokens": 1, "cache_read_input_tokens": 110, "cache_creation_input_tokens": 5,
             "cache_creation": {"ephemeral_5m_input_tokens": 5}, "output_tokens": 10}]});
    let (conversation, _) = read_one(&records);
    let call = &conversation.calls[0];
    let last = Usage { input: 1, cache_read: 110, cache_write_5m: 5, output: 10, ..Usage::default() };
    let first = Usage { input: 1, cache_read: 100, cache_write_1h: 10, output: 20, ..Usage::default() };
    let advisor = Usage { input: 140, output: 9, ..Usage::default() };
    assert_eq!(call.usage, Some(last));
    let others =
        [Iteration { model: None, usage: first }, Iteration { model: Some("claude-adviser".to_owned()), usage: advisor }];
    assert_eq!(call.other_iterations, others);
    assert_eq!(call.recorded_output(), 30);
}

#[test]
fn a_call_without_result_gets_a_stand_in_if_the_agent_went_on() {
    let records = [user("u", None, "go"), calls("a", "u", "t1"), user("u2", Some("a"), "stop"), calls("b", "u2", "t2")];
    let expected = ["user = go (User)", "assistant: use t1", "user: placeholder t1, stop (User)", "assistant: use t2"];
    check(&records, &expected);
    assert_eq!(read_one(&records).1, ["2: tool call t1 has no result in the record; a placeholder was inserted"]);
}

#[test]
fn a_second_result_is_left_out_and_a_stray_one_stays() {
    let records = [
        user("u", None, "go"),
        calls("a", "u", "t1"),
        result("r", "a", "t1"),
        result("q", "r", "t1"),
        result("s", "q", "t0"),
        says("b", "s", "ok"),
    ];
    check(&records, &["user = go (User)", "assistant: use t1", "user: result t1, result t0", "assistant: ok"]);
    let notes = [
        "4: a second result of tool call t1 was left out",
        "5: this is the result of tool call t0, which is not in the record before it",
    ];
    assert_eq!(read_one(&records).1, notes);
}

#[test]
fn unknown_parent_keeps_the_history() {
    let records = [
        user("u", Some("before this file"), "go"),
        calls("a", "u", "t"),
        result("r", "a", "t"),
        says("b", "a record that was skipped", "ok"),
    ];
    check(&records, &["user = go (User)", "assistant: use t", "user: result t", "assistant: ok"]);
}

#[test]
fn records_without_ids_are_read_in_their_order() {
    let nulls = json!({"uuid": null, "parentUuid": null});
    let records = [user("u", None, "go"), says("a", "u", "ok"), user("v", None, "more"), says("b", "v", "done")];
    let records = records.map(|record| with(record, nulls.clone()));
    check(&records, &["user = go (User)", "assistant: ok", "user = more (User)", "assistant: done"]);
}

#[test]
fn circular_parents_do_not_loop_forever() {
    let records = [user("u", Some("a"), "go"), says("a", "u", "ok"), user("v", Some("v"), "more")];
    check(&records, &["user = go (User)", "assistant: ok", "user = more (User)"]);
}

#[test]
fn an_edited_prompt_makes_a_branch() {
    let records = [
        user("u", None, "go"),
        says("a", "u", "ok"),
        user("old", Some("a"), "left"),
        attachment("x", "old", "8 left"),
        says("c", "x", "left it is"),
        user("new", Some("a"), "right"),
        says("d", "new", "right it is"),
    ];
    let last = ["user = go (User)", "assistant: ok", "user = right (User)", "assistant: right it is"];
    check(&records, &last);
    assert_eq!(read_one(&records).1, ["3: main has another branch of 2 records here: left out (--branches all reads it)"]);

    let all = read_all(&records).conversations;
    let names: Vec<_> = all.iter().map(|conversation| conversation.name.as_str()).collect();
    assert_eq!(names, ["main", "main~2"]);
    assert_eq!(show(&all[0], &all[0].messages), last);
    let other = ["user = go (User)", "assistant: ok", "user: left (User), 8 left (Injected)", "assistant: left it is"];
    assert_eq!(show(&all[1], &all[1].messages), other);
}

#[test]
fn side_chains_are_separate_conversations() {
    let side = |record: Value| with(record, json!({"isSidechain": true}));
    let agent = |record: Value| with(record, json!({"isSidechain": true, "agentId": "a7"}));
    let records = [
        user("u", None, "go"),
        side(user("s", None, "look")),
        side(user("t", None, "listen")),
        agent(user("w", Some("u"), "smell")),
        side(says("t2", "t", "heard")),
        side(says("s2", "s", "seen")),
        agent(says("w2", "gone", "smelt")),
        with(user("n", None, "hello"), json!({"sessionId": "s2"})),
        with(says("n2", "n", "hi"), json!({"sessionId": "s2"})),
        with(says("b", "u", "ok"), json!({"sessionId": "resumed"})),
    ];
    let conversations = read(&file(&records), &ReadOptions::default()).conversations;
    let shown: Vec<_> = conversations.iter().map(|c| (c.name.as_str(), show(c, &c.messages).join("; "))).collect();
    let expected = [
        ("main", "user = go (User); assistant: ok"),
        ("sidechain-1", "user = look (User); assistant: seen"),
        ("sidechain-2", "user = listen (User); assistant: heard"),
        ("agent-a7", "user = smell (User); assistant: smelt"),
        ("s2", "user = hello (User); assistant: hi"),
    ];
    assert_eq!(shown, expected.map(|(name, messages)| (name, messages.to_owned())));
}

#[test]
fn a_compaction_is_recorded_and_unrolled() {
    let records = [
        user("u", None, "go"),
        calls("a", "u", "t"),
        result("r", "a", "t"),
        boundary("c", "r", json!({"trigger": "auto", "preTokens": 900, "postTokens": 90, "durationMs": 5})),
        summary("s", "c", "so far"),
        attachment("x", "s", "7 left"),
        says("b", "x", "ok"),
    ];
    let (conversation, _) = read_one(&records);
    let unrolled = ["user = go (User)", "assistant: use t", "user: result t", "assistant: ok"];
    assert_eq!(show(&conversation, &conversation.messages), unrolled);
    let compaction = &conversation.compactions[0];
    let RecordedEdit::Fold { into } = &compaction.edit else { panic!("a fold, not {:?}", compaction.edit) };
    assert_eq!(show(&conversation, into), ["user: so far (Compaction), 7 left (Compaction)"]);
    assert_eq!((compaction.message_index, compaction.line, compaction.trigger.as_deref()), (3, 4, Some("auto")));
    assert_eq!((compaction.tokens_before, compaction.tokens_after), (Some(900), Some(90)));
}

#[test]
fn messages_on_both_sides_of_a_compaction_are_not_merged() {
    let records = [
        user("u", None, "go"),
        boundary("c", "u", json!({"trigger": "manual"})),
        summary("s", "c", "so far"),
        user("u2", Some("s"), "on"),
        says("b", "u2", "ok"),
    ];
    check(&records, &["user = go (User)", "user = on (User)", "assistant: ok"]);
}

/// The kept tail is before the boundary. The parent of the next record is the summary, or a record of the tail.
#[test]
fn kept_tail_after_compaction_is_not_duplicated() {
    let listed = json!({"preservedMessages": {"anchorUuid": "s", "uuids": ["r", "b"], "allUuids": ["r", "b"]}});
    let segment = json!({"preservedSegment": {"headUuid": "r", "anchorUuid": "s", "tailUuid": "b"}});
    for (metadata, parent) in [(listed.clone(), "x"), (listed, "b"), (segment.clone(), "x"), (segment, "b")] {
        let records = [
            user("u", None, "go"),
            calls("a", "u", "t"),
            result("r", "a", "t"),
            says("b", "r", "half"),
            boundary("c", "a", metadata),
            summary("s", "c", "so far"),
            attachment("x", "s", "7 left"),
            user("u2", Some(parent), "on"),
            says("d", "u2", "ok"),
        ];
        let (conversation, notes) = read_one(&records);
        assert_eq!(notes, [""; 0]);
        let unrolled =
            ["user = go (User)", "assistant: use t", "user: result t", "assistant: half", "user = on (User)", "assistant: ok"];
        assert_eq!(show(&conversation, &conversation.messages), unrolled);
        let RecordedEdit::Fold { into } = &conversation.compactions[0].edit else { panic!("a fold") };
        let folded = ["user = so far (Compaction)", "user: result t", "assistant: half", "user: 7 left (Compaction)"];
        assert_eq!(show(&conversation, into), folded);
        assert_eq!(into[1].blocks, conversation.messages[2].blocks);
    }
}

#[test]
fn messages_kept_before_the_summary_come_first() {
    let metadata = json!({"preservedSegment": {"headUuid": "u", "anchorUuid": "c", "tailUuid": "a"}});
    let records = [
        user("u", None, "go"),
        says("a", "u", "ok"),
        user("v", Some("a"), "more"),
        says("b", "v", "fine"),
        boundary("c", "a", metadata),
        summary("s", "c", "more was fine"),
        says("d", "s", "on"),
    ];
    let (conversation, _) = read_one(&records);
    assert_eq!(conversation.messages.len(), 5);
    let RecordedEdit::Fold { into } = &conversation.compactions[0].edit else { panic!("a fold") };
    assert_eq!(show(&conversation, into), ["user = go (User)", "assistant: ok", "user = more was fine (Compaction)"]);
}

#[test]
fn a_continued_session_begins_with_its_summary() {
    let lone = [summary("s", "elsewhere", "so far"), says("a", "s", "on")];
    let bounded = [boundary("c", "elsewhere", json!({})), summary("s", "c", "so far"), says("a", "s", "on")];
    for records in [&lone[..], &bounded[..]] {
        check(records, &["user = so far (Compaction)", "assistant: on"]);
        assert_eq!(read_one(records).0.compactions, []);
    }
}

#[test]
fn summary_without_boundary_is_still_a_compaction() {
    let mut records = [user("u", None, "go"), says("a", "u", "ok"), summary("s", "", "so far"), says("b", "s", "on")];
    records[2]["parentUuid"] = Value::Null;
    let (conversation, _) = read_one(&records);
    assert_eq!(show(&conversation, &conversation.messages), ["user = go (User)", "assistant: ok", "assistant: on"]);
    assert_eq!((conversation.compactions[0].message_index, conversation.compactions[0].line), (2, 3));
}

#[test]
fn a_micro_compaction_names_the_cleared_results() {
    let metadata = json!({"trigger": "auto", "preTokens": 60, "tokensSaved": 20, "compactedToolIds": ["t", "never seen"]});
    let records = [
        user("u", None, "go"),
        calls("a", "u", "t"),
        result("r", "a", "t"),
        record("system", "c", Some("r"), json!({"subtype": "microcompact_boundary", "microcompactMetadata": metadata})),
        says("b", "c", "ok"),
    ];
    let (conversation, _) = read_one(&records);
    assert_eq!(show(&conversation, &conversation.messages)[2], "user: result t");
    let compaction = &conversation.compactions[0];
    assert_eq!(compaction.edit, RecordedEdit::Clear { pairs: vec![crate::transcript::conversation::PairId(0)] });
    assert_eq!((compaction.message_index, compaction.tokens_before, compaction.tokens_after), (3, Some(60), Some(40)));
}

#[test]
fn a_single_record_is_a_conversation() {
    check(&[says("a", "gone", "ok")], &["assistant: ok"]);
    check(&[result("r", "gone", "t")], &["user: result t"]);
    let command = record("system", "l", None, json!({"subtype": "local_command", "content": "<local-command-stdout>x"}));
    check(&[command, user("u", Some("l"), "go")], &["user: <local-command-stdout>x (Injected), go (User)"]);
    assert_eq!(read(b"\n[]\n7", &ReadOptions::default()).conversations, []);
}

#[test]
fn content_of_other_shapes_is_noted() {
    let odd = |content: Value| record("user", "u", None, json!({"message": {"content": content}}));
    check(&[odd(json!(["go", {"type": "text", "text": ""}, 5]))], &["user: go (User)"]);
    let notes = |record: Value| read(&file(&[record]), &ReadOptions::default()).notes;
    assert_eq!(notes(odd(json!([5]))), [Note::skipped(1, "a content block that is not an object was skipped")]);
    assert_eq!(notes(odd(json!(5))), [Note::skipped(1, "the message has no content; it was skipped")]);
}

#[test]
fn sniffing_recognises_claude_code_sessions() {
    let lines = |value: Value| value.to_string().into_bytes();
    assert!(may_be(&FORMAT, &lines(user("u", None, "go"))));
    assert!(may_be(&FORMAT, &lines(json!({"type": "summary", "summary": "t", "leafUuid": "x"}))));
    assert!(may_be(&FORMAT, format!("{{\"cut\n{}", user("u", None, "go")).as_bytes()));
    assert!(!may_be(&FORMAT, &lines(json!({"timestamp": "t", "type": "session_meta", "payload": {"sessionId": "s"}}))));
    assert!(!may_be(&FORMAT, &lines(json!({"timestamp": "t", "type": "event_msg", "sessionId": "s", "payload": {}}))));
    assert!(!may_be(&FORMAT, &lines(json!({"role": "user", "content": "go"}))));
    assert!(!may_be(&FORMAT, &lines(json!({"type": "message", "message": {"role": "user"}}))));
    assert!(!may_be(&FORMAT, b"{\n\"sessionId\": \"s\"\n}"));
}

#[test]
fn ordinary_logs_are_not_surely_of_claude_code() {
    let certainty = |records: &[&str]| sniff(&Head::new("a.jsonl", records.join("\n").as_bytes()));
    let log = [r#"{"type":"event","sessionId":"s","level":"info"}"#, r#"{"type":"user","uuid":"a","text":"hi"}"#];
    assert_eq!(certainty(&log), Certainty::Maybe);
    assert_eq!(certainty(&[r#"{"type":"user","uuid":"u","message":{"role":"user","content":"go"}}"#]), Certainty::Sure);
}
