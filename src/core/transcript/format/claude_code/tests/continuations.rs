//! What follows a compaction continues its thread, whatever parent it names.

use super::*;

/// Two compactions with a message before, between and behind them. `behind` is the parent of what follows the second one, and
/// `ended_at` the record at which the second one says that it ended.
fn twice_compacted(ended_at: &str, more: &[Value], behind: &str) -> Vec<Value> {
    let mut records = vec![
        user("u1", None, "one"),
        attachment("a1", "u1", "left"),
        says("r1", "a1", "1"),
        boundary("b1", "r1", json!({})),
        summary("s1", "b1", "after one"),
        user("u2", Some("s1"), "two"),
        says("r2", "u2", "2"),
    ];
    records.extend_from_slice(more);
    records.extend([
        boundary("b2", ended_at, json!({})),
        summary("s2", "b2", "after two"),
        user("u3", Some(behind), "three"),
        says("r3", "u3", "3"),
    ]);
    records
}

fn check_continues(records: &[Value]) {
    let (conversation, _) = read_one(records);
    assert_eq!((conversation.calls.len(), conversation.compactions.len()), (3, 2));
    let texts = show(&conversation, &conversation.messages);
    assert_eq!(texts.len(), 6, "{texts:?}");
}

#[test]
fn what_follows_a_compaction_may_name_a_record_from_before_an_earlier_one() {
    for behind in ["s2", "a1", "u1", "r1"] {
        check_continues(&twice_compacted("r2", &[], behind));
    }
}

/// A compaction wrote its history once more, and then a record that hangs on the last copy.
#[test]
fn a_boundary_may_name_a_record_that_hangs_on_a_copied_one() {
    let copies = [user("u1", None, "one"), attachment("a1", "u1", "left"), says("r1", "a1", "1")];
    let hook = record("system", "h1", Some("r1"), json!({"subtype": "stop_hook_summary"}));
    let more: Vec<Value> = copies.into_iter().chain([hook]).collect();
    check_continues(&twice_compacted("h1", &more, "s2"));
    let (_, notes) = read_one(&twice_compacted("h1", &more, "s2"));
    assert_eq!(notes, ["8: this record and 1 later record repeat uuids of earlier ones; they were left out"]);
}

#[test]
fn a_boundary_that_names_a_record_from_before_the_boundary_before_it_continues_its_thread() {
    for ended_at in ["r1", "u1", "nowhere"] {
        check_continues(&twice_compacted(ended_at, &[], "s2"));
    }
}

/// Between two compactions, a person goes back: that is another branch.
#[test]
fn going_back_behind_the_last_compaction_is_a_branch() {
    let records = [
        user("u1", None, "one"),
        says("r1", "u1", "1"),
        boundary("b1", "r1", json!({})),
        summary("s1", "b1", "after one"),
        user("u2", Some("s1"), "two"),
        says("r2", "u2", "2"),
        user("u3", Some("s1"), "instead"),
        says("r3", "u3", "3"),
        boundary("b2", "r3", json!({})),
        summary("s2", "b2", "after two"),
        says("r4", "s2", "4"),
    ];
    let (conversation, notes) = read_one(&records);
    assert_eq!((conversation.calls.len(), conversation.compactions.len(), notes.len()), (3, 2, 1), "{notes:?}");
}

/// Who accepts a plan may empty the context; the session goes on in the same file.
#[test]
fn an_emptied_context_begins_a_conversation() {
    let hook = |name: &str| record("progress", "h1", None, json!({"data": {"type": "hook_progress", "hookName": name}}));
    let session = |hook: Value| {
        let parent = hook["uuid"].as_str().map(str::to_owned);
        let records = [
            user("u1", None, "plan"),
            says("r1", "u1", "1"),
            hook,
            user("u2", parent.as_deref(), "do it"),
            says("r2", "u2", "2"),
        ];
        let conversations = read(&file(&records), &ReadOptions::default()).conversations;
        conversations.into_iter().map(|one| (one.name, one.calls.len(), one.other_branches.len())).collect::<Vec<_>>()
    };
    assert_eq!(session(hook("SessionStart:clear")), [("main".to_owned(), 1, 0), ("main-2".to_owned(), 1, 0)]);
    assert_eq!(session(hook("SessionStart:resume")), [("main".to_owned(), 1, 1)]);
    let attached = json!({"attachment": {"type": "hook_success", "hookEvent": "SessionStart", "hookName": "SessionStart:clear"}});
    assert_eq!(session(record("attachment", "h1", None, attached)).len(), 2);
    let early = [hook("SessionStart:clear"), user("u1", Some("h1"), "plan"), says("r1", "u1", "1")];
    assert_eq!(read_one(&early).0.name, "main");
}
