//! Transcript readers: whatever the bytes, every format returns well-formed conversations, and the same ones each time.

use std::collections::HashSet;

use recompact::transcript::conversation::{BlockKind, Conversation, Role};
use recompact::transcript::format::{Branches, FORMATS, Format, ReadOptions, Reading, sniff};
use recompact::transcript::{impossible_usage, sent_thinking, silent_drops};

pub fn run(data: &[u8]) {
    let lines = data.iter().filter(|byte| **byte == b'\n').count() + 1;
    let _ = sniff(data);
    for format in FORMATS {
        for branches in [Branches::Last, Branches::All] {
            let mut reading = read(format, data, branches);
            for conversation in &reading.conversations {
                well_formed(conversation);
            }
            for note in &reading.notes {
                assert!(note.line.is_none_or(|line| (1..=lines).contains(&(line as usize))), "{}: {note:?}", format.name);
            }
            assert_eq!(reading.conversations, read(format, data, branches).conversations, "{}", format.name);
            impossible_usage::drop_from(&mut reading);
            sent_thinking::add_to(&mut reading);
            silent_drops::add_to(&mut reading);
            reading.conversations.iter().for_each(well_formed);
        }
    }
}

fn read(format: &Format, data: &[u8], branches: Branches) -> Reading {
    (format.read)(data, &ReadOptions { branches, ..ReadOptions::default() })
}

/// Checks the invariants of a conversation.
pub fn well_formed(conversation: &Conversation) {
    let mut seen = HashSet::new();
    for message in &conversation.messages {
        assert!(!message.blocks.is_empty());
        for id in &message.blocks {
            assert!(seen.insert(*id), "a block in two messages");
            if let BlockKind::ToolUse(pair) | BlockKind::ToolResult(pair) = conversation.block(*id).kind {
                let _ = conversation.pair(pair);
            }
        }
    }
    assert!(conversation.calls.is_sorted_by_key(|call| call.response));
    for call in &conversation.calls {
        assert_eq!(conversation.messages[call.response].role, Role::Assistant);
    }
    for pair in &conversation.pairs {
        for block in pair.tool_use.iter().chain(&pair.tool_result) {
            let _ = conversation.block(*block);
        }
    }
    for compaction in &conversation.compactions {
        assert!(compaction.message_index <= conversation.messages.len());
    }
}
