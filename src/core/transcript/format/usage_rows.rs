//! Logs of usage: a row for each call with its session, time, model and tokens, and no text. It is all that a team may share of its
//! users.
//!
//! The sizes of the requests are the conversation: what a request has more than the one before is a message of that many tokens. The
//! smallest request counts as system prompt and tools, which no policy edits. Where a request is smaller than the one before it,
//! something left, and the log does not say what or why: that is a fold of the record into what remained. Of that, whole messages that
//! the provider read from its cache are the messages of before; the rest is a new one.
//!
//! A conversation is the calls that one model made for one agent of a session: harnesses ask small models beside it, and a prompt cache
//! is of one model.
//!
//! Texts have [`BYTES_PER_TOKEN`] characters a token, so that estimators that count characters see the size too.

mod columns;
mod table;

use std::collections::HashMap;

use super::head::{self, Head};
use super::notes::Notes;
use super::{Certainty, Format, Joins, Note, ReadOptions, Reading};
use crate::text::tokens::BYTES_PER_TOKEN;
use crate::transcript::conversation::{
    Call, Compaction, Conversation, ConversationBuilder, Identity, Message, Origin, RecordedEdit, Role, Thinking,
};
use columns::{Columns, Row};
use table::Table;

/// The id of the format.
const NAME: &str = "usage-rows";

pub const FORMAT: Format = Format {
    name: NAME,
    about: "logs of usage without texts, CSV or JSON lines: session, time, model, input, cache reads and writes, output",
    sniff,
    read,
    folders: &[],
    store: None,
    joins: Joins::Nothing,
};

/// What a reader of any result must know: the note on each of these logs.
pub const WITHOUT_TEXTS: &str = "a log of usage has sizes and no texts: costs, thresholds, refusals and cold caches are replayed; which facts \
    stay in context, and what clearing results saves, cannot be known";

/// Maximum bytes of text that a file may become, in place of its tokens: 256 million tokens.
const MAX_TEXT: u64 = 1 << 30;

/// Bytes of a message in the list that a compaction left.
const LISTED: u64 = 128;

fn sniff(head: &Head) -> Certainty {
    let is_row = |record: &serde_json::Value| {
        record.as_object().is_some_and(|row| columns::are_usage(&row.keys().cloned().collect::<Vec<String>>()))
    };
    let is_csv = || !head::is_lines(head.bytes) && columns::are_usage(&table::header(head.bytes));
    (head.records.iter().any(is_row) || head.records.is_empty() && is_csv()).into()
}

fn read(bytes: &[u8], _: &ReadOptions) -> Reading {
    read_within(bytes, MAX_TEXT)
}

/// Reads as many calls of each conversation as have room in this many bytes of text.
fn read_within(bytes: &[u8], mut left: u64) -> Reading {
    let mut notes = Notes::default();
    let table = Table::read(bytes, &mut notes);
    let columns = match Columns::find(&table.header) {
        Ok(columns) => columns,
        Err(why) => return Reading { conversations: Vec::new(), notes: vec![Note::skipped(1, why)] },
    };
    notes.lines.push(Note::info(1, WITHOUT_TEXTS));
    if !columns.has_cache() {
        notes
            .lines
            .push(Note::info(1, "no column has the tokens that were read from the prompt cache: each counts as not cached"));
    }
    let mut chains: Vec<Vec<Row>> = Vec::new();
    let mut known: HashMap<(String, Option<String>, Option<String>), usize> = HashMap::new();
    for (line, cells) in &table.rows {
        match columns.row(*line, cells, &table.header) {
            Ok(row) if row.usage.request() == 0 => {
                notes.kind(Note::info(*line, "a row without input is a call that failed; it was left out"));
            }
            Ok(row) => {
                let key = (row.session.clone(), row.agent.clone(), row.model.clone());
                let chain = *known.entry(key).or_insert(chains.len());
                if chain == chains.len() {
                    chains.push(Vec::new());
                }
                chains[chain].push(row);
            }
            Err(why) => notes.lines.push(Note::skipped(*line, format!("{why}; the row was left out"))),
        }
    }
    let is_alone = chains.len() == 1;
    let mut conversations = Vec::new();
    for (n, rows) in chains.into_iter().enumerate() {
        // `~2` marks another branch of a conversation.
        let name = if is_alone { "main".to_owned() } else { format!("{}-{}", n + 1, rows[0].session.replace('~', "-")) };
        conversations.push(conversation(name, rows, &mut left, &mut notes));
    }
    Reading { conversations, notes: notes.finish() }
}

fn conversation(name: String, mut rows: Vec<Row>, left: &mut u64, notes: &mut Notes) -> Conversation {
    rows.sort_by_key(|row| row.time);
    let mut builder = ConversationBuilder::new(name, NAME, Thinking::All);
    let Row { session, agent, .. } = rows[0].clone();
    builder.set_identity(match agent {
        Some(agent) => Identity { session: Some(agent), ..Identity::default() }.started_by(Some(session)),
        None => Identity { session: Some(session), ..Identity::default() },
    });
    let overhead = rows.iter().map(|row| row.usage.request()).min().unwrap_or(0);
    let mut context = Context { builder, messages: Vec::new(), size: 0, left };
    for (at, row) in rows.iter().enumerate() {
        let request = row.usage.request() - overhead;
        let before = at.checked_sub(1).map(|before| rows[before].usage.request());
        let next = rows.get(at + 1).map(|next| next.usage.request() - overhead);
        if !context.has_room(request + row.usage.output) {
            let what = "the sizes in this file add up to more than is read; the rest of the calls was left out: split the file by sessions";
            notes.kind(Note::skipped(row.line, what));
            break;
        }
        match before.filter(|before| *before > row.usage.request()) {
            Some(before) => {
                let what = "a request is smaller than the one before it, and the log does not say why: what remained counts as left by a \
                            compaction";
                notes.kind(Note::info(row.line, what));
                context.shrink(request, row.usage.cache_read.saturating_sub(overhead), row);
                context.record(before, row);
            }
            None => context.ask(request - context.size, row.line),
        }
        // Of a response remains what the next request has more than this one: reasoning is not sent again everywhere.
        let grown = next.and_then(|next| next.checked_sub(request)).unwrap_or(row.usage.output);
        context.answer(grown.min(row.usage.output), row);
    }
    context.builder.finish()
}

/// What the next request holds.
struct Context<'l> {
    builder: ConversationBuilder,
    /// The messages with their tokens.
    messages: Vec<(Message, u64)>,
    /// The sum of their tokens.
    size: u64,
    /// How many bytes of text may still be made.
    left: &'l mut u64,
}

impl Context<'_> {
    fn push(&mut self, message: Message, tokens: u64) {
        self.messages.push((message, tokens));
        self.size += tokens;
    }

    fn has_room(&self, tokens: u64) -> bool {
        tokens * BYTES_PER_TOKEN <= *self.left
    }

    /// Adds a message of the user.
    fn ask(&mut self, tokens: u64, line: u32) {
        let message = self.message(Role::User, tokens, line);
        self.builder.message(message.clone());
        self.push(message, tokens);
    }

    /// Adds a response and its call.
    fn answer(&mut self, tokens: u64, row: &Row) {
        let message = Message { time: Some(row.time), ..self.message(Role::Assistant, tokens, row.line) };
        let call = Call {
            usage: Some(row.usage),
            model: row.model.clone(),
            message_id: row.message.clone(),
            request_id: row.request.clone(),
            time: Some(row.time),
            ..Call::default()
        };
        self.builder.response(message.clone(), call);
        self.push(message, tokens);
    }

    /// Replaces the messages by some of this size: the first ones as far as they were cached, and a new one.
    fn shrink(&mut self, size: u64, cached: u64, row: &Row) {
        // Where nothing is compacted, a message must be between two responses. How large it was is not known.
        let unknown = self.message(Role::User, 0, row.line);
        self.builder.message(unknown);
        let mut kept = 0;
        let is_cached = |(_, tokens): &&(Message, u64)| {
            kept += tokens;
            kept <= cached.min(size)
        };
        let whole = self.messages.iter().take_while(is_cached).count();
        self.messages.truncate(whole);
        while self.messages.last().is_some_and(|(message, _)| message.role == Role::User) {
            self.messages.pop();
        }
        self.size = self.messages.iter().map(|(_, tokens)| tokens).sum();
        let rest = size - self.size;
        let message = self.message(Role::User, rest, row.line);
        self.push(message, rest);
    }

    /// Records that a compaction left these messages of a request of `before` tokens.
    fn record(&mut self, before: u64, row: &Row) {
        // Each compaction has a list of its own, which takes room, too.
        *self.left = self.left.saturating_sub(self.messages.len() as u64 * LISTED);
        let into = self.messages.iter().map(|(message, _)| message.clone()).collect();
        self.builder.compaction(Compaction {
            message_index: self.builder.so_far().messages.len(),
            edit: RecordedEdit::Fold { into },
            trigger: None,
            tokens_before: Some(before),
            tokens_after: Some(row.usage.request()),
            summary_usage: None,
            line: row.line,
        });
    }

    /// Returns a message whose block has this size.
    fn message(&mut self, role: Role, tokens: u64, line: u32) -> Message {
        let text = text(tokens);
        *self.left = self.left.saturating_sub(text.len() as u64);
        let origin = if role == Role::Assistant { Origin::Agent } else { Origin::Placeholder };
        let block = self.builder.text(text, origin, line);
        self.builder.set_recorded_tokens(block, tokens);
        Message { role, is_string_content: true, blocks: vec![block], time: None, line }
    }
}

/// Returns a text of this many tokens. No API takes an empty one.
fn text(tokens: u64) -> String {
    let (begin, end) = ("[not in the log", "]");
    let length = usize::try_from(tokens * BYTES_PER_TOKEN).unwrap_or(usize::MAX).max(1);
    match length.checked_sub(begin.len() + end.len()) {
        Some(spaces) => [begin, &" ".repeat(spaces), end].concat(),
        None => ".".repeat(length),
    }
}

#[cfg(test)]
mod tests;
