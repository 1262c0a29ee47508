//! Conversations as lines of text, for the tests of readers.

use super::{Branches, Format, ReadOptions, Reading};
use crate::transcript::conversation::{BlockKind, Conversation, Message, Origin, RecordedEdit, Role};

/// Reads lines or a document in a format.
pub fn read(format: &Format, text: &str, branches: Branches) -> Reading {
    (format.read)(text.as_bytes(), &ReadOptions { branches, ..ReadOptions::default() })
}

/// Reads a text as [`read`] does, and returns its only conversation as lines, and its notes with their lines.
#[track_caller]
pub fn read_one(format: &Format, text: &str) -> (Vec<String>, Vec<String>) {
    let reading = read(format, text, Branches::Last);
    let [conversation] = reading.conversations.as_slice() else { panic!("one conversation: {reading:?}") };
    let notes = reading.notes.iter().map(|note| format!("{}: {}", note.line.unwrap_or(0), note.what));
    (lines(conversation), notes.collect())
}

/// Returns each message on a line: `u:` or `a:` and its blocks. `(text)` is of the harness, `<text>` of a compaction, `{text}` thinking,
/// `[c1 run]` a call, `[c1 = text]` its result, `[c1 ! text]` a failed one. A recorded compaction is a line before the message that
/// follows it.
pub fn lines(conversation: &Conversation) -> Vec<String> {
    let mut lines = Vec::new();
    for at in 0..=conversation.messages.len() {
        for compaction in conversation.compactions.iter().filter(|compaction| compaction.message_index == at) {
            lines.push(match &compaction.edit {
                RecordedEdit::Fold { into } => {
                    let into: Vec<String> = into.iter().map(|message| line(conversation, message)).collect();
                    format!("fold: {}", into.join(" | "))
                }
                RecordedEdit::Clear { pairs } => {
                    let ids: Vec<&str> = pairs.iter().map(|pair| conversation.pair(*pair).id.as_str()).collect();
                    format!("clear: {}", ids.join(" "))
                }
            });
        }
        lines.extend(conversation.messages.get(at).map(|message| line(conversation, message)));
    }
    lines
}

fn line(conversation: &Conversation, message: &Message) -> String {
    let blocks = message.blocks.iter().map(|id| {
        let block = conversation.block(*id);
        let text = block.text();
        match (block.kind, block.origin) {
            (BlockKind::ToolUse(pair), _) => {
                let pair = conversation.pair(pair);
                format!("[{} {}]", pair.id, pair.name)
            }
            (BlockKind::ToolResult(pair), origin) => {
                let sign = if block.is_error() { "!" } else { "=" };
                let sign = if origin == Origin::Placeholder { "?" } else { sign };
                format!("[{} {sign} {text}]", conversation.pair(pair).id)
            }
            (BlockKind::Media, _) => "[image]".to_owned(),
            (BlockKind::Thinking, _) => format!("{{{text}}}"),
            (_, Origin::Injected) => format!("({text})"),
            (_, Origin::Compaction) => format!("<{text}>"),
            _ => text.into_owned(),
        }
    });
    let role = if message.role == Role::User { "u" } else { "a" };
    format!("{role}: {}", blocks.collect::<Vec<_>>().join(" "))
}

/// Returns whether a format may be that of these bytes.
pub fn may_be(format: &Format, bytes: &[u8]) -> bool {
    (format.sniff)(&super::head::Head::new("", bytes)) != super::Certainty::No
}
