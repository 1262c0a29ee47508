//! The user went back: `thread_rolled_back`.

use super::*;
use crate::transcript::conversation::Call;
use crate::transcript::format::Branches;

fn back(turns: u64) -> String {
    line("event_msg", json!({"type": "thread_rolled_back", "num_turns": turns}))
}

fn turn(id: &str) -> String {
    line("event_msg", json!({"type": "task_started", "turn_id": id}))
}

/// Returns the texts of every conversation, the notes, and the number of calls.
fn read_all(lines: &[String]) -> Vec<(String, Vec<String>)> {
    let reading = read(lines.join("\n").as_bytes(), &ReadOptions { branches: Branches::All, ..ReadOptions::default() });
    reading.conversations.iter().map(|conversation| (conversation.name.clone(), shape(conversation))).collect()
}

#[test]
fn the_turns_that_the_user_went_back_are_another_branch() {
    let lines =
        [user("a"), assistant("1"), user("b"), assistant("2"), user("c"), assistant("3"), back(2), user("d"), assistant("4")];
    let (conversation, notes) = read_lines(&lines);
    assert_eq!(
        (shape(&conversation), conversation.calls.len()),
        (["u: a", "a: 1", "u: d", "a: 4"].map(str::to_owned).to_vec(), 2)
    );
    assert_eq!(
        notes,
        [
            "the user went back 2 turn(s), to before this: main has another branch of 4 records here: left out (--branches all reads it)"
        ]
    );
    let [main, other] = &read_all(&lines)[..] else { panic!("two branches") };
    assert_eq!((main.0.as_str(), &main.1), ("main", &shape(&conversation)));
    assert_eq!((other.0.as_str(), other.1.join(" ")), ("main~2", "u: a a: 1 u: b a: 2 u: c a: 3".to_owned()));
}

#[test]
fn going_back_twice_in_a_row_leaves_one_branch() {
    let lines = [user("a"), assistant("1"), user("b"), assistant("2"), back(1), back(1), user("c"), assistant("3"), back(1)];
    let (last, notes) = (read(lines.join("\n").as_bytes(), &ReadOptions::default()).conversations, read_all(&lines));
    assert!(last.is_empty(), "nothing is left");
    let branches: Vec<_> = notes.iter().map(|(name, shape)| (name.as_str(), shape.len())).collect();
    assert_eq!(branches, [("main~2", 4), ("main~3", 2)]);
}

#[test]
fn going_back_more_turns_than_there_are_keeps_what_is_before_the_first() {
    let context = user("<environment_context>\n</environment_context>");
    let lines = [context, user("a"), assistant("1"), back(9), back(1), user("b"), assistant("2")];
    let (conversation, notes) = read_lines(&lines);
    assert_eq!(shape(&conversation), ["u: <environment_context>\n</environment_context> b", "a: 2"]);
    assert_eq!(notes[1], "the user went back 1 turn(s) here, but no turn is before it; nothing was left out");
}

#[test]
fn a_message_to_the_working_agent_is_a_turn_too() {
    let lines =
        [turn("1"), user("a"), assistant("1"), turn("2"), user("b"), assistant("2"), user("wait"), assistant("3"), back(1)];
    assert_eq!(shape_of(&lines), ["u: a", "a: 1", "u: b", "a: 2"]);
}

#[test]
fn what_the_harness_wrote_before_a_turn_is_left_with_it() {
    let rules = |text: &str| item(message("developer", text));
    let lines = [turn("1"), rules("x"), user("a"), assistant("1"), turn("2"), rules("y"), user("b"), assistant("2")];
    assert_eq!(shape_of(&[&lines[..], &[back(1)]].concat()), ["u: x a", "a: 1"]);
    assert_eq!(shape_of(&[&lines[..], &[back(2), user("c")]].concat()), ["u: x c"]);
}

#[test]
fn going_back_undoes_a_compaction_in_these_turns() {
    let compacted = line("compacted", json!({"message": "so far"}));
    let lines = [user("a"), assistant("1"), user("b"), compacted, assistant("2"), back(1), user("c"), assistant("3")];
    let (conversation, _) = read_lines(&lines);
    assert_eq!(
        (shape(&conversation), conversation.compactions.len()),
        (["u: a", "a: 1", "u: c", "a: 3"].map(str::to_owned).to_vec(), 0)
    );
}

#[test]
fn what_was_used_on_a_branch_is_not_the_usage_of_the_next() {
    let lines = [
        user("a"),
        assistant("1"),
        user("b"),
        assistant("2"),
        tokens(200, 205),
        back(1),
        tokens(200, 205),
        user("c"),
        assistant("3"),
        tokens(90, 300),
    ];
    let (conversation, _) = read_lines(&lines);
    let requests: Vec<_> = conversation.calls.iter().map(|call| call.usage.map(|usage| usage.request())).collect();
    assert_eq!(requests, [None, Some(90)]);
}

#[test]
fn what_was_used_on_a_branch_that_was_left_is_billed() {
    let lines = [
        line("turn_context", json!({"model": "gpt-5.4"})),
        user("a"),
        assistant("1"),
        tokens(100, 105),
        user("b"),
        assistant("2"),
        tokens(200, 305),
        user("c"),
        assistant("3"),
        tokens(300, 605),
        back(1),
        back(1),
        user("d"),
        assistant("4"),
        tokens(90, 700),
    ];
    let (conversation, _) = read_lines(&lines);
    let requests = |calls: &[Call]| calls.iter().map(|call| call.usage.map_or(0, |usage| usage.request())).collect::<Vec<_>>();
    assert_eq!((requests(&conversation.calls), requests(&conversation.other_branches)), (vec![100, 90], vec![200, 300]));
    assert!(conversation.other_branches.iter().all(|call| call.model.as_deref() == Some("gpt-5.4")));
    let options = ReadOptions { branches: Branches::All, ..ReadOptions::default() };
    let all = read(lines.join("\n").as_bytes(), &options).conversations;
    assert!(all.iter().all(|one| one.other_branches.is_empty()), "each is read as a conversation");
}

#[test]
fn a_fork_may_go_back_into_what_it_inherited() {
    let fork = line("session_meta", json!({"id": "child", "forked_from_id": "parent", "subagent_history_start_ordinal": 6}));
    let lines = [fork, user("a"), assistant("1"), user("b"), assistant("2"), back(1), user("c"), assistant("3")];
    let numbered = lines.iter().zip(1..).map(|(line, number)| line.replacen('{', &format!("{{\"ordinal\":{number},"), 1));
    let (conversation, _) = read_lines(&numbered.collect::<Vec<_>>());
    assert_eq!(shape(&conversation), ["u: a", "a: 1", "u: c", "a: 3"]);
    assert_eq!(conversation.calls.len(), 1);
}

#[test]
fn a_session_whose_turns_were_all_taken_back_is_billed() {
    let lines = [line("turn_context", json!({"model": "gpt-5.4"})), user("a"), assistant("1"), tokens(100, 105), back(1)];
    let (conversation, _) = read_lines(&lines);
    assert_eq!((conversation.messages.len(), conversation.calls.len()), (0, 0));
    let billed = conversation.other_branches.iter().filter_map(|call| call.usage);
    assert_eq!(billed.map(|usage| usage.request()).collect::<Vec<_>>(), [100]);
}
