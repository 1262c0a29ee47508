//! Forks and children: what they copied from their parent is their first context.

use super::super::base;
use super::*;

/// Writes records at these seconds after the session began, numbered from 1.
fn rollout(records: &[(i64, String)]) -> Vec<String> {
    let stamp = |(number, (second, record)): (usize, &(i64, String))| {
        let mut record: Value = serde_json::from_str(record).expect("a record");
        let time = jiff::Timestamp::new(1_767_323_045 + second, 0).expect("a time");
        record["timestamp"] = json!(time.to_string());
        record["ordinal"] = json!(number + 1);
        record.to_string()
    };
    records.iter().enumerate().map(stamp).collect()
}

/// Returns the header of a session that began at second 0.
fn header(id: &str, more: Value) -> String {
    let mut meta = json!({"id": id, "timestamp": "2026-01-02T03:04:05Z", "base_instructions": {"text": id}});
    meta.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    line("session_meta", meta)
}

fn fork() -> String {
    header("child", json!({"forked_from_id": "parent"}))
}

/// Returns a copied turn of one call and its answer, all with the same time.
fn copied_turn(second: i64) -> Vec<(i64, String)> {
    let records = [user("go"), call("a"), output("a", "one"), tokens(100, 105), assistant("done"), tokens(120, 230)];
    records.map(|record| (second, record)).to_vec()
}

fn own_turn(second: i64) -> Vec<(i64, String)> {
    vec![(second, user("more")), (second + 5, assistant("more done")), (second + 6, tokens(150, 385))]
}

const COPY: [&str; 4] = ["u: go", "a: [use a]", "u: [result a: one]", "a: done"];

/// Checks that the copy is context, and that the one call after it is the session's own.
fn check(records: &[(i64, String)]) {
    let (conversation, notes) = read_lines(&rollout(records));
    let shape = shape(&conversation);
    assert_eq!(
        (&shape[..4], &shape[4..]),
        (&COPY.map(str::to_owned)[..], &["u: more".to_owned(), "a: more done".to_owned()][..])
    );
    let requests: Vec<_> =
        conversation.calls.iter().map(|call| (call.response, call.usage.map(|usage| usage.request()))).collect();
    assert_eq!(requests, [(5, Some(150))]);
    assert_eq!(conversation.system.as_deref(), Some("child"));
    assert_eq!(notes, ["2 response(s) from here on are copied from parent: they are context, not calls of this session"]);
}

#[test]
fn an_ordinal_tells_where_the_copy_ends() {
    let parents = [
        json!({"forked_from_id": "parent"}),
        json!({"parent_thread_id": "parent"}),
        json!({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "parent", "depth": 1}}}}),
    ];
    for mut parent in parents {
        parent["subagent_history_start_ordinal"] = json!(9);
        // The times alone would tell nothing.
        let copy = copied_turn(0).into_iter().zip(2..).map(|((_, record), second)| (second, record));
        let first = [(0, header("child", parent)), (1, header("parent", json!({})))];
        check(&[first.to_vec(), copy.collect(), own_turn(8)].concat());
    }
}

#[test]
fn copied_records_may_keep_their_times() {
    let copy = copied_turn(0).into_iter().zip(0..).map(|((_, record), second)| (second - 100, record)).collect();
    check(&[vec![(0, fork())], copy, own_turn(0)].concat());
}

#[test]
fn copied_records_may_have_the_time_of_the_copying() {
    check(&[vec![(0, fork())], copied_turn(2), own_turn(3)].concat());
    check(&[vec![(0, fork()), (2, header("parent", json!({})))], copied_turn(2), own_turn(3)].concat());
}

#[test]
fn ids_of_turns_tell_which_are_younger_than_the_session() {
    let turn = |id: &str| (0, line("turn_context", json!({"turn_id": id, "model": "m"})));
    let (old, young) = (turn("019b7c82-dc57-7000-8000-000000000000"), turn("019b7c82-dc89-7000-8000-000000000000"));
    check(&[vec![(0, fork()), old], copied_turn(0), vec![young], own_turn(0)].concat());
}

#[test]
fn a_fork_of_a_fork_has_one_first_context() {
    let headers = [(0, fork()), (2, header("parent", json!({"forked_from_id": "first"})))];
    let copy = copied_turn(2);
    let copy = [&copy[..4], &[(2, header("first", json!({})))], &copy[4..]].concat();
    check(&[headers.to_vec(), copy, own_turn(9)].concat());
}

#[test]
fn a_fork_without_calls_of_its_own_has_none() {
    let (conversation, _) = read_lines(&rollout(&[vec![(0, fork())], copied_turn(2)].concat()));
    assert_eq!((shape(&conversation), conversation.calls.len()), (COPY.map(str::to_owned).to_vec(), 0));
}

#[test]
fn a_resumed_session_and_a_child_without_history_have_only_own_calls() {
    for first in [
        header("child", json!({})),
        header("child", json!({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}})),
    ] {
        let records = [vec![(0, first.clone())], own_turn(0), vec![(9, first)], own_turn(9)].concat();
        let (conversation, notes) = read_lines(&rollout(&records));
        assert_eq!((conversation.calls.len(), notes), (2, vec![]));
    }
}

#[test]
fn what_the_parent_compacted_away_is_not_in_the_first_context() {
    let history = json!([message("user", "go"), message("user", "so far"), {"type": "compaction"}]);
    let compacted = line("compacted", json!({"message": "", "replacement_history": history}));
    let estimate = line("event_msg", json!({"type": "token_count", "info": {"last_token_usage": {"total_tokens": 1000}}}));
    let after = [(2, compacted), (2, estimate), (2, user("on")), (2, assistant("yes"))];
    let (conversation, _) = read_lines(&rollout(&[vec![(0, fork())], copied_turn(2), after.to_vec(), own_turn(3)].concat()));
    assert_eq!(
        shape(&conversation),
        ["u: go so far [summary, encrypted by the provider]", "u: on", "a: yes", "u: more", "a: more done"]
    );
    let blocks: Vec<_> = conversation.messages[0].blocks.iter().map(|id| conversation.block(*id)).collect();
    let origins: Vec<_> = blocks.iter().map(|block| block.origin).collect();
    assert_eq!(origins, [Origin::User, Origin::Compaction, Origin::Compaction]);
    assert!(blocks[2].recorded_tokens.is_some_and(|tokens| tokens > 900), "{:?}", blocks[2].recorded_tokens);
    assert_eq!((conversation.calls.len(), conversation.compactions.len(), conversation.tool_uses()), (1, 0, 0));
}

#[test]
fn a_copy_without_an_end_is_noted() {
    let copy = copied_turn(0).into_iter().zip(5..).map(|((_, record), second)| (second, record)).collect();
    let records = [vec![(0, fork()), (1, header("parent", json!({})))], copy, own_turn(20)].concat();
    let (conversation, notes) = read_lines(&rollout(&records));
    assert_eq!(conversation.calls.len(), 3);
    assert_eq!(notes, ["nothing tells where the history copied from parent ends; all of it counts as this session's own"]);
}

/// The header of a fork whose history is the first `end` records of its parent's file.
fn fork_of(parent: &str, id: &str, end: u64) -> String {
    header(id, json!({"forked_from_id": parent, "history_base": {"thread_id": parent, "end_ordinal_exclusive": end}}))
}

/// Numbers records from `first` on.
fn numbered(first: u64, records: &[(i64, String)]) -> Vec<u8> {
    let number = |(line, number): (String, u64)| {
        let mut record: Value = serde_json::from_str(&line).expect("a record");
        record["ordinal"] = json!(number);
        record.to_string() + "\n"
    };
    rollout(records).into_iter().zip(first..).map(number).collect::<String>().into_bytes()
}

fn read_fork(fork: &[u8], ancestors: &[&[u8]]) -> (Conversation, Vec<String>) {
    let others = ancestors.iter().map(|bytes| OtherFile { name: String::new(), bytes: bytes.to_vec() }).collect();
    let mut reading = read(fork, &ReadOptions { others, ..ReadOptions::default() });
    let notes = reading.notes.into_iter().map(|note| note.what).collect();
    (reading.conversations.pop().expect("a conversation"), notes)
}

#[test]
fn a_history_in_the_file_of_the_parent_is_joined() {
    // The parent has the numbers 0 to 6 before the fork, and goes on.
    let parent = numbered(0, &[vec![(0, header("parent", json!({})))], copied_turn(1), own_turn(30)].concat());
    let fork = numbered(7, &[vec![(60, fork_of("parent", "child", 7))], own_turn(70)].concat());
    assert_eq!(base::parent(&fork), Some("parent".to_owned()));
    assert_eq!(base::parent(&parent), None);
    let (conversation, notes) = read_fork(&fork, &[&parent]);
    let expected = [&COPY[..], &["u: more", "a: more done"]].concat();
    assert_eq!((shape(&conversation), conversation.calls.len()), (expected.iter().map(|said| (*said).to_owned()).collect(), 1));
    assert_eq!(notes, ["2 response(s) from here on are copied from parent: they are context, not calls of this session"]);
    assert!(conversation.blocks.iter().take(4).all(|block| block.line == 1), "the header is where the file names them");
    // A fork of the fork: its numbers go on.
    let next = numbered(11, &[vec![(90, fork_of("child", "grandchild", 11))], own_turn(95)].concat());
    let (conversation, _) = read_fork(&next, &[&fork, &parent]);
    assert_eq!((shape(&conversation).len(), conversation.calls.len()), (8, 1));
    assert_eq!(shape(&conversation)[..4], COPY.map(str::to_owned));
}

#[test]
fn a_history_that_is_not_whole_is_not_joined() {
    let parent = numbered(0, &[vec![(0, header("parent", json!({})))], copied_turn(1)].concat());
    let fork = numbered(7, &[vec![(60, fork_of("parent", "child", 7))], own_turn(70)].concat());
    let next = numbered(11, &[vec![(90, fork_of("child", "grandchild", 11))], own_turn(95)].concat());
    let cut = &parent[..parent.len() - 40];
    let other = numbered(0, &[vec![(0, header("other", json!({})))], copied_turn(1)].concat());
    let cases: [(&[u8], &[&[u8]]); 5] =
        [(&fork, &[]), (&fork, &[cut]), (&fork, &[&other]), (&next, &[&fork]), (&next, &[&parent])];
    for (at, (bytes, ancestors)) in cases.into_iter().enumerate() {
        let (conversation, notes) = read_fork(bytes, ancestors);
        assert_eq!(conversation.calls.len(), 1, "case {at}");
        assert!(notes.iter().any(|note| note.contains("that history is not read")), "case {at}: {notes:?}");
    }
}

#[test]
fn a_history_in_another_file_is_noted() {
    let base = json!({"forked_from_id": "parent", "history_base": {"thread_id": "parent", "end_ordinal_exclusive": 1}});
    let (conversation, notes) = read_lines(&rollout(&[vec![(0, header("child", base.clone()))], own_turn(0)].concat()));
    assert_eq!(conversation.calls.len(), 1);
    let note =
        "this session goes on from a history in the file of another session, which is not beside it; that history is not read";
    assert_eq!((conversation.blocks[0].recorded_tokens, notes), (Some(0), vec![note.to_owned()]), "one request shows no size");
    // 9,010 tokens without the shortest prefix from the cache, 10, and the typed word, 1.
    let turns = [(0, user("more")), (1, assistant("a")), (2, tokens(9_010, 9_015)), (3, user("on")), (4, assistant("b"))];
    let turns = [turns.to_vec(), vec![(5, tokens(9_020, 18_040))]].concat();
    let (conversation, notes) = read_lines(&rollout(&[vec![(0, header("child", base))], turns].concat()));
    assert_eq!((conversation.calls.len(), conversation.blocks[0].recorded_tokens), (2, Some(8_999)));
    assert_eq!(
        notes[1],
        "the session begins before this file: by the usage, about 8999 tokens of its messages are not in it; they count until the next \
         compaction"
    );
}
