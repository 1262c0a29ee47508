//! Logs of requests with their responses.

use super::*;

fn exchange(messages: &[Value], response: Value, prompt: u64) -> Value {
    let response = json!({"id": format!("r{prompt}"), "model": "m-1", "choices": [{"message": response}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": 7}});
    json!({"messages": messages, "response": response})
}

#[test]
fn requests_that_continue_one_another_are_one_conversation() {
    let (first, second) = (call("a"), assistant("done"));
    // The gateway writes texts as parts when it marks the cache.
    let marked = json!({"role": "user", "content": [{"type": "text", "text": "go", "cache_control": {"type": "ephemeral"}}]});
    let third = [marked, first.clone(), tool("a", "one"), second.clone(), user("more")];
    let reading = read_lines(&[
        exchange(&third[..1], first, 10),
        exchange(&[user("title?")], assistant("A title"), 5),
        exchange(&[vec![user("go")], third[1..3].to_vec()].concat(), second, 20),
        exchange(&third, assistant("more done"), 30),
    ]);
    let main = &reading.conversations[0];
    assert_eq!(lines(main), ["u: go", "a: [a run]", "u: [a = one]", "a: done", "u: more", "a: more done"]);
    assert_eq!((inputs(main), names(&reading)), (vec![10, 20, 30], vec!["1", "2"]));
    assert_eq!((main.calls[1].message_id.as_deref(), main.calls[1].model.as_deref()), (Some("r20"), Some("m-1")));
    assert_eq!((main.messages[3].line, main.messages[5].line, reading.notes), (3, 4, vec![]));
}

#[test]
fn a_response_that_is_not_sent_again_is_noted() {
    let again = [exchange(&[user("go")], assistant("a"), 10), exchange(&[user("go")], assistant("b"), 11)];
    let reading = read_lines(&again);
    assert_eq!((lines(&reading.conversations[0]), names(&reading)), (vec!["u: go".into(), "a: b".into()], vec!["main"]));
    assert_eq!(reading.notes[0].what, "this response is not in the next request; it was left out");
}

#[test]
fn one_request_and_a_failed_one_are_read() {
    let one = exchange(&[user("go")], assistant("done"), 10);
    assert_eq!(lines(&read_json(&one).conversations[0]), ["u: go", "a: done"]);
    let pretty = serde_json::to_vec_pretty(&one).expect("JSON");
    assert_eq!(read(&pretty).conversations[0].calls.len(), 1);
    let failed = json!({"messages": [user("go")], "response": null});
    assert_eq!(lines(&read_json(&failed).conversations[0]), ["u: go"]);
    let text = json!({"messages": [user("go")], "response": "done"});
    assert_eq!(lines(&read_json(&text).conversations[0]), ["u: go", "a: done"]);
    let choices = json!({"messages": [user("go")], "choices": [{"message": assistant("done")}]});
    assert_eq!(lines(&read_json(&json!([choices, one])).conversations[0]), ["u: go", "a: done"]);
}

#[test]
fn calls_that_are_texts_are_refused() {
    let ran = [user("go"), assistant("```bash\nls\n```"), user("<returncode>0</returncode>\na.txt")];
    let log = [exchange(&ran[..1], ran[1].clone(), 10), exchange(&ran, assistant("done"), 20)];
    let reading = read_lines(&log);
    assert_eq!((reading.conversations.len(), reading.notes[0].line), (0, Some(2)));
    assert!(reading.notes[0].what.contains("mini-swe-agent"), "{:?}", reading.notes);
    // A chat about such output has no call.
    let asks = [user("<returncode>0</returncode> what is it?"), assistant("```bash\nls\n``` ends with it"), user("thanks")];
    assert_eq!(read_lines(&[exchange(&asks, assistant("welcome"), 10)]).conversations.len(), 1);
}
