//! Recorded transcripts that are not part of the project. Tests that read them are ignored by default; `cargo test -- --ignored`
//! runs them, and they fail where the recordings are missing.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rayon::prelude::*;
use recompact::analysis::study::Study;
use recompact::engine::policy::Policy;
use recompact::results::saved::Results;
use recompact::transcript::conversation::{BlockKind, Conversation, Role};
use recompact::transcript::format::{self, ReadOptions, Reading};

/// The folders of recordings: those in `$RECOMPACT_TRANSCRIPTS`, separated as in PATH, or else `../shared/transcripts` and
/// `../shared/transcripts-more`. Each has a folder for each format.
#[track_caller]
fn roots() -> Vec<PathBuf> {
    let beside = || {
        let shared = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
        vec![shared.join("transcripts"), shared.join("transcripts-more")]
    };
    let named = std::env::var_os("RECOMPACT_TRANSCRIPTS").map(|paths| std::env::split_paths(&paths).collect());
    let roots: Vec<PathBuf> = named.unwrap_or_else(beside);
    let help =
        "RECOMPACT_TRANSCRIPTS must name folders of recorded sessions with a folder for each format: claude-code, codex, …";
    for root in &roots {
        assert!(root.is_dir(), "this test needs recordings, and {} is not a folder: {help}", root.display());
    }
    roots
}

/// Returns the folders of this name in all folders of recordings.
#[track_caller]
pub fn folders(name: &str) -> Vec<PathBuf> {
    let folders: Vec<_> = roots().into_iter().map(|root| root.join(name)).filter(|folder| folder.is_dir()).collect();
    assert!(!folders.is_empty(), "this test needs recordings, and no folder of recordings has a folder {name}");
    folders
}

/// Returns the first folder of recordings, or a folder in it.
#[track_caller]
pub fn folder(name: &str) -> PathBuf {
    folders(name).swap_remove(0)
}

/// A recorded file.
pub struct Recorded {
    /// Its folder, which names its format, or the files it was derived from.
    pub folder: String,
    pub name: String,
    pub reading: Reading,
}

/// Every recorded file in a known format, read once for all tests.
pub static RECORDINGS: LazyLock<Vec<Recorded>> = LazyLock::new(|| {
    let read = |(root, file): &(PathBuf, PathBuf)| {
        let bytes = std::fs::read(file).expect("a readable file");
        let reading = (format::sniff(&bytes)?.read)(&bytes, &ReadOptions::default());
        let within = file.strip_prefix(root).expect("a file of the folder");
        let first = within.components().next().map(|first| first.as_os_str().to_string_lossy().into_owned());
        let name = within.to_string_lossy().replace('\\', "/");
        Some(Recorded { folder: first.unwrap_or_default(), name, reading })
    };
    let all = roots().into_iter().flat_map(|root| files(&root, "").into_iter().map(move |file| (root.clone(), file)));
    all.collect::<Vec<_>>().par_iter().filter_map(read).collect()
});

/// Returns the recordings of one folder; fails if there are none.
#[track_caller]
pub fn recorded(folder: &str) -> impl Iterator<Item = &'static Recorded> {
    let of_folder = RECORDINGS.iter().filter(move |recorded| recorded.folder == folder);
    assert!(of_folder.clone().next().is_some(), "there are no recordings in the folder {folder}");
    of_folder
}

/// Returns the files in and below a folder whose names have this ending; fails if there are none.
#[track_caller]
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    let named = all.filter(|entry| entry.file_type().is_file() && entry.path().to_string_lossy().ends_with(ending));
    let files: Vec<PathBuf> = named.map(walkdir::DirEntry::into_path).collect();
    assert!(!files.is_empty(), "no file in {} ends in {ending:?}", folder.display());
    files
}

/// Reads a file in the format that sniffing finds, which must be this one.
pub fn read(path: &Path, format: &str) -> Reading {
    let bytes = std::fs::read(path).expect("a readable file");
    let found = format::sniff(&bytes).expect("a known format");
    assert_eq!(found.name, format, "{}", path.display());
    (found.read)(&bytes, &ReadOptions::default())
}

/// What an API requires: every result is in the message right after its call, all calls that a response follows are
/// answered, and two user messages are adjacent only after a compaction.
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
        let compacted = conversation.compactions.iter().any(|compaction| compaction.message_index == index + 1);
        let both_user = two[0].role == Role::User && two[1].role == Role::User;
        assert!(!both_user || compacted, "{name}: two user messages at {index}");
    }
    let responses: Vec<_> = conversation.calls.iter().map(|call| call.response).collect();
    assert!(responses.is_sorted() && responses.iter().all(|at| conversation.messages[*at].role == Role::Assistant), "{name}");
}

/// Replays recordings through policies, as the program does.
pub fn studied<'a>(recordings: impl Iterator<Item = &'a Recorded>, policies: Vec<Policy>) -> Results {
    let study = Study::new(policies);
    let recordings: Vec<_> = recordings.collect();
    study.results(recordings.par_iter().map(|recorded| study.transcript(&recorded.name, &recorded.reading, None)).collect())
}

/// Returns the repository of a recorded session, by the beginning of its file name.
pub fn repository(transcript: &str) -> &str {
    let name = transcript.rsplit('/').next().unwrap_or(transcript);
    let known = ["cipher", "ectx", "omp", "packmind", "agentv", "mise", "cli"];
    known.into_iter().find(|known| name.starts_with(known)).unwrap_or("spotter")
}
