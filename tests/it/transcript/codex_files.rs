//! Recorded Codex rollouts.

use recompact::transcript::conversation::{Origin, RecordedEdit};

use crate::support::transcripts::{assert_api_valid, folder, read};

/// Messages, responses, responses with usage, calls, results, compactions. Calls and results are those of the catalogue; the
/// "unanswered calls" that it names in `mise-ad` (4) and `mise-cb` (8) are web searches, which never have a result.
const EXPECTED: [(&str, [usize; 6]); 8] = [
    // One response was cut short by another agent's message, and has no usage.
    ("ectx-JHNPXG7H-2.jsonl", [76, 38, 37, 36, 36, 0]),
    ("mise-04-fb7b73ba2f-0.jsonl", [44, 22, 22, 21, 21, 0]),
    ("mise-24-3c3b245462-0.jsonl", [936, 468, 468, 456, 456, 2]),
    ("mise-7e-fc20505ef2-0.jsonl", [674, 337, 337, 540, 540, 3]),
    ("mise-94-4b03bfe6d6-0.jsonl", [338, 169, 169, 167, 167, 1]),
    ("mise-ad-8a00fb57ea-0.jsonl", [298, 149, 149, 233, 233, 1]),
    ("mise-b8-f187e80b33-0.jsonl", [196, 98, 98, 174, 174, 1]),
    ("mise-cb-bf90c3d38d-0.jsonl", [190, 95, 95, 159, 159, 0]),
];

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn codex_rollouts_have_known_counts() {
    let folder = folder("codex");
    for (file, expected) in EXPECTED {
        let reading = read(&folder.join(file), "codex");
        let [conversation] = reading.conversations.as_slice() else { panic!("{file}: one conversation") };
        assert_api_valid(conversation);
        let with_usage = conversation.calls.iter().filter(|call| call.usage.is_some()).count();
        let counts = [
            conversation.messages.len(),
            conversation.calls.len(),
            with_usage,
            conversation.tool_uses(),
            conversation.tool_results(),
            conversation.compactions.len(),
        ];
        assert_eq!(counts, expected, "{file}");
        assert!(conversation.window.is_some() && conversation.system.is_some(), "{file}");
        assert!(conversation.calls.iter().all(|call| call.model.is_some() && call.time.is_some()), "{file}");
    }
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn codex_compactions_keep_typed_messages_and_sizes() {
    let folder = folder("codex");
    for (file, _) in EXPECTED {
        for conversation in read(&folder.join(file), "codex").conversations {
            for compaction in &conversation.compactions {
                let RecordedEdit::Fold { into } = &compaction.edit else { panic!("{file}: a fold") };
                let blocks: Vec<_> = into.iter().flat_map(|m| &m.blocks).map(|id| conversation.block(*id)).collect();
                let before = conversation.messages[..compaction.message_index].iter().flat_map(|m| &m.blocks);
                let typed = |origin| origin == Origin::User;
                let typed_before = before.filter(|id| typed(conversation.block(**id).origin)).count();
                assert_eq!(blocks.iter().filter(|block| typed(block.origin)).count(), typed_before, "{file}");
                assert!(blocks.last().is_some_and(|block| block.recorded_tokens > Some(500)), "{file}");
                assert!(compaction.tokens_before > compaction.tokens_after && compaction.tokens_after.is_some(), "{file}");
            }
        }
    }
}
