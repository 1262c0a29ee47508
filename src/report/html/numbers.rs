//! The conversations on the page and their numbers, by which its parts refer to them.

use std::collections::HashMap;

use crate::results::saved::{Results, Row, TraceRow};

/// Maximum conversations on the page, the longest ones first; more would make it slow.
const MAX_CONVERSATIONS: usize = 150;

/// The data of one conversation.
pub struct ConversationData<'a> {
    pub transcript: &'a str,
    pub conversation: &'a str,
    pub calls: usize,
    pub trace: Option<&'a TraceRow>,
    pub rows: Vec<&'a Row>,
}

/// Transcript and name of a conversation.
pub type ConversationKey<'a> = (&'a str, &'a str);

/// The numbers of the conversations on the page.
pub struct Numbers<'a>(HashMap<ConversationKey<'a>, usize>);

impl<'a> Numbers<'a> {
    pub fn new(results: &'a Results) -> Self {
        let conversations = collect(results);
        let key = |index: usize| (conversations[index].transcript, conversations[index].conversation);
        Self(shown(&conversations).into_iter().map(|index| (key(index), index)).collect())
    }

    /// The number of a conversation; `None` if it is not on the page.
    pub fn of(&self, transcript: &str, conversation: &str) -> Option<usize> {
        self.0.get(&(transcript, conversation)).copied()
    }
}

/// The indices of the longest conversations.
pub fn shown(conversations: &[ConversationData]) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..conversations.len()).collect();
    shown.sort_by_key(|index| (std::cmp::Reverse(conversations[*index].calls), *index));
    shown.truncate(MAX_CONVERSATIONS);
    shown.sort_unstable();
    shown
}

/// Returns the conversations in the order of the rows; conversations that only have a trace come last.
pub fn collect(results: &Results) -> Vec<ConversationData<'_>> {
    let mut indices: HashMap<ConversationKey, usize> = HashMap::new();
    let mut conversations: Vec<ConversationData> = Vec::new();
    let rows = results.rows.iter().map(|row| (&*row.transcript, &*row.conversation, Some(row), None));
    let traces = results.traces.iter().map(|trace| (&*trace.transcript, &*trace.conversation, None, Some(trace)));
    for (transcript, conversation, row, trace) in rows.chain(traces) {
        let index = *indices.entry((transcript, conversation)).or_insert(conversations.len());
        if index == conversations.len() {
            conversations.push(ConversationData { transcript, conversation, calls: 0, trace: None, rows: Vec::new() });
        }
        let data = &mut conversations[index];
        data.rows.extend(row);
        data.trace = data.trace.or(trace);
        data.calls =
            data.calls.max(trace.map_or(0, |trace| trace.lines.value().iter().map(|line| line.tokens.len()).max().unwrap_or(0)));
    }
    conversations
}
