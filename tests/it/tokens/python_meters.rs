//! The sizes of recorded messages in Python notation equal those that Python itself computes.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use recompact::text::surrogates::restore_escapes;
use recompact::tokens::meter::SizeUnit;
use recompact::transcript::format::jsonl;
use serde_json::{Value, json};
use walkdir::WalkDir;

use crate::tokens::message_sizes::size;

use crate::support::transcripts;

/// Returns the three sizes of each message, which is on a line of its own.
const PYTHON: &str = "
import json, sys
for line in sys.stdin.buffer:
    m = [json.loads(line)]
    print(len(str(m)), len(json.dumps(m)), len(json.dumps(m, ensure_ascii=False)))
";

/// Returns role and content of every message under a folder, in files whose names have this ending.
fn messages(folder: &Path, ending: &str) -> Vec<Value> {
    let mut messages = Vec::new();
    for file in WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok) {
        if !file.file_name().to_string_lossy().ends_with(ending) {
            continue;
        }
        let bytes = std::fs::read(file.path()).expect("a readable transcript");
        let mut notes = Vec::new();
        for (number, line) in jsonl::lines(&bytes) {
            for record in jsonl::values::<Value>(number, line, &mut notes) {
                let message = record.get("message").unwrap_or(&record);
                if matches!(message["role"].as_str(), Some("user" | "assistant")) && !message["content"].is_null() {
                    messages.push(json!({"role": message["role"], "content": message["content"]}));
                }
            }
        }
    }
    messages
}

fn python_sizes(messages: &[Value]) -> Vec<[u64; 3]> {
    let mut python =
        Command::new("python3").args(["-c", PYTHON]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3");
    let mut input = python.stdin.take().expect("a pipe");
    let lines: String = messages.iter().map(|message| restore_escapes(message.to_string()) + "\n").collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = python.wait_with_output().expect("python3 ends");
    writer.join().expect("the writer does not panic").expect("python3 reads every message");
    let numbers = |line: &str| {
        let mut numbers = line.split(' ').map(|n| n.parse().expect("a number"));
        [(); 3].map(|()| numbers.next().expect("three numbers"))
    };
    String::from_utf8_lossy(&output.stdout).lines().map(numbers).collect()
}

#[test]
#[ignore = "needs recordings and python3: RECOMPACT_TRANSCRIPTS"]
fn meter_lengths_of_recorded_messages_equal_python() {
    let folder = transcripts::folder("");
    let mut all = messages(&folder.join("anthropic-messages-derived"), ".blocks.jsonl");
    all.extend(messages(&folder.join("claude-code"), ".jsonl"));
    let expected = python_sizes(&all);
    assert_eq!(expected.len(), all.len());
    for (message, expected) in all.iter().zip(&expected) {
        let ours =
            [SizeUnit::PyRepr, SizeUnit::JsonAscii, SizeUnit::Json].map(|measure| size(measure, std::slice::from_ref(message)));
        assert_eq!(ours, *expected, "{message}");
    }
    println!("{} messages compared", all.len());
}
