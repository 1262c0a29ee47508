//! Recorded transcripts that are no part of the project: tests that want them are skipped where they are absent.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rayon::prelude::*;
use recompact::transcript::conversation::{BlockKind, Conversation, Role};
use recompact::transcript::format::{self, ReadOptions, Reading};

/// The folder of recordings: `$RECOMPACT_TRANSCRIPTS`, else beside the project. `None`, with a printed line, if there is none.
pub fn folder(name: &str) -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/transcripts");
    let folder = std::env::var_os("RECOMPACT_TRANSCRIPTS").map_or_else(beside, PathBuf::from).join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no recordings in {}", folder.display());
    None
}

/// The same for runs of many seconds: only where `RECOMPACT_LONG=1` asks for them, as CI does.
pub fn folder_for_long_runs(name: &str) -> Option<PathBuf> {
    if std::env::var_os("RECOMPACT_LONG").or(std::env::var_os("CI")).is_some() {
        return folder(name);
    }
    println!("skipped: a long run; set RECOMPACT_LONG=1 for it");
    None
}

/// One recorded file.
pub struct Recorded {
    /// The folder it is in, which is its format's, or says what it was made from.
    pub folder: String,
    pub name: String,
    pub reading: Reading,
}

/// Every file in a format of ours, read once for all long runs.
pub static RECORDINGS: LazyLock<Vec<Recorded>> = LazyLock::new(|| {
    let Some(folder) = folder_for_long_runs("") else { return Vec::new() };
    let read = |file: &PathBuf| {
        let bytes = std::fs::read(file).expect("a readable file");
        let reading = (format::sniff(&bytes)?.read)(&bytes, &ReadOptions::default());
        let within = file.strip_prefix(&folder).expect("a file of the folder");
        let first = within.components().next().map(|first| first.as_os_str().to_string_lossy().into_owned());
        let name = within.to_string_lossy().replace('\\', "/");
        Some(Recorded { folder: first.unwrap_or_default(), name, reading })
    };
    files(&folder, "").par_iter().filter_map(read).collect()
});

/// Those of one folder.
pub fn recorded(folder: &str) -> impl Iterator<Item = &'static Recorded> {
    RECORDINGS.iter().filter(move |recorded| recorded.folder == folder)
}

/// The files of a folder, and below it, whose names end so.
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    let named = all.filter(|entry| entry.file_type().is_file() && entry.path().to_string_lossy().ends_with(ending));
    named.map(walkdir::DirEntry::into_path).collect()
}

/// Reads a file in the format it looks like, which must be this one.
pub fn read(path: &Path, format: &str) -> Reading {
    let bytes = std::fs::read(path).expect("a readable file");
    let found = format::sniff(&bytes).expect("a known format");
    assert_eq!(found.name, format, "{}", path.display());
    (found.read)(&bytes, &ReadOptions::default())
}

/// What an API asks for: every result stands in the message right after its call, all calls that a response follows are
/// answered, and two messages of the user stand together only where a compaction was made.
pub fn assert_api_valid(conversation: &Conversation) {
    let name = &conversation.name;
    let pairs = |index: usize, role: Role| -> Vec<_> {
        let Some(message) = conversation.messages.get(index).filter(|message| message.role == role) else { return vec![] };
        let kinds = message.blocks.iter().map(|block| conversation.block(*block).kind);
        kinds
            .filter_map(|kind| match kind {
                BlockKind::ToolUse(pair) | BlockKind::ToolResult(pair) => Some(pair),
                _ => None,
            })
            .collect()
    };
    for index in 0..conversation.messages.len() {
        let (called, answered) = (pairs(index, Role::Assistant), pairs(index + 1, Role::User));
        if index + 2 < conversation.messages.len() {
            assert_eq!(called, answered, "{name}: message {index}");
        } else {
            assert!(answered.iter().all(|pair| called.contains(pair)), "{name}: message {index}");
        }
    }
    assert!(pairs(0, Role::User).is_empty(), "{name}: a result before any call");
    for (index, two) in conversation.messages.windows(2).enumerate() {
        let compacted = conversation.compactions.iter().any(|compaction| compaction.at == index + 1);
        let both_user = two[0].role == Role::User && two[1].role == Role::User;
        assert!(!both_user || compacted, "{name}: two user messages at {index}");
    }
    let responses: Vec<_> = conversation.calls.iter().map(|call| call.response).collect();
    assert!(responses.is_sorted() && responses.iter().all(|at| conversation.messages[*at].role == Role::Assistant), "{name}");
}
