//! One test for each form and peculiarity of the known files; all messages are invented.

mod fields;
mod text_calls;

use serde_json::{Value, json};

use super::peek::is_chat;
use super::read;
use crate::transcript::conversation::{BlockKind, Conversation, Origin, Role, Usage};
use crate::transcript::format::{ReadOptions, Reading};

fn read_json(value: &Value) -> Reading {
    read(value.to_string().as_bytes(), &ReadOptions::default())
}

fn read_lines(lines: &[Value]) -> Reading {
    read(jsonl(lines).as_bytes(), &ReadOptions::default())
}

fn jsonl(lines: &[Value]) -> String {
    lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn calls(ids: &[&str]) -> Value {
    let function = json!({"name": "search", "arguments": "{\"q\":1}"});
    let calls: Vec<Value> = ids.iter().map(|id| json!({"id": id, "type": "function", "function": function})).collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn tool(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "name": "search", "content": text})
}

/// Formats each message as one string: its role and the text of its blocks.
fn shape(conversation: &Conversation) -> Vec<String> {
    let message = |m: &crate::transcript::conversation::Message| {
        let blocks = m.blocks.iter().map(|id| {
            let block = conversation.block(*id);
            match block.kind {
                BlockKind::ToolUse(pair) => format!("[use {}]", conversation.pair(pair).id),
                BlockKind::ToolResult(pair) => format!("[result {}: {}]", conversation.pair(pair).id, block.text()),
                BlockKind::Media => "[image]".to_owned(),
                _ => block.text().into_owned(),
            }
        });
        let role = if m.role == Role::User { "u" } else { "a" };
        format!("{role}: {}", blocks.collect::<Vec<_>>().join(" "))
    };
    conversation.messages.iter().map(message).collect()
}

fn names(reading: &Reading) -> Vec<&str> {
    reading.conversations.iter().map(|conversation| conversation.name.as_str()).collect()
}

#[test]
fn a_message_a_line_is_one_conversation() {
    let lines = [
        json!({"role": "system", "content": "be kind"}),
        user("go"),
        calls(&["a", "b"]),
        tool("b", "two"),
        tool("a", "one"),
        assistant("done"),
    ];
    let reading = read_lines(&lines);
    let conversation = &reading.conversations[0];
    assert_eq!(shape(conversation), ["u: go", "a: [use a] [use b]", "u: [result a: one] [result b: two]", "a: done"]);
    assert_eq!((conversation.system.as_deref(), conversation.records, names(&reading)), (Some("be kind"), 6, vec!["main"]));
    assert_eq!((conversation.messages[1].line, conversation.calls.len(), reading.notes), (3, 2, vec![]));
}

#[test]
fn fine_tuning_lines_are_conversations_named_by_line() {
    let talk = json!({"messages": [user("go"), assistant("done")]});
    let reading = read_lines(&[talk.clone(), talk]);
    assert_eq!((names(&reading), shape(&reading.conversations[1]).len()), (vec!["1", "2"], 2));
}

#[test]
fn a_document_is_one_conversation_on_one_line_or_many() {
    let document = json!({"info": {}, "messages": [user("go"), assistant("done")], "cost": 1});
    assert_eq!(names(&read_json(&document)), ["main"]);
    let pretty = serde_json::to_vec_pretty(&document).expect("JSON");
    assert_eq!(names(&read(&pretty, &ReadOptions::default())), ["main"]);
    assert!(is_chat(&pretty) && is_chat(document.to_string().as_bytes()));
}

#[test]
fn a_bare_array_is_one_conversation() {
    let reading = read_json(&json!([json!({"role": "system", "content": "be kind"}), user("go"), assistant("done")]));
    assert_eq!((names(&reading), shape(&reading.conversations[0])), (vec!["main"], vec!["u: go".into(), "a: done".into()]));
}

#[test]
fn trials_of_one_task_have_names_of_their_own() {
    let trial = |task: Value, trial: u32| json!({"task_id": task, "trial": trial, "traj": [user("go"), assistant("done")]});
    let unnamed = json!({"messages": [user("go"), assistant("done")]});
    let runs = json!([trial(json!(12), 0), trial(json!(12), 1), trial(json!("x"), 0), unnamed, trial(json!(12), 1)]);
    assert_eq!(names(&read_json(&runs)), ["12", "12-trial1", "x", "3", "12-trial1-4"]);
}

#[test]
fn null_tool_calls_are_ignored() {
    let message = json!({"role": "assistant", "content": "done", "tool_calls": null, "function_call": null});
    let reading = read_lines(&[user("go"), message]);
    assert_eq!(shape(&reading.conversations[0]), ["u: go", "a: done"]);
    assert!(reading.conversations[0].messages.iter().all(|message| message.is_string_content));
}

#[test]
fn legacy_function_call_is_paired_with_next_result() {
    let call = json!({"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}});
    let result = json!({"role": "function", "name": "f", "content": "one"});
    let reading = read_lines(&[user("go"), call.clone(), result.clone(), call, result]);
    assert_eq!(
        shape(&reading.conversations[0]),
        ["u: go", "a: [use call_1]", "u: [result call_1: one]", "a: [use call_2]", "u: [result call_2: one]"]
    );
}

#[test]
fn swe_agent_list_of_call_ids_is_read() {
    let result = json!({"role": "tool", "tool_call_ids": ["a"], "content": "one"});
    assert_eq!(shape(&read_lines(&[user("go"), calls(&["a"]), result]).conversations[0])[2], "u: [result a: one]");
}

#[test]
fn content_may_be_a_list_of_parts() {
    let parts = json!([{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}, {"type": "input_audio"}]);
    let result = json!({"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "one", "cache_control": {}}]});
    let reading = read_lines(&[json!({"role": "user", "content": parts}), calls(&["a"]), result]);
    let conversation = &reading.conversations[0];
    assert_eq!(shape(conversation), ["u: look [image]", "a: [use a]", "u: [result a: one]"]);
    assert_eq!(conversation.block(conversation.messages[2].blocks[0]).wire["content"], json!([{"type": "text", "text": "one"}]));
    assert_eq!(reading.notes[0].what, "a part of type `input_audio` is neither text nor image; it was left out");
}

#[test]
fn a_later_system_message_is_text_of_the_harness() {
    let system = |text: &str| json!({"role": "system", "content": text});
    let reading = read_lines(&[system("be kind"), user("go"), system("hurry"), assistant("done")]);
    let conversation = &reading.conversations[0];
    let origins: Vec<_> = conversation.messages[0].blocks.iter().map(|id| conversation.block(*id).origin).collect();
    assert_eq!((origins, conversation.system.as_deref()), (vec![Origin::User, Origin::Injected], Some("be kind")));
}

#[test]
fn an_id_used_again_answers_the_call_before_it() {
    let reading = read_lines(&[user("go"), calls(&["a"]), tool("a", "one"), calls(&["a"]), tool("a", "two")]);
    assert_eq!(
        shape(&reading.conversations[0]),
        ["u: go", "a: [use a]", "u: [result a: one]", "a: [use a]", "u: [result a: two]"]
    );
    let note = "main: from here on, 1 call(s) have the id of an earlier call; their results are paired by order";
    assert_eq!((reading.notes[0].line, reading.notes[0].what.as_str()), (Some(4), note));
}

#[test]
fn unanswered_call_gets_a_stand_in_result() {
    let reading = read_lines(&[user("go"), calls(&["a"]), user("no"), assistant("ok")]);
    assert_eq!(shape(&reading.conversations[0])[2], "u: [result a: [no result recorded]] no");
    assert_eq!((reading.conversations[0].tool_results(), reading.notes.len()), (0, 1));
}

#[test]
fn usage_and_model_are_read_from_all_places() {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}});
    let message = json!({"role": "assistant", "content": "done", "reasoning_content": "hm", "model": "m-1", "usage": usage});
    let conversation = &read_lines(&[user("go"), message]).conversations[0];
    let expected = Usage { input: 40, cache_read: 60, output: 7, ..Usage::default() };
    assert_eq!((conversation.calls[0].usage, conversation.calls[0].model.as_deref()), (Some(expected), Some("m-1")));
    assert_eq!(conversation.block(conversation.messages[1].blocks[0]).kind, BlockKind::Thinking);
}

#[test]
fn malformed_chats_are_noted() {
    let text = format!("{}\n{{\"role\":\"user\",\"content\":\n{}\n[1]", user("go"), json!({"role": "narrator", "content": "hm"}));
    let reading = read(text.as_bytes(), &ReadOptions::default());
    let lines: Vec<_> = reading.notes.iter().map(|note| note.line).collect();
    assert_eq!((lines, shape(&reading.conversations[0])), (vec![Some(2), Some(3), Some(4)], vec!["u: go".to_owned()]));
    for broken in ["[{\"role\":", "{\"a\":\n1}", "\u{feff}[1]", "[\"\\ud83d\"]"] {
        let reading = read(broken.as_bytes(), &ReadOptions::default());
        assert!(reading.conversations.is_empty() && reading.notes.len() == 1, "{broken}");
    }
}

#[test]
fn a_document_that_breaks_off_keeps_what_is_before() {
    let cut = |whole: &Value, end: &str| {
        let text = whole.to_string();
        read(format!("{}{end}", &text[..text.len() - 2]).as_bytes(), &ReadOptions::default())
    };
    let reading = cut(&json!({"messages": [user("go"), assistant("done")]}), ",{\"role\":\"us");
    assert_eq!(shape(&reading.conversations[0]), ["u: go", "a: done"]);
    assert_eq!(reading.notes[0].what, "the document breaks off here; what is before it was read");
    let reading = cut(&json!([{"traj": [user("go"), assistant("done")]}, {"traj": [user("so")]}]), "");
    assert_eq!((names(&reading), reading.notes.len()), (vec!["0"], 1));
}

#[test]
fn chat_sniffing_does_not_claim_other_formats() {
    let block = |kind: &str| json!({"role": "assistant", "content": [{"type": kind}]});
    for kind in ["tool_use", "tool_result", "thinking"] {
        assert!(!is_chat(jsonl(&[user("go"), block(kind)]).as_bytes()), "{kind}");
        assert!(!is_chat(json!([user("go"), block(kind)]).to_string().as_bytes()), "{kind}");
    }
    let printed = json!({"role": "assistant", "content": ["TextBlock(text='hm', type='text')"]});
    assert!(!is_chat(jsonl(&[user("go"), printed]).as_bytes()));
    assert!(!is_chat(jsonl(&[user("go"), assistant("done")]).as_bytes()), "as well Anthropic's");
    assert!(!is_chat(json!({"sessionId": "s", "messages": [{"type": "user", "content": "go"}]}).to_string().as_bytes()));
    assert!(!is_chat(json!({"type": "user", "message": user("go"), "sessionId": "s"}).to_string().as_bytes()));
    assert!(!is_chat(b"") && !is_chat(b"[]") && !is_chat(b"{}") && !is_chat(b"hello"));
}

#[test]
fn chat_sniffing_recognises_chats() {
    assert!(is_chat(jsonl(&[json!({"role": "system", "content": "be kind"}), user("go")]).as_bytes()));
    assert!(is_chat(jsonl(&[user("go"), calls(&["a"])]).as_bytes()));
    assert!(is_chat(json!([user("go"), assistant("done")]).to_string().as_bytes()));
    assert!(is_chat(json!([{"task_id": 1, "traj": [user("go"), assistant("done")]}]).to_string().as_bytes()));
    assert!(is_chat(jsonl(&[json!({"messages": [user("go"), assistant("done")]})]).as_bytes()));
}

#[test]
fn fine_tuning_lines_are_not_joined() {
    let talk = |messages: &[Value]| json!({ "messages": messages });
    let (short, long) = ([user("go"), assistant("a")], [user("go"), assistant("a"), user("so"), assistant("b")]);
    let reading = read_lines(&[talk(&short), talk(&long)]);
    assert_eq!(reading.conversations.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["1", "2"]);
}

#[test]
fn what_gateways_keep_of_anthropic_is_read() {
    let call =
        json!({"id": "a", "type": "function", "function": {"name": "run", "arguments": "{}"}, "caller": {"type": "direct"}});
    let response = json!({"role": "assistant", "content": "then", "tool_calls": [call], "order": ["tool_calls", "content"]});
    let result = |is_error: Value| {
        let parts = json!([{"type": "tool_reference", "tool_name": "read"}, {"type": "text", "text": "Error: gone"}]);
        let message = json!({"role": "tool", "tool_call_id": "a", "content": parts, "is_error": is_error});
        let conversation = read_lines(&[user("go"), response.clone(), message]).conversations.swap_remove(0);
        assert_eq!(shape(&conversation)[1], "a: [use a] then");
        assert_eq!(conversation.block(conversation.messages[1].blocks[0]).wire["caller"]["type"], "direct");
        conversation.block(conversation.messages[2].blocks[0]).clone()
    };
    assert_eq!(result(json!(true)).wire["content"][0]["type"], "tool_reference");
    let [yes, no, null] = [json!(true), json!(false), Value::Null].map(result);
    assert_eq!([yes.is_error(), no.is_error(), null.is_error()], [true, false, false]);
    assert_eq!(
        [&yes.wire["is_error"], &no.wire["is_error"], &null.wire["is_error"]],
        [&json!(true), &json!(false), &Value::Null]
    );
    let odd = json!({"role": "assistant", "content": "done", "order": ["tool_calls"]});
    assert_eq!(shape(&read_lines(&[user("go"), odd]).conversations[0])[1], "a: done", "an order of other blocks says nothing");
}
