//! Reads a `compacted` record: the messages that replaced the whole context.

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::super::Note;
use super::super::batch::Stamp;
use super::item::{self, Item, ItemMessage};
use super::record::Compacted;
use super::wire;
use crate::text::tokens::BYTES_PER_TOKEN;
use crate::transcript::conversation::{
    BlockId, Compaction, ConversationBuilder, ENCRYPTED_SUMMARY, Message, Origin, RecordedEdit, Role,
};

/// Blocks sent to the model, by their wire form, in the order of the record.
#[derive(Debug, Default)]
pub struct History {
    blocks: HashMap<String, Vec<BlockId>>,
    /// Who wrote the blocks that are not part of this session, because the parent compacted them away before it began.
    forgotten: HashMap<String, Origin>,
}

impl History {
    pub fn add(&mut self, wire: String, block: BlockId) {
        self.blocks.entry(wire).or_default().push(block);
    }

    pub fn forget(&mut self, wire: String, origin: Origin) {
        self.forgotten.insert(wire, origin);
    }
}

/// A compaction whose new context size is not known yet.
#[derive(Debug)]
pub struct PendingCompaction {
    pub compaction: Compaction,
    /// The parent made it: it is no compaction of this session.
    pub is_inherited: bool,
    summary: Option<BlockId>,
    /// Length in bytes of the JSON of everything except the summary.
    readable_bytes: usize,
}

impl PendingCompaction {
    /// Sets the size of the encrypted summary: Codex's estimate of the new context, minus the system prompt and the readable items. In
    /// the sessions examined, this is within a quarter of the size that the provider's counts before and after imply.
    pub fn set_summary_size(&mut self, estimated_context: u64, system_bytes: usize, builder: &mut ConversationBuilder) {
        // Codex's estimate is by the same rule, over JSON.
        let readable = (self.readable_bytes + system_bytes) as u64 / BYTES_PER_TOKEN;
        if let (Some(block), Some(tokens)) = (self.summary.take(), estimated_context.checked_sub(readable)) {
            builder.set_recorded_tokens(block, tokens);
        }
    }
}

/// Reads a compaction.
pub fn read_compaction(
    compacted: Compacted,
    at: Stamp,
    tokens_before: Option<u64>,
    history: &History,
    builder: &mut ConversationBuilder,
    notes: &mut Vec<Note>,
) -> PendingCompaction {
    let mut reader = HistoryReader { history, reused: HashMap::new(), into: Vec::new(), summary: None, readable_bytes: 0, at };
    match compacted.replacement_history {
        Some(items) => items.iter().for_each(|item| reader.item(item, builder, notes)),
        None => reader.push(Role::User, builder.text(compacted.message, Origin::Compaction, at.line)),
    }
    let compaction = Compaction {
        message_index: builder.so_far().messages.len(),
        edit: RecordedEdit::Fold { into: reader.into },
        trigger: None,
        tokens_before,
        tokens_after: None,
        summary_usage: None,
        line: at.line,
    };
    PendingCompaction { compaction, is_inherited: false, summary: reader.summary, readable_bytes: reader.readable_bytes }
}

/// Reads the items of a replacement history into messages.
struct HistoryReader<'h> {
    history: &'h History,
    /// Number of reused blocks by wire form. The same text sent twice is two blocks.
    reused: HashMap<String, usize>,
    into: Vec<Message>,
    summary: Option<BlockId>,
    readable_bytes: usize,
    at: Stamp,
}

impl HistoryReader<'_> {
    fn item(&mut self, json: &RawValue, builder: &mut ConversationBuilder, notes: &mut Vec<Note>) {
        match item::item(json, self.at.line, notes) {
            Ok(Item::Compaction) => {
                let block = builder.text(ENCRYPTED_SUMMARY, Origin::Compaction, self.at.line);
                self.summary = Some(block);
                self.push(Role::User, block);
                return;
            }
            Ok(Item::Message(message) | Item::AgentMessage(message)) => self.message(message, builder),
            Ok(_) => notes.push(Note::info(self.at.line, "an item of the compacted history is not a message; it was left out")),
            Err(error) => {
                notes.push(Note::skipped(self.at.line, format!("an item of the compacted history was skipped: {error}")));
            }
        }
        self.readable_bytes += json.get().len();
    }

    fn message(&mut self, message: ItemMessage, builder: &mut ConversationBuilder) {
        let role = if message.role == "assistant" { Role::Assistant } else { Role::User };
        for wire in message.content.into_iter().filter_map(wire::part) {
            let block = self.find_original(&wire).unwrap_or_else(|| {
                let origin = self.history.forgotten.get(&wire.to_string()).copied().unwrap_or(Origin::Compaction);
                builder.block(wire, origin, self.at.line)
            });
            self.push(role, block);
        }
    }

    /// Returns the conversation's own block with this wire form, if it has one that is not reused yet.
    fn find_original(&mut self, wire: &Value) -> Option<BlockId> {
        let key = wire.to_string();
        let blocks = self.history.blocks.get(&key)?;
        let reused = self.reused.entry(key).or_default();
        let block = blocks.get(*reused).copied()?;
        *reused += 1;
        Some(block)
    }

    fn push(&mut self, role: Role, block: BlockId) {
        let Stamp { line, time } = self.at;
        match self.into.last_mut() {
            Some(message) if message.role == role => message.blocks.push(block),
            _ => self.into.push(Message { role, is_string_content: false, blocks: vec![block], time, line }),
        }
    }
}
