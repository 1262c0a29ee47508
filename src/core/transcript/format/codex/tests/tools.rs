//! Found tools, messages of other agents, failed commands.

use super::*;

fn search(id: Value) -> String {
    item(json!({"type": "tool_search_call", "call_id": id, "arguments": {"query": "mail"}}))
}

fn found(id: Value) -> String {
    item(json!({"type": "tool_search_output", "call_id": id, "tools": [{"name": "send"}]}))
}

#[test]
fn found_tools_are_a_result() {
    let lines = [user("go"), search(json!("s")), found(json!("s")), tokens(100, 105), assistant("ok"), tokens(200, 310)];
    let (conversation, notes) = read_lines(&lines);
    assert_eq!(shape(&conversation)[1..3], ["a: [use s]", "u: [result s: [{\"name\":\"send\"}]]"]);
    assert_eq!((conversation.pairs[0].name.as_str(), notes), ("tool_search", vec![]));
}

#[test]
fn tools_that_the_provider_found_are_part_of_the_response() {
    let lines = [user("go"), search(Value::Null), found(Value::Null), assistant("ok"), tokens(100, 105)];
    let (conversation, notes) = read_lines(&lines);
    assert_eq!((shape(&conversation)[1].as_str(), notes), ("a: [other] [other] ok", vec![]));
    let found = conversation.block(conversation.messages[1].blocks[1]);
    assert!(found.text().contains("send"), "{}", found.text());
}

#[test]
fn what_another_agent_says_is_context() {
    let said = |content: Value| {
        line("inter_agent_communication", json!({"author": "/root/w", "recipient": "/root", "content": content}))
    };
    let parts = json!([{"type": "input_text", "text": "still here"}, {"type": "encrypted_content"}]);
    let lines = [user("go"), assistant("one"), said(json!("3 warnings")), assistant("two"), said(parts), said(json!(5))];
    let (conversation, notes) = read_lines(&lines);
    assert_eq!(shape(&conversation), ["u: go", "a: one", "u: 3 warnings", "a: two", "u: still here"]);
    assert_eq!(conversation.block(conversation.messages[2].blocks[0]).origin, Origin::Injected);
    assert_eq!(notes, ["1 part(s) of this message have no readable content; they were left out"; 2]);
}

#[test]
fn a_failed_command_is_an_error() {
    let failed = "Chunk ID: 1\nProcess exited with code 1\nOutput:\nno";
    let outputs = [json!(failed), json!("Process exited with code 0\nOutput:\n"), json!({"content": "no", "success": false})];
    let lines = outputs.into_iter().flat_map(|text| [user("go"), call("a"), output("a", text)]);
    let (conversation, _) = read_lines(&lines.collect::<Vec<_>>());
    let results = conversation.blocks.iter().filter(|block| matches!(block.kind, BlockKind::ToolResult(_)));
    assert_eq!(results.map(Block::is_error).collect::<Vec<_>>(), [true, false, true]);
}
