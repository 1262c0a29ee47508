//! Requests without responses, and what changed between them.

use super::*;

/// The last response is unknown: its request is replayed all the same.
#[test]
fn the_next_request_repeats_the_response() {
    let whole = [user("go"), call("a"), tool("a", "one"), assistant("done"), user("more")];
    let (lines, notes) = read_one(&[body(&whole[..1]), body(&whole[..3]), body(&whole)]);
    let expected = ["u: go", "a: [a run]", "u: [a = one]", "a: done", "u: more", "a: [the response is not in the log]"];
    assert_eq!((lines, notes.len()), (expected.map(str::to_owned).to_vec(), 0));
    let conversation = &read_lines(&[body(&whole[..1]), body(&whole[..3]), body(&whole)]).conversations[0];
    assert_eq!((conversation.calls.len(), conversation.system.as_deref()), (3, Some("Be brief.")));
}

#[test]
fn a_summary_in_place_of_the_beginning_is_a_fold() {
    let whole = [user("go"), call("a"), tool("a", "one"), call("b"), tool("b", "two")];
    let summary = json!({"model": "m-1", "messages": [user("Sum this up: go, one, two")], "stream": true});
    let after = [user("So far: one and two."), call("b"), tool("b", "two"), call("c"), tool("c", "three")];
    let (lines, notes) = read_one(&[body(&whole[..1]), body(&whole[..3]), body(&whole), summary, body(&after)]);
    assert_eq!(
        lines,
        [
            "u: go",
            "a: [a run]",
            "u: [a = one]",
            "a: [b run]",
            "u: [b = two]",
            "a: [c run]",
            "u: [c = three]",
            "fold: u: <So far: one and two.> | a: [b run] | u: [b = two] | a: [c run] | u: [c = three]",
            "a: [the response is not in the log]"
        ]
    );
    assert_eq!(notes, ["4: a request for a summary or a title is no call of the agent; it was left out"]);
}

/// The request for the summary has the tools and the system prompt of the agent, and comes after its messages.
#[test]
fn a_summary_that_is_asked_for_in_the_conversation_is_no_call() {
    let whole = [user("go"), call("a"), tool("a", "one")];
    let ask = user(&format!("Write a summary of all of it. {}", "Leave nothing out. ".repeat(12)));
    let asked = [whole.to_vec(), vec![ask]].concat();
    let after = [user("<summary>one</summary>"), call("a"), tool("a", "one")];
    let (lines, notes) = read_one(&[body(&whole[..1]), body(&asked), body(&after)]);
    let expected = [
        "u: go",
        "a: [a run]",
        "u: [a = one]",
        "fold: u: <<summary>one</summary>> | a: [a run] | u: [a = one]",
        "a: [the response is not in the log]",
    ];
    assert_eq!((lines, notes.len()), (expected.map(str::to_owned).to_vec(), 1));
}

/// What a person typed may have the words of such a request: the context after the summary has it, too.
#[test]
fn a_typed_text_that_the_next_request_has_asks_for_no_summary() {
    let text = format!("Make the table of prices compact.{}", " Leave nothing out.".repeat(12));
    let whole = [user("go"), assistant("done"), user(&text)];
    let summary = json!({"model": "m-1", "messages": [user("Sum this up: go, done")], "stream": true});
    let after = [user("So far: done."), user(&text), call("a"), tool("a", "one")];
    let (lines, notes) = read_one(&[body(&whole[..1]), body(&whole), summary, body(&after)]);
    let typed = format!("u: {text}");
    let fold = format!("fold: u: <So far: done.> | {typed} | a: [a run] | u: [a = one]");
    let expected = ["u: go", "a: done", &typed, "a: [a run]", "u: [a = one]", &fold, "a: [the response is not in the log]"];
    assert_eq!((lines, notes.len()), (expected.map(str::to_owned).to_vec(), 1));
}

/// The log has the answer, and the next request only the summary of it.
#[test]
fn an_answer_that_a_summary_replaces_is_the_response_of_its_request() {
    let answered = |mut request: Value, answer: &str| {
        request["response"] = json!({"choices": [{"message": assistant(answer)}]});
        request
    };
    let summary = json!({"model": "m-1", "messages": [user("Sum this up: go, I looked.")]});
    let after = body(&[user("So far: it was looked at."), user("Go on.")]);
    let log = [
        answered(body(&[user("go")]), "I looked."),
        answered(summary, "So far: it was looked at."),
        answered(after, "It is mended."),
    ];
    let (lines, notes) = read_one(&log);
    let fold = "fold: u: <So far: it was looked at.> | u: <Go on.>";
    assert_eq!((lines, notes.len()), (["u: go", "a: I looked.", fold, "a: It is mended."].map(str::to_owned).to_vec(), 1));
}

#[test]
fn a_cleared_result_is_sent_as_the_log_has_it() {
    let whole = [user("go"), call("a"), tool("a", "one"), call("b"), tool("b", "two")];
    let cleared = [user("go"), call("a"), tool("a", "[gone]"), call("b"), tool("b", "two")];
    let (lines, _) = read_one(&[body(&whole[..1]), body(&whole[..3]), body(&cleared)]);
    assert_eq!(lines[5], "fold: u: go | a: [a run] | u: [a = [gone]] | a: [b run] | u: [b = two]");
}

/// These are the words that the replay of `recorded` has, too.
#[test]
fn a_result_that_was_cleared_in_the_usual_words_is_a_clear() {
    let gone = "[Old tool result content cleared]";
    let whole = [user("go"), call("a"), tool("a", "one"), call("b"), tool("b", "two"), call("c"), tool("c", "three")];
    let mut cleared = whole.clone();
    cleared[2] = tool("a", gone);
    let (lines, _) = read_one(&[body(&whole[..1]), body(&whole[..3]), body(&whole[..5]), body(&cleared)]);
    let after = ["u: [b = two]", "a: [c run]", "u: [c = three]", "clear: a", "a: [the response is not in the log]"];
    assert_eq!(lines[4..], after);
}

#[test]
fn another_task_and_another_run_are_other_conversations() {
    let whole = [user("go"), call("a"), tool("a", "one")];
    let reading = read_lines(&[body(&whole[..1]), body(&whole), body(&[user("stop")]), body(&whole[..1])]);
    assert_eq!(names(&reading), ["1", "3", "4"]);
    assert_eq!(reading.conversations.iter().map(|one| one.calls.len()).collect::<Vec<_>>(), [2, 1, 1]);
}

/// Two agents with one system prompt take turns.
#[test]
fn parallel_conversations_are_told_apart() {
    let (one, two) = ([user("one"), call("a"), tool("a", "1")], [user("two"), call("b"), tool("b", "2")]);
    let reading = read_lines(&[body(&one[..1]), body(&two[..1]), body(&one), body(&two)]);
    assert_eq!(names(&reading), ["1", "2"]);
    assert_eq!(lines(&reading.conversations[1])[..3], ["u: two", "a: [b run]", "u: [b = 2]"]);
}

#[test]
fn times_give_the_order() {
    let whole = [user("go"), call("a"), tool("a", "one")];
    let at = |time: Value, messages: &[Value]| json!({"timestamp": time, "body": body(messages)});
    let seconds = [at(json!(1_790_000_060), &whole), at(json!(1_790_000_000.5), &whole[..1])];
    let texts = [at(json!("2026-10-05T08:01:00Z"), &whole), at(json!("2026-10-05T08:00:00Z"), &whole[..1])];
    for records in [seconds, texts] {
        let conversation = &read_lines(&records).conversations[0];
        assert_eq!(lines(conversation)[..3], ["u: go", "a: [a run]", "u: [a = one]"]);
        assert_eq!(conversation.calls[1].time.zip(conversation.calls[0].time).map(|(a, b)| a > b), Some(true));
    }
}

#[test]
fn an_answer_in_the_words_of_another_is_found_in_an_edited_context() {
    let done = || assistant("Done.");
    let log = [
        vec![user("go (day 1)")],
        vec![user("go (day 1)"), done(), user("more (day 1)")],
        vec![user("go (day 1)"), done(), user("more"), done(), user("again (day 1)")],
        vec![user("go (day 1)"), done(), user("more"), done(), user("again"), done(), user("thanks")],
    ];
    let log = log.map(|messages| json!({"messages": messages, "response": {"choices": [{"message": done()}]}}));
    let reading = read_lines(&log);
    let conversation = &reading.conversations[0];
    assert_eq!((conversation.calls.len(), conversation.compactions.len(), reading.notes), (4, 2, vec![]));
}
