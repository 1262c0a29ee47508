//! Request logs with one request a file.

use super::super::files::{LoggedRequest, read_files};
use super::*;

fn file(messages: &[Value], response: Value, prompt: u64) -> Vec<u8> {
    let mut response = json!({"choices": [{"message": response}], "usage": {"prompt_tokens": prompt, "completion_tokens": 7}});
    // Gateways add fields that the next request does not have.
    response["choices"][0]["message"]["provider_specific_fields"] = json!({});
    serde_json::to_vec_pretty(&json!({"messages": messages, "response": response, "timestamp": 1})).expect("JSON")
}

#[test]
fn files_of_one_conversation_are_one_reading() {
    let messages = [user("go"), call("a"), tool("a", "one")];
    let (first, second) = (file(&messages[..1], call("a"), 10), file(&messages, assistant("done"), 20));
    let (short, long) = (LoggedRequest::new(&first).expect("a request"), LoggedRequest::new(&second).expect("a request"));
    assert!(long.repeats(&short) && !short.repeats(&long) && long.answers(&short) && !short.answers(&long));
    let reading = read_files(&[("log/1.json", &first), ("log/2.json", &second)]);
    let conversation = &reading.conversations[0];
    assert_eq!(lines(conversation), ["u: go", "a: [a run]", "u: [a = one]", "a: done"]);
    assert_eq!((names(&reading), reading.notes.len()), (vec!["main"], 0));
    let places: Vec<_> = conversation.messages.iter().map(|message| conversation.line_label(message.line)).collect();
    assert_eq!(inputs(conversation), [10, 20]);
    assert_eq!(places, ["line 1 of 1.json", "line 1 of 1.json", "line 1 of 2.json", "line 1 of 2.json"]);
}

#[test]
fn another_response_or_another_task_is_another_conversation() {
    let read = |bytes: Vec<u8>| LoggedRequest::new(&bytes).expect("a request");
    let first = read(file(&[user("go")], assistant("a"), 10));
    let second = read(file(&[user("go"), assistant("b"), user("so")], assistant("c"), 20));
    assert!(second.repeats(&first) && !second.answers(&first));
    assert!(!second.repeats(&read(file(&[user("stop")], assistant("a"), 10))));
    for none in [json!([user("go")]), json!({"response": {}})] {
        assert!(LoggedRequest::new(none.to_string().as_bytes()).is_none(), "{none}");
    }
}
