use super::*;
use crate::analysis::study::with_bounds;
use crate::transcript::format::{ReadOptions, by_name};

/// Two results are read one after the other; the policy keeps one, and drops the first message from the third call on.
const SESSION: &str = r#"{"role": "user", "content": "Fix it"}
{"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "/a.rs"}}]}
{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "fn a() {}"}]}
{"role": "assistant", "content": [{"type": "tool_use", "id": "t2", "name": "Read", "input": {"path": "/b.rs"}}]}
{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": "fn b() {}"}]}
{"role": "assistant", "content": "Done."}
"#;
const POLICY: &str =
    "name = \"p\"\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\nkeep_recent = 1\nmin_chars = 0\nplaceholder = \"[gone]\"\n";

fn shown(call: usize) -> Option<(ShownRequest, Option<ShownRequest>)> {
    let policy = Policy::parse(POLICY, "p.toml", &[]).expect("a policy");
    let format = by_name("messages").expect("a format");
    let reading = (format.read)(SESSION.as_bytes(), &ReadOptions::default());
    let counter = "chars/4".parse().expect("a counter");
    let study = Study { counter, ..Study::new(with_bounds(vec![policy.clone()])) };
    show(&study, "s.jsonl", &reading.conversations[0], &policy, call).expect("a replay without summaries")
}

fn lines(request: &ShownRequest) -> Vec<String> {
    let line = |part: &ShownPart| {
        let layer = part.layer.as_deref().unwrap_or("-");
        let recorded = part.recorded.as_deref().unwrap_or("-");
        format!("{} {}: {:?} {layer}: {} ({recorded})", part.line, part.what, part.state, part.text)
    };
    request.parts.iter().map(line).collect()
}

#[test]
fn parts_say_who_wrote_them_and_what_was_recorded() {
    let (third, second) = shown(2).expect("three calls");
    assert_eq!((third.call, third.calls, third.messages), (3, 3, 5));
    let expected = [
        "1 text: Recorded -: Fix it (-)",
        "2 tool_use Read: Recorded -: {\"path\":\"/a.rs\"} (-)",
        "3 tool_result Read: Rewritten micro: [gone] (fn a() {})",
        "4 tool_use Read: Recorded -: {\"path\":\"/b.rs\"} (-)",
        "5 tool_result Read: Recorded -: fn b() {} (-)",
    ];
    assert_eq!(lines(&third), expected);
    let second = second.expect("a call before");
    assert_eq!(lines(&second)[2], "3 tool_result Read: Recorded -: fn a() {} (-)");
    assert_eq!(lines(&third.clone().differences(&second, "call 2")), expected[2..]);
    assert_eq!(lines(&third.holding("fn a")), expected[2..3]);
}

#[test]
fn first_call_has_none_before_it_and_the_fourth_does_not_exist() {
    let (first, before) = shown(0).expect("a call");
    assert_eq!((first.parts.len(), before), (1, None));
    assert_eq!(shown(3), None);
}
