//! Limits of what is read: a small file cannot fill the memory, and nothing that never ends is opened.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use crate::support::program::{fixtures, run_in};

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("written to memory");
    encoder.finish().expect("written to memory")
}

#[test]
fn large_transcripts_are_refused_until_they_are_allowed() {
    let folder = TempDir::new().expect("a temporary folder");
    let text = fs::read(fixtures().join("messages/repair.blocks.jsonl")).expect("a fixture");
    fs::write(folder.path().join("t.jsonl.gz"), zipped(&text)).expect("a file in it");
    let inspect =
        |more: &[&str]| run_in(folder.path(), [&["inspect", "t.jsonl.gz", "-q", "--tokenizer", "chars/4"], more].concat(), b"");
    let refused = inspect(&["--max-file", "100KB"]);
    let said = "recompact: t.jsonl.gz: larger than 100000 bytes when decompressed; --max-file allows more\n";
    assert!(refused.code == 2 && refused.stderr.ends_with(said), "{}", refused.stderr);
    assert_eq!(inspect(&["--max-file", "2MB"]).code, 0);
    assert_eq!(inspect(&[]).code, 0);
    assert_eq!(inspect(&["--max-file", "0"]).code, 2);
}

#[test]
fn damaged_gzip_is_read_as_far_as_possible() {
    let folder = TempDir::new().expect("a temporary folder");
    let text = fs::read(fixtures().join("messages/repair.blocks.jsonl")).expect("a fixture");
    let whole = zipped(&text);
    fs::write(folder.path().join("t.jsonl.gz"), &whole[..whole.len() / 2]).expect("a file in it");
    let ran = run_in(folder.path(), ["inspect", "t.jsonl.gz", "--tokenizer", "chars/4"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("t.jsonl.gz:1: the compressed file is cut off or damaged"), "{}", ran.stderr);
    assert_eq!(run_in(folder.path(), ["inspect", "t.jsonl.gz", "--strict"], b"").code, 2);
}

#[test]
fn settings_of_any_kind_are_refused_if_they_are_too_large() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("t.jsonl"), "{\"role\": \"user\", \"content\": \"a\"}\n{\"role\": \"assistant\", \"content\": \"b\"}\n")
        .expect("written");
    fs::write(at("large"), "#".repeat((16 << 20) + 1)).expect("a file in it");
    let mut names = vec![("large", "larger than 16 MiB")];
    if cfg!(target_os = "linux") {
        #[cfg(unix)]
        std::os::unix::fs::symlink("/dev/zero", at("endless")).expect("a link");
        names.push(("endless", "a device, not a file"));
    }
    for (name, said) in names {
        for arguments in [
            &["replay", "t.jsonl", "-p", name][..],
            &["replay", "t.jsonl", "-p", "lcc-s06", "--baseline", name],
            &["inspect", "t.jsonl", "--prices", name],
            &["check", name],
        ] {
            let ran = run_in(folder.path(), arguments, b"");
            assert!(ran.code == 2 && ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
        }
    }
    if cfg!(target_os = "linux") {
        for arguments in
            [&["inspect", "endless"][..], &["report", "endless"], &["replay", "t.jsonl", "-p", "lcc-s06", "--resume", "endless"]]
        {
            let ran = run_in(folder.path(), arguments, b"");
            assert!(ran.code == 2 && ran.stderr.contains("a device, not a file"), "{arguments:?}: {}", ran.stderr);
        }
    }
}

#[cfg(unix)]
#[test]
fn pipes_in_a_cassette_are_not_opened() {
    let folder = TempDir::new().expect("a temporary folder");
    let pipe = folder.path().join("answer.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let ran = run_in(folder.path(), ["report", "."], b"");
    assert!(ran.code == 2 && ran.stderr.contains("answer.json: not a regular file"), "{}", ran.stderr);
}
