//! A `compacted` record → the messages that took the place of everything before it.

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::super::Note;
use super::super::batch::Stamp;
use super::record::{self, Compacted, Item, ItemMessage};
use super::wire;
use crate::transcript::conversation::{BlockId, Builder, Compaction, ENCRYPTED_SUMMARY, Message, Origin, RecordedEdit, Role};

/// Bytes of JSON that Codex takes for one token where it has no count of the provider (`approx_token_count` in its source).
const BYTES_PER_TOKEN: u64 = 4;

/// Blocks of the user's side by their wire form, in the order they entered.
#[derive(Debug, Default)]
pub struct History {
    blocks: HashMap<String, Vec<BlockId>>,
}

impl History {
    pub fn add(&mut self, wire: String, block: BlockId) {
        self.blocks.entry(wire).or_default().push(block);
    }
}

/// A compaction whose size afterwards is not known yet.
#[derive(Debug)]
pub struct Pending {
    pub compaction: Compaction,
    summary: Option<BlockId>,
    /// Length of the JSON of everything but the summary.
    readable_bytes: usize,
}

impl Pending {
    /// Codex's own estimate of the new context holds the summary's size: what is left of it without the system prompt and
    /// the readable items. (Within a quarter of what the provider's counts before and after imply, in the sessions looked at.)
    pub fn set_summary_size(&mut self, estimated_context: u64, system_bytes: usize, builder: &mut Builder) {
        let readable = (self.readable_bytes + system_bytes) as u64 / BYTES_PER_TOKEN;
        if let (Some(block), Some(tokens)) = (self.summary.take(), estimated_context.checked_sub(readable)) {
            builder.set_recorded_tokens(block, tokens);
        }
    }
}

pub fn fold(
    compacted: Compacted,
    at: Stamp,
    tokens_before: Option<u64>,
    history: &History,
    builder: &mut Builder,
    notes: &mut Vec<Note>,
) -> Pending {
    let mut fold = Fold { history, reused: HashMap::new(), into: Vec::new(), summary: None, readable_bytes: 0, at };
    match compacted.replacement_history {
        Some(items) => items.iter().for_each(|item| fold.item(item, builder, notes)),
        None => fold.push(Role::User, builder.text(compacted.message, Origin::Compaction, at.line)),
    }
    let compaction = Compaction {
        at: builder.so_far().messages.len(),
        edit: RecordedEdit::Fold { into: fold.into },
        trigger: None,
        tokens_before,
        tokens_after: None,
        line: at.line,
    };
    Pending { compaction, summary: fold.summary, readable_bytes: fold.readable_bytes }
}

struct Fold<'h> {
    history: &'h History,
    /// How many blocks of each wire form were kept: the same words said twice are two blocks.
    reused: HashMap<String, usize>,
    into: Vec<Message>,
    summary: Option<BlockId>,
    readable_bytes: usize,
    at: Stamp,
}

impl Fold<'_> {
    fn item(&mut self, json: &RawValue, builder: &mut Builder, notes: &mut Vec<Note>) {
        match record::item(json) {
            Ok(Item::Compaction) => {
                let block = builder.text(ENCRYPTED_SUMMARY, Origin::Compaction, self.at.line);
                self.summary = Some(block);
                self.push(Role::User, block);
                return;
            }
            Ok(Item::Message(message) | Item::AgentMessage(message)) => self.message(message, builder),
            Ok(_) => notes.push(Note::info(self.at.line, "an item of the compacted history is no message; it was left out")),
            Err(error) => {
                notes.push(Note::skipped(self.at.line, format!("an item of the compacted history was skipped: {error}")));
            }
        }
        self.readable_bytes += json.get().len();
    }

    fn message(&mut self, message: ItemMessage, builder: &mut Builder) {
        let role = if message.role == "assistant" { Role::Assistant } else { Role::User };
        for wire in message.content.into_iter().filter_map(wire::part) {
            let block = self.kept(&wire).unwrap_or_else(|| builder.block(wire, Origin::Compaction, self.at.line));
            self.push(role, block);
        }
    }

    /// The conversation's own block, if this is one it has.
    fn kept(&mut self, wire: &Value) -> Option<BlockId> {
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
            _ => self.into.push(Message { role, plain: false, blocks: vec![block], time, line }),
        }
    }
}
