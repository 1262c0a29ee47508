//! Checks Ctrl-C and `--resume`: a stopped study reports its finished part, and resumes to the same bytes as an unstopped one.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::stores;
use crate::support::effort;
use crate::support::program::{self, Ran, fixtures, run_in};

const ASKED: [&str; 10] = ["replay", "1.jsonl", "2.jsonl", "3.jsonl", "-p", "lcc-s08", "--tokenizer", "chars/4", "-o", "json"];
const FILES: [(&str, &str); 3] =
    [("1.jsonl", "codex/repair.jsonl"), ("2.jsonl", "claude-code/repair.jsonl"), ("3.jsonl", "messages/repair.blocks.jsonl")];

/// What continues [`ASKED`] after [`stopped`].
pub const RESUMED: &str =
    "replay 1.jsonl 2.jsonl 3.jsonl -p lcc-s08 --tokenizer chars/4 -o json --resume stopped.json --out results.json";

fn ask(folder: &Path, more: &[&str]) -> Ran {
    run_in(folder, ASKED.iter().chain(more), b"")
}

/// The first lines of a fixture: enough calls for a study, few enough for many runs.
fn bytes_of(fixture: &str) -> Vec<u8> {
    let text = fs::read_to_string(fixtures().join(fixture)).expect("a fixture");
    text.split_inclusive('\n').take(effort::of(60, usize::MAX)).collect::<String>().into_bytes()
}

fn make(folder: &Path, at: usize) {
    fs::write(folder.join(FILES[at].0), bytes_of(FILES[at].1)).expect("a folder to write to");
}

fn make_pipe(folder: &Path, at: usize) {
    let pipe = folder.join(FILES[at].0);
    fs::remove_file(&pipe).expect("it was written");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
}

/// Waits until the program reads this pipe, calls `meanwhile`, and writes the transcript to the pipe.
fn feed(folder: &Path, at: usize, meanwhile: impl FnOnce()) {
    let mut writer = fs::File::options().write(true).open(folder.join(FILES[at].0)).expect("a pipe");
    meanwhile();
    std::io::copy(&mut bytes_of(FILES[at].1).as_slice(), &mut writer).expect("the program reads on");
}

/// Runs the program until it waits for the transcript with this index, of three, and stops it there. `before` has to make it wait. The
/// results are in `stopped.json`.
fn stop(folder: &Path, asked: &[&str], waits_for: usize, before: impl FnOnce()) {
    stop_with("-INT", folder, asked, waits_for, before);
}

fn stop_with(signal: &str, folder: &Path, asked: &[&str], waits_for: usize, before: impl FnOnce()) {
    let mut child = program::command(folder)
        .args(asked)
        .args(["--jobs", "1", "--out", "stopped.json"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program that was just built starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    before();
    // Nothing is written: the program waits, and one signal is enough.
    let pipe = fs::File::options().write(true).open(folder.join(FILES[waits_for].0)).expect("a pipe");
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill").success());
    let mut lines = stderr.by_ref().lines().map(|line| line.expect("UTF-8"));
    assert!(lines.any(|line| line.contains("Ctrl-C again to stop at once")));
    let mut said = String::new();
    stderr.read_to_string(&mut said).expect("UTF-8");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{said}");
    let end = format!("recompact: stopped: {waits_for} of 3 transcripts are done; --resume continues\n");
    assert!(said.ends_with(&end), "{said}");
    drop(pipe);
    fs::remove_file(folder.join(FILES[waits_for].0)).expect("the pipe");
    make(folder, waits_for);
}

/// A folder with the transcripts and a study of them that was stopped.
pub fn stopped() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    (0..3).for_each(|at| make(folder.path(), at));
    make_pipe(folder.path(), 2);
    stop(folder.path(), &ASKED, 2, || {});
    folder
}

#[test]
fn other_signals_end_a_run_as_ctrl_c_does() {
    for signal in ["-TERM", "-HUP"] {
        let folder = TempDir::new().expect("a temporary folder");
        (0..3).for_each(|at| make(folder.path(), at));
        make_pipe(folder.path(), 2);
        stop_with(signal, folder.path(), &ASKED, 2, || {});
        let names = fs::read_dir(folder.path()).expect("a folder").map(|file| file.expect("a file").file_name());
        assert!(
            names.into_iter().all(|name| !name.to_string_lossy().starts_with(".recompact-")),
            "{signal}: a temporary file is left"
        );
        assert_eq!(ask(folder.path(), &["--resume", "stopped.json"]).code, 0);
    }
}

#[test]
fn resume_refuses_parts_that_were_changed() {
    let folder = stopped();
    let path = folder.path().join("stopped.json");
    let saved: Value = serde_json::from_slice(&fs::read(&path).expect("results")).expect("JSON");
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut changed = saved.clone();
        change(&mut changed["unfinished"]["done"]);
        fs::write(&path, changed.to_string()).expect("written");
        let ran = ask(folder.path(), &["--resume", "stopped.json"]);
        let said = "was changed since it was saved, so the study cannot be continued";
        assert!(ran.code == 2 && ran.stderr.contains(said), "{} {}", ran.code, ran.stderr);
    };
    refused(&|done| done[0]["part"]["details"]["rows"][0]["values"]["calls"] = 7_777.into());
    refused(&|done| {
        let (one, other) = (done[0]["part"].clone(), done[1]["part"].clone());
        (done[0]["part"], done[1]["part"]) = (other, one);
    });
    refused(&|done| done[0]["hash"] = "0".into());
    fs::write(&path, saved.to_string()).expect("written");
    assert_eq!(ask(folder.path(), &["--resume", "stopped.json"]).code, 0, "another layout of the same results changes nothing");
}

/// Old and present names of a setting are the same study, in files and after `--set`.
#[test]
fn a_renamed_setting_does_not_make_another_study() {
    let folder = TempDir::new().expect("a temporary folder");
    (0..3).for_each(|at| make(folder.path(), at));
    let asked = |name: &str| {
        let policy = format!("name = \"own\"\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\n{name} = 3\n");
        fs::write(folder.path().join("own.toml"), policy).expect("a folder to write to");
        let asked = "replay 1.jsonl 2.jsonl 3.jsonl -p own.toml --tokenizer chars/4 -o json --set".split(' ').map(str::to_owned);
        asked.chain([format!("micro.{name}=2")]).collect::<Vec<String>>()
    };
    let old = asked("keep_recent");
    make_pipe(folder.path(), 2);
    stop(folder.path(), &old.iter().map(String::as_str).collect::<Vec<_>>(), 2, || {});
    let present = asked("keep_recent_results");
    let ran =
        |more: &[&str]| run_in(folder.path(), present.iter().map(String::as_str).chain(more.iter().copied()), b"").printed();
    assert_eq!(ran(&["--resume", "stopped.json"]), ran(&[]));
}

/// Gives a saved part the checksum that belongs to it.
fn seal(saved: &mut Value) {
    let text = |key: &str| saved[key].as_str().unwrap_or_default();
    let sealed = format!("{}\n{}\n{}\n{}", text("transcript"), text("hash"), text("round"), saved["part"]);
    saved["checksum"] = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(sealed.as_bytes())).into();
}

fn transcripts(results: &Value) -> Vec<&str> {
    let mut names: Vec<_> =
        results["rows"].as_array().expect("rows").iter().filter_map(|row| row["transcript"].as_str()).collect();
    names.dedup();
    names
}

#[test]
fn stopped_replay_saves_finished_work_and_resumes_to_the_same_bytes() {
    let folder = stopped();
    let saved = fs::read_to_string(folder.path().join("stopped.json")).expect("what is finished");
    let saved: Value = serde_json::from_str(&saved).expect("JSON");
    assert_eq!(transcripts(&saved), ["1.jsonl", "2.jsonl"]);
    assert_eq!(saved["unfinished"]["transcripts"], 3);
    let whole = ask(folder.path(), &[]).printed();
    assert_eq!(ask(folder.path(), &["--resume", "stopped.json"]).printed(), whole);

    // A finished transcript is not replayed again, but a changed one is.
    let lie = |name: &str| {
        let path = folder.path().join("stopped.json");
        let text = fs::read_to_string(&path).expect("what is finished");
        let text = text.replace("\"tokens.peak\": ", "\"tokens.peak\": 7");
        let mut results: Value = serde_json::from_str(&text).expect("JSON");
        results["unfinished"]["done"].as_array_mut().expect("parts").iter_mut().for_each(seal);
        fs::write(&path, results.to_string()).expect("a folder to write to");
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

/// Another version may have other groups, or count differently. Results of version 1 do not name their program.
#[test]
fn resume_refuses_results_of_another_version_of_the_program() {
    let folder = stopped();
    let path = folder.path().join("stopped.json");
    let mut saved: Value = serde_json::from_slice(&fs::read(&path).expect("results")).expect("JSON");
    let mut refused = |change: &dyn Fn(&mut Value), program: &str| {
        change(&mut saved);
        fs::write(&path, saved.to_string()).expect("a folder to write to");
        let ran = ask(folder.path(), &["--resume", "stopped.json"]);
        let said = format!(
            "recompact: --resume stopped.json: it was saved by {program}, and this is recompact {}, which may count differently, so \
             the study cannot be continued; start it again without --resume\n",
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!((ran.code, ran.stderr), (2, said));
    };
    refused(&|saved| saved["program"]["version"] = "0.0.1".into(), "recompact 0.0.1");
    refused(
        &|saved| {
            saved["version"] = 1.into();
            assert!(saved.as_object_mut().is_some_and(|saved| saved.remove("program").is_some()));
        },
        "an unknown version",
    );
}

/// A group of uses is saved by its name. So its place says nothing, and a group that the program does not have is taken for no other:
/// the transcript is replayed again.
#[test]
fn saved_groups_of_uses_are_read_by_their_names() {
    let folder = stopped();
    let path = folder.path().join("stopped.json");
    let saved: Value = serde_json::from_slice(&fs::read(&path).expect("results")).expect("JSON");
    let resumed = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut saved = saved.clone();
        for done in saved["unfinished"]["done"].as_array_mut().expect("parts") {
            for policy in done["part"]["details"]["policies"].as_array_mut().expect("policies") {
                change(policy["retention"].as_array_mut().expect("groups"));
            }
            seal(done);
        }
        fs::write(&path, saved.to_string()).expect("a folder to write to");
        ask(folder.path(), &["--resume", "stopped.json"])
    };
    let whole = ask(folder.path(), &[]).printed();
    let reversed = resumed(&|groups| {
        assert!(groups.len() > 5, "{groups:?}");
        groups.reverse();
    });
    assert_eq!(reversed.printed(), whole);
    let unknown = resumed(&|groups| groups[0][1] = "over 90".into());
    let said = "the saved result of 1.jsonl cannot be read (no group \"over 90\" of the grouping \"gap\" is known); it is replayed again";
    assert!(unknown.stderr.contains(said), "{}", unknown.stderr);
    assert_eq!((unknown.code, unknown.stdout), (0, whole));
}

#[test]
fn resume_refuses_results_of_another_study() {
    let folder = stopped();
    let whole = ask(folder.path(), &[]).printed();
    fs::write(folder.path().join("whole.json"), whole).expect("a folder to write to");
    for (more, why) in [
        (["--resume", "whole.json"].as_slice(), "whole.json: this study is complete: there is nothing to resume"),
        (
            &["--resume", "stopped.json", "--window", "9000"],
            "stopped.json: it was started with window none, not 9000, so its results cannot be reused",
        ),
        (
            &["--resume", "stopped.json", "-p", "lcc-s06"],
            "stopped.json: it was started with policies [\"lcc-s08\"], not [\"lcc-s08\",\"lcc-s06\"], so its results cannot be reused",
        ),
        (
            &["--resume", "none.json"],
            "none.json: no such file or folder; give a file, a folder, a pattern in quotes ('runs/*.jsonl') or -",
        ),
        (&["--resume", "1.jsonl"], "1.jsonl: not JSON: trailing characters at line 2 column 1"),
    ] {
        let ran = ask(folder.path(), more);
        assert_eq!((ran.code, ran.stderr.as_str()), (2, format!("recompact: --resume {why}\n").as_str()));
    }
}

/// A sweep looks at all transcripts first. While it waits for the third, the second becomes a pipe, at which it waits in its first
/// round.
#[test]
fn stopped_sweep_resumes_to_the_same_bytes() {
    let folder = TempDir::new().expect("a temporary folder");
    let folder = folder.path();
    (0..3).for_each(|at| make(folder, at));
    make_pipe(folder, 2);
    let asked = [&["sweep"][..], &ASKED[1..], &["--set", "micro.keep_recent=1,5"]].concat();
    stop(folder, &asked, 1, || {
        feed(folder, 2, || make_pipe(folder, 1));
        fs::remove_file(folder.join(FILES[2].0)).expect("the pipe");
        make(folder, 2);
    });
    let ask = |more: &[&str]| run_in(folder, asked.iter().chain(more), b"");
    let whole = ask(&[]).printed();
    assert_eq!(ask(&["--resume", "stopped.json"]).printed(), whole);
    let other = ask(&["--resume", "stopped.json", "--where", "kept.hit > 0"]);
    assert_eq!(
        (other.code, other.stderr.contains("it was started with sweep.where [], not [\"kept.hit > 0\"]")),
        (2, true),
        "{}",
        other.stderr
    );
    let report = run_in(folder, ["report", "stopped.json"], b"");
    assert_eq!((report.code, report.stderr.contains("has nothing to report yet")), (2, true));
}

/// The session of a database is a transcript of its own: what the database holds besides may change between the stop and the rest.
#[test]
fn a_stopped_sweep_of_a_stored_session_resumes_to_the_same_bytes() {
    let folder = TempDir::new().expect("a temporary folder");
    let folder = folder.path();
    stores::opencode(&folder.join("0.db"));
    (1..3).for_each(|at| make(folder, at));
    make_pipe(folder, 2);
    let paths = ["sweep", "0.db#ses_main", "2.jsonl", "3.jsonl"];
    let asked = [&paths[..], &ASKED[4..], &["--set", "micro.keep_recent=1,5"]].concat();
    stop(folder, &asked, 1, || {
        feed(folder, 2, || make_pipe(folder, 1));
        fs::remove_file(folder.join(FILES[2].0)).expect("the pipe");
        make(folder, 2);
    });
    let saved: Value = serde_json::from_slice(&fs::read(folder.join("stopped.json")).expect("results")).expect("JSON");
    assert_eq!(saved["unfinished"]["done"][0]["transcript"], "0.db#ses_main");
    let ask = |more: &[&str]| run_in(folder, asked.iter().chain(more), b"");
    let whole = ask(&[]).printed();
    let resumed = || ask(&["--resume", "stopped.json"]).printed();
    assert_eq!(resumed(), whole);
    let change = |session: &str| {
        let sql = rusqlite::Connection::open(folder.join("0.db")).expect("a database");
        let part = "UPDATE part SET data = replace(data, '20 degrees', '99 degrees and rising') WHERE session_id = ?";
        assert!(sql.execute(part, [session]).expect("rows") > 0);
    };
    change("ses_child");
    assert_eq!(resumed(), whole);
    change("ses_main");
    assert_ne!(resumed(), whole);
}

/// Results for a pipe without a reader: the run would wait for one for ever.
#[test]
fn a_signal_ends_a_run_that_waits_for_a_reader() {
    let folder = TempDir::new().expect("a temporary folder");
    (0..3).for_each(|at| make(folder.path(), at));
    assert!(Command::new("mkfifo").arg(folder.path().join("out")).status().expect("mkfifo").success());
    let mut child = program::command(folder.path())
        .args(ASKED)
        .args(["--out", "out", "-v"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program that was just built starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    // Before it has read a transcript, it does not listen to signals.
    let mut line = String::new();
    while !line.contains("read 3.jsonl") {
        line.clear();
        assert!(stderr.read_line(&mut line).expect("UTF-8") > 0, "it ended");
    }
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill").success());
    let mut said = String::new();
    stderr.read_to_string(&mut said).expect("UTF-8");
    assert!(child.wait().expect("it ends").code().is_some_and(|code| code != 0), "{said}");
}
