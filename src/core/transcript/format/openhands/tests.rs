//! Invented events, and the conversation that they are.

use super::super::Branches;
use super::super::shape::{lines, may_be, read_one};
use super::*;

fn event(id: &str, kind: &str, source: &str, fields: Value) -> String {
    let mut event = json!({"id": id, "timestamp": "2026-10-05T08:00:00.000001", "source": source, "kind": kind});
    event.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
    event.to_string()
}

fn says(id: &str, text: &str) -> String {
    event(id, "MessageEvent", "user", json!({"llm_message": {"role": "user", "content": [{"type": "text", "text": text}]}}))
}

fn acts(id: &str, call: &str, response: &str, thought: &str) -> String {
    let thought = if thought.is_empty() { json!([]) } else { json!([{"type": "text", "text": thought}]) };
    let tool_call = json!({"id": call, "name": "terminal", "arguments": "{\"command\":\"ls\"}"});
    let fields = json!({"thought": thought, "tool_name": "terminal", "tool_call_id": call, "tool_call": tool_call, "llm_response_id": response});
    event(id, "ActionEvent", "agent", fields)
}

fn sees(id: &str, call: &str, text: &str) -> String {
    let observation = json!({"content": [{"type": "text", "text": text}], "is_error": false, "kind": "TerminalObservation"});
    event(id, "ObservationEvent", "environment", json!({"tool_call_id": call, "observation": observation}))
}

fn system(id: &str) -> String {
    event(id, "SystemPromptEvent", "agent", json!({"system_prompt": {"type": "text", "text": "Be brief."}, "tools": []}))
}

#[test]
fn actions_of_one_response_are_one_call() {
    let text = [
        system("e0"),
        says("e1", "go"),
        acts("e2", "c1", "r1", "I look."),
        acts("e3", "c2", "r1", ""),
        sees("e4", "c1", "one"),
        event("e5", "AgentErrorEvent", "agent", json!({"tool_call_id": "c2", "error": "no"})),
        event("e6", "ConversationStateUpdateEvent", "environment", json!({"key": "stats", "value": {}})),
        event(
            "e7",
            "MessageEvent",
            "agent",
            json!({"llm_message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}}),
        ),
        event("e8", "HatEvent", "agent", json!({})),
    ]
    .join("\n");
    let (found, notes) = read_one(&FORMAT, &text);
    assert_eq!(found, ["u: go", "a: I look. [c1 terminal] [c2 terminal]", "u: [c1 = one] [c2 ! no]", "a: Done."]);
    assert_eq!(notes.len(), 2, "{notes:?}");
    let reading = super::super::shape::read(&FORMAT, &text, Branches::Last);
    let conversation = &reading.conversations[0];
    assert_eq!((conversation.calls.len(), conversation.system.as_deref()), (2, Some("Be brief.")));
    assert!(may_be(&FORMAT, text.as_bytes()));
}

/// The second condensation also lacks what the first forgot, and the first summary.
#[test]
fn a_condensation_is_an_exact_fold() {
    let condensed = |id: &str, forgotten: &[&str], summary: &str, offset: usize| {
        event(
            id,
            "Condensation",
            "environment",
            json!({"forgotten_event_ids": forgotten, "summary": summary, "summary_offset": offset}),
        )
    };
    let text = [
        system("e0"),
        says("e1", "go"),
        acts("e2", "c1", "r1", ""),
        sees("e3", "c1", "one"),
        acts("e4", "c2", "r2", ""),
        sees("e5", "c2", "two"),
        condensed("e6", &["e2", "e3"], "I saw one.", 2),
        acts("e7", "c3", "r3", ""),
        sees("e8", "c3", "three"),
        condensed("e9", &["e4", "e5"], "I saw one and two.", 1),
        acts("e10", "c4", "r4", ""),
    ]
    .join("\n");
    let (found, notes) = read_one(&FORMAT, &text);
    assert_eq!(found[5], "fold: u: go | u: <I saw one.> | a: [c2 terminal] | u: [c2 = two]");
    assert_eq!(found[8], "fold: u: <I saw one and two.> | u: go | a: [c3 terminal] | u: [c3 = three]");
    assert_eq!(notes.len(), 0, "{notes:?}");
}

#[test]
fn lists_histories_and_files_that_begin_in_the_middle_are_read() {
    let events = [acts("e2", "c1", "r1", ""), sees("e3", "c1", "one"), acts("e4", "c2", "r2", "")];
    let list = format!("[{}]", events.join(",\n"));
    let history = format!("{{\"instance_id\": \"task-1\", \"history\": {list}}}");
    let line = |name: &str| {
        let list = list.replace('\n', "");
        format!("{{\"instance_id\": \"{name}\", \"history\": {list}}}")
    };
    let expected = ["u: [earlier messages, which are not in the file]", "a: [c1 terminal]", "u: [c1 = one]", "a: [c2 terminal]"];
    for text in [events.join("\n"), list.clone(), history] {
        let (found, notes) = read_one(&FORMAT, &text);
        assert_eq!((found, notes.len()), (expected.map(str::to_owned).to_vec(), 1));
    }
    let reading = super::super::shape::read(&FORMAT, &[line("a"), line("b")].join("\n"), Branches::Last);
    let names: Vec<_> = reading.conversations.iter().map(|one| (one.name.as_str(), lines(one).len())).collect();
    assert_eq!(names, [("a", 4), ("b", 4)]);
}
