//! Fields of single providers, and fields with values that they cannot have.

use super::*;

fn notes(reading: &Reading) -> Vec<&str> {
    reading.notes.iter().map(|note| note.what.as_str()).collect()
}

fn answer(more: Value) -> Value {
    let mut message = json!({"role": "assistant", "content": "done"});
    message.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
    message
}

/// Returns the thinking of an assistant message with these fields.
fn thinking(more: Value) -> Vec<String> {
    let conversation = read_lines(&[user("go"), answer(more)]).conversations.remove(0);
    let blocks = conversation.messages[1].blocks.iter().map(|id| conversation.block(*id));
    blocks.filter(|block| block.kind == BlockKind::Thinking).map(|block| block.text().into_owned()).collect()
}

#[test]
fn a_custom_tool_is_called_with_a_text() {
    let custom = json!({"name": "patch", "input": "*** Begin"});
    let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "custom", "custom": custom}]});
    let reading = read_lines(&[user("go"), call, tool("c", "ok"), assistant("done")]);
    let conversation = &reading.conversations[0];
    assert_eq!(shape(conversation), ["u: go", "a: [use c]", "u: [result c: ok]", "a: done"]);
    assert_eq!(conversation.block(conversation.messages[1].blocks[0]).wire["input"], json!({"input": "*** Begin"}));
    assert_eq!((conversation.pairs[0].name.as_str(), reading.notes), ("patch", vec![]));
}

#[test]
fn a_refusal_and_an_audio_answer_are_responses() {
    let refusal = json!({"role": "assistant", "content": null, "refusal": "I cannot."});
    let spoken = json!({"role": "assistant", "content": null, "audio": {"id": "audio_1", "data": "AAAA", "transcript": "Yes."}});
    let named = json!({"role": "assistant", "content": null, "audio": {"id": "audio_1"}, "refusal": null});
    let reading = read_lines(&[user("go"), refusal, user("so"), spoken, user("so"), named]);
    let conversation = &reading.conversations[0];
    assert_eq!(shape(conversation)[1..4], ["a: I cannot.", "u: so", "a: Yes."]);
    assert_eq!((conversation.calls.len(), notes(&reading).len()), (3, 1));
}

#[test]
fn reasoning_is_thinking_in_every_field_and_only_once() {
    for field in ["reasoning_content", "reasoning", "reasoning_text", "thinking"] {
        assert_eq!(thinking(json!({ field: "hm" })), ["hm"], "{field}");
    }
    assert_eq!(thinking(json!({"reasoning_content": "", "reasoning": "hm"})), ["hm"]);
    assert_eq!(thinking(json!({"reasoning_content": "hm", "reasoning": "hm"})), ["hm"]);
    let block = json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"});
    assert_eq!(thinking(json!({"thinking_blocks": [block], "reasoning_content": "hm"})), ["hm"]);
    let details = json!([{"type": "reasoning.summary", "summary": "a"}, {"type": "reasoning.text", "text": "b"}]);
    assert_eq!(thinking(json!({ "reasoning_details": details })), ["a", "b"]);
    assert_eq!(thinking(json!({"reasoning_details": details, "reasoning": "the whole of it"})), ["the whole of it"]);
    assert_eq!(thinking(json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "AAAA"}]})), [""]);
}

#[test]
fn an_odd_field_costs_the_field_and_not_the_message() {
    let odd = [
        (json!({"model": 7}), "`model` is a number; this field was left out"),
        (json!({"reasoning_content": ["hm"]}), "`reasoning_content` is a list; this field was left out"),
        (json!({"tool_calls": "none"}), "`tool_calls` is a text; this field was left out"),
        (json!({"tool_calls": [7]}), "`tool_calls` is a number; this field was left out"),
        (json!({"refusal": false}), "`refusal` is true or false; this field was left out"),
        (json!({"audio": "AAAA"}), "`audio` is a text; this field was left out"),
        (json!({"usage": {"prompt_tokens": -5}}), "`usage.prompt_tokens` is a negative number; this field was left out"),
    ];
    for (fields, note) in odd {
        let reading = read_lines(&[user("go"), answer(fields.clone())]);
        assert_eq!(shape(&reading.conversations[0]), ["u: go", "a: done"], "{fields}");
        assert_eq!((reading.conversations[0].calls.len(), notes(&reading)), (1, vec![note]));
    }
    let silent = read_lines(&[json!({"role": "user", "content": null}), user("go"), assistant("done")]);
    assert_eq!(notes(&silent), ["a message of the user has no content; it was left out"]);
    let nulls = ["model", "usage", "tool_calls", "function_call", "refusal", "audio", "reasoning", "thinking_blocks", "id"];
    let nulls = Value::Object(nulls.iter().map(|key| ((*key).to_owned(), Value::Null)).collect());
    assert_eq!(read_lines(&[user("go"), answer(nulls)]).notes, []);
}

#[test]
fn ids_and_names_of_calls_may_be_odd() {
    let call = |id: Value, name: Value| json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "function": {"name": name}}]});
    let result = |id: Value| json!({"role": "tool", "tool_call_id": id, "content": "one"});
    let reading = read_lines(&[user("go"), call(json!(7), json!("f")), result(json!(7))]);
    assert_eq!(shape(&reading.conversations[0])[1..], ["a: [use 7]", "u: [result 7: one]"]);
    let reading = read_lines(&[user("go"), call(json!({}), json!(null)), result(json!(null))]);
    assert_eq!(shape(&reading.conversations[0])[1..], ["a: [use call_1]", "u: [result call_1: one]"]);
    assert_eq!(notes(&reading).len(), 2);
    let flat = json!({"role": "assistant", "tool_calls": {"id": "a", "name": "f", "args": {"x": 1}}});
    let conversation = &read_lines(&[user("go"), flat]).conversations[0];
    assert_eq!(conversation.block(conversation.messages[1].blocks[0]).wire["input"], json!({"x": 1}));
}

#[test]
fn unknown_kinds_are_one_note_with_their_count() {
    let part =
        json!({"role": "user", "content": [{"type": "input_audio"}, {"type": "input_audio"}, {"type": "text", "text": "go"}]});
    let narrator = json!({"role": "narrator", "content": "hm"});
    let reading = read_lines(&[part, narrator.clone(), json!({"v": 1}), narrator.clone(), assistant("done"), narrator]);
    assert_eq!(
        notes(&reading),
        [
            "a part of type `input_audio` is neither text nor image; it was left out (2 times)",
            "the chat API has no role `narrator`; the message was skipped (3 times)",
            "the object has no \"role\", so it is not a message; it was skipped",
        ]
    );
    assert_eq!(shape(&reading.conversations[0]), ["u: go", "a: done"]);
}
