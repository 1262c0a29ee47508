//! Sessions in ATIF that go on in further files: read as one where they lie side by side.

use std::fs;
use std::path::{Path, PathBuf};

use recompact::analysis::corpus::{Corpus, FileCorpus, ReadSpec, Unread};
use recompact::transcript::conversation::Conversation;
use serde_json::json;
use tempfile::TempDir;

/// The files of a session: in each, after the first, one step that repeats what is left of the context, and a call.
fn session(files: usize) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let name = |n: usize| if n == 0 { "t.json".to_owned() } else { format!("t.cont-{n}.json") };
    for n in 0..files {
        let context = json!({"source": "user", "message": format!("Boil {n}."), "is_copied_context": n > 0});
        let said = json!({"source": "agent", "message": format!("Done {n}."), "metrics": {"prompt_tokens": 10 + n, "completion_tokens": 1}});
        let document = json!({"schema_version": "ATIF-v1.7", "session_id": "s", "agent": {"name": "a"}, "steps": [context, said],
            "continued_trajectory_ref": if n < 2 { json!(name(n + 1)) } else { json!(null) }});
        fs::write(folder.path().join(name(n)), document.to_string()).expect("a file");
    }
    folder
}

fn corpus(folder: &Path, paths: &[&str]) -> FileCorpus {
    let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    FileCorpus::new(folder, &paths, &ReadSpec::default()).expect("a corpus")
}

fn texts(conversation: &Conversation) -> Vec<String> {
    let blocks = conversation.messages.iter().flat_map(|message| &message.blocks);
    blocks.map(|id| conversation.block(*id).text().into_owned()).collect()
}

fn unread(corpus: &FileCorpus, at: usize) -> Unread {
    corpus.content(at, &|| false).err().expect("it is a part")
}

#[test]
fn further_files_are_read_with_the_first_one() {
    let folder = session(3);
    let corpus = corpus(folder.path(), &["."]);
    assert_eq!(corpus.names(), ["t.cont-1.json", "t.cont-2.json", "t.json"]);
    assert_eq!(unread(&corpus, 0), Unread::Joined("t.json".to_owned()));
    assert_eq!(unread(&corpus, 1), Unread::Joined("t.cont-1.json".to_owned()));
    let reading = corpus.read(2).expect("a session");
    let [conversation] = &reading.conversations[..] else { panic!("one session") };
    // What a further file begins with is the context after a compaction, and not said again.
    assert_eq!(texts(conversation), ["Boil 0.", "Done 0.", "Done 1.", "Done 2."]);
    let after = |at: usize| conversation.block(conversation.compactions[at].edit.messages()[0].blocks[0]).text().into_owned();
    assert_eq!((conversation.compactions.len(), after(0), after(1)), (2, "Boil 1.".to_owned(), "Boil 2.".to_owned()));
    let requests: Vec<u64> = conversation.calls.iter().filter_map(|call| Some(call.usage?.request())).collect();
    assert_eq!(requests, [10, 11, 12]);
    let lines: Vec<String> = conversation.messages.iter().map(|message| conversation.line_label(message.line)).collect();
    assert_eq!(lines, ["line 1", "line 1", "line 1 of t.cont-1.json", "line 1 of t.cont-2.json"]);
    assert!(reading.notes.is_empty(), "{:?}", reading.notes);
}

#[test]
fn a_further_file_is_read_alone_if_it_is_named_alone_or_its_first_one_is_absent() {
    let folder = session(3);
    let alone = corpus(folder.path(), &["t.cont-2.json"]);
    assert_eq!(texts(&alone.read(0).expect("a session").conversations[0]), ["Boil 2.", "Done 2."]);
    let both = corpus(folder.path(), &["t.cont-1.json", "t.json"]);
    assert_eq!(unread(&both, 0), Unread::Joined("t.json".to_owned()));
    fs::remove_file(folder.path().join("t.json")).expect("it is there");
    let reading = corpus(folder.path(), &["."]).read(0).expect("a session");
    assert_eq!(texts(&reading.conversations[0]), ["Boil 1.", "Done 1.", "Done 2."]);
}

#[test]
fn a_note_names_the_file_that_is_absent() {
    let folder = session(2);
    let reading = corpus(folder.path(), &["."]).read(1).expect("a session");
    let notes: Vec<&str> = reading.notes.iter().map(|note| note.what.as_str()).collect();
    assert_eq!(
        notes,
        ["the session goes on in `t.cont-2.json`, which is not beside this file, or is no trajectory: that part is not read"]
    );
    assert_eq!(reading.conversations[0].calls.len(), 2);
}

/// The hash by which `--resume` knows a transcript is of all files that it is read with.
#[test]
fn a_changed_further_file_is_another_transcript() {
    let folder = session(3);
    let hash = || {
        let mut hashes = Vec::new();
        let corpus = corpus(folder.path(), &["t.json"]);
        let processed =
            recompact::analysis::corpus::for_each_in_order(&corpus, &recompact::analysis::corpus::NoMonitor, |source, _| {
                source.hash()
            });
        hashes.extend(processed.results);
        hashes
    };
    let before = hash();
    assert_eq!(before, hash());
    let file = folder.path().join("t.cont-2.json");
    let text = fs::read_to_string(&file).expect("it is there");
    fs::write(&file, text.replace("Done 2.", "Done.")).expect("a file");
    assert_ne!(before, hash());
}
