//! Checks Claude Code sessions that other people recorded, if they are available: what is read from them, and whether it obeys
//! the laws of a conversation.

use std::collections::HashSet;
use std::sync::Arc;

use recompact::transcript::conversation::{Block, BlockKind, Conversation, Message, Origin, RecordedEdit, Role};
use recompact::transcript::format::{self, Branches, Level, ReadOptions, Reading};

use crate::support::transcripts;

/// Tool calls and results of each file, all its conversations together; results that are stand-ins do not count. One result of
/// `ectx-HMV1W2SN-1` is on a line whose JSON its publishers broke when they masked an address.
const SESSIONS: &[(&str, usize, usize)] = &[
    ("cli-23-72de7ea2ff-0", 138, 138),
    ("cli-37-995ebed6e4-2", 41, 41),
    ("cli-38-ecf75f2f1d-0", 154, 154),
    ("cli-39-7737088f0a-0", 1, 1),
    ("cli-54-bb2ec87cc8-2", 70, 70),
    ("cli-89-7eb280e769-12", 303, 303),
    ("cli-8c-fa910f8ef9-0", 56, 55),
    ("cli-98-78b713483d-0", 119, 119),
    ("cli-9f-d2fc39aa5f-0", 66, 66),
    ("cli-b0-dc55b3a1dc-1", 128, 128),
    ("cli-b6-f735fbac66-0", 224, 224),
    ("cli-cd-95adddad32-0", 206, 206),
    ("cli-d4-1769f480b6-0", 86, 86),
    ("ectx-G2GWTDBP-1", 26, 26),
    (BROKEN, 108, 107),
    ("spotter/258c7280-ae70-4798-800f-63464d01a85d", 186, 186),
    ("spotter/258c7280-ae70-4798-800f-63464d01a85d/subagents/agent-a881341", 2, 2),
    ("spotter/258c7280-ae70-4798-800f-63464d01a85d/subagents/agent-acompact-fffbd0", 0, 0),
    ("spotter/4d5611e5-241a-462a-8d15-5122611a9569", 150, 150),
    ("spotter/4d5611e5-241a-462a-8d15-5122611a9569/subagents/agent-a2898e3", 33, 33),
    ("spotter/4d5611e5-241a-462a-8d15-5122611a9569/subagents/agent-acompact-e1f845", 0, 0),
    ("spotter/fa812bfe-b295-4cca-9c2f-fdf01028cb46", 197, 197),
    ("spotter/fa812bfe-b295-4cca-9c2f-fdf01028cb46/subagents/agent-a93ccab", 25, 25),
    ("spotter/fa812bfe-b295-4cca-9c2f-fdf01028cb46/subagents/agent-aa84377", 21, 21),
    ("spotter/fa812bfe-b295-4cca-9c2f-fdf01028cb46/subagents/agent-acompact-70d8e7", 0, 0),
    ("spotter/short", 2, 2),
    ("spotter/subagent", 16, 16),
];

const BROKEN: &str = "ectx-HMV1W2SN-1";

fn read(bytes: &[u8], branches: Branches) -> Reading {
    let format = format::sniff(bytes).expect("a known format");
    assert_eq!(format.name, "claude-code");
    // The table has no sub-agents of `progress` records: they are not read if each is said to have a file of its own.
    let all = (format.read)(bytes, &ReadOptions::default()).conversations;
    let own_files = vec![Arc::new(all.into_iter().map(|conversation| conversation.name).collect())];
    (format.read)(bytes, &ReadOptions { branches, own_files, ..ReadOptions::default() })
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn recorded_claude_code_sessions_are_read_completely() {
    let root = transcripts::folder("");
    for (name, uses, results) in SESSIONS {
        println!("{name}");
        let bytes = std::fs::read(root.join("claude-code").join(format!("{name}.jsonl"))).expect("a session of the table");
        let reading = read(&bytes, Branches::Last);
        let sum = |count: fn(&Conversation) -> usize| reading.conversations.iter().map(count).sum::<usize>();
        assert_eq!((sum(Conversation::tool_uses), sum(Conversation::tool_results)), (*uses, *results));
        let skipped = reading.notes.iter().filter(|note| note.level == Level::Skipped).count();
        assert_eq!(skipped, usize::from(*name == BROKEN));
        reading.conversations.iter().for_each(check_laws);
        read(&bytes, Branches::All).conversations.iter().for_each(check_laws);
    }
}

/// A fragment is a single record: a message, or bookkeeping.
#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn every_claude_code_fragment_is_read() {
    let root = transcripts::folder("");
    for (folder, messages) in [("assistant", 1), ("tools", 1), ("user", 1), ("system", 0)] {
        for entry in std::fs::read_dir(root.join("claude-code-fragments").join(folder)).expect("a folder of fragments") {
            let path = entry.expect("an entry").path();
            println!("{}", path.display());
            let reading = read(&std::fs::read(&path).expect("a fragment"), Branches::Last);
            assert_eq!(reading.conversations.iter().map(|c| c.messages.len()).sum::<usize>(), messages);
            assert!(reading.notes.iter().all(|note| note.level == Level::Info));
            reading.conversations.iter().for_each(check_laws);
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let count = |count: fn(&Conversation) -> usize| reading.conversations.iter().map(count).sum::<usize>();
            assert_eq!(count(Conversation::tool_uses), usize::from(name.ends_with("-tool_use.jsonl")));
            assert_eq!(count(Conversation::tool_results), usize::from(name.contains("-tool_result")));
        }
    }
}

/// Checks the laws of every conversation that a reader returns.
#[track_caller]
fn check_laws(conversation: &Conversation) {
    blocks_stand_in_one_message(conversation);
    calls_ascend(conversation);
    roles_alternate(conversation);
    results_follow_their_calls(conversation);
}

#[track_caller]
fn blocks_stand_in_one_message(conversation: &Conversation) {
    let mut seen = HashSet::new();
    for block in conversation.messages.iter().flat_map(|message| &message.blocks) {
        assert!(block.index() < conversation.blocks.len() && seen.insert(*block), "{block:?} is in two messages");
    }
    for compaction in &conversation.compactions {
        let RecordedEdit::Fold { into } = &compaction.edit else { continue };
        assert!(!into.is_empty());
        for block in into.iter().flat_map(|message| &message.blocks) {
            let is_new = conversation.block(*block).origin == Origin::Compaction;
            assert_eq!(is_new, !seen.contains(block), "{block:?} was kept or is new");
        }
    }
}

#[track_caller]
fn calls_ascend(conversation: &Conversation) {
    assert!(conversation.calls.is_sorted_by(|a, b| a.response < b.response));
    let responses: Vec<usize> = conversation.calls.iter().map(|call| call.response).collect();
    let is_response = |(_, message): &(usize, &Message)| message.role == Role::Assistant;
    let assistant: Vec<usize> = conversation.messages.iter().enumerate().filter(is_response).map(|(i, _)| i).collect();
    assert_eq!(responses, assistant);
}

#[track_caller]
fn roles_alternate(conversation: &Conversation) {
    for (i, pair) in conversation.messages.windows(2).enumerate() {
        let at_compaction = conversation.compactions.iter().any(|compaction| compaction.message_index == i + 1);
        assert!(pair[0].role != pair[1].role || at_compaction, "two {:?} messages at {i}", pair[0].role);
    }
}

/// A message that follows tool calls begins with their results, in their order. The last response may lack some.
#[track_caller]
fn results_follow_their_calls(conversation: &Conversation) {
    let pairs = |message: &Message, of: fn(&Block) -> Option<usize>| -> Vec<usize> {
        message.blocks.iter().filter_map(|block| of(conversation.block(*block))).collect()
    };
    let used = |block: &Block| if let BlockKind::ToolUse(pair) = block.kind { Some(pair.index()) } else { None };
    let answered = |block: &Block| if let BlockKind::ToolResult(pair) = block.kind { Some(pair.index()) } else { None };
    let mut calls: Vec<usize> = Vec::new();
    for message in &conversation.messages {
        let mut answers = pairs(message, answered);
        // Results whose call is not in the record come after those whose call is.
        answers.retain(|pair| conversation.pairs[*pair].tool_use.is_some());
        assert_eq!(answers, calls, "results at line {}", message.line);
        let leading = message.blocks.iter().take_while(|block| answered(conversation.block(**block)).is_some()).count();
        assert!(leading >= answers.len(), "results at line {} stand behind other blocks", message.line);
        calls = pairs(message, used);
    }
}
