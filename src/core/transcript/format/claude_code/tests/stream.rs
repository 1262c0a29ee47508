//! What `claude -p` prints, and records of unknown types.

use super::*;

/// A record of the stream, of the main agent or of the sub-agent that a call started.
fn streamed(r#type: &str, parent: Option<&str>, message: Value) -> Value {
    json!({"type": r#type, "message": message, "parent_tool_use_id": parent, "session_id": "s1"})
}

fn answer(id: &str, parent: Option<&str>, block: Value) -> Value {
    streamed("assistant", parent, json!({"id": id, "role": "assistant", "content": [block]}))
}

fn results(parent: Option<&str>, call: &str) -> Value {
    let content = json!([{"type": "tool_result", "tool_use_id": call, "content": "done"}]);
    streamed("user", parent, json!({"role": "user", "content": content}))
}

fn run() -> Vec<Value> {
    vec![
        json!({"type": "system", "subtype": "init", "session_id": "s1", "tools": ["Task"]}),
        answer("m1", None, use_of("t1")),
        answer("n1", Some("t1"), use_of("t2")),
        results(Some("t1"), "t2"),
        answer("n2", Some("t1"), json!({"type": "text", "text": "found"})),
        results(None, "t1"),
        answer("m2", None, json!({"type": "text", "text": "done"})),
        json!({"type": "result", "subtype": "success", "session_id": "s1", "usage": {"input_tokens": 9}}),
    ]
}

#[test]
fn a_stream_has_a_thread_for_each_sub_agent() {
    let array = serde_json::to_string_pretty(&run()).expect("JSON").into_bytes();
    for bytes in [file(&run()), serde_json::to_vec(&run()).expect("JSON"), array] {
        assert!(may_be(&FORMAT, &bytes));
        let Reading { conversations, notes } = read(&bytes, &ReadOptions::default());
        let seen: Vec<_> = conversations.iter().map(|one| (one.name.as_str(), one.calls.len(), one.tool_results())).collect();
        assert_eq!((seen, notes.len()), (vec![("main", 2, 1), ("agent-t1", 2, 1)], 0));
    }
}

#[test]
fn a_stream_has_compactions() {
    let mut records = run();
    records.insert(
        6,
        json!({"type": "system", "subtype": "compact_boundary", "session_id": "s1",
        "compact_metadata": {"trigger": "auto", "pre_tokens": 9000}}),
    );
    let summary = streamed("user", None, json!({"role": "user", "content": "what was done"}));
    records.insert(7, summary.clone());
    for mark in ["isCompactSummary", "isSynthetic"] {
        records[7] = with(summary.clone(), json!({mark: true}));
        let Reading { conversations, notes } = read(&file(&records), &ReadOptions::default());
        let [compaction] = &conversations[0].compactions[..] else { panic!("{mark}: {notes:?}") };
        assert_eq!(compaction.tokens_before, Some(9000));
        let RecordedEdit::Fold { into } = &compaction.edit else { panic!("{mark}") };
        assert_eq!(show(&conversations[0], into), ["user = what was done (Compaction)"]);
    }
}

#[test]
fn a_stream_begins_with_its_prompt_which_is_not_in_it() {
    let conversations = read(&file(&run()), &ReadOptions::default()).conversations;
    for conversation in &conversations {
        let first = &conversation.messages[0];
        assert_eq!((first.role, conversation.block(first.blocks[0]).origin), (Role::User, Origin::Placeholder));
        assert_eq!(conversation.block(first.blocks[0]).recorded_tokens, Some(0));
    }
}

/// Each run prints an array, and the last one broke off.
#[test]
fn arrays_may_follow_one_another() {
    let array = |records: &[Value]| serde_json::to_string_pretty(records).expect("JSON");
    let again =
        [answer("m8", None, use_of("t8")), results(None, "t8"), answer("m9", None, json!({"type": "text", "text": "bye"}))];
    let whole = format!("{}\n{}", array(&run()), array(&again));
    for (text, calls, noted) in [(&whole[..], 4, 0), (&whole[..whole.len() - 9], 3, 1)] {
        let Reading { conversations, notes } = read(text.as_bytes(), &ReadOptions::default());
        assert_eq!((conversations[0].calls.len(), notes.len()), (calls, noted), "{notes:?}");
    }
}

#[test]
fn lines_of_an_array_are_those_of_its_elements() {
    let array = format!("[\n{},\n\n{}]", run()[1], answer("m2", None, json!({"type": "text", "text": "done"})));
    let lines: Vec<u32> = super::super::stream::records(array.as_bytes()).map(|(line, _)| line).collect();
    assert_eq!(lines, [2, 4]);
}

#[test]
fn unknown_types_are_one_note_each() {
    let records = [
        user("u1", None, "go"),
        record("of_tomorrow", "x1", Some("u1"), json!({})),
        record("of_tomorrow", "x2", Some("x1"), json!({})),
        record("another", "x3", Some("x2"), json!({})),
        says("r1", "x3", "done"),
    ];
    let (conversation, notes) = read_one(&records);
    assert_eq!(conversation.calls.len(), 1);
    let unknown = |line: u32, name: &str| format!("{line}: records of the unknown type `{name}` are not read");
    assert_eq!(notes, [format!("{} (2 times)", unknown(2, "of_tomorrow")), unknown(4, "another")]);
}
