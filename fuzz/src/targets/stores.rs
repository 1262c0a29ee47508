//! Stores: whatever is in a database, its sessions are listed and read, or it is refused; and each session is read twice to the same bytes.

use std::fs;
use std::path::Path;

use recompact::transcript::format::{ReadOptions, by_name};
use recompact::transcript::source::{find, read};

/// Most bytes of a session.
const LIMIT: u64 = 1 << 20;

pub fn run(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("opencode.db");
    fs::write(&path, data).expect("a file");
    let (inputs, errors) = find(Path::new(""), &[path]);
    assert!(!inputs.is_empty() || !errors.is_empty(), "nothing is silent");
    for input in &inputs {
        let Ok(content) = read(input, LIMIT) else { continue };
        assert!(content.bytes.len() as u64 <= LIMIT);
        assert_eq!(Ok(&content), read(input, LIMIT).as_ref().map_err(drop));
        if let Some(format) = input.session().and_then(|session| by_name(session.format)) {
            let _ = (format.read)(&content.bytes, &ReadOptions::default());
        }
    }
}
