//! Digests the messages of a transcript, so that all transcripts can be compared in little memory.
//!
//! Each digest also has the marker that names where a harness put the earlier messages.

use std::hash::Hasher;
use std::sync::LazyLock;

use regex::Regex;
use xxhash_rust::xxh3::Xxh3;

use super::markers::pattern_of;
use crate::transcript::conversation::{BlockKind, Conversation, Message, Role};

/// Digest of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageDigest {
    pub line: u32,
    /// Hash of role and content.
    pub digest: u64,
    /// Whether the model wrote it. Harnesses rewrite results, but not the model's messages.
    pub answer: bool,
    /// Whether it calls a tool. The id of a tool call is almost unique.
    pub calls: bool,
    /// Bytes in the file: the size of its line, or its share of a line with several messages.
    pub bytes: u64,
    /// Whether it replaces earlier messages.
    pub archive_marker: Option<ArchiveMarker>,
}

/// What a harness left in place of messages that it removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchiveMarker {
    /// The messages are in this archive.
    Archived(String),
    /// The marker names no archive.
    Unnamed,
}

/// Returns the digests of a transcript's messages, in order. `bytes` is the content of the transcript.
pub fn digests<'a>(conversations: impl IntoIterator<Item = &'a Conversation>, bytes: &[u8]) -> Vec<MessageDigest> {
    let sizes: Vec<u64> = bytes.split(|byte| *byte == b'\n').map(|line| line.len() as u64 + 1).collect();
    let conversations: Vec<_> = conversations.into_iter().collect();
    let mut messages_on_line = vec![0_u64; sizes.len() + 1];
    let messages = || {
        conversations.iter().flat_map(|conversation| conversation.messages.iter().map(move |message| (*conversation, message)))
    };
    for (_, message) in messages() {
        if let Some(count) = messages_on_line.get_mut(message.line as usize) {
            *count += 1;
        }
    }
    let message_digest = |(conversation, message): (&Conversation, &Message)| {
        let line = message.line as usize;
        let size = sizes.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        let kinds = || message.blocks.iter().map(|id| conversation.block(*id).kind);
        MessageDigest {
            line: message.line,
            digest: hash(conversation, message),
            answer: message.role == Role::Assistant,
            calls: kinds().any(|kind| matches!(kind, BlockKind::ToolUse(_))),
            bytes: size / messages_on_line.get(line).copied().unwrap_or(1).max(1),
            archive_marker: archive_marker(conversation, message),
        }
    };
    messages().map(message_digest).collect()
}

fn hash(conversation: &Conversation, message: &Message) -> u64 {
    let mut hash = Xxh3::new();
    hash.write(message.role.as_str().as_bytes());
    for id in &message.blocks {
        let block = conversation.block(*id);
        let (tag, pair) = match block.kind {
            BlockKind::Text => (0, None),
            BlockKind::Thinking => (1, None),
            BlockKind::ToolUse(pair) => (2, Some(pair)),
            BlockKind::ToolResult(pair) => (3, Some(pair)),
            BlockKind::Media => (4, None),
            BlockKind::Other => (5, None),
        };
        hash.write_u8(tag);
        hash.write(pair.map_or("", |pair| conversation.pair(pair).id.as_str()).as_bytes());
        match block.kind {
            BlockKind::Media => hash.write(block.wire.to_string().as_bytes()),
            _ => hash.write(block.text().as_bytes()),
        }
    }
    hash.finish()
}

/// Recognises what learn-claude-code's versions put in place of messages. s08 ends its text with the path of the archive; the text and the
/// summary in it may name other paths.
fn archive_marker(conversation: &Conversation, message: &Message) -> Option<ArchiveMarker> {
    static COMPRESSED: LazyLock<Regex> = LazyLock::new(|| pattern_of("[Conversation compressed. Transcript: {}]\n"));
    static ARCHIVED: LazyLock<Regex> = LazyLock::new(|| pattern_of("[{n} messages archived at {}]"));
    if message.role != Role::User {
        return None;
    }
    let block = message.blocks.first().map(|id| conversation.block(*id)).filter(|block| block.kind == BlockKind::Text)?;
    let text = block.text();
    let archived =
        |pattern: &Regex, group| Some(ArchiveMarker::Archived(pattern.captures(&text)?.get(group)?.as_str().to_owned()));
    if let Some(marker) = archived(&COMPRESSED, 1).or_else(|| archived(&ARCHIVED, 2)) {
        return Some(marker);
    }
    if !["[Compacted]\n", "[Reactive compact]\n"].iter().any(|begin| text.starts_with(begin)) {
        return None;
    }
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    let path = last.strip_prefix("Full transcript: ");
    Some(path.map_or(ArchiveMarker::Unnamed, |path| ArchiveMarker::Archived(path.to_owned())))
}
