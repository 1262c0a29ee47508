//! Ctrl-C and `--resume`: what is finished is reported, and a study that was stopped ends with the bytes of one that was not.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Ran, fixtures, run_in};

const ASKED: [&str; 10] = ["replay", "1.jsonl", "2.jsonl", "3.jsonl", "-p", "lcc-s08", "--tokenizer", "chars/4", "-o", "json"];
const FILES: [(&str, &str); 3] =
    [("1.jsonl", "codex/repair.jsonl"), ("2.jsonl", "claude-code/repair.jsonl"), ("3.jsonl", "messages/repair.blocks.jsonl")];

fn ask(folder: &Path, more: &[&str]) -> Ran {
    run_in(folder, ASKED.iter().chain(more), b"")
}

fn bytes_of(fixture: &str) -> Vec<u8> {
    fs::read(fixtures().join(fixture)).expect("a fixture")
}

/// A folder with the transcripts and `stopped.json`, from a study that was stopped while it read the second of three: that one
/// is a pipe, and the signal comes before anything is written to it.
fn stopped() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, fixture) in FILES {
        fs::write(folder.path().join(name), bytes_of(fixture)).expect("a folder to write to");
    }
    let pipe = folder.path().join("2.jsonl");
    fs::remove_file(&pipe).expect("it was written");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let mut child = Command::new(env!("CARGO_BIN_EXE_recompact"))
        .args(ASKED)
        .args(["--jobs", "1", "--out", "stopped.json"])
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program that was just built starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    // This waits until the program reads the pipe.
    let writer = fs::File::options().write(true).open(&pipe).expect("a pipe");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let heard = stderr.by_ref().lines().map(|line| line.expect("UTF-8")).find(|line| line.contains("Ctrl-C again stops at once"));
    assert!(heard.is_some());
    std::io::copy(&mut bytes_of(FILES[1].1).as_slice(), &mut &writer).expect("the program reads on");
    drop(writer);
    let mut said = String::new();
    stderr.read_to_string(&mut said).expect("UTF-8");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{said}");
    assert!(said.ends_with("recompact: stopped: 2 of 3 transcripts are done; --resume goes on\n"), "{said}");
    fs::remove_file(&pipe).expect("still there");
    fs::write(&pipe, bytes_of(FILES[1].1)).expect("a folder to write to");
    folder
}

fn transcripts(results: &Value) -> Vec<&str> {
    let mut names: Vec<_> =
        results["rows"].as_array().expect("rows").iter().filter_map(|row| row["transcript"].as_str()).collect();
    names.dedup();
    names
}

#[test]
fn a_stopped_study_reports_what_is_done_and_goes_on_to_the_same_bytes() {
    let folder = stopped();
    let saved = fs::read_to_string(folder.path().join("stopped.json")).expect("what is finished");
    let saved: Value = serde_json::from_str(&saved).expect("JSON");
    assert_eq!(transcripts(&saved), ["1.jsonl", "2.jsonl"]);
    assert_eq!(saved["unfinished"]["transcripts"], 3);
    let whole = ask(folder.path(), &[]).printed();
    assert_eq!(ask(folder.path(), &["--resume", "stopped.json"]).printed(), whole);

    // A finished transcript is not replayed again, one that was changed is.
    let lie = |name: &str| {
        let path = folder.path().join("stopped.json");
        let text = fs::read_to_string(&path).expect("what is finished");
        fs::write(&path, text.replace("\"tokens.peak\": ", "\"tokens.peak\": 7")).expect("a folder to write to");
        let results = ask(folder.path(), &["--resume", "stopped.json"]).json();
        let row = results["rows"].as_array().expect("rows").iter().find(|row| row["transcript"] == name).expect("a row").clone();
        row["values"]["tokens.peak"].to_string()
    };
    assert!(lie("1.jsonl").starts_with('7'));
    let changed = [bytes_of(FILES[0].1), b"\n".to_vec()].concat();
    fs::write(folder.path().join("1.jsonl"), changed).expect("a folder to write to");
    let peak = |results: &Value| results["rows"][0]["values"]["tokens.peak"].clone();
    let again = ask(folder.path(), &["--resume", "stopped.json"]).json();
    assert_eq!(peak(&again), peak(&serde_json::from_str(&whole).expect("JSON")));
}

#[test]
fn what_does_not_fit_is_an_error_that_says_why() {
    let folder = stopped();
    let whole = ask(folder.path(), &[]).printed();
    fs::write(folder.path().join("whole.json"), whole).expect("a folder to write to");
    for (more, why) in [
        (["--resume", "whole.json"].as_slice(), "whole.json: this study came to its end: there is nothing to go on with"),
        (
            &["--resume", "stopped.json", "--window", "9000"],
            "stopped.json: it was begun with --window as it is, not 9000; what is done of it does not fit",
        ),
        (
            &["--resume", "stopped.json", "-p", "lcc-s06"],
            "stopped.json: it was begun with other policies; what is done of it does not fit",
        ),
        (&["--resume", "none.json"], "none.json: No such file or directory (os error 2)"),
        (&["--resume", "1.jsonl"], "1.jsonl: not JSON: trailing characters at line 2 column 1"),
    ] {
        let ran = ask(folder.path(), more);
        assert_eq!((ran.code, ran.stderr.as_str()), (2, format!("recompact: --resume {why}\n").as_str()));
    }
}
