//! What a transcript holds of its session, so small that all transcripts can be compared: a digest of every message, and where the
//! harness says the messages before went.

use std::hash::Hasher;
use std::sync::LazyLock;

use regex::Regex;
use xxhash_rust::xxh3::Xxh3;

use super::markers::holes;
use crate::transcript::conversation::{Conversation, Kind, Message, Role};

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageDigest {
    pub line: u32,
    /// The same for messages of the same role and content.
    pub digest: u64,
    /// The model said it. Harnesses rewrite results, but not what the model said.
    pub answer: bool,
    /// It calls a tool, whose id hardly another message has.
    pub calls: bool,
    /// What of the file it is: its line, or its share of a line that holds several.
    pub bytes: u64,
    pub fold: Option<Fold>,
}

/// What a harness left in place of messages it took away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fold {
    /// The messages are in this archive.
    Archived(String),
    /// It does not say where the messages are.
    Unnamed,
}

/// The messages of a transcript, in their order.
pub fn history<'a>(conversations: impl IntoIterator<Item = &'a Conversation>, bytes: &[u8]) -> Vec<MessageDigest> {
    let sizes: Vec<u64> = bytes.split(|byte| *byte == b'\n').map(|line| line.len() as u64 + 1).collect();
    let conversations: Vec<_> = conversations.into_iter().collect();
    let mut on_line = vec![0_u64; sizes.len() + 1];
    let messages = || conversations.iter().flat_map(|one| one.messages.iter().map(move |message| (*one, message)));
    for (_, message) in messages() {
        if let Some(count) = on_line.get_mut(message.line as usize) {
            *count += 1;
        }
    }
    let said = |(conversation, message): (&Conversation, &Message)| {
        let line = message.line as usize;
        let size = sizes.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        let kinds = || message.blocks.iter().map(|id| conversation.block(*id).kind);
        MessageDigest {
            line: message.line,
            digest: digest(conversation, message),
            answer: message.role == Role::Assistant,
            calls: kinds().any(|kind| matches!(kind, Kind::ToolUse(_))),
            bytes: size / on_line.get(line).copied().unwrap_or(1).max(1),
            fold: fold(conversation, message),
        }
    };
    messages().map(said).collect()
}

fn digest(conversation: &Conversation, message: &Message) -> u64 {
    let mut hash = Xxh3::new();
    hash.write(message.role.as_str().as_bytes());
    for id in &message.blocks {
        let block = conversation.block(*id);
        let (tag, pair) = match block.kind {
            Kind::Text => (0, None),
            Kind::Thinking => (1, None),
            Kind::ToolUse(pair) => (2, Some(pair)),
            Kind::ToolResult(pair) => (3, Some(pair)),
            Kind::Media => (4, None),
            Kind::Other => (5, None),
        };
        hash.write_u8(tag);
        hash.write(pair.map_or("", |pair| conversation.pair(pair).id.as_str()).as_bytes());
        match block.kind {
            Kind::Media => hash.write(block.wire.to_string().as_bytes()),
            _ => hash.write(block.text().as_bytes()),
        }
    }
    hash.finish()
}

/// What learn-claude-code's versions put in place of messages. s08 ends its text with the path; within the text, and within the summary,
/// there may be others.
fn fold(conversation: &Conversation, message: &Message) -> Option<Fold> {
    static COMPRESSED: LazyLock<Regex> = LazyLock::new(|| holes("[Conversation compressed. Transcript: {}]\n"));
    static ARCHIVED: LazyLock<Regex> = LazyLock::new(|| holes("[{n} messages archived at {}]"));
    if message.role != Role::User {
        return None;
    }
    let block = message.blocks.first().map(|id| conversation.block(*id)).filter(|block| block.kind == Kind::Text)?;
    let text = block.text();
    let caught = |pattern: &Regex, hole| Some(Fold::Archived(pattern.captures(&text)?.get(hole)?.as_str().to_owned()));
    if let Some(fold) = caught(&COMPRESSED, 1).or_else(|| caught(&ARCHIVED, 2)) {
        return Some(fold);
    }
    if !["[Compacted]\n", "[Reactive compact]\n"].iter().any(|begin| text.starts_with(begin)) {
        return None;
    }
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    Some(last.strip_prefix("Full transcript: ").map_or(Fold::Unnamed, |path| Fold::Archived(path.to_owned())))
}
