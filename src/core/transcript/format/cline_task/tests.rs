use super::super::Branches;
use super::super::shape::{lines, may_be, read as read_file};
use super::*;
use crate::transcript::conversation::Conversation;
use crate::transcript::format::store::Store;

fn asks(ts: i64, text: &str, more: Value) -> Value {
    with(json!({"role": "user", "content": [{"type": "text", "text": text}], "ts": ts}), more)
}

fn says(ts: i64, text: &str, more: Value) -> Value {
    with(json!({"role": "assistant", "content": [{"type": "text", "text": text}], "ts": ts}), more)
}

fn with(mut record: Value, more: Value) -> Value {
    if let (Value::Object(record), Value::Object(more)) = (&mut record, more) {
        record.extend(more);
    }
    record
}

fn request(ts: i64, tokens: [u64; 4], more: Value) -> Value {
    let [input, output, written, read] = tokens;
    let text = json!({"tokensIn": input, "tokensOut": output, "cacheWrites": written, "cacheReads": read}).to_string();
    with(json!({"ts": ts, "type": "say", "say": "api_req_started", "text": text}), more)
}

/// Writes the files of a task, and reads them as the program does.
fn task(extension: &str, messages: &Value, screen: &Value) -> Reading {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join(extension).join("tasks/t1");
    std::fs::create_dir_all(&folder).expect("folders");
    let metadata = json!({"model_usage": [{"ts": 1, "model_id": "m1"}, {"ts": 900, "model_id": "m2"}]});
    let pretty = |value: &Value| serde_json::to_string_pretty(value).expect("JSON");
    for (name, content) in [("api_conversation_history", messages), ("ui_messages", screen), ("task_metadata", &metadata)] {
        std::fs::write(folder.join(format!("{name}.json")), pretty(content)).expect("a file");
    }
    let Store { sessions, read, .. } = FORMAT.store.expect("a store");
    let main = folder.join("api_conversation_history.json");
    assert_eq!(sessions(&main, None).expect("no error").expect("a task").len(), 1);
    let bytes = read(&main, "", 1 << 20).expect("a task");
    assert!(may_be(&FORMAT, &bytes));
    (FORMAT.read)(&bytes, &ReadOptions::default())
}

fn numbers(conversation: &Conversation) -> Vec<Option<[u64; 4]>> {
    let of = |call: &Call| call.usage.map(|usage| [usage.input, usage.cache_read, usage.cache_write_5m, usage.output]);
    conversation.calls.iter().map(of).collect()
}

fn notes(reading: &Reading) -> Vec<&str> {
    reading.notes.iter().map(|note| note.what.as_str()).collect()
}

/// The summary of Roo Code has the time before that of what it kept; it was made before the third response, says the screen. The second
/// summary hides the first. The third request was sent twice: its first response is lost.
#[test]
fn what_a_compaction_hid_is_folded_when_it_was_made() {
    let hidden = |id: &str| json!({ "condenseParent": id });
    let summary = |id: &str, more: Value| with(json!({"isSummary": true, "condenseId": id}), more);
    let messages = json!([
        asks(10, "<task>\nBoil it.\n</task>", json!({})),
        says(20, "One.", hidden("s1")),
        asks(30, "[run] Result: cold", hidden("s1")),
        says(39, "Sum one.", summary("s1", hidden("s2"))),
        says(40, "Two.", hidden("s2")),
        asks(50, "[run] Result: warm", hidden("s2")),
        says(60, "Three.", hidden("s2")),
        asks(70, "<feedback>Go on.</feedback>", hidden("s2")),
        says(79, "Sum two.", summary("s2", json!({}))),
        says(90, "Four.", json!({})),
    ]);
    let condensed = |ts: i64, id: &str| json!({"ts": ts, "type": "say", "say": "condense_context", "contextCondense": {"condenseId": id, "prevContextTokens": 900, "newContextTokens": 90}});
    let screen = json!([
        request(11, [100, 1, 20, 70], json!({})),
        request(31, [200, 2, 0, 0], json!({})),
        request(51, [300, 3, 0, 0], json!({})),
        condensed(55, "s1"),
        request(56, [310, 3, 0, 0], json!({})),
        condensed(80, "s2"),
        request(81, [400, 4, 0, 0], json!({})),
    ]);
    let reading = task("rooveterinaryinc.roo-cline", &messages, &screen);
    let conversation = &reading.conversations[0];
    assert_eq!(
        lines(conversation),
        [
            "u: <task>\nBoil it.\n</task>",
            "a: One.",
            "u: ([run] Result: cold)",
            "a: Two.",
            "u: ([run] Result: warm)",
            "fold: u: <task>\nBoil it.\n</task> | a: <Sum one.> | a: Two. | u: ([run] Result: warm)",
            "a: Three.",
            "u: <feedback>Go on.</feedback>",
            "fold: u: <task>\nBoil it.\n</task> | a: <Sum two.>",
            "a: Four.",
        ]
    );
    assert_eq!(numbers(conversation), [Some([10, 70, 20, 1]), Some([200, 0, 0, 2]), Some([310, 0, 0, 3]), Some([400, 0, 0, 4])]);
    let made = &conversation.compactions[0];
    assert_eq!((made.tokens_before, made.tokens_after, made.line), (Some(900), Some(90), 34));
    let Identity { agent, session, .. } = conversation.identity.clone();
    assert_eq!(
        (agent.as_deref(), session.as_deref(), conversation.calls[0].model.as_deref()),
        (Some("roo-code"), Some("t1"), Some("m1"))
    );
    assert_eq!(notes(&reading).len(), 2, "{:?}", reading.notes);
    assert!(notes(&reading).contains(&"a request on the screen has no response in the file; it is only in the bill"));
    assert_eq!(conversation.other_branches.len(), 1);
}

/// A mark is sent in place of what a truncation hid. Without the screen it counts from its place on.
#[test]
fn a_truncation_leaves_its_mark() {
    let hidden = json!({"truncationParent": "x"});
    let messages = json!([
        asks(10, "Boil it.", json!({})),
        says(20, "One.", hidden.clone()),
        asks(30, "[run] Result: cold", hidden),
        asks(39, "[2 messages are hidden]", json!({"isTruncationMarker": true, "truncationId": "x"})),
        says(40, "Two.", json!({})),
    ]);
    let reading = read_file(&FORMAT, &messages.to_string(), Branches::Last);
    assert_eq!(lines(&reading.conversations[0])[3..], ["fold: u: Boil it. | u: ([2 messages are hidden])", "a: Two."]);
    assert_eq!(reading.notes.len(), 2, "{:?}", reading.notes);
    assert!(notes(&reading).iter().any(|note| note.starts_with("when a compaction was made is not on the screen")));
}

/// A request that read less than its input may be of either kind.
#[test]
fn input_that_may_hold_the_cached_tokens_is_noted() {
    let messages = json!([asks(10, "Boil it.", json!({})), says(20, "Done.", json!({}))]);
    let reading = task("x", &messages, &json!([request(11, [100, 1, 20, 70], json!({}))]));
    assert_eq!(numbers(&reading.conversations[0]), [Some([10, 70, 20, 1])]);
    assert_eq!(notes(&reading), ["no request shows whether the input holds the tokens of the cache: it is taken to hold them"]);
}

/// Cline says with each entry of the screen which messages are left out then. Its input is beside the cached tokens: the first request read
/// more than its input.
#[test]
fn messages_that_are_not_sent_any_more_are_folded() {
    let call = json!([{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "c1", "name": "read_file", "input": {}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "c1", "content": "hot"}, {"type": "text", "text": "<environment_details>"}]);
    let info = json!({"modelInfo": {"modelId": "m9"}});
    let messages = json!([
        asks(0, "<task>Boil it.</task>", json!({})),
        with(json!({"role": "assistant", "content": call}), info),
        {"role": "user", "content": result},
        says(0, "Two.", json!({})),
        asks(0, "<feedback>More.</feedback>", json!({})),
        says(0, "Three.", json!({})),
    ]);
    let mut messages = messages;
    messages
        .as_array_mut()
        .expect("a list")
        .iter_mut()
        .for_each(|one| drop(one.as_object_mut().expect("an object").remove("ts")));
    let at = |index: i64, range: Value| json!({"conversationHistoryIndex": index, "conversationHistoryDeletedRange": range});
    let text = |index: i64, range: Value| with(json!({"ts": 1, "type": "say", "say": "text"}), at(index, range));
    let screen = json!([
        request(1, [10, 1, 20, 70], at(-1, Value::Null)),
        text(0, Value::Null),
        request(2, [11, 2, 0, 90], at(1, Value::Null)),
        text(2, Value::Null),
        request(3, [12, 3, 0, 0], at(3, Value::Null)),
        text(4, json!([2, 3])),
    ]);
    let reading = task("saoudrizwan.claude-dev", &messages, &screen);
    let conversation = &reading.conversations[0];
    assert_eq!(
        lines(conversation)[2..],
        [
            "u: [c1 = hot] (<environment_details>)",
            "a: Two.",
            "u: <feedback>More.</feedback>",
            "fold: u: <task>Boil it.</task> | a: I look. [c1 read_file] | u: <feedback>More.</feedback>",
            "a: Three.",
        ]
    );
    assert_eq!(numbers(conversation), [Some([10, 70, 20, 1]), Some([11, 90, 0, 2]), Some([12, 0, 0, 3])]);
    assert_eq!((conversation.identity.agent.as_deref(), conversation.calls[0].model.as_deref()), (Some("cline"), Some("m9")));
}
