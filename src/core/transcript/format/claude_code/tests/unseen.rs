//! Files that begin in the middle of a session.

use super::*;

/// A response after a request of `read` cached and `written` other tokens.
fn answers(uuid: &str, parent: &str, read: u64, written: u64) -> Value {
    let usage = json!({"input_tokens": 0, "cache_read_input_tokens": read, "cache_creation_input_tokens": written});
    let message = json!({"id": format!("m-{uuid}"), "content": [{"type": "text", "text": "done"}], "usage": usage});
    record("assistant", uuid, Some(parent), json!({"message": message}))
}

/// Returns the recorded tokens of the first block, and the text of the notes.
fn unseen(records: &[Value]) -> (Option<u64>, String) {
    let (conversation, notes) = read_one(records);
    (conversation.blocks[0].recorded_tokens, notes.join("\n"))
}

#[test]
fn history_before_the_file_is_a_message_without_text() {
    // 4,000 bytes are a thousand tokens: 90,000 − 20,000 − 1,000.
    let text = "x".repeat(4_000);
    let records = [
        user("u1", Some("before the file"), &text),
        answers("r1", "u1", 70_000, 20_000),
        boundary("b1", "r1", json!({})),
        summary("s1", "b1", "what was done"),
        answers("r2", "s1", 20_000, 3_000),
    ];
    let (tokens, notes) = unseen(&records);
    assert_eq!(tokens, Some(69_000));
    assert!(notes.starts_with("1: the session begins before this file: by the usage, about 69000 tokens"), "{notes}");
    let (conversation, _) = read_one(&records);
    let texts = show(&conversation, &conversation.messages);
    assert_eq!(texts[0], "user = [earlier messages, which are not in the file] (Placeholder)");
    assert_eq!((conversation.compactions[0].message_index, conversation.calls[0].response), (3, 2));
}

#[test]
fn a_request_after_a_compaction_shows_what_was_taken_for_the_system_prompt() {
    let session = |after: u64| {
        [
            user("u1", None, "go"),
            answers("r1", "u1", 0, 90_000),
            boundary("b1", "r1", json!({})),
            summary("s1", "b1", "what was done"),
            answers("r2", "s1", 20_000, after - 20_000),
        ]
    };
    assert_eq!(unseen(&session(30_000)).0, Some(70_000));
    assert_eq!(unseen(&session(95_000)), (None, String::new()), "the compaction removed what is in the file");
}

/// The first request is larger than the one after the compaction, because of its text.
#[test]
fn a_long_beginning_is_no_history() {
    let records = [
        user("u1", None, &"x".repeat(100_000)),
        answers("r1", "u1", 30_000, 30_000),
        boundary("b1", "r1", json!({})),
        summary("s1", "b1", "what was done"),
        answers("r2", "s1", 20_000, 30_000),
    ];
    assert_eq!(unseen(&records), (None, String::new()));
}

#[test]
fn a_session_from_its_beginning_has_all_its_history() {
    let whole = [user("u1", None, "go"), answers("r1", "u1", 20_000, 30_000), answers("r2", "r1", 50_000, 100)];
    assert_eq!(unseen(&whole), (None, String::new()));
    // Its first parent is not in the file, and all that was sent is read as a prefix again.
    let short = [user("u1", Some("elsewhere"), "go"), answers("r1", "u1", 50_000, 10), answers("r2", "r1", 50_010, 100)];
    assert_eq!(unseen(&short), (None, String::new()));
}
