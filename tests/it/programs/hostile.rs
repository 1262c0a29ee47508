//! Programs that fail in every known way: each costs one session, and gives one clear line.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rayon::prelude::*;
use regex::Regex;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::write;
use crate::support::program::{rows, run_in};

/// A program of `fixtures/programs/hostile.md`.
struct Hostile<'t> {
    name: &'t str,
    script: &'t str,
    /// A pattern of the message.
    message: &'t str,
}

impl Hostile<'_> {
    /// Whether the program ends at its time limit.
    fn is_silent(&self) -> bool {
        self.message.contains("did not answer within")
    }
}

fn page() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/programs/hostile.md");
    fs::read_to_string(path).expect("the page of hostile programs")
}

/// The script before all others, and the programs.
fn programs(page: &str) -> (&str, Vec<Hostile<'_>>) {
    let block = |section: &'_ str, kind: &str| -> Option<usize> { section.find(&format!("```{kind}\n")) };
    let content = |section: &'_ str, kind: &str| -> (usize, usize) {
        let begin = block(section, kind).unwrap_or_else(|| panic!("no block `{kind}` in {section}")) + kind.len() + 4;
        (begin, begin + section[begin..].find("```").expect("the end of a block"))
    };
    let (head, rest) = page.split_once("\n## ").expect("a program");
    let (begin, end) = content(head, "sh");
    let of = |section| -> Hostile<'_> {
        let section: &str = section;
        let ((script, script_end), (message, message_end)) = (content(section, "sh"), content(section, "message"));
        Hostile {
            name: section.lines().next().unwrap_or_default(),
            script: &section[script..script_end],
            message: section[message..message_end].trim(),
        }
    };
    (&head[begin..end], rest.split("\n## ").map(of).collect())
}

/// Calls of a session that is replayed well, few because a shell reads each byte by itself.
const GOOD_CALLS: usize = 5;

/// Writes three sessions; programs behave well until the second one begins, which has another format and 60 calls.
fn write_sessions(folder: &Path) {
    let line = |role: &str, content: Value| json!({"role": role, "content": content}).to_string();
    let good = |session: &str| {
        let messages = (1..=GOOD_CALLS).flat_map(|n| {
            let id = format!("{session}{n}");
            let call = json!([{"type": "tool_use", "id": id, "name": "ls", "input": {"path": id}}]);
            let result = json!([{"type": "tool_result", "tool_use_id": id, "content": format!("{id}.rs")}]);
            [line("assistant", call), line("user", result)]
        });
        [line("user", json!(format!("Begin {session}")))].into_iter().chain(messages).collect::<Vec<_>>().join("\n")
    };
    let chat = (1..=60).flat_map(|n| {
        let call = json!({"id": format!("c{n}"), "type": "function", "function": {"name": "ls", "arguments": "{}"}});
        [
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": format!("file-{n}.rs")}),
        ]
    });
    let bad: Vec<String> =
        [json!({"role": "user", "content": "Go on"})].into_iter().chain(chat).map(|line| line.to_string()).collect();
    write(folder, "1-good.jsonl", &good("one"));
    write(folder, "2-bad.jsonl", &bad.join("\n"));
    write(folder, "3-good.jsonl", &good("two"));
}

/// Seconds in which a program must answer that never does. A busy machine answers the questions before in that time.
const SHORT_LIMIT: u32 = 5;
/// The limit where another fault ends the session.
const LONG_LIMIT: u32 = 600;

fn replay(folder: &Path, script: &str, limit: u32) -> crate::support::program::Ran {
    let (program, limit) = (format!("p=command:sh {script}"), format!("program.timeout={limit}"));
    let options = ["--set", &limit, "--tokenizer", "chars/4", "--jobs", "1", "-o", "json"];
    run_in(folder, ["replay", ".", "-p", &program].iter().chain(&options), b"")
}

/// Those that never answer wait for their time limit, all at once.
#[test]
fn hostile_program_costs_one_session_gives_one_line_and_leaves_nothing() {
    let page = page();
    let (prelude, programs) = programs(&page);
    assert!(programs.len() >= 25, "{} programs", programs.len());
    let (silent, others): (Vec<_>, Vec<_>) = programs.iter().partition(|hostile| hostile.is_silent());
    let wrong: Vec<String> = thread::scope(|scope| {
        for leaves in LEAVES {
            scope.spawn(move || check_that_nothing_is_left(prelude, leaves));
        }
        let waiting: Vec<_> = silent.into_iter().map(|hostile| scope.spawn(move || check(prelude, hostile).err())).collect();
        let wrong: Vec<_> = others.par_iter().filter_map(|hostile| check(prelude, hostile).err()).collect();
        wrong.into_iter().chain(waiting.into_iter().filter_map(|thread| thread.join().expect("a check"))).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn check(prelude: &str, hostile: &Hostile) -> Result<(), String> {
    let folder = TempDir::new().expect("a temporary folder");
    write_sessions(folder.path());
    write(folder.path(), "p.sh", &format!("{prelude}{}", hostile.script));
    let limit = if hostile.is_silent() { SHORT_LIMIT } else { LONG_LIMIT };
    let ran = replay(folder.path(), "p.sh", limit);
    let pattern = format!("^left out: 2-bad.jsonl: conversation main, call {}\n$", hostile.message);
    let results: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let transcripts: Vec<String> =
        if results.is_null() { vec![] } else { rows(&results).filter(|row| row.1 == "p").map(|row| row.0).collect() };
    let is_named = Regex::new(&pattern).expect("a pattern").is_match(&ran.stderr);
    match is_named && ran.code == 0 && transcripts == ["1-good.jsonl main", "3-good.jsonl main"] {
        true => Ok(()),
        false => Err(format!("{}: {transcripts:?}, {}, {}", hostile.name, ran.code, ran.stderr)),
    }
}

/// Each session is named; what the program wrote is shown once if it is the same.
#[test]
fn the_trace_of_a_program_is_shown_once() {
    let folder = TempDir::new().expect("a temporary folder");
    write_sessions(folder.path());
    write(folder.path(), "p.sh", "printf 'Trace:\\n\\tat line 3\\n' >&2; exit 1");
    let first = ": conversation main, call 1: the policy p: it ended (exit status: 1):";
    let expected = format!(
        "recompact: 1-good.jsonl{first}\n    Trace:\n        at line 3\nrecompact: 2-bad.jsonl{first} as above\nrecompact: \
         3-good.jsonl{first} as above\n"
    );
    let ran = replay(folder.path(), "p.sh", LONG_LIMIT);
    assert_eq!((ran.code, ran.stderr), (2, expected));
}

/// A file of requests holds whole sessions only.
#[test]
fn requests_of_a_session_that_is_left_out_are_not_written() {
    let folder = TempDir::new().expect("a temporary folder");
    write_sessions(folder.path());
    let page = page();
    let (prelude, programs) = programs(&page);
    let late = programs.iter().find(|hostile| hostile.name == "Kills itself at call 50").expect("the program");
    write(folder.path(), "p.sh", &format!("{prelude}{}", late.script));
    let options = ["replay", ".", "-p", "p=command:sh p.sh", "-p", "lcc-s06", "--contexts", "requests.txt", "--quiet"];
    assert_eq!(run_in(folder.path(), options.iter(), b"").code, 0);
    let requests = fs::read_to_string(folder.path().join("requests.txt")).expect("the requests");
    let count = |of: &str| requests.lines().filter(|line| line.contains(of)).count();
    let good = 2 * GOOD_CALLS;
    assert_eq!((count("1-good.jsonl"), count("2-bad.jsonl"), count("3-good.jsonl")), (good, 0, good));
}

/// A killed run cannot end its programs. One child of the program stays in its group, one leaves it.
#[cfg(target_os = "linux")]
#[test]
fn nothing_that_a_program_started_outlives_a_killed_run() {
    let page = page();
    let prelude = programs(&page).0;
    let folder = TempDir::new().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    write_sessions(folder.path());
    write(folder.path(), "stay.sh", "echo $$ > $1.tmp; mv $1.tmp $1; exec sleep 1000");
    write(folder.path(), "p.sh", &format!("{prelude}sh stay.sh near & setsid sh stay.sh far & sh stay.sh itself"));
    let mut command = crate::support::program::command(folder.path());
    command.args(["replay", ".", "-p", "p=command:sh p.sh", "--set", "program.timeout=900", "--jobs", "1"]);
    let mut run = command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null()).spawn().expect("it starts");
    let pids = ["near", "far", "itself"].map(|name| {
        while !path(name).exists() {
            assert!(run.try_wait().expect("a status").is_none(), "it ended");
            thread::sleep(Duration::from_millis(5));
        }
        fs::read_to_string(path(name)).expect("a process").trim().to_owned()
    });
    run.kill().expect("it is there");
    run.wait().expect("it ends");
    let is_there = |pid: &String| {
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        status.contains("(sleep)") && !status.contains(") Z ")
    };
    // They would sleep for longer than any test takes.
    let is_left = |_: &usize| {
        thread::sleep(Duration::from_millis(20));
        pids.iter().any(is_there)
    };
    assert!((0..5_000).take_while(is_left).count() < 5_000, "{pids:?}");
}

/// What a program does that has left a process behind.
const LEAVES: [&str; 3] = ["exit 0", "trap '' TERM; sleep 100", "setsid sh wait.sh & sleep 100"];

/// The process that the program leaves behind waits for the file `go`, and then writes the file `trace`.
fn check_that_nothing_is_left(prelude: &str, leaves: &str) {
    let folder = TempDir::new().expect("a temporary folder");
    write_sessions(folder.path());
    write(folder.path(), "wait.sh", "while [ ! -e go ]; do sleep 0.02; done; touch trace");
    write(folder.path(), "p.sh", &format!("{prelude}sh wait.sh & {leaves}"));
    assert_eq!(replay(folder.path(), "p.sh", SHORT_LIMIT).code, 0);
    write(folder.path(), "go", "");
    thread::sleep(Duration::from_millis(400));
    assert!(!folder.path().join("trace").exists(), "{leaves}: a process of the program goes on");
}
