//! `recompact record` between a program and a scripted provider on the loopback.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::thread;

use recompact::util::text::plural;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::program::{Ran, files, path, run_in};

/// Starts a provider of Chat Completions that answers each request with the same summary, and returns its base URL.
fn provider() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    thread::spawn(move || listener.incoming().flatten().for_each(|connection| answer(&connection)));
    url
}

fn answer(mut connection: &TcpStream) {
    let mut from = BufReader::new(connection);
    let mut length = 0;
    for line in from.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()) {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
    }
    from.read_exact(&mut vec![0; length]).expect("a body");
    let message = json!({"role": "assistant", "content": "All is done."});
    let usage = json!({"prompt_tokens": 50, "completion_tokens": 4});
    let body =
        json!({"id": "c", "model": "m", "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}).to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    connection.write_all((head + &body).as_bytes()).expect("a client");
}

fn record(folder: &TempDir, to: &str, shell: &str) -> Ran {
    run_in(folder.path(), ["record", "--to", to, "--out", "log.jsonl", "--", "sh", "-c", shell], b"")
}

/// A replay that asks a model for summaries is an agent whose requests are known.
#[test]
fn what_a_program_asks_is_a_transcript() {
    let folder = TempDir::new().expect("a temporary folder");
    let session = crate::support::program::fixtures().join("codex/repair.jsonl");
    fs::copy(session, folder.path().join("repair.jsonl")).expect("a fixture");
    let asks =
        "replay repair.jsonl -p lcc-s08 --tokenizer chars/4 --summarizer openai:m@$OPENAI_BASE_URL -o json --out results.json";
    let shell = format!("OPENAI_API_KEY=sk-a-secret-key {} {asks}", path().display());
    let ran = record(&folder, &format!("openai={}", provider()), &shell);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    let log = fs::read_to_string(folder.path().join("log.jsonl")).expect("a log");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let results = fs::read_to_string(folder.path().join("results.json")).expect("results");
    let results: Value = serde_json::from_str(&results).expect("JSON");
    assert!(!lines.is_empty() && results["spending"][0]["answers"] == lines.len(), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("log.jsonl: {} to models recorded", plural(lines.len(), "request"))), "{}", ran.stderr);
    assert!(!log.contains("sk-a-secret-key") && !log.contains("authorization"));
    assert_eq!(lines[0]["response"]["choices"][0]["message"]["content"], "All is done.");
    let mode = fs::metadata(folder.path().join("log.jsonl")).expect("a log").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let inspected = run_in(folder.path(), ["inspect", "log.jsonl", "--tokenizer", "chars/4", "-o", "json"], b"").json();
    let calls: u64 = inspected["conversations"].as_array().expect("a list").iter().filter_map(|one| one["calls"].as_u64()).sum();
    assert_eq!((calls, &inspected["conversations"][0]["format"]), (lines.len() as u64, &json!("requests")));
}

#[test]
fn runs_that_record_nothing_fail_and_leave_no_file() {
    let folder = TempDir::new().expect("a temporary folder");
    let url = format!("openai={}", provider());
    let cases = [
        (url.as_str(), "true", 2, "no request came. Does the program read OPENAI_BASE_URL?"),
        (&url, "exit 7", 7, "the recorded program ended: exit status: 7"),
        ("gemini", "true", 2, "`gemini` is no provider that can be recorded; there are anthropic and openai"),
        ("openai=nowhere", "true", 2, "a base URL begins with http:// or https://"),
        ("openai=http://127.0.0.1/v1?version=2", "true", 2, "a base URL with a query cannot be passed on to"),
    ];
    for (to, shell, code, said) in cases {
        let ran = record(&folder, to, shell);
        assert_eq!(ran.code, code, "{to} {shell}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{to} {shell}: {}", ran.stderr);
        assert!(files(folder.path()).is_empty(), "{to} {shell}");
    }
    let twice = run_in(folder.path(), ["record", "--to", "openai", "--to", "openai", "--out", "log.jsonl", "--", "true"], b"");
    assert!(twice.code == 2 && twice.stderr.contains("named twice"), "{}", twice.stderr);
    let no_program = run_in(folder.path(), ["record", "--to", "openai", "--out", "log.jsonl"], b"");
    assert!(no_program.code == 2 && no_program.stderr.contains("--listen"), "{}", no_program.stderr);
}

#[test]
fn a_record_replaces_no_file() {
    let folder = TempDir::new().expect("a temporary folder");
    fs::write(folder.path().join("log.jsonl"), "mine").expect("a file");
    let ran = record(&folder, "openai", "true");
    assert!(ran.code == 2 && ran.stderr.contains("log.jsonl: exists already"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(folder.path().join("log.jsonl")).expect("a file"), "mine");
}
