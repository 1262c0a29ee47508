//! Checks `--materialize`: files of the policies are written to one folder and nowhere else.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::program::{files, rows, run};

/// Sum of the sizes of the files whose path has this part.
fn bytes(written: &[(std::path::PathBuf, Vec<u8>)], part: &str) -> (usize, usize) {
    let of_kind = written.iter().filter(|(path, _)| path.iter().any(|name| name == part));
    of_kind.fold((0, 0), |(count, sum), (_, bytes)| (count + 1, sum + bytes.len()))
}

/// Replays into a new folder and compares its files with the results.
fn assert_written(transcript: &str, policy: &str, settings: &[&str]) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let root = TempDir::new().expect("a temporary folder");
    let folder = root.path().join("new/written");
    let named = folder.to_str().expect("a plain path");
    let mut arguments = vec!["replay", transcript, "-p", policy, "-o", "json", "--tokenizer", "chars/4", "--materialize", named];
    arguments.extend(settings.iter().flat_map(|setting| ["--set", setting]));
    let results = run(arguments).json();
    let written = files(root.path());
    let inside = fs::canonicalize(&folder).expect("the folder");
    for (path, _) in &written {
        assert!(fs::symlink_metadata(path).expect("a file").is_file(), "{}", path.display());
        assert!(fs::canonicalize(path).expect("a file").starts_with(&inside), "{}", path.display());
    }
    let values = rows(&results).find(|(_, name, _)| *name == policy).map(|(.., values)| values).expect("a row");
    let said = |kind: &str| {
        let number = |what: &str| values[format!("{kind}.{what}")].as_f64().expect("a number") as usize;
        (number("files"), number("bytes"))
    };
    assert_eq!(bytes(&written, ".task_outputs"), said("persisted"), "{transcript}, {policy}");
    assert_eq!(bytes(&written, ".transcripts"), said("archived"), "{transcript}, {policy}");
    assert_eq!(written.len(), said("persisted").0 + said("archived").0, "{transcript}, {policy}: no others");
    written
}

#[test]
fn materialize_keeps_hostile_ids_inside_the_folder() {
    // The last version cleans ids, and five of the twenty are `a_b` then: a result whose file is there is not written again.
    for (policy, distinct) in [("lcc-s08", 20), ("lcc-s08-late", 16)] {
        let written = assert_written("awkward/hostile-ids.jsonl", policy, &[]);
        assert_eq!(bytes(&written, ".task_outputs"), (6, 182_304), "{policy}");
        // With a small budget every result is moved to disk.
        let settings = ["budget.max_bytes=10", "budget.min_chars=1", "budget.preview_chars=0"];
        let written = assert_written("awkward/hostile-ids.jsonl", policy, &settings);
        assert_eq!(bytes(&written, ".task_outputs").0, distinct, "{policy}");
    }
}

#[test]
fn materialized_archives_are_transcripts() {
    for policy in ["lcc-s06", "lcc-s08", "lcc-s08-late"] {
        let written = assert_written("messages/repair.blocks.jsonl", policy, &[]);
        assert!(!written.is_empty(), "{policy}");
        for (path, bytes) in written {
            let text = String::from_utf8(bytes).expect("UTF-8");
            let message = |line: &str| serde_json::from_str::<Value>(line).is_ok_and(|message| message["role"].is_string());
            assert!(text.lines().all(message), "{}", path.display());
        }
    }
}

#[test]
fn materialize_refuses_a_folder_with_files() {
    let folder = TempDir::new().expect("a temporary folder");
    let named = folder.path().to_str().expect("a plain path");
    #[cfg(unix)]
    std::os::unix::fs::symlink("/tmp", folder.path().join("way-out")).expect("a link");
    #[cfg(not(unix))]
    fs::write(folder.path().join("mine"), "").expect("a file in it");
    let before = entries(folder.path());
    let ran = run(["replay", "awkward/hostile-ids.jsonl", "-p", "lcc-s08", "--materialize", named]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("the folder is not empty"), "{}", ran.stderr);
    assert_eq!(entries(folder.path()), before);
}

fn entries(folder: &Path) -> Vec<std::ffi::OsString> {
    fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect()
}
