//! The index of names, from the scan for references or from its own.

use std::sync::Arc;

use recompact::engine::summarizer::{NameCounts, NameIndex};
use recompact::facts::references::References;
use recompact::transcript::conversation::{BlockId, Conversation};

use crate::support::notation;

/// The summary of all blocks but one, whose texts are unknown.
fn counts(index: &NameIndex, conversation: &Conversation, summary: &str, left_out: BlockId) -> NameCounts {
    let whole = (0..conversation.blocks.len() as u32).map(BlockId).filter(|block| *block != left_out);
    index.count_names(conversation, summary, whole, std::iter::empty())
}

#[test]
fn both_scans_find_the_same_names_in_the_same_blocks() {
    let text = "user: Evict in src/net/pool.rs\nassistant: (max_idle is in lib.rs) I look [read_pool_file#1 src/net/pool.rs]\n\
                result#1: fn evict_idle() {}\nassistant: I see evict_idle [Bash#2 cat evict_7.md]\nresult#2: see lib.rs and pool.rs\n\
                assistant: Done\n";
    let conversation = notation::parse(text).expect("a conversation");
    let references = References::new(&conversation, |_| 1);
    let (shared, own) = (NameIndex::new(Arc::clone(&references.names)), NameIndex::default());
    let summary = "evict_idle src/net/pool.rs lib.rs evict_7.md read_pool_file no_such_name";
    let all: Vec<NameCounts> = (0..=conversation.blocks.len() as u32)
        .map(|left_out| {
            let found = counts(&shared, &conversation, summary, BlockId(left_out));
            assert_eq!(found, counts(&own, &conversation, summary, BlockId(left_out)), "without block {left_out}");
            found
        })
        .collect();
    // Without any block, one name is false; without the block that has it alone, another one is.
    assert_eq!(all.last(), Some(&NameCounts { facts: 6, false_facts: 1 }));
    assert!(all.iter().any(|counts| counts.false_facts == 2), "{all:?}");
}
