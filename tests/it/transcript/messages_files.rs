//! The reader `messages` over recorded files, which are not part of the project.

use std::fs;
use std::path::Path;

use recompact::transcript::conversation::{Block, BlockKind, Conversation, Origin};
use recompact::transcript::format::{self, ReadOptions, Reading};

use crate::support::transcripts;

fn read(path: &Path) -> Conversation {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let format = format::sniff(&bytes).unwrap_or_else(|| panic!("{}: of no known format", path.display()));
    assert_eq!(format.name, "messages", "{}", path.display());
    let Reading { mut conversations, notes } = (format.read)(&bytes, &ReadOptions::default());
    assert_eq!((conversations.len(), notes), (1, vec![]), "{}", path.display());
    conversations.remove(0)
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn recorded_messages_files_have_known_counts() {
    let folder = transcripts::folder("");
    // Messages; tool_use and tool_result blocks (as many of the one as of the other).
    let known = [
        ("cli-23-72de-seg0", 217, 129),
        ("cli-23-72de-seg1", 20, 9),
        ("spotter-258c-seg0", 207, 124),
        ("spotter-258c-seg1", 100, 62),
    ];
    for (name, messages, tools) in known {
        for form in ["blocks", "sdkrepr"] {
            let read = read(&folder.join(format!("anthropic-messages-derived/{name}.{form}.jsonl")));
            let counts = (read.messages.len(), read.records, read.tool_uses(), read.tool_results(), read.pairs.len());
            assert_eq!(counts, (messages, messages, tools, tools, tools), "{name}.{form}");
        }
    }
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn printed_python_objects_equal_their_json_twins() {
    let folder = transcripts::folder("");
    for name in ["cli-23-72de-seg0", "cli-23-72de-seg1", "spotter-258c-seg0", "spotter-258c-seg1"] {
        let twin = |form| read(&folder.join(format!("anthropic-messages-derived/{name}.{form}.jsonl")));
        let (printed, objects) = (twin("sdkrepr"), twin("blocks"));
        assert_eq!(printed.messages, objects.messages, "{name}");
        assert_eq!(printed.calls, objects.calls, "{name}");
        assert_eq!(printed.pairs, objects.pairs, "{name}");
        assert_eq!(printed.blocks.len(), objects.blocks.len(), "{name}");
        for (printed, object) in printed.blocks.iter().zip(&objects.blocks) {
            assert_eq!(comparable(printed), comparable(object), "{name}, line {}", object.line);
        }
    }
}

/// Returns the kind of a block and its exact characters, without the one field that the printed files lost: the `caller` of a
/// tool_use, which those files print as `None`.
fn comparable(block: &Block) -> (BlockKind, Origin, u32, String) {
    let mut wire = block.wire().clone();
    if let (BlockKind::ToolUse(_), Some(fields)) = (block.kind, wire.as_object_mut()) {
        fields.shift_remove("caller");
    }
    (block.kind, block.origin, block.line, wire.to_string())
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn messages_format_does_not_claim_other_formats() {
    let folder = transcripts::folder("");
    let mut folders = vec![folder.clone()];
    let mut others = 0;
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a readable folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.starts_with(folder.join("anthropic-messages-derived")) {
                let bytes = fs::read(&path).expect("a readable file");
                let found = format::sniff(&bytes).map(|format| format.name);
                assert_ne!(found, Some("messages"), "{} was taken for messages", path.display());
                others += 1;
            }
        }
    }
    println!("{others} other files");
}
