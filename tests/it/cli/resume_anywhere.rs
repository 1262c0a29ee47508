//! Checks that a sweep can be stopped at any moment, again and again, and resumes to the bytes of one that was never stopped.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use crate::support::program::{self, fixtures};

const SWEEP: [&str; 11] =
    ["sweep", "-v", "--jobs", "1", "-p", "lcc-s06", "--set", "micro.keep_recent_results=1..4", "-o", "json", "--out"];
const FOLDERS: [&str; 4] = ["claude-code", "codex", "messages", "openai-chat"];
/// Lines that `-v` says of the whole sweep: one for each time that a transcript is read, and some more.
const LINES: usize = 21;

/// Runs the sweep from `saved`, if there is such a file, until it has said `lines` lines, and stops it. Returns whether it ended
/// before.
fn sweep(folder: &Path, saved: &Path, out: &Path, lines: usize) -> bool {
    let mut command = program::command(&fixtures());
    command.args(SWEEP).arg(out).args(FOLDERS).env("HOME", folder).stderr(Stdio::piped());
    if saved.exists() {
        command.arg("--resume").arg(saved);
    }
    let mut child = command.spawn().expect("the program that was just built starts");
    let mut said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let heard: Vec<String> = said.by_ref().take(lines).map(|line| line.expect("UTF-8")).collect();
    if heard.len() == lines {
        assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill").success());
    }
    let rest: Vec<String> = said.map(|line| line.expect("UTF-8")).collect();
    let code = child.wait().expect("it ends").code();
    assert!(matches!(code, Some(0 | 130)), "{code:?}: {heard:?} {rest:?}");
    code == Some(0)
}

#[test]
#[ignore = "long: run by .ci/run"]
fn a_sweep_that_is_stopped_anywhere_resumes_to_the_same_bytes() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    assert!(sweep(folder.path(), &path("none.json"), &path("whole.json"), usize::MAX));
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut stops = 0;
    for run in 0..6 {
        let mut saved = path("none.json");
        for attempt in 0.. {
            let out = path(&format!("{run}-{attempt}.json"));
            let ended = sweep(folder.path(), &saved, &out, random.random_range(1..LINES));
            // A sweep that was stopped before its first result saves nothing.
            if out.exists() {
                saved = out;
            }
            if ended {
                break;
            }
            stops += 1;
        }
        assert_eq!(fs::read(&saved).expect("results"), fs::read(path("whole.json")).expect("results"), "run {run}");
    }
    assert!(stops >= 6, "{stops} stops");
}
