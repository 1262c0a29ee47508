//! Conversations in the forms of Anthropic and OpenAI, and back: nothing is lost.

use recompact::engine::context::{Context, MessageUnit, RewriteCache};
use recompact::engine::external::{Seen, Shape};
use recompact::programs::shape::{Parsed, from_wire, to_wire};
use recompact::tokens::block_sizes::BlockSizes;
use recompact::tokens::meter::SizeUnit;
use recompact::transcript::conversation::{Conversation, Role, Thinking};
use recompact::transcript::format::{self, ReadOptions};
use serde_json::{Value, json};

use crate::support::program::fixtures;
use crate::support::{generate, transcripts};

/// Converts all messages of a conversation to text and back; returns their number.
fn check(conversation: &Conversation, place: &str) -> usize {
    let (sizes, rewrites) = (BlockSizes::new(conversation, [SizeUnit::Chars]), RewriteCache::new(conversation));
    let mut context = Context::new(conversation, &sizes, &rewrites, MessageUnit::Whole);
    for message in &conversation.messages {
        context.append(message, false);
    }
    for shape in [Shape::Anthropic, Shape::OpenAi] {
        let mut seen = Seen::default();
        let news = seen.update(&context, shape);
        let mut back: Vec<Parsed> = Vec::new();
        for message in seen.shown_new(&news, &context) {
            let line = serde_json::to_string(&to_wire(shape, &message)).expect("JSON");
            let Ok(Value::Object(mut fields)) = serde_json::from_str(&line) else { panic!("{place}: {line}") };
            assert_eq!(fields.remove("id"), Some(message.id.into()), "{place}");
            let parsed = from_wire(shape, fields).unwrap_or_else(|what| panic!("{place}: {what}: {line}"));
            match back.last_mut().filter(|_| parsed.continues) {
                Some(message) => message.blocks.extend(parsed.blocks),
                None => back.push(parsed),
            }
        }
        assert_eq!(back.len(), context.len(), "{place}, {shape:?}");
        for (at, (message, back)) in context.messages().iter().zip(back).enumerate() {
            let blocks: Vec<Value> = message.blocks.iter().map(|id| context.block(*id).wire().clone()).collect();
            assert_eq!(
                (message.role, message.is_string_content),
                (back.role, back.is_string_content),
                "{place}, {at}, {shape:?}"
            );
            assert_eq!(blocks, back.blocks, "{place}, message {at}, {shape:?}");
        }
    }
    context.len()
}

#[test]
fn fixtures_convert_without_loss() {
    let mut messages = 0;
    for file in transcripts::files(&fixtures(), "") {
        let bytes = std::fs::read(&file).expect("a fixture");
        let Some(format) = format::sniff(&bytes) else { continue };
        for conversation in (format.read)(&bytes, &ReadOptions::default()).conversations {
            messages += check(&conversation, &file.display().to_string());
        }
    }
    assert!(messages > 1_000, "{messages} messages");
}

#[test]
fn generated_conversations_convert_without_loss() {
    generate::check(20, |steps| {
        check(&generate::conversation(steps, Thinking::All), "generated");
    });
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn recordings_convert_without_loss() {
    let conversations = transcripts::RECORDINGS
        .iter()
        .flat_map(|recorded| recorded.reading.conversations.iter().map(|conversation| (recorded.name.as_str(), conversation)));
    let messages: usize = conversations.map(|(name, conversation)| check(conversation, name)).sum();
    println!("{messages} messages converted without loss");
    assert!(messages > 10_000, "{messages} messages");
}

/// What OpenAI's form has no place for, and what makes a form ambiguous.
#[test]
fn awkward_messages_convert_without_loss() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let cached = json!({"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}});
    let user = json!([
        {"type": "text", "text": "before"},
        {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "a"}, image], "is_error": true},
        {"type": "tool_result", "tool_use_id": "2"},
        {"type": "tool_result", "tool_use_id": "3", "content": "x", "role": "odd"},
        image,
        {"type": "image", "source": {"type": "url", "url": "https://host/a.png"}},
        {"type": "image", "source": {"type": "file", "file_id": "f"}},
        {"type": "document", "source": {"type": "text", "data": "d", "media_type": "text/plain"}},
        cached,
    ]);
    let assistant = json!([
        {"type": "tool_use", "id": "1", "name": "a", "input": {"n": 1.50, "big": 12345678901234567890123_u128}},
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "between"},
        {"type": "redacted_thinking", "data": "r"},
        {"type": "tool_use", "id": "2", "name": "a", "input": {}, "caller": {"type": "direct"}},
        {"type": "tool_use", "id": "3", "name": "a", "input": {}, "function": 1},
        {"type": "server_tool_use", "id": "4", "name": "search", "input": {}},
    ]);
    let line = |role: &str, content: &Value| json!({"role": role, "content": content}).to_string();
    let text = [line("user", &json!("Hi")), line("assistant", &assistant), line("user", &user), line("assistant", &json!("Bye"))];
    let reading = (format::by_name("messages").expect("the format").read)(text.join("\n").as_bytes(), &ReadOptions::default());
    assert_eq!(check(&reading.conversations[0], "awkward"), 4);
}

#[test]
fn openai_messages_are_as_its_api_has_them() {
    let read = |message: Value| match message {
        Value::Object(fields) => from_wire(Shape::OpenAi, fields),
        _ => panic!("an object"),
    };
    let assistant = read(json!({"role": "assistant", "content": "Look", "refusal": null, "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{\"path\": \".\"}"}},
        {"id": "d", "type": "function", "function": {"name": "ls", "arguments": ""}}]}));
    let blocks = [
        json!({"type": "text", "text": "Look"}),
        json!({"type": "tool_use", "id": "c", "name": "ls", "input": {"path": "."}}),
        json!({"type": "tool_use", "id": "d", "name": "ls", "input": {}}),
    ];
    let expected = |role, is_string_content, blocks: &[Value]| {
        Ok(Parsed { role, is_string_content, continues: false, blocks: blocks.to_vec() })
    };
    assert_eq!(assistant, expected(Role::Assistant, false, &blocks));
    assert_eq!(
        read(json!({"role": "user", "content": "Hi"})),
        expected(Role::User, true, &[json!({"type": "text", "text": "Hi"})])
    );
    let result = json!({"type": "tool_result", "tool_use_id": "c", "content": "a"});
    assert_eq!(read(json!({"role": "tool", "tool_call_id": "c", "content": "a"})), expected(Role::User, false, &[result]));
    for (message, what) in [
        (json!({"role": "tool", "content": "a"}), "`tool_call_id`"),
        (json!({"role": "user", "content": 5}), "`content` is a text, a list of parts, or null"),
        (json!({"role": "user", "content": "a", "name": "x"}), "no field `name`"),
        (json!({"role": "assistant", "content": null}), "it has no content"),
        (json!({"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "a", "arguments": "{"}}]}), "is not JSON"),
        (json!({"role": "assistant", "content": "a", "order": ["content", "content"]}), "`order` names"),
        (json!({"role": "developer", "content": "a"}), "the role `developer` is unknown"),
        (json!({"content": "a"}), "`role` is missing"),
    ] {
        let error = read(message).expect_err(what);
        assert!(error.to_string().contains(what), "{error}");
    }
}
