//! Turns the records of a rollout into one conversation. The [parent module](super) describes the rules.

mod items;

use std::collections::BTreeMap;

use super::super::Note;
use super::super::batch::{Batch, Stamp};
use super::compaction::{self, History};
use super::item::Item;
use super::meter::{Counted, TokenEvent};
use super::record::{Compacted, Record, RecordKind};
use super::response::Response;
use super::session::SessionMeta;
use super::wire;
use crate::transcript::conversation::{BlockId, Call, Conversation, ConversationBuilder, RecordedEdit, Thinking, Usage};
use crate::transcript::format::unseen;

/// The output that Codex itself sends for an interrupted call.
const ABORTED: &str = "aborted";

/// What a record is for the session whose file it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lineage {
    /// History that the parent compacted away before the session began.
    Forgotten,
    /// History of the parent: the first context of the session.
    Inherited,
    Own,
}

/// What the tokens of a whole file tell.
#[derive(Debug, Clone, Copy)]
pub struct FileUsage {
    /// Whether any record contains usage.
    pub is_recorded: bool,
    /// Usage comes before the items of its response.
    pub is_first: bool,
}

/// Builds the conversation of a rollout.
pub struct Rollout<'n> {
    builder: ConversationBuilder,
    notes: &'n mut Vec<Note>,
    batch: Batch,
    lineage: Lineage,
    response: Option<Response>,
    /// Blocks sent to the model so far, to find them again in a compacted history.
    history: History,
    pending_compaction: Option<compaction::PendingCompaction>,
    model: Option<String>,
    usage: FileUsage,
    /// Tokens of the latest request.
    last_request: Option<u64>,
    /// Usage that came before its response.
    next_usage: Option<Usage>,
    /// Length in bytes of the system prompt.
    system_bytes: usize,
    /// The message in place of the history that is in another file.
    unseen: Option<BlockId>,
    /// Responses of the parent: their number, and the line of the first.
    inherited: Option<(usize, u32)>,
    /// Encrypted reasoning without a known size: the number of items, and the line of the first response that has some.
    unsized_reasoning: Option<(usize, u32)>,
    /// Items and records of unknown types, by type: their number, and the line of the first.
    unknown: BTreeMap<String, (usize, u32)>,
}

/// Reads a conversation from the records of one branch; `left` are the calls of other branches.
pub fn conversation(
    name: &str,
    records: impl Iterator<Item = (Lineage, Record)>,
    left: Vec<Call>,
    usage: FileUsage,
    notes: &mut Vec<Note>,
) -> Conversation {
    let mut rollout = Rollout {
        builder: ConversationBuilder::new(name, super::NAME, Thinking::Turn),
        notes,
        batch: Batch::new(ABORTED),
        lineage: Lineage::Own,
        response: None,
        history: History::default(),
        pending_compaction: None,
        model: None,
        usage,
        last_request: None,
        next_usage: None,
        system_bytes: 0,
        unseen: None,
        inherited: None,
        unsized_reasoning: None,
        unknown: BTreeMap::new(),
    };
    left.into_iter().for_each(|call| rollout.builder.other_branch(call));
    for (lineage, record) in records {
        if lineage != rollout.lineage {
            rollout.close_response();
            rollout.lineage = lineage;
        }
        rollout.read(record);
    }
    rollout.finish()
}

impl Rollout<'_> {
    fn read(&mut self, record: Record) {
        let at = record.at;
        match record.kind {
            RecordKind::Session(meta) => self.session(*meta, at),
            RecordKind::Turn(turn) => self.model = turn.model.or(self.model.take()),
            RecordKind::Counted(counted) => self.tokens(counted),
            RecordKind::Unknown(kind) => self.count_unknown(&kind, at),
            RecordKind::Item(item) if self.lineage == Lineage::Forgotten => self.forget(item),
            RecordKind::Compacted(_) if self.lineage == Lineage::Forgotten => {}
            RecordKind::Compacted(compacted) => self.start_compaction(compacted, at),
            RecordKind::Item(item) => self.item(item, at),
            RecordKind::Tokens(_) | RecordKind::TurnStarted(_) | RecordKind::RolledBack(_) | RecordKind::Ignored => {}
        }
    }

    /// Reads a header. The first one that the file has counts.
    fn session(&mut self, meta: SessionMeta, at: Stamp) {
        if let Some(folder) = &meta.cwd {
            self.builder.set_project(folder.as_str());
        }
        if self.builder.so_far().system.is_none()
            && let Some(text) = meta.instructions
        {
            self.system_bytes = text.len();
            self.builder.set_system(text);
        }
        if meta.has_base && self.unseen.is_none() {
            let text = "this session goes on from a history in the file of another session, which is not beside it; that history is not read";
            self.notes.push(Note::info(at.line, text));
            self.unseen = Some(unseen::push(&mut self.builder, at.line));
        }
        if self.builder.so_far().identity.agent.is_none() {
            self.builder.set_identity(meta.identity);
        }
    }

    /// Remembers who wrote a message, because the parent's compaction may have kept it.
    fn forget(&mut self, item: Item) {
        if let Item::Message(message) = item {
            for wire in message.content.into_iter().filter_map(wire::part) {
                self.history.forget(wire.to_string(), wire::origin(&message.role, &wire));
            }
        }
    }

    fn end_response(&mut self) {
        if let Some(response) = &mut self.response {
            response.ended = true;
        }
    }

    fn tokens(&mut self, Counted { event, window }: Counted) {
        if let Some(window) = window {
            self.builder.set_window(window);
        }
        match event {
            TokenEvent::Estimate(tokens) => {
                if let Some(pending) = &mut self.pending_compaction {
                    pending.set_summary_size(tokens, self.system_bytes, &mut self.builder);
                }
            }
            TokenEvent::Repeated => {}
            TokenEvent::Used(usage) => {
                self.last_request = Some(usage.request());
                if let Some(pending) = &mut self.pending_compaction {
                    pending.compaction.tokens_after.get_or_insert(usage.request());
                }
                match &mut self.response {
                    _ if self.usage.is_first => self.next_usage = Some(usage),
                    Some(response) => _ = response.usage.get_or_insert(usage),
                    None => {}
                }
                self.end_response();
            }
        }
    }

    fn close_response(&mut self) {
        let Some(response) = self.response.take() else { return };
        let line = response.at.line;
        let is_call = self.lineage == Lineage::Own;
        if !is_call {
            self.inherited.get_or_insert((0, line)).0 += 1;
        }
        let unsized_blocks = response.close(is_call, &mut self.builder);
        if unsized_blocks > 0 {
            self.unsized_reasoning.get_or_insert((0, line)).0 += unsized_blocks;
        }
    }

    fn start_compaction(&mut self, compacted: Compacted, at: Stamp) {
        let is_recent = compacted.replacement_history.is_some();
        let is_summary = |response: &mut Response| is_recent && response.is_summary(&compacted.message, &self.builder);
        let summary = self.response.take_if(is_summary);
        self.close_response();
        self.batch.close(true, &mut self.builder, self.notes);
        self.finish_compaction();
        self.builder.add_record();
        let mut pending =
            compaction::read_compaction(compacted, at, self.last_request, &self.history, &mut self.builder, self.notes);
        pending.compaction.summary_usage = summary.and_then(|summary| summary.usage);
        if self.lineage == Lineage::Inherited {
            pending.is_inherited = true;
            if let RecordedEdit::Fold { into } = &mut pending.compaction.edit {
                into.drain(..).for_each(|message| _ = self.builder.message(message));
            }
        }
        self.pending_compaction = Some(pending);
    }

    fn finish_compaction(&mut self) {
        if let Some(pending) = self.pending_compaction.take_if(|pending| !pending.is_inherited) {
            self.builder.compaction(pending.compaction);
        }
    }

    fn count_unknown(&mut self, kind: &str, at: Stamp) {
        let (count, _) = self.unknown.entry(kind.to_owned()).or_insert((0, at.line));
        *count += 1;
    }

    fn finish(mut self) -> Conversation {
        self.close_response();
        self.batch.close(false, &mut self.builder, self.notes);
        self.finish_compaction();
        if let Some(stand_in) = self.unseen {
            let first = first_request(self.builder.so_far()).unwrap_or(0);
            self.notes.extend(unseen::settle(&mut self.builder, stand_in, first));
        }
        if let Some((count, line)) = self.unsized_reasoning {
            let text = format!(
                "from here on, {count} encrypted reasoning item(s) have no recorded size; only their summaries are counted"
            );
            self.notes.push(Note::info(line, text));
        }
        for (kind, (count, line)) in self.unknown {
            self.notes.push(Note::info(line, format!("from here on, {count} record(s) of type `{kind}` were left out")));
        }
        if let Some((count, line)) = self.inherited {
            let parent = self.builder.so_far().identity.parent.as_deref().unwrap_or("another session");
            let text =
                format!("{count} response(s) from here on are copied from {parent}: they are context, not calls of this session");
            self.notes.push(Note::info(line, text));
        }
        self.builder.finish()
    }
}

/// Returns the tokens of the first request without system prompt and tools, which are at most the shortest prefix that was ever read from
/// the prompt cache. One request alone does not show what of it is read again.
fn first_request(conversation: &Conversation) -> Option<u64> {
    let usages: Vec<Usage> = conversation.calls.iter().filter_map(Call::billed).collect();
    let prefix = usages.iter().map(|usage| usage.cache_read).filter(|read| *read > 0).min();
    let [first, _, ..] = usages[..] else { return None };
    Some(first.request().saturating_sub(prefix?))
}
