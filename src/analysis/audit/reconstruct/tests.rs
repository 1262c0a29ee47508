use super::*;
use crate::analysis::audit::message_digest::digests;
use crate::transcript::format::{self, ReadOptions};

/// Creates an archive from words, one for each message: a small letter is a message of the user, a capital one of the model, `+A` calls a tool
/// with the id A, `=A` is its result, `=A~` its shortened result, `*` replaces earlier messages.
fn archive(words: &str) -> Conversation {
    let line = |word: &str| match word.split_at(1) {
        ("+", id) => {
            serde_json::json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "bash", "input": {}}]})
        }
        ("=", id) => {
            let (id, text) = (id.trim_end_matches('~'), if id.ends_with('~') { "[Previous: used bash]" } else { "all of it" });
            serde_json::json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]})
        }
        ("*", path) => serde_json::json!({"role": "user", "content": format!("[Compacted]\n\nFull transcript: {path}")}),
        ("#", path) => serde_json::json!({"role": "user", "content": format!("[7 messages archived at {path}]")}),
        ("!", path) => {
            serde_json::json!({"role": "user", "content": format!("[Conversation compressed. Transcript: {path}]\n\nso")})
        }
        ("U", _) => serde_json::json!({"role": "assistant", "content": "Understood. Going on."}),
        (word, _) if word.to_uppercase() == word => {
            serde_json::json!({"role": "assistant", "content": [{"type": "text", "text": word}]})
        }
        (word, _) => serde_json::json!({"role": "user", "content": word}),
    };
    let text: String = words.split_whitespace().map(|word| format!("{}\n", line(word))).collect();
    let format = format::by_name(FORMAT).expect("a format");
    (format.read)(text.as_bytes(), &ReadOptions::default()).conversations.remove(0)
}

/// Writes messages in the notation above, with file and line of their first block.
fn notation(conversation: &Conversation, messages: &[Message]) -> String {
    let word = |message: &Message| {
        let block = conversation.block(message.blocks[0]);
        let (file, line) = conversation.file_and_line(block.line);
        let text = block.text();
        let word = match block.kind {
            BlockKind::ToolUse(pair) => format!("+{}", conversation.pair(pair).id),
            BlockKind::ToolResult(pair) => {
                format!("={}{}", conversation.pair(pair).id, if text.starts_with('[') { "~" } else { "" })
            }
            _ if block.origin == Origin::Compaction => text[..2].to_owned(),
            _ => text.chars().take(1).collect(),
        };
        format!("{word}@{}{line}", file.map_or("", |file| &file[2..]))
    };
    messages.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Describes every session: its messages, and in brackets the messages that its compactions left.
fn describe(files: &[(&str, Option<PriorHistory>)]) -> Vec<String> {
    let read: Vec<(String, Conversation)> =
        files.iter().enumerate().map(|(at, (words, _))| (format!("t_{}:", at + 1), archive(words))).collect();
    let digests: Vec<Vec<MessageDigest>> = read.iter().map(|(_, conversation)| digests([conversation], b"")).collect();
    let archives: Vec<Archive> = read
        .iter()
        .zip(&digests)
        .zip(files)
        .enumerate()
        .map(|(at, (((path, conversation), digests), (_, prior_history)))| Archive {
            at,
            path,
            conversation,
            digests,
            prior_history: prior_history.as_ref(),
        })
        .collect();
    let (sessions, without_history) = reconstruct(&archives);
    let session = |session: &Session| {
        let conversation = &*session.conversation;
        let mut from = 0;
        let mut description = String::new();
        for compaction in &conversation.compactions {
            description += &notation(conversation, &conversation.messages[from..compaction.message_index]);
            description += &format!(" [{}] ", notation(conversation, compaction.edit.messages()));
            from = compaction.message_index;
        }
        assert_eq!(session.compacted_archives.len(), conversation.compactions.len());
        description + &notation(conversation, &conversation.messages[from..])
    };
    let without_history = without_history.iter().map(|archive| format!("no history of {}", archive.path));
    sessions.iter().map(session).chain(without_history).collect()
}

#[test]
fn archives_become_conversations() {
    let after = |at| Some(PriorHistory::Transcript(at));
    let missing = || Some(PriorHistory::Missing(String::new()));
    for (files, expected) in [
        // The summary replaces all messages.
        (vec![("a +A =A", None), ("*1 +B =B", after(0))], vec!["a@1:1 +A@1:2 =A@1:3 [[C@2:1] +B@2:2 =B@2:3"]),
        // A tail was kept. Its blocks are those of the session, except shortened ones.
        (
            vec![("a +A =A +B =B", None), ("*1 +B =B c", after(0))],
            vec!["a@1:1 +A@1:2 =A@1:3 +B@1:4 =B@1:5 [[C@2:1 +B@1:4 =B@1:5] c@2:4"],
        ),
        (vec![("a +A =A", None), ("*1 +A =A~ B", after(0))], vec!["a@1:1 +A@1:2 =A@1:3 [[C@2:1 +A@1:2 =A~@2:3] B@2:4"]),
        // The harness added an answer to the summary.
        (vec![("a B", None), ("!1 U c D", after(0))], vec!["a@1:1 B@1:2 [[C@2:1 Un@2:2] c@2:3 D@2:4"]),
        // A longer copy, and one in which messages were snipped.
        (vec![("a +A =A", None), ("a +A =A~ +B =B", None)], vec!["a@1:1 +A@1:2 =A@1:3 +B@2:4 =B@2:5"]),
        (
            vec![("a +A =A +B =B", None), ("a #1 +B =B C", None), ("*2 D", after(1))],
            vec!["a@1:1 +A@1:2 =A@1:3 +B@1:4 =B@1:5 C@2:5 [[C@3:1] D@3:2"],
        ),
        // A copy after two compactions.
        (vec![("a B", None), ("*1 C", after(0)), ("*1 C d E", after(0))], vec!["a@1:1 B@1:2 [[C@2:1] C@2:2 d@3:3 E@3:4"]),
        // Two branches are two sessions.
        (vec![("a B c", None), ("a B d", None)], vec!["a@1 B@2 c@3", "a@1 B@2 d@3"]),
        // An archive is missing.
        (
            vec![("a B", None), ("*9 C", missing()), ("*2 D", after(1))],
            vec!["a@1 B@2", "[C@2:1 C@2:2 [[C@3:1] D@3:2", "no history of t_2:"],
        ),
        // The next archive overwrote it.
        (vec![("*1 C", after(0))], vec!["[C@1 C@2", "no history of t_1:"]),
        // No message follows the last compaction.
        (vec![("a B", None), ("*1", after(0))], vec!["a@1:1 B@1:2 [[C@2:1] "]),
    ] {
        assert_eq!(describe(&files), expected, "{:?}", files.iter().map(|(words, _)| words).collect::<Vec<_>>());
    }
}

#[test]
fn archives_are_recognised_by_folder_name_or_pointer() {
    for (path, words, expected) in [
        ("s/.transcripts/x.jsonl", "a B", true),
        (".transcripts/x.jsonl", "a B", true),
        ("s/transcript_7.jsonl", "a B", true),
        ("s/x.jsonl", "*1 B", true),
        ("s/x.jsonl", "a B", false),
    ] {
        let conversation = archive(words);
        let digests = digests([&conversation], b"");
        assert_eq!(is_archive(path, &[conversation], &digests), expected, "{path} {words}");
    }
}

#[test]
fn archive_overlap_with_the_next_is_found() {
    for (before, next, tail, copied) in [
        ("abc", "zbcd", 2, Some(3)),
        ("abab", "zabx", 2, Some(3)),
        ("abab", "zababx", 4, Some(5)),
        ("aaaa", "zaax", 2, Some(3)),
        ("abc", "zxy", 0, None),
        ("abc", "abcd", 2, Some(3)),
        ("abc", "ab", 0, Some(2)),
        ("abcd", "azcdcd", 0, Some(6)),
        ("abc", "z", 0, None),
    ] {
        let keys = |word: &str| word.bytes().map(u64::from).collect::<Vec<_>>();
        let (before_keys, next_keys) = (keys(before), keys(next));
        assert_eq!(kept_messages(&before_keys, &next_keys), tail, "{before} {next}");
        assert_eq!(end_of_copy(&before_keys, &next_keys), copied, "{before} {next}");
    }
}

#[test]
fn overlap_of_a_million_equal_messages_is_found_quickly() {
    let same = vec![7; 1_000_000];
    let copy: Vec<u64> = [1].into_iter().chain(same.iter().copied()).collect();
    assert_eq!(kept_messages(&same, &copy), same.len());
    assert_eq!(end_of_copy(&same, &copy), Some(copy.len()));
}
