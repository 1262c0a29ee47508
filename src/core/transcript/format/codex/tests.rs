//! One test for each peculiarity of real rollouts; all lines are invented.

mod fields;
mod inherited;
mod rewind;
mod tools;
mod usage;

use serde_json::{Value, json};

use super::super::shape::may_be;
use super::{FORMAT, read};
use crate::transcript::conversation::{Block, BlockKind, Compaction, Conversation, Origin, RecordedEdit, Role, Usage};
use crate::transcript::format::{OtherFile, ReadOptions};

fn line(kind: &str, payload: Value) -> String {
    json!({"timestamp": "2026-01-02T03:04:05.006Z", "type": kind, "payload": payload}).to_string()
}

fn item(payload: Value) -> String {
    line("response_item", payload)
}

fn user(text: &str) -> String {
    item(message("user", text))
}

fn message(role: &str, text: &str) -> Value {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn assistant(text: &str) -> String {
    item(message("assistant", text))
}

fn call(id: &str) -> String {
    item(json!({"type": "function_call", "name": "exec_command", "call_id": id, "arguments": "{\"cmd\":\"ls\"}"}))
}

fn output(id: &str, output: impl Into<Value>) -> String {
    item(json!({"type": "function_call_output", "call_id": id, "output": output.into()}))
}

fn reasoning(summary: &[&str]) -> String {
    let summary: Vec<Value> = summary.iter().map(|text| json!({"type": "summary_text", "text": text})).collect();
    item(json!({"type": "reasoning", "summary": summary, "content": null, "encrypted_content": "c2VjcmV0"}))
}

/// Returns the usage of a request with `input` tokens, 10 of them cached, and a response of 5 tokens; `total` is the running total.
fn tokens(input: u64, total: u64) -> String {
    let last = json!({"input_tokens": input, "cached_input_tokens": 10, "output_tokens": 5, "reasoning_output_tokens": 3});
    let info = json!({"total_token_usage": {"total_tokens": total}, "last_token_usage": last, "model_context_window": 9000});
    line("event_msg", json!({"type": "token_count", "info": info}))
}

fn read_lines(lines: &[String]) -> (Conversation, Vec<String>) {
    let mut reading = read(lines.join("\n").as_bytes(), &ReadOptions::default());
    let notes = reading.notes.into_iter().map(|note| note.what).collect();
    (reading.conversations.pop().expect("a conversation"), notes)
}

/// Formats each message as one line: `u:` or `a:`, then its blocks.
fn shape(conversation: &Conversation) -> Vec<String> {
    let message = |m: &crate::transcript::conversation::Message| {
        let blocks = m.blocks.iter().map(|id| {
            let block = conversation.block(*id);
            match block.kind {
                BlockKind::ToolUse(pair) => format!("[use {}]", conversation.pair(pair).id),
                BlockKind::ToolResult(pair) => format!("[result {}: {}]", conversation.pair(pair).id, block.text()),
                BlockKind::Thinking => format!("[thinking {}]", block.text()),
                BlockKind::Media => "[image]".to_owned(),
                BlockKind::Other => "[other]".to_owned(),
                BlockKind::Text => block.text().into_owned(),
            }
        });
        let role = if m.role == Role::User { "u" } else { "a" };
        format!("{role}: {}", blocks.collect::<Vec<_>>().join(" "))
    };
    conversation.messages.iter().map(message).collect()
}

fn shape_of(lines: &[String]) -> Vec<String> {
    shape(&read_lines(lines).0)
}

#[test]
fn parallel_calls_and_their_outputs_are_one_response_and_one_message() {
    let lines = [
        user("go"),
        reasoning(&[]),
        assistant("looking"),
        call("a"),
        call("b"),
        output("b", "two"),
        output("a", "one"),
        tokens(100, 105),
        assistant("done"),
        tokens(120, 230),
    ];
    let (conversation, notes) = read_lines(&lines);
    assert_eq!(
        shape(&conversation),
        ["u: go", "a: [thinking ] looking [use a] [use b]", "u: [result a: one] [result b: two]", "a: done"]
    );
    let requests: Vec<_> = conversation.calls.iter().map(|call| call.usage.map(|usage| usage.request())).collect();
    assert_eq!((requests, notes), (vec![Some(100), Some(120)], vec![]));
    assert_eq!((conversation.window, conversation.records), (Some(9000), 8));
}

#[test]
fn cached_tokens_are_part_of_the_input_that_codex_counts() {
    let (conversation, _) = read_lines(&[user("go"), assistant("done"), tokens(100, 105)]);
    let usage = Usage { input: 90, cache_read: 10, output: 5, reasoning: Some(3), ..Usage::default() };
    assert_eq!(conversation.calls[0].usage, Some(usage));
}

#[test]
fn responses_without_calls_are_split_by_usage() {
    let lines = [user("go"), assistant("one"), tokens(100, 105), assistant("two"), tokens(110, 220)];
    assert_eq!(shape_of(&lines), ["u: go", "a: one", "a: two"]);
}

#[test]
fn repeated_token_count_is_ignored() {
    let lines = [
        user("go"),
        call("a"),
        output("a", "one"),
        tokens(100, 105),
        tokens(100, 105),
        reasoning(&["hm"]),
        tokens(100, 105),
        assistant("done"),
        tokens(120, 230),
    ];
    let (conversation, _) = read_lines(&lines);
    assert_eq!(shape(&conversation), ["u: go", "a: [use a]", "u: [result a: one]", "a: [thinking hm] done"]);
    assert_eq!(conversation.calls[1].usage.map(|usage| usage.request()), Some(120));
}

#[test]
fn usage_written_before_the_items_belongs_to_them() {
    let lines = [user("go"), tokens(100, 105), call("a"), output("a", "one"), tokens(120, 230), assistant("done")];
    let (conversation, _) = read_lines(&lines);
    let requests: Vec<_> = conversation.calls.iter().map(|call| call.usage.map(|usage| usage.request())).collect();
    assert_eq!(shape(&conversation), ["u: go", "a: [use a]", "u: [result a: one]", "a: done"]);
    assert_eq!(requests, [Some(100), Some(120)]);
}

#[test]
fn without_usage_an_output_ends_a_response() {
    let null = line("event_msg", json!({"type": "token_count", "info": null}));
    let lines = [user("go"), call("a"), call("b"), output("a", "one"), output("b", "two"), null, call("c"), output("c", "three")];
    assert_eq!(
        shape_of(&lines),
        ["u: go", "a: [use a] [use b]", "u: [result a: one] [result b: two]", "a: [use c]", "u: [result c: three]"]
    );
}

#[test]
fn a_message_ends_a_response_that_was_cut_short() {
    let mail = item(json!({"type": "agent_message", "author": "/root/b", "recipient": "/root",
        "content": [{"type": "input_text", "text": "mail"}, {"type": "encrypted_content", "encrypted_content": "x"}]}));
    let lines = [user("go"), reasoning(&["one"]), mail, reasoning(&["two"]), assistant("done"), tokens(100, 105)];
    let (conversation, notes) = read_lines(&lines);
    assert_eq!(shape(&conversation), ["u: go", "a: [thinking one]", "u: mail", "a: [thinking two] done"]);
    assert_eq!(conversation.calls[0].usage, None);
    assert_eq!(
        notes,
        [
            "from here on, 1 encrypted reasoning item(s) have no recorded size; only their summaries are counted",
            "1 part(s) of this message have no readable content; they were left out"
        ]
    );
}

#[test]
fn event_copies_of_messages_are_not_counted_again() {
    let copy = |kind: &str| line("event_msg", json!({"type": kind, "message": "go", "text": "go"}));
    let lines = [user("go"), copy("user_message"), copy("agent_reasoning"), copy("agent_message"), assistant("done")];
    assert_eq!(shape_of(&lines), ["u: go", "a: done"]);
}

#[test]
fn only_what_a_person_wrote_is_typed() {
    let lines = [
        item(message("developer", "rules")),
        user("# AGENTS.md instructions for /tmp/a\n…"),
        user("<environment_context>\n</environment_context>"),
        user("go"),
        assistant("done"),
    ];
    let (conversation, _) = read_lines(&lines);
    let origins: Vec<_> = conversation.messages[0].blocks.iter().map(|b| conversation.block(*b).origin).collect();
    assert_eq!(origins, [Origin::Injected, Origin::Injected, Origin::Injected, Origin::User]);
}

#[test]
fn arguments_are_an_object_and_custom_input_is_text() {
    let custom = item(json!({"type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": "*** Begin Patch"}));
    let done = item(json!({"type": "custom_tool_call_output", "call_id": "p", "output": "ok"}));
    let (conversation, notes) = read_lines(&[user("go"), call("a"), custom, output("a", "one"), done]);
    let inputs: Vec<_> = conversation.messages[1].blocks.iter().map(|b| conversation.block(*b).wire["input"].clone()).collect();
    assert_eq!(inputs, [json!({"cmd": "ls"}), json!({"input": "*** Begin Patch"})]);
    assert_eq!((conversation.pairs[1].name.as_str(), notes), ("apply_patch", vec![]));
}

#[test]
fn an_output_may_be_a_list_with_images() {
    let parts =
        json!([{"type": "input_text", "text": "seen"}, {"type": "input_image", "image_url": "data:image/png;base64,AA=="}]);
    let (conversation, _) = read_lines(&[user("go"), call("a"), output("a", parts)]);
    let result = conversation.block(conversation.messages[2].blocks[0]);
    let source = json!({"type": "base64", "media_type": "image/png", "data": "AA=="});
    assert_eq!(result.wire["content"], json!([{"type": "text", "text": "seen"}, {"type": "image", "source": source}]));
}

#[test]
fn an_image_of_the_user_is_a_block() {
    let parts =
        json!([{"type": "input_text", "text": "look"}, {"type": "input_image", "image_url": "https://example.org/a.png"}]);
    let lines = [item(json!({"type": "message", "role": "user", "content": parts})), assistant("nice")];
    assert_eq!(shape_of(&lines), ["u: look [image]", "a: nice"]);
}

#[test]
fn web_search_is_not_a_tool_pair() {
    let search = item(json!({"type": "web_search_call", "id": "ws_1", "action": {"type": "search", "query": "x"}}));
    let (conversation, notes) = read_lines(&[user("go"), search, assistant("found"), tokens(100, 105)]);
    assert_eq!((shape(&conversation)[1].as_str(), conversation.pairs.len(), notes.len()), ("a: [other] found", 0, 0));
}

#[test]
fn an_interrupted_call_is_aborted_if_the_conversation_went_on() {
    let (conversation, notes) = read_lines(&[user("go"), call("a"), user("no"), assistant("ok"), call("b")]);
    assert_eq!(shape(&conversation), ["u: go", "a: [use a]", "u: [result a: aborted] no", "a: ok [use b]"]);
    let stand_in = conversation.block(conversation.messages[2].blocks[0]);
    assert_eq!((stand_in.origin, conversation.tool_results()), (Origin::Placeholder, 0));
    assert_eq!(notes, ["call `a` has no result; `aborted` was inserted"]);
}

#[test]
fn reasoning_has_the_tokens_of_its_response_once() {
    let lines = [user("go"), reasoning(&["one", "two"]), reasoning(&[]), assistant("done"), tokens(100, 105)];
    let (conversation, _) = read_lines(&lines);
    let blocks = &conversation.messages[1].blocks;
    let sizes: Vec<_> = blocks.iter().map(|b| conversation.block(*b).recorded_tokens).collect();
    assert_eq!(sizes, [Some(3), Some(0), None]);
    assert_eq!(conversation.block(blocks[0]).text(), "one\n\ntwo");
}

#[test]
fn the_first_session_meta_and_the_latest_model_count() {
    let meta = |text: Value| line("session_meta", json!({"id": "s", "base_instructions": text}));
    let turn = |model: &str| line("turn_context", json!({"model": model, "cwd": "/tmp"}));
    let lines = [
        meta(json!({"text": "be kind"})),
        turn("m-1"),
        user("go"),
        assistant("one"),
        meta(json!("be quick")),
        turn("m-2"),
        user("more"),
        assistant("two"),
    ];
    let (conversation, _) = read_lines(&lines);
    let models: Vec<_> = conversation.calls.iter().map(|call| call.model.as_deref()).collect();
    assert_eq!((conversation.system.as_deref(), models), (Some("be kind"), vec![Some("m-1"), Some("m-2")]));
    assert_eq!((conversation.name.as_str(), conversation.calls[0].time), ("main", Some(1_767_323_045_006)));
}

fn only_compaction(conversation: &Conversation) -> (&Compaction, Vec<String>) {
    let compaction = &conversation.compactions[0];
    let RecordedEdit::Fold { into } = &compaction.edit else { panic!("a fold") };
    let blocks = into.iter().flat_map(|m| &m.blocks).map(|id| {
        let block = conversation.block(*id);
        format!("{:?} {}", block.origin, block.text())
    });
    (compaction, blocks.collect())
}

#[test]
fn a_compaction_keeps_the_users_own_blocks() {
    let history = json!([
        message("user", "go"),
        message("developer", "new rules"),
        message("user", "go"),
        {"type": "compaction", "encrypted_content": "c2VjcmV0"},
    ]);
    let estimate = json!({"total_token_usage": {"total_tokens": 105}, "last_token_usage": {"total_tokens": 1000}});
    let lines = [
        user("go"),
        call("a"),
        output("a", "one"),
        tokens(100, 105),
        line("compacted", json!({"message": "", "replacement_history": history})),
        line("event_msg", json!({"type": "token_count", "info": estimate})),
        assistant("on"),
        tokens(40, 150),
    ];
    let (conversation, notes) = read_lines(&lines);
    assert_eq!(shape(&conversation), ["u: go", "a: [use a]", "u: [result a: one]", "a: on"]);
    let (compaction, blocks) = only_compaction(&conversation);
    assert_eq!((compaction.message_index, compaction.tokens_before, compaction.tokens_after), (3, Some(100), Some(40)));
    // The text is twice in the new history but only once in the conversation, so the second one is a new block.
    assert_eq!(blocks, ["User go", "Compaction new rules", "Compaction go", "Compaction [summary, encrypted by the provider]"]);
    let readable: usize = [message("user", "go"), message("developer", "new rules"), message("user", "go")]
        .iter()
        .map(|message| message.to_string().len())
        .sum();
    let summary = conversation.blocks.iter().find(|b| b.text().starts_with("[summary")).expect("a summary");
    assert_eq!(summary.recorded_tokens, Some(1000 - readable as u64 / 4));
    assert_eq!(notes, Vec::<String>::new());
}

#[test]
fn the_item_that_holds_the_summary_is_no_call() {
    let compacted = |text: &str| {
        let history = json!([message("user", "go"), message("user", text)]);
        line("compacted", json!({"message": text, "replacement_history": history}))
    };
    let lines = |message: &str| {
        [
            user("go"),
            call("a"),
            output("a", "one"),
            tokens(100, 105),
            assistant("a is one"),
            tokens(140, 250),
            compacted(message),
            assistant("on"),
            tokens(40, 295),
        ]
    };
    let (conversation, notes) = read_lines(&lines("A summary of what was done:\na is one"));
    assert_eq!(shape(&conversation), ["u: go", "a: [use a]", "u: [result a: one]", "a: on"]);
    let (compaction, _) = only_compaction(&conversation);
    assert_eq!((compaction.message_index, compaction.tokens_before), (3, Some(140)));
    assert_eq!(compaction.summary_usage.map(|usage| usage.request()), Some(140), "its cost is known");
    assert_eq!(notes, Vec::<String>::new());

    let (conversation, _) = read_lines(&lines("Something else"));
    assert_eq!(conversation.calls.len(), 3, "what the agent said before the compaction");
}

#[test]
fn an_older_compaction_is_its_summary() {
    let compacted = line("compacted", json!({"message": "so far: nothing"}));
    let (conversation, _) = read_lines(&[user("go"), assistant("one"), compacted, user("more"), assistant("two")]);
    let (compaction, blocks) = only_compaction(&conversation);
    assert_eq!((compaction.message_index, blocks), (2, vec!["Compaction so far: nothing".to_owned()]));
}

#[test]
fn a_message_ends_where_a_compaction_was_made() {
    let compacted = line("compacted", json!({"message": "so far"}));
    let lines = [user("go"), call("a"), output("a", "one"), compacted, user("more"), assistant("two")];
    assert_eq!(shape_of(&lines), ["u: go", "a: [use a]", "u: [result a: one]", "u: more", "a: two"]);
}

#[test]
fn unknown_records_are_counted_and_broken_ones_skipped() {
    let lines = [
        user("go"),
        item(json!({"type": "hologram", "call_id": "h"})),
        item(json!({"type": "function_call", "name": "f"})),
        "{\"timestamp\":".to_owned(),
        line("world_state", json!({"full": true})),
        line("event_msg", json!({"type": "exec_command_end"})),
        line("hologram", json!({})),
        line("hologram", json!([])),
        line("event_msg", json!({"type": "hologram"})),
        assistant("done"),
    ];
    let (conversation, notes) = read_lines(&lines);
    assert_eq!(shape(&conversation), ["u: go", "a: done"]);
    assert_eq!(
        notes,
        [
            "from here on, 1 record(s) of type `response_item/hologram` were left out",
            "this `response_item` does not have the form that Codex writes (missing field `call_id`); it was skipped",
            "the line ends in the middle of a JSON value (cut off?); the line was skipped",
            "from here on, 2 record(s) of type `hologram` were left out",
            "from here on, 1 record(s) of type `event_msg/hologram` were left out",
        ]
    );
}

#[test]
fn sniffing_recognises_a_rollout_by_its_envelope() {
    assert!(may_be(&FORMAT, user("go").as_bytes()));
    assert!(!may_be(&FORMAT, br#"{"role":"user","content":"go"}"#));
    assert!(!may_be(&FORMAT, br#"{"type":"user","timestamp":"2026-01-02T03:04:05Z","message":{"role":"user","content":"go"}}"#));
    assert!(!may_be(&FORMAT, b""));
}
