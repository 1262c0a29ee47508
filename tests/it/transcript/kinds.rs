//! What a record may hold besides turns: children, branches that were left, compactions, cleared results, errors, images. Each kind has
//! a fixture in each format that can hold it, counted by hand.

use std::collections::BTreeMap;
use std::path::PathBuf;

use recompact::analysis::corpus::{Corpus, FileCorpus, ReadSpec};
use recompact::tokens::meter::media;
use recompact::transcript::conversation::{Block, BlockKind, Conversation, RecordedEdit};
use recompact::transcript::format::{Branches, FORMATS};

use crate::support::program::fixtures;

/// The kinds, in the order of the counts.
const KINDS: [&str; 6] = ["children", "branches", "folds", "clears", "errors", "images"];

/// File and counts: conversations of a child, branches that were left, folds of the context, edits that clear results, results that are
/// errors, images.
const COUNTED: &[(&str, [usize; 6])] = &[
    // Seven, and what Claude Code sends for a call without a result.
    ("claude-code/repair.jsonl", [0, 1, 1, 1, 8, 0]),
    ("claude-code/repair/subagents/agent-afc7507.jsonl", [1, 0, 0, 0, 0, 0]),
    ("cline-task/kettle/api_conversation_history.json", [0, 0, 1, 0, 0, 0]),
    ("copilot-cli/kettle.jsonl", [0, 0, 1, 0, 1, 0]),
    ("gemini-cli/kettle.jsonl", [0, 1, 1, 0, 1, 1]),
    ("lamp/9e0/gemini-cli.json", [1, 0, 0, 0, 1, 1]),
    ("lamp/atif.json", [1, 0, 0, 0, 1, 1]),
    ("lamp/claude-code.jsonl", [0, 0, 0, 0, 1, 2]),
    ("lamp/cline-task/api_conversation_history.json", [0, 0, 0, 0, 1, 1]),
    ("lamp/cline.messages.json", [0, 0, 0, 0, 1, 1]),
    ("lamp/codex.jsonl", [1, 1, 0, 0, 1, 1]),
    ("lamp/copilot-cli.jsonl", [0, 0, 0, 0, 1, 0]),
    ("lamp/messages.jsonl", [0, 0, 0, 0, 1, 1]),
    ("lamp/openai-chat.jsonl", [0, 0, 0, 0, 1, 1]),
    ("lamp/oil/trajectory.json", [0, 0, 1, 0, 1, 0]),
    ("lamp/openhands.jsonl", [0, 0, 0, 0, 2, 1]),
    ("lamp/pi.jsonl", [1, 0, 0, 0, 1, 1]),
    ("lamp/requests.jsonl", [0, 0, 0, 1, 0, 1]),
    ("lamp/subagents/lamp/agent-oil-1.jsonl", [1, 0, 0, 0, 1, 0]),
    ("lamp/swe-agent.traj", [0, 0, 1, 0, 1, 0]),
    ("lamp/usage-rows.jsonl", [1, 0, 0, 0, 0, 0]),
    ("codex/repair.jsonl", [0, 0, 1, 0, 7, 0]),
    ("opencode/kettle.json", [1, 1, 1, 1, 2, 2]),
    ("openhands/kettle.jsonl", [0, 0, 1, 0, 1, 0]),
    ("pi/kettle.jsonl", [0, 1, 1, 0, 2, 1]),
    ("qwen-code/kettle.jsonl", [0, 1, 1, 0, 1, 1]),
    ("requests/kettle.jsonl", [0, 0, 1, 0, 1, 0]),
    ("usage-rows/week.jsonl", [0, 0, 1, 0, 0, 0]),
];

/// Why a format has none of a kind.
const NONE: &[(&str, &str, &str)] = &[
    ("atif", "branches", "the steps are a list"),
    ("atif", "clears", "no field says it"),
    ("cline", "children", "no field names another session"),
    ("cline", "branches", "the file is written anew"),
    ("cline", "folds", "the file is written anew, and what was before a summary is gone"),
    ("cline", "clears", "no field says it"),
    ("cline-task", "children", "no file of a task names another task"),
    ("cline-task", "branches", "the files are written anew"),
    ("cline-task", "clears", "whole messages leave"),
    ("codex", "clears", "Codex clears no single results"),
    ("copilot-cli", "children", "which events are those of sub-agents was not seen"),
    ("copilot-cli", "branches", "the events are a chain"),
    ("copilot-cli", "clears", "no event says it"),
    ("copilot-cli", "images", "the file names attachments and does not hold them"),
    ("gemini-cli", "clears", "no record says it"),
    ("messages", "children", "a message names no session"),
    ("messages", "branches", "the messages are a list"),
    ("messages", "folds", "the messages are a list"),
    ("messages", "clears", "the messages are a list"),
    ("openai-chat", "children", "a message names no session"),
    ("openai-chat", "branches", "the messages are a list"),
    ("openai-chat", "folds", "the messages are a list"),
    ("openai-chat", "clears", "the messages are a list"),
    ("openhands", "children", "no event names another conversation"),
    ("openhands", "branches", "events are only added"),
    ("openhands", "clears", "a condensation forgets whole events"),
    ("pi", "clears", "no entry says it"),
    ("qwen-code", "clears", "a compression writes the whole context"),
    ("requests", "children", "a request names no session"),
    ("requests", "branches", "what a request leaves out is an edit"),
    ("swe-agent", "children", "no field names another run"),
    ("swe-agent", "branches", "the history is a list"),
    ("swe-agent", "clears", "a request that lacks results is a new context"),
    ("swe-agent", "images", "messages with images were not seen"),
    ("usage-rows", "branches", "rows hold sizes only"),
    ("usage-rows", "clears", "rows hold sizes only"),
    ("usage-rows", "errors", "rows hold sizes only"),
    ("usage-rows", "images", "rows hold sizes only"),
];

/// Counts the kinds in the conversations of a file, in the order of [`KINDS`], but for the branches.
fn counted(conversations: &[Conversation]) -> [usize; 6] {
    let blocks = || conversations.iter().flat_map(|one| &one.blocks);
    let edits = || conversations.iter().flat_map(|one| &one.compactions).map(|compaction| &compaction.edit);
    let clears = edits().filter(|edit| matches!(edit, RecordedEdit::Clear { .. })).count();
    let is_result = |block: &&Block| matches!(block.kind, BlockKind::ToolResult(_));
    [
        conversations.iter().filter(|one| one.identity.parent.is_some() || one.identity.is_sub_agent()).count(),
        0,
        edits().count() - clears,
        clears,
        blocks().filter(is_result).filter(|block| block.is_error()).count(),
        blocks().map(|block| media::parts(block).count()).sum(),
    ]
}

/// Returns the conversations of a file as the commands read it.
fn read(file: &str, branches: Branches) -> Vec<Conversation> {
    let mut read = ReadSpec::default();
    read.branches = branches;
    let path = PathBuf::from(file);
    let folder = path.parent().expect("a folder").to_owned();
    // A session of several files is found in its folder.
    let corpus = FileCorpus::new(&fixtures(), &[folder], &read).expect("a corpus");
    let at = corpus.names().iter().position(|name| *name == file).unwrap_or_else(|| panic!("{file} is in its folder"));
    corpus.read(at).expect("a transcript").conversations
}

#[test]
fn fixtures_hold_what_was_counted_by_hand() {
    let mut wrong = Vec::new();
    for (file, expected) in COUNTED {
        let conversations = read(file, Branches::Last);
        let mut found = counted(&conversations);
        found[1] = read(file, Branches::All).len() - conversations.len();
        if found != *expected {
            wrong.push(format!("{file}: {found:?}, by hand {expected:?} ({KINDS:?})"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// No pair of a format and a kind is forgotten: it has a fixture, or the reason why it can have none, and never both.
#[test]
fn every_format_has_a_fixture_of_each_kind_or_a_reason() {
    let mut sums: BTreeMap<&str, [usize; 6]> = BTreeMap::new();
    for (file, counts) in COUNTED {
        let format = read(file, Branches::Last)[0].format;
        sums.entry(format).or_default().iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    for format in FORMATS {
        for (at, kind) in KINDS.iter().enumerate() {
            let has = sums.get(format.name).is_some_and(|sums| sums[at] > 0);
            let reasons = NONE.iter().filter(|(name, none, _)| (name, none) == (&format.name, kind)).count();
            assert_eq!(usize::from(has) + reasons, 1, "{} and {kind}", format.name);
        }
    }
    assert!(NONE.iter().all(|(name, kind, _)| FORMATS.iter().any(|format| format.name == *name) && KINDS.contains(kind)));
}
