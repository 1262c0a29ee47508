//! Folders: whatever files lie beside each other, each is read or refused, and read twice to the same conversations. Sessions of several
//! files, logs of a request a file, and forks that go on from another file are read only so.

use std::fs;

use recompact::analysis::corpus::{Corpus, FileCorpus};

use super::readers::well_formed;

/// Begins a file in an input; its name is behind it.
const FILE: &str = "==> ";

/// Most files of a folder: time, not memory, is short.
const MOST: usize = 16;

pub fn run(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = String::from_utf8_lossy(data);
    for file in text.split(FILE).skip(1).take(MOST) {
        let (name, content) = file.split_once('\n').unwrap_or((file, ""));
        let Some(name) = plain(name) else { continue };
        let path = folder.path().join(name);
        // A file may have the name of a folder.
        let _ = fs::create_dir_all(path.parent().expect("it is in the folder"));
        let _ = fs::write(path, content);
    }
    let corpus = FileCorpus::at(folder.path());
    assert!(!corpus.names().is_empty() || !corpus.not_found().is_empty(), "nothing is silent");
    for at in 0..corpus.names().len() {
        let [one, other] = [(); 2].map(|()| corpus.read(at).map(|reading| reading.conversations));
        if let Ok(conversations) = &one {
            conversations.iter().for_each(well_formed);
        }
        assert_eq!(one, other);
    }
}

/// Returns a name that is only of letters, digits, `.`, `-` and `_`, in at most two folders, which do not lead out of it.
fn plain(name: &str) -> Option<&str> {
    let is_plain = |part: &str| {
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
        !part.is_empty() && !part.starts_with('.') && part.len() < 100 && part.chars().all(is_of_name)
    };
    let parts: Vec<&str> = name.trim_end().split('/').collect();
    (parts.len() <= 3 && parts.iter().all(|part| is_plain(part))).then(|| name.trim_end())
}
