use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::transcript::conversation::Conversation;
use crate::transcript::format::Level;

/// A conversation as written by `json.dumps(message, default=str)`.
const PRINTED: &str = r#"{"role": "user", "content": "Which tests fail?"}
{"role": "assistant", "content": ["ThinkingBlock(signature='c2ln', thinking='I run them.', type='thinking')", "TextBlock(citations=None, text=\"Let's see.\", type='text')", "ToolUseBlock(id='t1', caller=None, input={'command': 'make test', 'timeout': 2.50}, name='bash', type='tool_use')"]}
{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "1 failed"}]}
{"role": "assistant", "content": ["TextBlock(citations=None, text='One.', type='text')"]}
"#;

fn read_str(text: &str) -> (Conversation, Vec<Note>) {
    let Reading { mut conversations, notes } = read(text.as_bytes(), &ReadOptions::default());
    assert_eq!(conversations.len(), 1, "{notes:?}");
    (conversations.remove(0), notes)
}

/// Returns the origins of a conversation's blocks, message by message.
fn origins(text: &str) -> Vec<Vec<Origin>> {
    let (conversation, _) = read_str(text);
    let message_origins = |message: &Message| message.blocks.iter().map(|id| conversation.block(*id).origin).collect();
    conversation.messages.iter().map(message_origins).collect()
}

fn lines(messages: &[Value]) -> String {
    messages.iter().map(|message| format!("{message}\n")).collect()
}

fn note_tuples(notes: &[Note]) -> Vec<(Option<u32>, Level, &str)> {
    notes.iter().map(|note| (note.line, note.level, note.what.as_str())).collect()
}

#[test]
fn printed_objects_become_their_original_blocks() {
    let (conversation, notes) = read_str(PRINTED);
    assert_eq!(notes, []);
    let wires: Vec<_> = conversation.blocks.iter().map(|block| block.wire.to_string()).collect();
    assert_eq!(
        wires,
        [
            r#"{"type":"text","text":"Which tests fail?"}"#,
            r#"{"type":"thinking","thinking":"I run them.","signature":"c2ln"}"#,
            r#"{"type":"text","text":"Let's see."}"#,
            r#"{"type":"tool_use","id":"t1","name":"bash","input":{"command":"make test","timeout":2.50}}"#,
            r#"{"type":"tool_result","tool_use_id":"t1","content":"1 failed"}"#,
            r#"{"type":"text","text":"One."}"#,
        ]
    );
    assert_eq!(conversation.calls.iter().map(|call| call.response).collect::<Vec<_>>(), [1, 3]);
    assert_eq!((conversation.tool_uses(), conversation.tool_results(), conversation.records), (1, 1, 4));
    assert_eq!(conversation.pairs[0].name, "bash");
    assert_eq!(
        conversation.messages.iter().map(|m| (m.is_string_content, m.line)).collect::<Vec<_>>(),
        [(true, 1), (false, 2), (false, 3), (false, 4)]
    );
    assert_eq!(conversation.thinking, Thinking::All);
}

#[test]
fn block_objects_keep_their_characters() {
    let block =
        r#"{"tool_use_id":"t1","type":"tool_result","content":[{"text":"a","type":"text"}],"is_error":false,"extra":1.50}"#;
    let (conversation, _) = read_str(&format!(r#"{{"content": [{block}], "role": "user"}}"#));
    assert_eq!(conversation.blocks[0].wire.to_string(), block);
}

#[test]
fn consecutive_messages_of_one_role_stay_separate() {
    let say = |role: &str| json!({"role": role, "content": "a"});
    let (conversation, _) = read_str(&lines(&[say("user"), say("user"), say("assistant"), say("assistant")]));
    assert_eq!((conversation.messages.len(), conversation.calls.len()), (4, 2));
}

#[test]
fn leading_assistant_message_answers_no_request() {
    let (conversation, _) =
        read_str(&lines(&[json!({"role": "assistant", "content": "Hi."}), json!({"role": "user", "content": "Hi."})]));
    assert_eq!((conversation.messages.len(), conversation.calls.len()), (2, 0));
}

#[test]
fn block_origins_are_recognised() {
    use Origin::{Agent, Compaction, Injected, Tool, User};
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "x"});
    let text = json!({"type": "text", "text": "[x"});
    let messages = [
        (json!("Fix it."), vec![User]),
        (json!("This session is being continued from a previous conversation that ran out of context."), vec![User]),
        (json!(""), vec![User]),
        (json!("[Conversation compressed. Transcript: a]\n\nb"), vec![Compaction]),
        (json!("[Compacted]\n\nb"), vec![Compaction]),
        (json!("[Reactive compact]\n\nb"), vec![Compaction]),
        (json!("[snipped 3 messages]"), vec![Compaction]),
        (json!("[12 messages archived at a]"), vec![Compaction]),
        (json!("[Request interrupted]"), vec![Injected]),
        (json!([text, text]), vec![User, User]),
        (json!([result, text]), vec![Tool, Injected]),
    ];
    for (content, expected) in messages {
        let message = json!({"role": "user", "content": content});
        assert_eq!(origins(&lines(std::slice::from_ref(&message))), [expected], "{message}");
    }
    let (user, assistant) = (json!({"role": "user", "content": "a"}), json!({"role": "assistant", "content": "[Compacted]"}));
    assert_eq!(origins(&lines(&[user, assistant])), [[User], [Agent]]);
}

#[test]
fn the_first_system_message_is_the_prompt_and_later_ones_are_injected() {
    let system = |text: &str| json!({"role": "system", "content": [{"type": "text", "text": text}]});
    let (conversation, notes) =
        read_str(&lines(&[system("Be brief."), json!({"role": "user", "content": "a"}), system("Hurry.")]));
    assert_eq!(conversation.system.as_deref(), Some("Be brief."));
    assert_eq!(conversation.block(conversation.messages[1].blocks[0]).origin, Origin::Injected);
    let what = "a message with role \"system\" was read as text of the harness";
    assert_eq!(note_tuples(&notes), [(Some(3), Level::Info, what)]);
    assert_eq!(conversation.records, 3);
}

#[test]
fn unreadable_lines_are_noted_with_their_number() {
    let text = "{\"role\": \"user\", \"content\": \"a\"}\n\nnonsense\n[1]\n{\"content\": \"a\"}\n{\"role\": \"user\"}\n\
                {\"role\": \"user\", \"content\": 7}\n{\"role\": \"user\", \"content\": []}\n\
                {\"role\": \"assistant\", \"content\": [null, \"TextBlock(text='\"]}\n{\"role\": \"user\", \"con";
    let (conversation, notes) = read_str(text);
    assert_eq!(
        note_tuples(&notes),
        [
            (Some(3), Level::Skipped, "not valid JSON at column 2: expected ident; the line was skipped"),
            (Some(4), Level::Skipped, "expected a message: an object with \"role\" and \"content\"; it was skipped"),
            (Some(5), Level::Skipped, "the object has no \"role\", so it is not a message; it was skipped"),
            (Some(6), Level::Skipped, "the message has no \"content\"; it was skipped"),
            (Some(7), Level::Skipped, "\"content\" is neither a string nor a list of blocks; the message was skipped"),
            (Some(8), Level::Info, "the message has no blocks and was left out"),
            (Some(9), Level::Skipped, "an element of the content is neither a block nor a string; it was skipped"),
            (
                Some(9),
                Level::Info,
                "a string in a list of blocks is not a printed SDK object (the string that begins here does not end at character 16); \
                 it was read as text"
            ),
            (Some(10), Level::Skipped, "the line ends in the middle of a JSON value (cut off?); the line was skipped"),
        ]
    );
    assert_eq!(conversation.messages.len(), 2);
    assert_eq!(conversation.blocks[1].wire, json!({"type": "text", "text": "TextBlock(text='"}));
}

#[test]
fn one_odd_record_does_not_refuse_a_file() {
    let odd = [
        r#"{"role": "assistant", "content": null}"#,
        "null",
        r#"{"v": 1}"#,
        r#"{"role": "narrator", "content": "a"}"#,
        r#"{"role": 7, "content": "a"}"#,
        r#"{"role": "user", "content": [{"type": "hologram"}]}"#,
    ];
    for odd in odd {
        for text in [format!("{odd}\n{PRINTED}"), format!("{PRINTED}{odd}\n")] {
            assert!(is_like(text.as_bytes()), "{text}");
            assert_eq!(read_str(&text).0.calls.len(), 2, "{text}");
        }
        assert!(!is_like(format!("{odd}\n").as_bytes()), "{odd}");
    }
}

#[test]
fn a_kept_response_has_its_usage_and_an_odd_field_costs_the_field() {
    let usage = json!({"input_tokens": 9, "cache_read_input_tokens": 80, "output_tokens": -1});
    let response = json!({"id": "msg_1", "model": "m-1", "role": "assistant", "content": "Done.", "usage": usage});
    let (conversation, notes) = read_str(&lines(&[json!({"role": "user", "content": "Go."}), response]));
    let call = &conversation.calls[0];
    let usage = call.usage.map(|usage| (usage.input, usage.cache_read, usage.output));
    assert_eq!((usage, call.model.as_deref(), call.message_id.as_deref()), (Some((9, 80, 0)), Some("m-1"), Some("msg_1")));
    let what = "`usage.output_tokens` is a negative number; this field was left out";
    assert_eq!(note_tuples(&notes), [(Some(2), Level::Skipped, what)]);
}

#[test]
fn a_log_of_request_bodies_is_not_one_document() {
    let body = r#"{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}]}"#;
    assert!(is_like(body.as_bytes()) && !is_like(format!("{body}\n{body}\n").as_bytes()));
}

#[test]
fn document_is_read_like_lines() {
    let (from_lines, _) = read_str(PRINTED);
    let list = format!("[{}]", PRINTED.trim_end().replace('\n', ",\n"));
    let (from_list, _) = read_str(&list);
    assert_eq!(from_list, from_lines, "an array whose messages are on the same lines");
    let (request, notes) = read_str(&format!(r#"{{"model": "m", "system": "Be brief.", "messages": {list}, "max_tokens": 9}}"#));
    assert_eq!((request.messages, request.blocks, request.calls), (from_lines.messages, from_lines.blocks, from_lines.calls));
    assert_eq!((request.system.as_deref(), notes), (Some("Be brief."), vec![]));
}

#[test]
fn a_document_cut_off_keeps_the_messages_before_the_cut() {
    let (conversation, notes) = read_str("[\n{\"role\": \"user\", \"content\": \"a\"},\n{\"role\": \"assis");
    assert_eq!((conversation.messages.len(), conversation.messages[0].line), (1, 2));
    let what = "the document is broken here (EOF while parsing a string at line 3 column 15); the messages before it were kept";
    assert_eq!(note_tuples(&notes), [(Some(3), Level::Skipped, what)]);
}

#[test]
fn lone_surrogates_are_kept() {
    let (conversation, _) = read_str(r#"{"role": "user", "content": "a\ud83d"}"#);
    assert_eq!(
        crate::text::surrogates::restore_escapes(conversation.blocks[0].wire.to_string()),
        r#"{"type":"text","text":"a\ud83d"}"#
    );
    let (conversation, _) = read_str(r#"{"role": "user", "content": ["TextBlock(text='a\\ud83d', type='text')"]}"#);
    assert_eq!(
        crate::text::surrogates::restore_escapes(conversation.blocks[0].wire.to_string()),
        r#"{"type":"text","text":"a\ud83d"}"#
    );
}

#[test]
fn sniffing_recognises_messages_format() {
    let ours = [
        PRINTED.to_owned(),
        format!("\u{FEFF}[{}]", PRINTED.trim_end().replace('\n', ",")),
        r#"{"messages": [{"role": "user", "content": "a"}]}"#.to_owned(),
        r#"{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "b"}]}"#.to_owned(),
        "{\"role\": \"user\", \"content\": \"a\"}\n{\"role\": \"assistant\", \"content\": \"b\"}".to_owned(),
    ];
    for text in ours {
        assert!(is_like(text.as_bytes()), "{text}");
    }
    let others = [
        "",
        "[]",
        "{}",
        "text",
        "[INFO] started",
        r#"{"role": "system", "content": "a"}"#,
        "{\"role\": \"user\", \"content\": \"a\"}\n{\"role\": \"assistant\", \"content\": null, \"tool_calls\": []}",
        "{\"role\": \"user\", \"content\": \"a\"}\n{\"role\": \"assistant\", \"content\": \"b\", \"tool_calls\": null}",
        "{\"role\": \"user\", \"content\": \"a\"}\n{\"role\": \"tool\", \"tool_call_id\": \"t\", \"content\": \"b\"}",
        r#"{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "a"}}]}"#,
        r#"{"type": "user", "uuid": "u", "message": {"role": "user", "content": "a"}}"#,
        r#"{"messages": [{"type": "user", "content": "a"}]}"#,
        r#"{"messages": {"role": "user", "content": "a"}}"#,
    ];
    for text in others {
        assert!(!is_like(text.as_bytes()), "{text}");
    }
}

#[test]
fn sniffing_looks_at_twenty_messages() {
    let typed = "{\"role\": \"user\", \"content\": \"a\"}\n";
    let tool = "{\"role\": \"tool\", \"content\": \"a\"}\n";
    assert!(!is_like(format!("{}{tool}", typed.repeat(19)).as_bytes()));
    assert!(is_like(format!("{}{tool}", typed.repeat(20)).as_bytes()));
}

proptest! {
    #[test]
    fn hostile_messages_bytes_never_panic(bytes in any::<Vec<u8>>(), jsonish in r#"[\[\]{}",:\\\n ]{0,20}|(\{"role":"(user|assistant)","content":(\[|"|\[\["|[0-9]|\[\{"type":"[a-z_]{4}"\}\])(\}|\]|"|\n)*){1,4}"#) {
        for bytes in [&bytes[..], jsonish.as_bytes()] {
            is_like(bytes);
            read(bytes, &ReadOptions::default());
        }
    }

    /// A file that is cut off anywhere keeps every message before the cut, as lines and as one document.
    #[test]
    fn truncated_file_keeps_earlier_messages(cut in 1..PRINTED.len(), document: bool) {
        let (open, between) = if document { ("[", ",\n") } else { ("", "\n") };
        let whole = format!("{open}{}", PRINTED.trim_end().replace('\n', between));
        let Reading { conversations, notes } = read(&whole.as_bytes()[..cut], &ReadOptions::default());
        let ends = PRINTED.lines().scan(open.len(), |at, line| {
            *at += line.len() + between.len();
            Some(*at - between.len())
        });
        let complete = ends.filter(|end| *end <= cut).count();
        let (full, _) = read_str(PRINTED);
        prop_assert!(notes.len() <= 1, "{:?}", notes);
        prop_assert_eq!(conversations.first().map_or(0, |read| read.messages.len()), complete);
        for read in conversations {
            prop_assert_eq!(&read.messages[..], &full.messages[..complete]);
            prop_assert_eq!(&read.blocks[..], &full.blocks[..read.blocks.len()]);
        }
    }
}

#[test]
fn a_system_prompt_before_own_blocks_is_of_this_format() {
    let system = json!({"role": "system", "content": "be kind"});
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "run", "input": {}}]});
    let go = json!({"role": "user", "content": "go"});
    let own = lines(&[system.clone(), go.clone(), call]);
    assert!(is_like(own.as_bytes()));
    assert_eq!(read_str(&own).0.system.as_deref(), Some("be kind"));
    assert!(!is_like(lines(&[system, go]).as_bytes()), "as well of the chat API");
}
