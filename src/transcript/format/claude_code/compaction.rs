//! Recorded compactions: what a boundary, its summary and the attachments restored after it make of the context.

use std::mem;

use super::kept::Tail;
use super::messages::{Folding, Gathered, Reader};
use crate::transcript::conversation::{BlockId, Compaction, Message, Origin, RecordedEdit};
use crate::transcript::format::Note;

impl Reader<'_> {
    /// Records a compaction. With nothing before it, it is the head of a continued session: an ordinary first message.
    pub fn fold(&mut self, folding: Option<Folding>, message: &mut Gathered) {
        let Some(Folding { record: i, mut summary, mut restored }) = folding else { return };
        for part in summary.parts.iter_mut().chain(&mut restored.parts) {
            part.origin = Origin::Compaction;
        }
        let at = self.builder.so_far().messages.len();
        let tail = self.kept.remove(&i).unwrap_or(Tail { records: Vec::new(), leads: false });
        let kept = self.kept_messages(&tail.records);
        if at == 0 || kept.is_empty() || tail.leads {
            summary.add(mem::take(&mut restored));
        }
        if at == 0 {
            message.add(summary);
            return;
        }
        let (summary, restored) = (self.user_message(summary, false), self.user_message(restored, false));
        let mut into: Vec<Message> = Vec::new();
        if tail.leads {
            into.extend(kept);
            into.extend(summary);
        } else {
            into.extend(summary);
            into.extend(kept);
        }
        into.extend(restored);
        let record = &self.records[i];
        if into.is_empty() {
            self.notes.push(Note::info(record.line, "nothing is in the record that this compaction left; it was taken for none"));
            return;
        }
        let metadata = record.compact_metadata.as_ref();
        self.builder.compaction(Compaction {
            at,
            edit: RecordedEdit::Fold { into },
            trigger: metadata.and_then(|metadata| metadata.trigger.clone()),
            tokens_before: metadata.and_then(|metadata| metadata.pre_tokens),
            tokens_after: metadata.and_then(|metadata| metadata.post_tokens),
            line: record.line,
        });
    }

    /// The messages that kept records are in, with only their blocks.
    fn kept_messages(&self, records: &[usize]) -> Vec<Message> {
        let mut blocks: Vec<(usize, BlockId)> = records.iter().filter_map(|i| self.placed.get(i)).flatten().copied().collect();
        blocks.sort_unstable();
        let all = &self.builder.so_far().messages;
        let in_message = |blocks: &[(usize, BlockId)]| {
            let Message { role, plain, time, line, .. } = *blocks.first().and_then(|(message, _)| all.get(*message))?;
            Some(Message { role, plain, time, line, blocks: blocks.iter().map(|(_, block)| *block).collect() })
        };
        blocks.chunk_by(|a, b| a.0 == b.0).filter_map(in_message).collect()
    }

    /// Records a micro-compaction.
    pub fn clear(&mut self, i: usize) {
        let record = &self.records[i];
        let Some(metadata) = &record.microcompact_metadata else { return };
        let pairs = metadata.compacted_tool_ids.iter().filter_map(|id| self.builder.pair(id)).collect();
        self.builder.compaction(Compaction {
            at: self.builder.so_far().messages.len(),
            edit: RecordedEdit::Clear { pairs },
            trigger: metadata.trigger.clone(),
            tokens_before: metadata.pre_tokens,
            tokens_after: metadata.pre_tokens.zip(metadata.tokens_saved).map(|(before, saved)| before.saturating_sub(saved)),
            line: record.line,
        });
    }
}
