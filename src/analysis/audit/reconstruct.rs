//! Reconstructs a session from its archives: one conversation, with the compactions between the archives.
//!
//! learn-claude-code keeps one list of messages, and writes the whole list to a new archive before a summary replaces
//! it. So an archive ends where its compaction was made, and the next one begins with the summary. The messages after
//! the summary that are also the end of the archive before were kept, and the rest is new. An archive that begins like
//! the one before it is a longer copy, because messages are also archived before they are snipped. Of a copy only the
//! new messages count. An archive that fits neither way begins another conversation; what the compaction between them
//! removed is unknown.
//!
//! Results that were shortened in place between two archives are taken as they first were archived.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::Hasher;

use xxhash_rust::xxh3::Xxh3;

use super::archive_chain::PriorHistory;
use super::message_digest::MessageDigest;
use super::totals::ARCHIVES;
use super::tree::folder;
use crate::transcript::conversation::{
    BlockId, BlockKind, Compaction, Conversation, ConversationBuilder, Message, Origin, RecordedEdit, Role, SourceFile,
};

/// The format of archives.
const FORMAT: &str = "messages";

/// Beginning of the names of learn-claude-code's archives, in all its versions.
const NAME: &str = "transcript_";
/// Beginning of the answer that its s06 adds to a summary, until 1ffdf3d.
const ACKNOWLEDGED: &str = "Understood. ";

/// One archive of a session.
pub struct Archive<'a> {
    /// Index of its transcript.
    pub at: usize,
    pub path: &'a str,
    pub conversation: &'a Conversation,
    pub digests: &'a [MessageDigest],
    /// Where the history before the first message is, if the first message replaces earlier messages.
    pub prior_history: Option<&'a PriorHistory>,
}

/// The conversation of connected archives.
pub struct Session<'a> {
    pub conversation: Cow<'a, Conversation>,
    /// Indices of its transcripts.
    pub transcripts: Vec<usize>,
    /// For each compaction, the archive that ends there: the context that was compacted.
    pub compacted_archives: Vec<&'a Conversation>,
}

/// Returns the sessions of archives, which are in order, and the archives that begin with the summary of an unknown history.
pub fn reconstruct<'a>(archives: &'a [Archive<'a>]) -> (Vec<Session<'a>>, Vec<&'a Archive<'a>>) {
    let (mut sessions, mut without_history) = (Vec::new(), Vec::new());
    let mut open: Option<OpenSession> = None;
    for archive in archives {
        if open.as_mut().is_some_and(|open| open.continue_with(archive)) {
            continue;
        }
        if archive.prior_history.is_some() && !open.as_ref().is_some_and(|open| open.has_same_beginning(archive)) {
            without_history.push(archive);
        }
        sessions.extend(open.replace(OpenSession::new(archive)).map(OpenSession::close));
    }
    sessions.extend(open.map(OpenSession::close));
    (sessions, without_history)
}

/// A session that later archives may continue.
struct OpenSession<'a> {
    builder: ConversationBuilder,
    archives: Vec<&'a Archive<'a>>,
    compacted_archives: Vec<&'a Conversation>,
    /// Blocks of the session for each message of the last archive; empty for the markers in a copy.
    blocks: Vec<Vec<BlockId>>,
    /// Keys of the messages of the last archive, see [`keys`].
    keys: Vec<u64>,
    /// Offset of the last archive's line numbers.
    lines: u32,
}

impl<'a> OpenSession<'a> {
    fn new(archive: &'a Archive<'a>) -> Self {
        let mut builder =
            ConversationBuilder::new(&archive.conversation.name, archive.conversation.format, archive.conversation.thinking);
        if let Some(system) = &archive.conversation.system {
            builder.set_system(system.clone());
        }
        let mut open = Self {
            builder,
            archives: Vec::new(),
            compacted_archives: Vec::new(),
            blocks: Vec::new(),
            keys: Vec::new(),
            lines: 0,
        };
        open.begin_archive(archive);
        open.blocks = open.append(archive, 0);
        open.keys = keys(archive);
        open
    }

    fn close(self) -> Session<'a> {
        let transcripts = self.archives.iter().map(|archive| archive.at).collect();
        let conversation = match self.archives[..] {
            [only] => Cow::Borrowed(only.conversation),
            _ => Cow::Owned(self.builder.finish()),
        };
        Session { conversation, transcripts, compacted_archives: self.compacted_archives }
    }

    /// Whether an archive begins with the same message as the last one.
    fn has_same_beginning(&self, archive: &Archive) -> bool {
        self.keys.first() == keys(archive).first()
    }

    /// Adds the new messages of an archive. Returns `false` if the archive belongs to another session.
    fn continue_with(&mut self, archive: &'a Archive<'a>) -> bool {
        let new = keys(archive);
        let Some(last) = self.archives.last() else { return false };
        let is_summary = matches!(archive.prior_history, Some(PriorHistory::Transcript(before)) if *before == last.at);
        if is_summary && self.keys.first() != new.first() {
            self.add_compaction(archive, new);
            return true;
        }
        // An archive with a summary of another history is not a copy, even if it shares messages.
        if archive.prior_history.is_some() && self.keys.first() != new.first() {
            return false;
        }
        let Some(from) = end_of_copy(&self.keys, &new) else { return false };
        self.begin_archive(archive);
        let known: HashMap<u64, &Vec<BlockId>> = self.keys.iter().copied().zip(&self.blocks).collect();
        let mut blocks: Vec<Vec<BlockId>> =
            new[..from].iter().map(|key| known.get(key).copied().cloned().unwrap_or_default()).collect();
        blocks.extend(self.append(archive, from));
        (self.blocks, self.keys) = (blocks, new);
        true
    }

    /// Adds a compaction, and the new messages after it.
    fn add_compaction(&mut self, archive: &'a Archive<'a>, new: Vec<u64>) {
        if let Some(last) = self.archives.last() {
            self.compacted_archives.push(last.conversation);
        }
        self.begin_archive(archive);
        let messages = &archive.conversation.messages;
        let kept = kept_messages(&self.keys, &new);
        let is_acknowledged = kept == 0 && messages.get(1).is_some_and(|message| acknowledges(archive.conversation, message));
        let mut into = Vec::new();
        let tail = self.blocks.split_off(self.blocks.len() - kept);
        for (at, message) in messages[..1 + kept + usize::from(is_acknowledged)].iter().enumerate() {
            let kept_blocks = at
                .checked_sub(1)
                .and_then(|at| tail.get(at))
                .filter(|blocks| self.are_same(blocks, archive.conversation, message));
            let origin = if at == 0 || is_acknowledged { Some(Origin::Compaction) } else { None };
            let blocks = kept_blocks.cloned().unwrap_or_else(|| self.copies(archive.conversation, message, origin));
            into.push(Message { blocks, line: self.lines.saturating_add(message.line), ..message.clone() });
        }
        self.blocks = into.iter().map(|message| message.blocks.clone()).collect();
        self.builder.compaction(Compaction {
            message_index: self.builder.so_far().messages.len(),
            line: into[0].line,
            edit: RecordedEdit::Fold { into },
            trigger: None,
            tokens_before: None,
            tokens_after: None,
            summary_usage: None,
        });
        let appended = self.append(archive, self.blocks.len());
        self.blocks.extend(appended);
        self.keys = new;
    }

    /// Makes this archive the last one. Later line numbers refer to it.
    fn begin_archive(&mut self, archive: &'a Archive<'a>) {
        let lines = |archive: &&Archive| archive.conversation.messages.iter().map(|message| message.line).max();
        self.lines = self.lines.saturating_add(self.archives.last().and_then(lines).unwrap_or(0));
        self.archives.push(archive);
        self.builder.add_piece(SourceFile { path: archive.path.to_owned(), first_line: self.lines });
    }

    /// Appends the messages of an archive from index `from` on, and returns their blocks.
    fn append(&mut self, archive: &Archive, from: usize) -> Vec<Vec<BlockId>> {
        let Conversation { messages, calls, .. } = archive.conversation;
        let mut appended = Vec::new();
        for (at, message) in messages.iter().enumerate().skip(from) {
            let blocks = self.copies(archive.conversation, message, None);
            appended.push(blocks.clone());
            let line = self.lines.saturating_add(message.line);
            let message = Message { blocks, line, ..message.clone() };
            match calls.binary_search_by_key(&at, |call| call.response) {
                Ok(call) => self.builder.response(message, calls[call].clone()),
                Err(_) => self.builder.message(message),
            };
            self.builder.add_record();
        }
        appended
    }

    fn copies(&mut self, conversation: &Conversation, message: &Message, origin: Option<Origin>) -> Vec<BlockId> {
        let copy = |id: &BlockId| {
            let block = conversation.block(*id);
            let line = self.lines.saturating_add(block.line);
            self.builder.block(block.wire.clone(), origin.unwrap_or(block.origin), line)
        };
        message.blocks.iter().map(copy).collect()
    }

    /// Whether blocks of the session equal those of a message.
    fn are_same(&self, blocks: &[BlockId], conversation: &Conversation, message: &Message) -> bool {
        let wire = |id: &BlockId| &self.builder.so_far().block(*id).wire;
        blocks.iter().map(wire).eq(message.blocks.iter().map(|id| &conversation.block(*id).wire))
    }
}

/// Counts the messages at the end of an archive that the next archive has from its second message on.
fn kept_messages(before: &[u64], next: &[u64]) -> usize {
    let after = next.get(1..).unwrap_or_default();
    let reaches_end = |(from, length): (usize, usize)| Some(length).filter(|length| from + length == before.len());
    match_lengths(after.iter(), before.iter()).into_iter().enumerate().find_map(reaches_end).unwrap_or(0)
}

/// Returns the index of the first new message in a copy: after the longest end of the previous archive that the copy contains. `None` if
/// it contains none.
fn end_of_copy(before: &[u64], copy: &[u64]) -> Option<usize> {
    let known: HashSet<&u64> = before.iter().collect();
    if copy.iter().all(|key| known.contains(key)) {
        return Some(copy.len());
    }
    let backwards = match_lengths(before.iter().rev(), copy.iter().rev()).into_iter().rev();
    let (longest, end) = backwards.zip(1..).max()?;
    (longest > 0).then_some(end)
}

/// Returns for every index of a text how much of the beginning of a pattern matches there (the Z-function, in linear time).
fn match_lengths<'k>(pattern: impl ExactSizeIterator<Item = &'k u64>, text: impl Iterator<Item = &'k u64>) -> Vec<usize> {
    let text_start = pattern.len() + 1;
    let all: Vec<Option<u64>> = pattern.copied().map(Some).chain([None]).chain(text.copied().map(Some)).collect();
    let mut lengths = vec![0; all.len()];
    // The match with the largest end.
    let (mut begin, mut end) = (0, 0);
    for at in 1..all.len() {
        let known: usize = if at < end { (end - at).min(lengths[at - begin]) } else { 0 };
        lengths[at] = known + all[at + known..].iter().zip(&all[known..]).take_while(|(a, b)| a == b).count();
        if at + lengths[at] > end {
            (begin, end) = (at, at + lengths[at]);
        }
    }
    lengths.split_off(text_start)
}

/// Returns a key for each message that is equal for copies of a message. Messages with tool results use only the ids of the calls,
/// because results may have been shortened since.
fn keys(archive: &Archive) -> Vec<u64> {
    let Archive { conversation, digests, .. } = archive;
    let key = |(message, digest): (&Message, &MessageDigest)| {
        let mut answered = message.blocks.iter().filter_map(|id| match conversation.block(*id).kind {
            BlockKind::ToolResult(pair) => Some(&conversation.pair(pair).id),
            _ => None,
        });
        let Some(first) = answered.next() else { return digest.digest };
        let mut hash = Xxh3::new();
        std::iter::once(first).chain(answered).for_each(|id| hash.write(id.as_bytes()));
        hash.finish()
    };
    conversation.messages.iter().zip(*digests).map(key).collect()
}

/// Whether a message is the fixed answer to a summary.
fn acknowledges(conversation: &Conversation, message: &Message) -> bool {
    let starts = |id: &BlockId| conversation.block(*id).text().starts_with(ACKNOWLEDGED);
    message.role == Role::Assistant && message.is_string_content && message.blocks.iter().any(starts)
}

/// Whether a transcript may be an archive: a plain list of messages that is in a folder of archives, has the name of an archive, or
/// names an archive.
pub fn is_archive(path: &str, conversations: &[Conversation], digests: &[MessageDigest]) -> bool {
    let [conversation] = conversations else { return false };
    let has_archive_name = || path.rsplit('/').next().is_some_and(|name| name.starts_with(NAME));
    let is_in_archive_folder = || folder(path).trim_end_matches('/').rsplit('/').next() == Some(ARCHIVES);
    conversation.format == FORMAT
        && !conversation.messages.is_empty()
        && (is_in_archive_folder() || has_archive_name() || digests.iter().any(|digest| digest.archive_marker.is_some()))
}

#[cfg(test)]
mod tests;
