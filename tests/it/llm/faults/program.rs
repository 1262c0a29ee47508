//! Runs the program against servers that fail: its exit code, its advice, and the answers that it keeps.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use tempfile::TempDir;

use super::server::{Act, Request, Server, nowhere, status};
use super::{KEY, answer, protocol_of};
use crate::support::program::{Ran, command, files, fixtures, rows, run_command};

/// Summarizes early and often: two summaries in the transcript below.
const FOLDS: &str = "name = \"folds\"\nmeter = \"chars/4\"\n\n[[layer]]\nid = \"auto\"\ndo = \"summarize\"\nthreshold = 2_000\n\
                     keep_recent = 4\nmax_tokens = 200\nretry = { max = 3, shrink = 0.2 }\n";
const TRANSCRIPT: &str = "claude-code/kept-tail.jsonl";

/// A folder for the policy, the cassette and the results of one test.
struct Study {
    folder: TempDir,
}

impl Study {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("folds.toml"), FOLDS).expect("a file in it");
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("a plain path").to_owned()
    }

    /// Replays with this summarizer, and checks that the key is in no output.
    fn replay(&self, summarizer: &str, more: &[&str]) -> Ran {
        let (policy, cassette, out) = (self.path("folds.toml"), self.path("cassette"), self.path("results.json"));
        let mut program = command(&fixtures());
        program.args(["replay", TRANSCRIPT, "-p", &policy, "--tokenizer", "chars/4", "--summarizer", summarizer]);
        let retries: &[&str] = if more.contains(&"--retries") { &[] } else { &["--retries", "1"] };
        program.args(["--cassette", &cassette, "-o", "json", "--out", &out]).args(retries).args(more);
        program.env("OPENAI_API_KEY", KEY).env("ANTHROPIC_API_KEY", KEY);
        let ran = run_command(program, b"");
        assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY), "{}", ran.stderr);
        for (path, bytes) in files(self.folder.path()) {
            assert!(!String::from_utf8_lossy(&bytes).contains(KEY), "{}", path.display());
        }
        ran
    }

    fn answers(&self) -> usize {
        let folder = self.folder.path().join("cassette");
        if folder.exists() { files(&folder).len() } else { 0 }
    }

    /// Returns the number of summaries by the model, if there are results.
    fn summaries(&self) -> Option<u64> {
        let results = fs::read(Path::new(&self.path("results.json"))).ok()?;
        let results: serde_json::Value = serde_json::from_slice(&results).expect("JSON");
        let of_model = |policy: &str| policy.contains("folds") && policy.contains(":m");
        rows(&results).find(|(_, policy, _)| of_model(policy)).and_then(|(.., values)| values["summaries"].as_u64())
    }
}

fn at(server: &Server, protocol: &str) -> String {
    format!("{protocol}:m@{}", server.url())
}

#[track_caller]
fn assert_fails(ran: &Ran, words: &[&str]) {
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    for words in words {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
}

#[test]
fn permanent_faults_end_replay_with_advice() {
    let echo = format!("{{\"error\": {{\"message\": \"bad key {KEY} \\u001b[31m\"}}}}");
    let cases: Vec<(Act, &str, &[&str])> = vec![
        (
            status(401, echo),
            "openai",
            &["status 401: bad key [key] [31m; the server rejects the key in OPENAI_API_KEY", "--key-env"],
        ),
        (status(404, "no such model"), "anthropic", &["status 404: no such model; check the model name and the base URL"]),
        (status(200, "<html><title>Log in</title>"), "openai", &["its answer is not JSON", "it begins: `<html>"]),
        (status(429, "slow down").with("retry-after", "0"), "anthropic", &["status 429: slow down (attempt 2)"]),
        (status(307, "").with("location", "http://127.0.0.1:1/"), "openai", &["redirects are not followed"]),
        (Act::Reset, "openai", &["the connection ended early"]),
        (Act::Stall, "openai", &["no answer within 1 s; --timeout allows more"]),
        (status(200, "{\"id\": 1}"), "openai", &["its answer has no choices[0]"]),
    ];
    let check = |act: Act, protocol: &str, words: &[&str]| {
        let (timeout, retries) = if matches!(act, Act::Stall) { ("1", "0") } else { ("60", "1") };
        let server = Server::start(move |_| act.clone());
        let study = Study::new();
        let ran = study.replay(&at(&server, protocol), &["--timeout", timeout, "--retries", retries]);
        assert_fails(&ran, words);
        assert!(ran.stderr.contains(&format!("{protocol}:m: http://127.0.0.1:")), "{}", ran.stderr);
        assert_eq!((study.answers(), study.summaries()), (0, None));
    };
    // They mostly wait for the next attempt.
    thread::scope(|scope| {
        for (act, protocol, words) in cases {
            scope.spawn(move || check(act, protocol, words));
        }
    });
    let ran = Study::new().replay(&format!("openai:m@http://{}/v1", nowhere()), &["--retries", "0"]);
    assert_fails(&ran, &["the server is not reachable"]);
}

#[test]
fn answers_before_a_fault_are_kept_on_the_cassette() {
    let study = Study::new();
    let server = Server::start(|request| match request.number {
        0 => answer("openai", "A summary."),
        _ => status(503, "").with("retry-after", "0"),
    });
    assert_fails(&study.replay(&at(&server, "openai"), &[]), &["status 503 (attempt 2)"]);
    assert_eq!((server.requests().len(), study.answers(), study.summaries()), (3, 1, None));
    let server = Server::start(|_| answer("openai", "Another summary."));
    study.replay(&at(&server, "openai"), &[]).printed();
    assert_eq!((server.requests().len(), study.answers(), study.summaries()), (1, 2, Some(2)));
    // The second run needs no server.
    let no_server = format!("openai:m@http://{}", nowhere());
    study.replay(&no_server, &[]).printed();
    study.replay(&no_server, &["--cassette-mode", "replay"]).printed();
    assert_eq!(study.summaries(), Some(2));
}

#[test]
fn max_calls_stops_replay() {
    let study = Study::new();
    let server = Server::start(|_| answer("anthropic", "A summary."));
    assert_fails(&study.replay(&at(&server, "anthropic"), &["--max-calls", "1"]), &["--max-calls 1: the limit is reached"]);
    assert_eq!((server.requests().len(), study.answers()), (1, 1));
    study.replay(&at(&server, "anthropic"), &["--max-calls", "1"]).printed();
    assert_eq!((server.requests().len(), study.answers(), study.summaries()), (2, 2, Some(2)));
}

/// Refuses the first two requests as too long, in the words of the protocol, and accepts shorter ones.
fn narrow(request: &Request, shortest_refused: &Mutex<usize>) -> Act {
    let mut shortest = shortest_refused.lock().expect("no test fails with it");
    if request.number >= 2 && request.body.len() < *shortest {
        return answer(protocol_of(&request.path), "A summary.");
    }
    *shortest = request.body.len().min(*shortest);
    let anthropic = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#;
    let openai = r#"{"error":{"message":"Too many.","code":"context_length_exceeded"}}"#;
    status(400, if protocol_of(&request.path) == "anthropic" { anthropic } else { openai })
}

#[test]
fn too_long_prompt_is_shortened_and_asked_again() {
    for protocol in ["openai", "anthropic"] {
        let study = Study::new();
        let shortest = Mutex::new(usize::MAX);
        let server = Server::start(move |request| narrow(request, &shortest));
        study.replay(&at(&server, protocol), &[]).printed();
        let lengths: Vec<usize> = server.requests().iter().map(|request| request.body.len()).collect();
        assert!(lengths.len() > 2 && lengths[0] > lengths[1] && lengths[1] > lengths[2], "{lengths:?}");
        // The cassette holds the refusals too, so they are not asked again.
        assert_eq!(study.answers(), lengths.len());
        study.replay(&at(&server, protocol), &[]).printed();
        assert_eq!(server.requests().len(), lengths.len());
    }
}

#[test]
fn replay_refuses_to_send_a_key_over_plain_http() {
    let study = Study::new();
    assert_fails(
        &study.replay("openai:m@http://example.com/v1", &[]),
        &["the key in OPENAI_API_KEY would go there over plain http"],
    );
    assert_fails(&study.replay("openai:m@localhost:8080", &[]), &["write the base URL with its http:// or https://"]);
    assert_fails(&study.replay("openai:m@https://user:pass-word-1@", &[]), &["a base URL begins with http"]);
}

#[cfg(unix)]
#[test]
fn command_summarizer_writes_the_summaries() {
    let study = Study::new();
    study.replay("command:wc -c | tr -d ' ' # :m", &[]).printed();
    assert_eq!((study.answers(), study.summaries()), (2, Some(2)));
    let ran = Study::new().replay("command:echo no money left >&2; exit 1", &["--retries", "0"]);
    assert_fails(&ran, &["it failed (exit status: 1): no money left"]);
    assert_fails(&Study::new().replay("command:", &[]), &["write command:PROGRAM ARGUMENTS"]);
}

/// Returns whether a process with these words in its command line is running.
#[cfg(target_os = "linux")]
fn is_running(words: &str) -> bool {
    let processes =
        fs::read_dir("/proc").expect("processes").filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok());
    processes.into_iter().any(|line| String::from_utf8_lossy(&line).replace('\0', " ").contains(words))
}

#[cfg(target_os = "linux")]
#[test]
fn everything_that_a_program_started_ends_with_it() {
    // It outlives its time limit, and leaves a child in the background, one in another session, and one of each after an answer.
    let late =
        Study::new().replay("command:sleep 4711.1 & setsid sleep 4711.2 & sleep 4711.3", &["--retries", "0", "--timeout", "1"]);
    assert_fails(&late, &["no answer within 1 s"]);
    assert!(!is_running("sleep 4711."), "a child of a program that was too late is still running");
    let answered = Study::new().replay("command:(setsid sleep 4712.1 >/dev/null 2>&1 &); echo done :m", &[]);
    assert_eq!(answered.code, 0, "{}", answered.stderr);
    assert!(!is_running("sleep 4712."), "a child of a program that answered is still running");
}

#[cfg(target_os = "linux")]
#[test]
fn cassette_that_cannot_be_written_is_refused_before_the_model_is_asked() {
    let server = Server::start(|request| answer(protocol_of(&request.path), "a summary"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("folds.toml"), FOLDS).expect("a file in it");
    let policy = folder.path().join("folds.toml");
    let mut program = command(&fixtures());
    program.args(["replay", TRANSCRIPT, "-p", policy.to_str().expect("a plain path"), "--tokenizer", "chars/4"]);
    // No user can make a folder there, not even root.
    program.args(["--summarizer", &at(&server, "openai"), "--cassette", "/proc/cassette", "-o", "json"]);
    let ran = run_command(program, b"");
    assert_fails(&ran, &["/proc/cassette: "]);
    assert_eq!(server.requests().len(), 0, "an answer that cannot be recorded was paid for");
}
