//! Recorded compactions: builds the new context from a boundary, its summary and the attachments restored after it.

use std::mem;

use super::kept::KeptTail;
use super::messages::{OpenCompaction, PendingMessage, Reader};
use crate::transcript::conversation::{BlockId, Compaction, Message, Origin, RecordedEdit};
use crate::transcript::format::Note;

impl Reader<'_> {
    /// Adds a compaction to the conversation. If there is no message before it, the file continues another session, and the summary
    /// becomes an ordinary first message.
    pub fn record_compaction(&mut self, open: Option<OpenCompaction>, message: &mut PendingMessage) {
        let Some(OpenCompaction { record: i, mut summary, mut restored }) = open else { return };
        for block in summary.blocks.iter_mut().chain(&mut restored.blocks) {
            block.origin = Origin::Compaction;
        }
        let at = self.builder.so_far().messages.len();
        let tail = self.kept.remove(&i).unwrap_or(KeptTail { records: Vec::new(), precedes_summary: false });
        let kept = self.kept_messages(&tail.records);
        if at == 0 || kept.is_empty() || tail.precedes_summary {
            summary.add(mem::take(&mut restored));
        }
        if at == 0 {
            message.add(summary);
            return;
        }
        let (summary, restored) = (self.user_message(summary, false), self.user_message(restored, false));
        let mut into: Vec<Message> = Vec::new();
        if tail.precedes_summary {
            into.extend(kept);
            into.extend(summary);
        } else {
            into.extend(summary);
            into.extend(kept);
        }
        into.extend(restored);
        let record = &self.records[i];
        if into.is_empty() {
            self.notes
                .push(Note::info(record.line, "the record has no content after this compaction; the compaction was ignored"));
            return;
        }
        let metadata = record.compact_metadata.as_ref();
        self.builder.compaction(Compaction {
            message_index: at,
            edit: RecordedEdit::Fold { into },
            trigger: metadata.and_then(|metadata| metadata.trigger.clone()),
            tokens_before: metadata.and_then(|metadata| metadata.pre_tokens),
            tokens_after: metadata.and_then(|metadata| metadata.post_tokens),
            summary_usage: None,
            line: record.line,
        });
    }

    /// Returns the messages of kept records, with only the blocks of these records.
    fn kept_messages(&self, records: &[usize]) -> Vec<Message> {
        let mut blocks: Vec<(usize, BlockId)> =
            records.iter().filter_map(|i| self.kept_blocks.get(i)).flatten().copied().collect();
        blocks.sort_unstable();
        let all = &self.builder.so_far().messages;
        let in_message = |blocks: &[(usize, BlockId)]| {
            let Message { role, is_string_content, time, line, .. } =
                *blocks.first().and_then(|(message, _)| all.get(*message))?;
            Some(Message { role, is_string_content, time, line, blocks: blocks.iter().map(|(_, block)| *block).collect() })
        };
        blocks.chunk_by(|a, b| a.0 == b.0).filter_map(in_message).collect()
    }

    /// Adds a micro-compaction to the conversation.
    pub fn record_clearing(&mut self, i: usize) {
        let record = &self.records[i];
        let Some(metadata) = &record.microcompact_metadata else { return };
        let pairs = metadata.compacted_tool_ids.iter().filter_map(|id| self.builder.pair(id)).collect();
        self.builder.compaction(Compaction {
            message_index: self.builder.so_far().messages.len(),
            edit: RecordedEdit::Clear { pairs },
            trigger: metadata.trigger.clone(),
            tokens_before: metadata.pre_tokens,
            tokens_after: metadata.pre_tokens.zip(metadata.tokens_saved).map(|(before, saved)| before.saturating_sub(saved)),
            summary_usage: None,
            line: record.line,
        });
    }

    /// Adds what the provider cleared before it answered with this response. Each request is cleared anew, so results that were cleared
    /// before are counted again, and are not cleared again.
    pub fn record_applied_edits(&mut self, records: &[usize]) {
        let edits = records.iter().filter_map(|i| self.records[*i].message.as_ref()?.context_management.as_ref());
        let edits: Vec<_> = edits.flat_map(|management| &management.applied_edits).collect();
        let uses = edits.iter().filter_map(|edit| edit.cleared_tool_uses).max().unwrap_or(0);
        let so_far = self.builder.so_far();
        let pairs = self.applied.clear(so_far, uses);
        let Some(record) = records.first().map(|i| &self.records[*i]).filter(|_| !pairs.is_empty()) else { return };
        let message_index = so_far.calls.last().map_or(0, |call| call.response + 1);
        let line = record.line;
        self.builder.compaction(Compaction {
            message_index,
            edit: RecordedEdit::Clear { pairs },
            trigger: Some("server".to_owned()),
            tokens_before: None,
            tokens_after: None,
            summary_usage: None,
            line,
        });
    }
}
