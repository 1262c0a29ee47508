//! One test for each rule of the reader; all records are invented.

use super::super::Branches;
use super::super::shape::{read as read_file, read_one};
use super::*;
use serde_json::json;

fn trajectory(more: Value, steps: Value) -> String {
    let mut root = json!({"schema_version": "ATIF-v1.7", "agent": {"name": "a", "model_name": "m1"}, "steps": steps});
    if let (Value::Object(root), Value::Object(more)) = (&mut root, more) {
        root.extend(more);
    }
    root.to_string()
}

fn call(id: &str) -> Value {
    json!({"tool_call_id": id, "function_name": "run", "arguments": {}})
}

#[test]
fn steps_are_messages_and_calls() {
    let metrics = json!({"prompt_tokens": 100, "cached_tokens": 60, "completion_tokens": 7});
    let image = json!({"type": "image", "source": {"media_type": "image/png", "path": "a.png"}});
    let steps = json!([
        {"step_id": 1, "source": "system", "message": "Be brief."},
        {"step_id": 2, "source": "user", "message": [{"type": "text", "text": "Boil it."}, image, {"type": "audio"}]},
        {"step_id": 3, "source": "agent", "message": "Before.", "is_copied_context": true, "metrics": metrics},
        {"step_id": 4, "source": "agent", "message": "I look.", "reasoning_content": "hm", "tool_calls": [call("c1"), call("c2")],
            "observation": {"results": [{"source_call_id": "c2", "content": "Exit code: 1"}, {"content": "lost"}]}, "metrics": metrics},
        {"step_id": 5, "source": "system", "message": "be quick"},
        {"step_id": 6, "source": "agent", "message": "", "tool_calls": [call("c3")], "observation": {"results": [{"content": "hot"}]},
            "metrics": metrics, "llm_call_count": 2},
        {"step_id": 7, "source": "agent", "message": "Done."},
    ]);
    let other = json!([{"trajectory_id": "t2", "steps": [{"source": "user", "message": "Help."}, {"source": "agent", "message": "I do."}]}]);
    let text = trajectory(json!({"subagent_trajectories": other}), steps);
    let reading = read_file(&FORMAT, &text, Branches::Last);
    let main = &reading.conversations[0];
    assert_eq!(
        super::super::shape::lines(main),
        [
            "u: Boil it. [image]",
            "a: Before.",
            "a: {hm} I look. [c1 run] [c2 run]",
            "u: [c1 ? [no result in the record]] [c2 ! Exit code: 1] (lost) (be quick)",
            "a: [c3 run]",
            "u: [c3 = hot]",
            "a: Done.",
        ]
    );
    let usages: Vec<_> =
        main.calls.iter().map(|call| call.usage.map(|usage| [usage.input, usage.cache_read, usage.output])).collect();
    assert_eq!(usages, [Some([40, 60, 7]), None, None]);
    assert_eq!((main.system.as_deref(), main.calls[0].model.as_deref()), (Some("Be brief."), Some("m1")));
    assert_eq!(reading.conversations[1].name, "agent-1-t2");
    let notes: Vec<&str> = reading.notes.iter().map(|note| note.what.as_str()).collect();
    assert!(notes.contains(&"a step sums the usage of several calls; it was left out"), "{notes:?}");
    assert!(notes.contains(&"parts of the type `audio` are not read"), "{notes:?}");
}

#[test]
fn a_cut_trajectory_keeps_its_first_steps() {
    let steps = json!([{"source": "user", "message": "Boil it."}, {"source": "agent", "message": "Done."}]);
    let text = trajectory(json!({}), steps);
    let (lines, notes) = read_one(&FORMAT, &text[..text.find("Done").expect("the step")]);
    assert_eq!((lines.len(), notes.len()), (1, 1), "{notes:?}");
}

#[test]
fn a_trajectory_without_steps_may_have_a_bill() {
    let trajectory = |extra: Value| json!({"schema_version": "ATIF-v1.8", "agent": {"name": "a"}, "steps": [], "extra": extra});
    let read = |extra: Value| read(trajectory(extra).to_string().as_bytes(), &ReadOptions::default()).conversations;
    let left = json!({"metrics": {"prompt_tokens": 100, "completion_tokens": 5, "cached_tokens": 40}});
    let conversations = read(json!({"recompact": {"other_branches": [left]}}));
    let billed = conversations[0].other_branches[0].usage.expect("a usage");
    assert_eq!([billed.input, billed.cache_read, billed.output], [60, 40, 5]);
    assert_eq!(conversations[0].messages.len(), 0);
    assert_eq!(read(json!({})).len(), 0);
}
