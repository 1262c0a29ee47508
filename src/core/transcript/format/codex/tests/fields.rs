//! One odd field costs only itself.

use super::*;

#[test]
fn an_odd_field_costs_the_field_and_not_its_record() {
    let usage = json!({"input_tokens": 100, "cached_input_tokens": -5, "output_tokens": 5, "total_tokens": null});
    let lines = [
        line("turn_context", json!({"model": 5})),
        item(json!({"type": "message", "role": "user", "content": "go"})),
        item(json!({"type": "reasoning", "summary": null, "content": 7, "encrypted_content": "x"})),
        item(json!({"type": "function_call", "call_id": "a", "name": null, "arguments": {"cmd": "ls"}})),
        output("a", Value::Null),
        line("event_msg", json!({"type": "token_count", "info": {"total_token_usage": 9, "last_token_usage": usage}})),
        item(json!({"content": [{"text": "done"}, {"text": 5}], "role": "assistant", "type": "message"})),
    ];
    let (conversation, notes) = read_lines(&lines);
    assert_eq!(shape(&conversation), ["u: go", "a: [thinking ] [use a]", "u: [result a: ]", "a: done"]);
    assert_eq!(conversation.calls[0].usage.map(|usage| (usage.input, usage.cache_read)), Some((100, 0)));
    assert_eq!((conversation.calls[0].model.clone(), conversation.pairs[0].name.as_str()), (None, "unknown"));
    let skipped: Vec<_> = notes.iter().filter(|note| note.ends_with("left out")).collect();
    assert_eq!(skipped.len(), 5, "{notes:#?}");
}

#[test]
fn reasoning_without_a_summary_is_kept() {
    let lines = [user("go"), item(json!({"type": "reasoning", "encrypted_content": "x"})), assistant("ok"), tokens(100, 105)];
    let (conversation, notes) = read_lines(&lines);
    assert_eq!((shape(&conversation)[1].as_str(), notes), ("a: [thinking ] ok", vec![]));
    assert_eq!(conversation.blocks[1].recorded_tokens, Some(3));
}
