//! The bodies of each API, and the fields of each recorder.

use super::*;

const EXPECTED: [&str; 4] = ["u: go", "a: {why} I look. [c1 run]", "u: [c1 ! no]", "a: Done."];

/// Checks that two records are one conversation with two calls.
#[track_caller]
fn check(first: Value, second: Value) {
    let reading = read_lines(&[first, second]);
    let [conversation] = reading.conversations.as_slice() else { panic!("one conversation: {reading:?}") };
    assert_eq!(lines(conversation), EXPECTED);
    assert_eq!((inputs(conversation), conversation.system.as_deref()), (vec![90, 190], Some("Be brief.")));
    assert_eq!(conversation.calls[1].model.as_deref(), Some("m-1"));
    assert_eq!(reading.notes, vec![]);
}

#[test]
fn bodies_of_messages_are_read() {
    let marked = json!([{"type": "text", "text": "go", "cache_control": {"type": "ephemeral"}}]);
    let said = json!([{"type": "thinking", "thinking": "why", "signature": "s"}, {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c1", "name": "run", "input": {}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": true}]);
    let request = |messages: Value, content: Value, input: u64| {
        let body = json!({"model": "m-1", "system": [{"type": "text", "text": "Be brief."}], "messages": messages, "tools": [{"name": "run"}]});
        let usage = json!({"input_tokens": input, "output_tokens": 7, "cache_read_input_tokens": 10});
        let response =
            json!({"id": "r", "type": "message", "role": "assistant", "model": "m-1", "content": content, "usage": usage});
        json!({"request": {"body": body}, "response": {"status": 200, "body": response}})
    };
    let (ask, answer) = (json!({"role": "user", "content": marked}), json!({"role": "assistant", "content": said}));
    let all = json!([{"role": "user", "content": "go"}, answer, {"role": "user", "content": result}]);
    check(request(json!([ask]), said, 90), request(all, json!([{"type": "text", "text": "Done."}]), 190));
}

#[test]
fn bodies_of_responses_are_read() {
    let items = [
        json!({"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "why"}]}),
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}),
        json!({"type": "function_call", "call_id": "c1", "name": "run", "arguments": "{}"}),
    ];
    let go = json!({"role": "user", "content": [{"type": "input_text", "text": "go"}]});
    let result = json!({"type": "function_call_output", "call_id": "c1", "output": "Error: no"});
    let request = |id: &str, input: &[Value], more: Value, output: &[Value], tokens: u64| {
        let mut body = json!({"model": "m-1", "instructions": "Be brief.", "input": input, "tools": [{"name": "run"}]});
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let usage = json!({"input_tokens": tokens, "input_tokens_details": {"cached_tokens": 10}, "output_tokens": 7});
        json!({"body": body, "response": {"id": id, "model": "m-1", "output": output, "usage": usage}})
    };
    let done = [json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]})];
    let all = [vec![go.clone()], items.to_vec(), vec![result.clone()]].concat();
    let whole = [request("r1", std::slice::from_ref(&go), json!({}), &items, 100), request("r2", &all, json!({}), &done, 200)];
    // With the id of the response before it, a request holds only what is new.
    let more = json!({"previous_response_id": "r1"});
    let delta = [request("r1", &[go], json!({}), &items, 100), request("r2", &[result], more, &done, 200)];
    for [first, second] in [whole, delta] {
        let reading = read_lines(&[first, second]);
        let conversation = &reading.conversations[0];
        assert_eq!(lines(conversation), ["u: go", "a: {why} I look. [c1 run]", "u: [c1 ! Error: no]", "a: Done."]);
        assert_eq!((inputs(conversation), reading.notes, reading.conversations.len()), (vec![90, 190], vec![], 1));
    }
}

/// A recorder puts the same bodies into other fields.
#[test]
fn envelopes_of_gateways_are_read() {
    let (one, two) = ([user("go")], [user("go"), call("a"), tool("a", "one")]);
    let places: [fn(Value) -> Value; 7] = [
        |body| body,
        |body| json!({"body": body}),
        |body| json!({"request": body}),
        |body| json!({"request_body": body.to_string()}),
        |body| json!({"kwargs": body}),
        |body| json!({"id": "x", "messages": "redacted", "proxy_server_request": {"url": "u", "body": body}}),
        |body| json!({"type": "GENERATION", "traceId": "t", "input": body, "output": assistant("yes")}),
    ];
    for place in places {
        let conversation = &read_lines(&[place(body(&one)), place(body(&two))]).conversations[0];
        assert_eq!(lines(conversation)[..3], ["u: go", "a: [a run]", "u: [a = one]"]);
        assert_eq!(conversation.calls.len(), 2);
    }
}

#[test]
fn spans_of_open_telemetry_are_read() {
    let text = |role: &str, text: &str| json!({"role": role, "parts": [{"type": "text", "content": text}]});
    let looked = json!({"role": "assistant", "parts": [{"type": "reasoning", "content": "why"}, {"type": "text", "content": "I look."},
        {"type": "tool_call", "id": "c1", "name": "run", "arguments": {}}]});
    let result = json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "Error: no"}]});
    let span = |messages: Value, output: Value, tokens: u64| {
        json!({"name": "chat m-1", "attributes": {
            "gen_ai.system_instructions": "[{\"type\":\"text\",\"content\":\"Be brief.\"}]", "gen_ai.response.model": "m-1",
            "gen_ai.input.messages": messages.to_string(), "gen_ai.output.messages": json!([output]).to_string(),
            "gen_ai.usage.input_tokens": tokens, "gen_ai.usage.output_tokens": 7}})
    };
    let reading = read_lines(&[
        span(json!([text("user", "go")]), looked.clone(), 90),
        span(json!([text("user", "go"), looked, result]), text("assistant", "Done."), 190),
    ]);
    let conversation = &reading.conversations[0];
    assert_eq!(lines(conversation), ["u: go", "a: {why} I look. [c1 run]", "u: [c1 ! Error: no]", "a: Done."]);
    assert_eq!((inputs(conversation), conversation.system.as_deref()), (vec![90, 190], Some("Be brief.")));
    assert_eq!(reading.notes, vec![]);
}

/// Codex has its instructions in the first message of the developer; what it says more as the developer moves at a compaction.
#[test]
fn only_the_first_message_of_the_developer_is_the_system_prompt() {
    let say = |role: &str, text: &str| json!({"role": role, "content": [{"type": "input_text", "text": text}]});
    let (system, skills, go) = (say("developer", "Be brief."), say("developer", "Skills: none."), say("user", "go"));
    let body = |input: Value| json!({"body": {"model": "m-1", "input": input, "tools": [{"name": "run"}]}});
    let summary = say("user", "So far: all done, and nothing is left to do here.");
    let answer =
        json!({"role": "assistant", "content": [{"type": "output_text", "text": "Done, all of it, and it was not much work."}]});
    let whole = json!([system, skills, go]);
    let reading = read_lines(&[
        body(whole),
        body(json!([system, skills, go, answer, say("user", "more")])),
        body(json!([system, go, skills, summary, answer, say("user", "again")])),
    ]);
    let [conversation] = reading.conversations.as_slice() else { panic!("one conversation: {reading:?}") };
    assert_eq!(conversation.system.as_deref(), Some("Be brief."));
    assert_eq!((conversation.calls.len(), conversation.compactions.len()), (2, 1));
    assert_eq!(lines(conversation)[0], "u: (Skills: none.) go");
}
