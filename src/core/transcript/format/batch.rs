//! Collects the content between two responses into one user message, as Anthropic's API requires: first the tool results, in the order
//! of the calls, then everything else.

use std::collections::{HashMap, VecDeque};

use serde_json::{Value, json};

use super::{Note, exit_code};
use crate::transcript::conversation::{BlockId, ConversationBuilder, Message, Origin, Role};

/// Line and time of a record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Line of the file, from 1.
    pub line: u32,
    /// Milliseconds since 1970, if the record has times.
    pub time: Option<i64>,
}

impl Stamp {
    /// Reads a time such as `2026-11-26T16:15:36.822Z`; one without an offset is in UTC.
    pub fn parsed(line: u32, time: Option<&str>) -> Self {
        let utc = |text: &str| text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
        let at = |text: &str| text.parse::<jiff::Timestamp>().ok().or_else(|| Some(utc(text)?.timestamp()));
        Self { line, time: time.and_then(at).map(jiff::Timestamp::as_millisecond) }
    }
}

/// The user message under construction. Before each response, [`Batch::close`] it; after it, [`Batch::expect`] the new calls.
#[derive(Debug)]
pub struct Batch {
    calls: Vec<ExpectedResult>,
    /// Indices of `calls` without a result, by id. One response may use an id twice.
    waiting: HashMap<String, VecDeque<usize>>,
    rest: Vec<BlockId>,
    is_string_content: bool,
    first: Option<Stamp>,
    placeholder: &'static str,
}

/// A tool call, and its result once it is read.
#[derive(Debug)]
struct ExpectedResult {
    id: String,
    line: u32,
    result: Option<BlockId>,
}

impl Batch {
    /// Creates an empty batch. `placeholder` is the text of a result that is missing in the record.
    pub fn new(placeholder: &'static str) -> Self {
        Self { calls: Vec::new(), waiting: HashMap::new(), rest: Vec::new(), is_string_content: false, first: None, placeholder }
    }

    /// Adds a call whose result belongs in this message.
    pub fn expect(&mut self, id: &str, line: u32) {
        self.waiting.entry(id.to_owned()).or_default().push_back(self.calls.len());
        self.calls.push(ExpectedResult { id: id.to_owned(), line, result: None });
    }

    /// Adds a result whose format has no field for errors: its text tells whether a command failed. Otherwise as [`Batch::answer_as`].
    pub fn answer(&mut self, id: &str, content: Value, at: Stamp, builder: &mut ConversationBuilder, notes: &mut Vec<Note>) {
        let failed = exit_code::says_failed(&content);
        self.answer_as(failed, id, content, at, builder, notes);
    }

    /// Adds a result. Its content is as in Anthropic's API: a string or a list of blocks. A result without an open call would make the
    /// request invalid, so its content becomes text of the harness.
    pub fn answer_as(
        &mut self,
        failed: bool,
        id: &str,
        content: Value,
        at: Stamp,
        builder: &mut ConversationBuilder,
        notes: &mut Vec<Note>,
    ) {
        let wire = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        self.answer_block(failed, id, wire, at, builder, notes);
    }

    /// Adds a result as its whole block, as [`Batch::answer_as`]. `failed` is for one without a field that says so.
    pub fn answer_block(
        &mut self,
        failed: bool,
        id: &str,
        mut wire: Value,
        at: Stamp,
        builder: &mut ConversationBuilder,
        notes: &mut Vec<Note>,
    ) {
        self.first.get_or_insert(at);
        if let Some(call) = self.waiting.get_mut(id).and_then(VecDeque::pop_front) {
            let result = builder.block(wire, Origin::Tool, at.line);
            if failed {
                builder.set_says_failed(result);
            }
            self.calls[call].result = Some(result);
            return;
        }
        let text = format!("the result of call `{id}` has no open call before it; it was kept as text");
        notes.push(Note::info(at.line, text));
        match wire["content"].take() {
            Value::String(text) if text.is_empty() => {}
            Value::String(text) => self.push(builder.text(text, Origin::Injected, at.line), at),
            Value::Array(parts) => {
                parts.into_iter().for_each(|part| self.push(builder.block(part, Origin::Injected, at.line), at));
            }
            _ => {}
        }
    }

    /// Adds a block that is not a result.
    pub fn push(&mut self, block: BlockId, at: Stamp) {
        self.first.get_or_insert(at);
        self.is_string_content = false;
        self.rest.push(block);
    }

    /// Adds a text block that was the whole content of its message, as a bare string.
    pub fn push_plain(&mut self, block: BlockId, at: Stamp) {
        let alone = self.rest.is_empty() && self.calls.is_empty();
        self.push(block, at);
        self.is_string_content = alone;
    }

    /// Appends the message to the conversation, if it has content. If a response follows, calls without a result get a placeholder.
    pub fn close(&mut self, response_follows: bool, builder: &mut ConversationBuilder, notes: &mut Vec<Note>) {
        self.waiting.clear();
        let mut blocks = Vec::with_capacity(self.calls.len() + self.rest.len());
        let at = self.first.take().unwrap_or_default();
        let mut line = at.line;
        for call in self.calls.drain(..) {
            if response_follows && call.result.is_none() {
                let text = format!("call `{}` has no result; `{}` was inserted", call.id, self.placeholder);
                notes.push(Note::info(call.line, text));
                let wire = json!({"type": "tool_result", "tool_use_id": call.id, "content": self.placeholder});
                blocks.push(builder.block(wire, Origin::Placeholder, call.line));
                line = if line == 0 { call.line } else { line };
            }
            blocks.extend(call.result);
        }
        blocks.append(&mut self.rest);
        let is_string_content = std::mem::take(&mut self.is_string_content);
        builder.message(Message { role: Role::User, is_string_content, blocks, time: at.time, line });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::conversation::{Conversation, Thinking};

    fn gather(
        calls: &[&str],
        response_follows: bool,
        fill: impl FnOnce(&mut Batch, &mut ConversationBuilder, &mut Vec<Note>),
    ) -> (Conversation, Vec<Note>) {
        let (mut batch, mut notes) = (Batch::new("aborted"), Vec::new());
        let mut builder = ConversationBuilder::new("main", "test", Thinking::All);
        for id in calls {
            builder.block(json!({"type": "tool_use", "id": id, "name": "run", "input": {}}), Origin::Agent, 1);
            batch.expect(id, 1);
        }
        fill(&mut batch, &mut builder, &mut notes);
        batch.close(response_follows, &mut builder, &mut notes);
        (builder.finish(), notes)
    }

    fn texts(conversation: &Conversation) -> Vec<String> {
        conversation.messages[0].blocks.iter().map(|b| conversation.block(*b).text().into_owned()).collect()
    }

    const AT: Stamp = Stamp { line: 9, time: None };

    #[test]
    fn results_come_first_and_in_the_order_of_the_calls() {
        let (conversation, notes) = gather(&["a", "b"], true, |batch, builder, notes| {
            let note = builder.text("note", Origin::Injected, 9);
            batch.push(note, AT);
            batch.answer("b", json!("two"), AT, builder, notes);
            batch.answer("a", json!("one"), AT, builder, notes);
        });
        assert_eq!((texts(&conversation), notes), (vec!["one".into(), "two".into(), "note".into()], vec![]));
    }

    #[test]
    fn a_call_without_result_gets_a_stand_in_only_if_a_response_follows() {
        let (conversation, notes) = gather(&["a"], true, |_, _, _| {});
        assert_eq!((texts(&conversation), conversation.tool_results(), notes.len()), (vec!["aborted".into()], 0, 1));
        let (conversation, notes) = gather(&["a"], false, |_, _, _| {});
        assert!(conversation.messages.is_empty() && notes.is_empty());
    }

    #[test]
    fn unexpected_result_is_kept_as_text() {
        let (conversation, notes) = gather(&["a"], true, |batch, builder, notes| {
            batch.answer("a", json!("one"), AT, builder, notes);
            batch.answer("a", json!("again"), AT, builder, notes);
            batch.answer("z", json!([{"type": "text", "text": "lost"}]), AT, builder, notes);
        });
        assert_eq!((texts(&conversation), conversation.tool_results()), (vec!["one".into(), "again".into(), "lost".into()], 1));
        assert_eq!(notes.len(), 2);
    }

    #[test]
    fn an_id_used_twice_in_one_response_takes_its_results_in_order() {
        let (conversation, notes) = gather(&["a", "a"], true, |batch, builder, notes| {
            batch.answer("a", json!("one"), AT, builder, notes);
            batch.answer("a", json!("two"), AT, builder, notes);
        });
        assert_eq!((texts(&conversation), notes), (vec!["one".into(), "two".into()], vec![]));
    }
}
