//! What a record says about the price of a call.

use super::*;
use crate::transcript::conversation::Service;

/// A response with this usage.
fn costs(uuid: &str, parent: &str, usage: Value) -> Value {
    let message =
        json!({"id": format!("m-{uuid}"), "model": "claude", "content": [{"type": "text", "text": "done"}], "usage": usage});
    record("assistant", uuid, Some(parent), json!({"message": message}))
}

#[test]
fn a_call_has_the_service_that_changes_its_price() {
    let service =
        |modes: &[&str], web_searches| Service { modes: modes.iter().map(|mode| (*mode).to_owned()).collect(), web_searches };
    for (usage, expected) in [
        (json!({"speed": "standard", "service_tier": "standard", "inference_geo": "not_available"}), service(&[], 0)),
        (json!({"speed": null, "service_tier": "default", "inference_geo": ""}), service(&[], 0)),
        (json!({"speed": "fast", "inference_geo": "us"}), service(&["fast", "us"], 0)),
        (json!({"service_tier": "batch", "inference_geo": "global"}), service(&["batches"], 0)),
        (json!({"service_tier": "priority"}), service(&["priority"], 0)),
        (json!({"server_tool_use": {"web_search_requests": 7, "web_fetch_requests": 3}}), service(&[], 7)),
    ] {
        let (conversation, notes) = read_one(&[user("u1", None, "go"), costs("r1", "u1", usage.clone())]);
        assert_eq!((&conversation.calls[0].service, notes.len()), (&expected, 0), "{usage}");
    }
}

#[test]
fn calls_of_branches_that_are_left_are_billed() {
    let usage = |input: u64| json!({"input_tokens": input, "output_tokens": 1});
    let records = [
        user("u1", None, "go"),
        costs("r1", "u1", usage(10)),
        user("u2", Some("r1"), "this way"),
        costs("r2", "u2", usage(20)),
        user("u3", Some("r1"), "no, that way"),
        costs("r3", "u3", usage(30)),
    ];
    let (conversation, _) = read_one(&records);
    let inputs = |calls: &[crate::transcript::conversation::Call]| -> Vec<u64> {
        calls.iter().filter_map(|call| call.usage).map(|usage| usage.input).collect()
    };
    assert_eq!((inputs(&conversation.calls), inputs(&conversation.other_branches)), (vec![10, 30], vec![20]));
    let all = read_all(&records).conversations;
    assert!(all.iter().all(|conversation| conversation.other_branches.is_empty()), "each is read as a conversation");
}

#[test]
fn what_the_provider_cleared_is_an_edit_of_the_record() {
    let cleared = |uuid: &str, parent: &str, call: &str, uses: usize| {
        let edits = json!([{"type": "clear_tool_uses_20250919", "cleared_tool_uses": uses, "cleared_input_tokens": 9}]);
        let message =
            json!({"id": format!("m-{uuid}"), "content": [use_of(call)], "context_management": {"applied_edits": edits}});
        record("assistant", uuid, Some(parent), json!({"message": message}))
    };
    let records = [
        user("u1", None, "go"),
        calls("r1", "u1", "t1"),
        result("u2", "r1", "t1"),
        calls("r2", "u2", "t2"),
        result("u3", "r2", "t2"),
        cleared("r3", "u3", "t3", 1),
        result("u4", "r3", "t3"),
        cleared("r4", "u4", "t4", 2),
        result("u5", "r4", "t4"),
        cleared("r5", "u5", "t5", 2),
    ];
    let (conversation, _) = read_one(&records);
    let edits: Vec<(usize, Vec<&str>)> = conversation
        .compactions
        .iter()
        .map(|compaction| match &compaction.edit {
            RecordedEdit::Clear { pairs } => {
                (compaction.message_index, pairs.iter().map(|pair| conversation.pair(*pair).id.as_str()).collect())
            }
            RecordedEdit::Fold { .. } => unreachable!("nothing was summarised"),
        })
        .collect();
    assert_eq!(edits, [(4, vec!["t1"]), (6, vec!["t2"])]);
}

#[test]
fn an_odd_number_costs_only_itself() {
    let usage = json!({"input_tokens": -5, "output_tokens": 9, "speed": 2, "cache_read_input_tokens": "many"});
    let (conversation, notes) = read_one(&[user("u1", None, "go"), costs("r1", "u1", usage)]);
    assert_eq!(conversation.calls[0].usage, Some(Usage { output: 9, ..Usage::default() }));
    assert_eq!(notes.len(), 3, "{notes:?}");
}

/// A derived struct reads a list as its fields in their order: input and output, five minutes and an hour.
#[test]
fn a_list_in_place_of_an_object_is_an_odd_field() {
    let notes_of = |usage: Value| {
        let (conversation, notes) = read_one(&[user("u1", None, "go"), costs("r1", "u1", usage)]);
        (conversation.calls[0].usage, notes.len())
    };
    assert_eq!(notes_of(json!([5, 9])), (None, 1));
    let creation = json!({"input_tokens": 5, "output_tokens": 9, "cache_creation_input_tokens": 7, "cache_creation": [3, 4]});
    let usage = Usage { input: 5, output: 9, cache_write_5m: 7, ..Usage::default() };
    assert_eq!(notes_of(creation), (Some(usage), 1));
}
