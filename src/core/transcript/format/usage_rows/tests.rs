use super::super::Branches;
use super::super::shape::read as read_file;
use super::*;
use crate::transcript::format::sniff;

const HEADER: &str =
    "session_id,timestamp,model,input_tokens,cache_read_input_tokens,cache_creation_input_tokens,output_tokens\n";

/// Returns each message as its role and tokens, with a `fold` before the message that follows one.
fn sizes(conversation: &Conversation) -> Vec<String> {
    let size = |message: &Message| {
        let tokens: u64 = message.blocks.iter().filter_map(|id| conversation.block(*id).recorded_tokens).sum();
        format!("{}{tokens}", if message.role == Role::User { "u" } else { "a" })
    };
    let mut sizes = Vec::new();
    for at in 0..=conversation.messages.len() {
        for compaction in conversation.compactions.iter().filter(|compaction| compaction.message_index == at) {
            sizes.push(format!("fold {}", compaction.edit.messages().iter().map(size).collect::<Vec<_>>().join(" ")));
        }
        sizes.extend(conversation.messages.get(at).map(size));
    }
    sizes
}

/// Returns the notes without the one that each such log has.
fn notes(reading: &Reading) -> Vec<String> {
    let others = reading.notes.iter().filter(|note| note.what != WITHOUT_TEXTS);
    others.map(|note| format!("{}: {}", note.line.unwrap_or(0), note.what)).collect()
}

/// The system prompt is the first request, 1000. A call adds 400: 300 of the response, 100 of what followed. Then 60 of 200 tokens of the
/// response remain, and the last request lost something: 1000 of the prompt and 300 of the first response with 100 of the next message
/// were cached.
#[test]
fn the_growth_of_the_requests_is_the_conversation() {
    let rows = "s,2026-01-01T00:00:00Z,m,10,0,990,300\n\
        s,2026-01-01T00:01:00Z,m,10,990,400,200\n\
        s,2026-01-01T00:02:00Z,m,10,1400,50,90\n\
        s,2026-01-01T00:03:00Z,m,40,1410,0,5\n";
    let reading = read_file(&FORMAT, &(HEADER.to_owned() + rows), Branches::Last);
    let [conversation] = reading.conversations.as_slice() else { panic!("{reading:?}") };
    assert_eq!(sizes(conversation), ["u0", "a300", "u100", "a60", "u0", "a90", "u0", "fold u0 a300 u150", "a5"]);
    assert_eq!((conversation.compactions[0].tokens_before, conversation.compactions[0].tokens_after), (Some(1460), Some(1450)));
    let usage = conversation.calls[1].usage.expect("a usage");
    assert_eq!([usage.input, usage.cache_read, usage.cache_write_5m, usage.output], [10, 990, 400, 200]);
    assert_eq!((conversation.identity.session.as_deref(), conversation.calls[3].model.as_deref()), (Some("s"), Some("m")));
    assert_eq!(notes(&reading).len(), 1, "{:?}", notes(&reading));
    assert!(notes(&reading)[0].starts_with("5: a request is smaller than the one before it"), "{:?}", notes(&reading));
}

/// Estimators that count characters see four a token.
#[test]
fn a_text_has_the_size_of_its_tokens() {
    for tokens in [1, 3, 4, 5, 1000] {
        assert_eq!(text(tokens).len() as u64, 4 * tokens);
    }
    assert_eq!((text(0).as_str(), text(5).as_str()), (".", "[not in the log    ]"));
}

#[test]
fn a_conversation_is_of_one_model_and_one_agent_in_the_order_of_time() {
    let row = |session: &str, agent: &str, model: &str, time: u32, tokens: u32| {
        format!(
            "{{\"session\":\"{session}\",\"agent_id\":{agent},\"model\":\"{model}\",\"time\":{time},\"prompt_tokens\":{tokens},\"completion_tokens\":1}}\n"
        )
    };
    let text = row("a", "null", "m", 1_700_000_060, 200)
        + &row("a", "null", "m", 1_700_000_000, 100)
        + &row("a", "\"x\"", "m", 1_700_000_030, 50)
        + &row("a", "null", "small", 1_700_000_031, 9)
        + &row("b", "null", "m", 1_700_000_031, 70);
    let reading = read_file(&FORMAT, &text, Branches::Last);
    let of = |conversation: &Conversation| {
        (conversation.name.clone(), sizes(conversation).join(" "), conversation.identity.parent.clone())
    };
    let expected = [("1-a", "u0 a1 u99 a1", None), ("2-a", "u0 a1", Some("a")), ("3-a", "u0 a1", None), ("4-b", "u0 a1", None)];
    let expected = expected.map(|(name, sizes, parent)| (name.to_owned(), sizes.to_owned(), parent.map(str::to_owned)));
    assert_eq!(reading.conversations.iter().map(of).collect::<Vec<_>>(), expected);
    assert!(notes(&reading)[0].contains("no column has the tokens"), "{:?}", notes(&reading));
}

#[test]
fn rows_that_cannot_be_read_are_named_with_their_line() {
    let text = HEADER.to_owned()
        + "s,2026-01-01T00:00:00Z,m,10,0,990,300\n\
           s,yesterday,m,10,0,990,300\n\
           s,2026-01-01T00:00:00Z,m,0,0,0,0\n\
           s,2026-01-01T00:00:00Z,m,10\n";
    let reading = read_file(&FORMAT, &text, Branches::Last);
    assert_eq!(reading.calls(), 1);
    assert_eq!(
        notes(&reading),
        [
            "3: `timestamp` is `yesterday`, which is no time; the row was left out",
            "4: a row without input is a call that failed; it was left out",
            "5: `output_tokens` is ``, which is no number of tokens; the row was left out",
        ]
    );
}

#[test]
fn a_log_is_recognised_by_its_header_and_refused_by_the_name_of_a_column() {
    let unclear = "session,time,model,input,cache_read,cache_write,output\ns,1700000000,m,1,2,3,4\n";
    for log in [HEADER, unclear, "{\"session_id\":\"s\",\"timestamp\":1,\"input_tokens\":1,\"output_tokens\":2}\n"] {
        assert_eq!(sniff(log.as_bytes()).map(|format| format.name), Some(NAME), "{log}");
    }
    for other in ["session_id,timestamp,cost\n", "Dear diary, input, output, time,", "input_tokens,output_tokens,time\n1,2,3\n"] {
        assert_eq!(sniff(other.as_bytes()).map(|format| format.name), None, "{other}");
    }
    let reading = read_file(&FORMAT, unclear, Branches::Last);
    assert!(
        reading.conversations.is_empty() && notes(&reading)[0].starts_with("1: the column `input` does not say"),
        "{reading:?}"
    );
}

/// A few short rows must not make gigabytes.
#[test]
fn the_texts_of_a_file_are_limited() {
    let row = |n: u32| format!("s,{},m,{},0,0,1\n", 1_700_000_000 + n, if n.is_multiple_of(2) { 1 } else { 1000 });
    let rows: String = (0..60).map(row).collect();
    let reading = read_within((HEADER.to_owned() + &rows).as_bytes(), 20_000);
    let bytes: usize = reading.conversations[0].blocks.iter().map(|block| block.text().len()).sum();
    assert!((15_000..=20_000).contains(&bytes), "{bytes}");
    assert!(notes(&reading).iter().any(|note| note.contains("add up to more than is read")), "{:?}", notes(&reading));
}
