//! The archives of a session → the session: one conversation, with the compactions between its archives.
//!
//! learn-claude-code keeps one list of messages, and writes all of it to a new archive before a summary takes its place. So an archive
//! ends where its compaction was made, and the next one begins with the summary; what follows there and is the end of the archive before
//! was kept, and the rest is new. An archive that begins as the one before it does is a longer copy: before messages are snipped all are
//! archived too. Of a copy only what is new counts. What fits neither way begins another conversation: of the compaction between them
//! nothing can be told.
//!
//! Results that were shortened in place between two archives are taken as they stood when they first were archived.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::Hasher;

use xxhash_rust::xxh3::Xxh3;

use super::archive_chain::Before;
use super::message_digest::MessageDigest;
use super::totals::ARCHIVES;
use super::tree::folder;
use crate::transcript::conversation::{
    BlockId, Builder, Compaction, Conversation, Kind, Message, Origin, RecordedEdit, Role, SourceFile,
};

/// The format of archives.
const FORMAT: &str = "messages";

/// How learn-claude-code begins the names of its archives, in all its versions.
const NAME: &str = "transcript_";
/// What its s06 had the agent say to a summary, until 1ffdf3d.
const ACKNOWLEDGED: &str = "Understood. ";

/// One archive, in the order of its session.
pub struct Archive<'a> {
    /// Index of its transcript.
    pub at: usize,
    pub path: &'a str,
    pub conversation: &'a Conversation,
    pub said: &'a [MessageDigest],
    /// Where the history is that its first message stands for, if that stands for one.
    pub before: Option<&'a Before>,
}

/// Archives that hang together.
pub struct Session<'a> {
    pub conversation: Cow<'a, Conversation>,
    /// Indices of its transcripts.
    pub of: Vec<usize>,
    /// The archive that ends where each of its compactions was made: what was in the context then.
    pub folded: Vec<&'a Conversation>,
}

/// The sessions of archives that are in order, and those that begin with a compaction of which nothing can be told.
pub fn unroll<'a>(archives: &'a [Archive<'a>]) -> (Vec<Session<'a>>, Vec<&'a Archive<'a>>) {
    let (mut sessions, mut untold) = (Vec::new(), Vec::new());
    let mut open: Option<Open> = None;
    for archive in archives {
        if open.as_mut().is_some_and(|open| open.goes_on_in(archive)) {
            continue;
        }
        if archive.before.is_some() && !open.as_ref().is_some_and(|open| open.begins_as(archive)) {
            untold.push(archive);
        }
        sessions.extend(open.replace(Open::new(archive)).map(Open::close));
    }
    sessions.extend(open.map(Open::close));
    (sessions, untold)
}

/// A session that may go on.
struct Open<'a> {
    builder: Builder,
    of: Vec<&'a Archive<'a>>,
    folded: Vec<&'a Conversation>,
    /// What the messages of the last archive are in the session: nothing for the markers in a copy.
    blocks: Vec<Vec<BlockId>>,
    keys: Vec<u64>,
    /// Added to the lines of the last archive.
    lines: u32,
}

impl<'a> Open<'a> {
    fn new(archive: &'a Archive<'a>) -> Self {
        let mut builder = Builder::new(&archive.conversation.name, archive.conversation.format, archive.conversation.thinking);
        if let Some(system) = &archive.conversation.system {
            builder.set_system(system.clone());
        }
        let mut open = Self { builder, of: Vec::new(), folded: Vec::new(), blocks: Vec::new(), keys: Vec::new(), lines: 0 };
        open.begin(archive);
        open.blocks = open.append(archive, 0);
        open.keys = keys(archive);
        open
    }

    fn close(self) -> Session<'a> {
        let conversation = match self.of[..] {
            [only] => Cow::Borrowed(only.conversation),
            _ => Cow::Owned(self.builder.finish()),
        };
        Session { conversation, of: self.of.iter().map(|archive| archive.at).collect(), folded: self.folded }
    }

    /// Whether an archive begins with the same message as the last one.
    fn begins_as(&self, archive: &Archive) -> bool {
        self.keys.first() == keys(archive).first()
    }

    /// Takes what is new in an archive, unless it is none of this session.
    fn goes_on_in(&mut self, archive: &'a Archive<'a>) -> bool {
        let new = keys(archive);
        let Some(last) = self.of.last() else { return false };
        let is_summary = matches!(archive.before, Some(Before::In(before)) if *before == last.at);
        if is_summary && self.keys.first() != new.first() {
            self.fold(archive, new);
            return true;
        }
        // A summary of something else is no copy, whatever it shares.
        if archive.before.is_some() && self.keys.first() != new.first() {
            return false;
        }
        let Some(from) = end_of_copy(&self.keys, &new) else { return false };
        self.begin(archive);
        let known: HashMap<u64, &Vec<BlockId>> = self.keys.iter().copied().zip(&self.blocks).collect();
        let mut blocks: Vec<Vec<BlockId>> =
            new[..from].iter().map(|key| known.get(key).copied().cloned().unwrap_or_default()).collect();
        blocks.extend(self.append(archive, from));
        (self.blocks, self.keys) = (blocks, new);
        true
    }

    /// A compaction, and what is new after it.
    fn fold(&mut self, archive: &'a Archive<'a>, new: Vec<u64>) {
        if let Some(last) = self.of.last() {
            self.folded.push(last.conversation);
        }
        self.begin(archive);
        let messages = &archive.conversation.messages;
        let kept = kept(&self.keys, &new);
        let is_acknowledged = kept == 0 && messages.get(1).is_some_and(|message| acknowledges(archive.conversation, message));
        let mut into = Vec::new();
        let tail = self.blocks.split_off(self.blocks.len() - kept);
        for (at, message) in messages[..1 + kept + usize::from(is_acknowledged)].iter().enumerate() {
            let own =
                at.checked_sub(1).and_then(|at| tail.get(at)).filter(|own| self.are_same(own, archive.conversation, message));
            let origin = if at == 0 || is_acknowledged { Some(Origin::Compaction) } else { None };
            let blocks = own.cloned().unwrap_or_else(|| self.copies(archive.conversation, message, origin));
            into.push(Message { blocks, line: self.lines.saturating_add(message.line), ..message.clone() });
        }
        self.blocks = into.iter().map(|message| message.blocks.clone()).collect();
        self.builder.compaction(Compaction {
            at: self.builder.so_far().messages.len(),
            line: into[0].line,
            edit: RecordedEdit::Fold { into },
            trigger: None,
            tokens_before: None,
            tokens_after: None,
        });
        let appended = self.append(archive, self.blocks.len());
        self.blocks.extend(appended);
        self.keys = new;
    }

    /// Lines are of this archive from now on.
    fn begin(&mut self, archive: &'a Archive<'a>) {
        let lines = |archive: &&Archive| archive.conversation.messages.iter().map(|message| message.line).max();
        self.lines = self.lines.saturating_add(self.of.last().and_then(lines).unwrap_or(0));
        self.of.push(archive);
        self.builder.add_piece(SourceFile { path: archive.path.to_owned(), before: self.lines });
    }

    /// Appends the messages of an archive from one on, and tells their blocks.
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

    /// Whether blocks of the session are those of a message.
    fn are_same(&self, own: &[BlockId], conversation: &Conversation, message: &Message) -> bool {
        let wire = |id: &BlockId| &self.builder.so_far().block(*id).wire;
        own.iter().map(wire).eq(message.blocks.iter().map(|id| &conversation.block(*id).wire))
    }
}

/// How many messages at the end of an archive are those that the next one holds from its second message on.
fn kept(before: &[u64], next: &[u64]) -> usize {
    let after = next.get(1..).unwrap_or_default();
    let whole = |(from, fits): (usize, usize)| Some(fits).filter(|fits| from + fits == before.len());
    matches(after.iter(), before.iter()).into_iter().enumerate().find_map(whole).unwrap_or(0)
}

/// Where in a copy what is new begins: behind the longest end of the archive before that it holds. Nowhere, if it holds none.
fn end_of_copy(before: &[u64], copy: &[u64]) -> Option<usize> {
    let known: HashSet<&u64> = before.iter().collect();
    if copy.iter().all(|key| known.contains(key)) {
        return Some(copy.len());
    }
    let backwards = matches(before.iter().rev(), copy.iter().rev()).into_iter().rev();
    let (longest, end) = backwards.zip(1..).max()?;
    (longest > 0).then_some(end)
}

/// At every place of a text, how much of the beginning of a pattern stands there: the Z-function, which takes one look at each.
fn matches<'k>(pattern: impl ExactSizeIterator<Item = &'k u64>, text: impl Iterator<Item = &'k u64>) -> Vec<usize> {
    let behind = pattern.len() + 1;
    let all: Vec<Option<u64>> = pattern.copied().map(Some).chain([None]).chain(text.copied().map(Some)).collect();
    let mut fits = vec![0; all.len()];
    // The match that reaches furthest.
    let (mut begin, mut end) = (0, 0);
    for at in 1..all.len() {
        let known: usize = if at < end { (end - at).min(fits[at - begin]) } else { 0 };
        fits[at] = known + all[at + known..].iter().zip(&all[known..]).take_while(|(one, other)| one == other).count();
        if at + fits[at] > end {
            (begin, end) = (at, at + fits[at]);
        }
    }
    fits.split_off(behind)
}

/// The same for messages that are copies of one another: results may have been shortened since.
fn keys(archive: &Archive) -> Vec<u64> {
    let Archive { conversation, said, .. } = archive;
    let key = |(message, said): (&Message, &MessageDigest)| {
        let mut answered = message.blocks.iter().filter_map(|id| match conversation.block(*id).kind {
            Kind::ToolResult(pair) => Some(&conversation.pair(pair).id),
            _ => None,
        });
        let Some(first) = answered.next() else { return said.digest };
        let mut hash = Xxh3::new();
        std::iter::once(first).chain(answered).for_each(|id| hash.write(id.as_bytes()));
        hash.finish()
    };
    conversation.messages.iter().zip(*said).map(key).collect()
}

fn acknowledges(conversation: &Conversation, message: &Message) -> bool {
    let starts = |id: &BlockId| conversation.block(*id).text().starts_with(ACKNOWLEDGED);
    message.role == Role::Assistant && message.plain && message.blocks.iter().any(starts)
}

/// Whether a transcript may be one of a session's archives: a list of messages as a harness kept it, in a folder of archives, named
/// as one, or with a pointer to one in it.
pub fn is_archive(path: &str, conversations: &[Conversation], said: &[MessageDigest]) -> bool {
    let [conversation] = conversations else { return false };
    let named = || path.rsplit('/').next().is_some_and(|name| name.starts_with(NAME));
    let lies = || folder(path).trim_end_matches('/').rsplit('/').next() == Some(ARCHIVES);
    conversation.format == FORMAT
        && !conversation.messages.is_empty()
        && (lies() || named() || said.iter().any(|said| said.fold.is_some()))
}

#[cfg(test)]
mod tests;
