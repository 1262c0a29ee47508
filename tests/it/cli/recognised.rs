//! What the program says of files that it cannot read: their name, if it is known, and a way to read them only if there is one.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use recompact::analysis::corpus::FileCorpus;
use recompact::transcript::format::FORMATS;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::program::{Ran, fixtures, run, run_in};

/// Runs a command on one file of this name.
fn run_on(command: &[&str], name: &str, text: &str) -> Ran {
    let folder = TempDir::new().expect("a temporary folder");
    fs::write(folder.path().join(name), text).expect("a file in it");
    run_in(folder.path(), [command, &[name]].concat(), b"")
}

/// The names of the formats, as a refusal lists them.
fn known() -> String {
    FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

#[test]
fn known_kinds_are_refused_by_name() {
    let files = [
        (
            "event-00001-a.json",
            r#"{"kind":"MessageEvent","source":"user","timestamp":"t"}"#,
            "one event of an OpenHands conversation, which is read as a whole: name its folder, with base_state.json in it",
        ),
        ("a.json", "{\n\"id\": \"T-1\",\n\"messages\": [{\"role\": \"user\"}]}", "an Amp thread, not read yet"),
        ("a.json", "{\n\"id\": \"T-1\",\n\"messages\": [{\"role\": \"user\"},\n{\"ro", "an Amp thread, not read yet"),
        (
            "ui_messages.json",
            r#"[{"ts":1,"type":"say","say":"text","text":"hi"}]"#,
            "a part of a Cline task, whose messages are in api_conversation_history.json beside it: name that",
        ),
    ];
    for (name, text, said) in files {
        for command in [&["inspect"][..], &["audit"], &["replay", "-p", "recorded"]] {
            let ran = run_on(command, name, text);
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{command:?} {text}");
            assert!(ran.stderr.contains(&format!("recompact: {name}: {said}\n")), "{}", ran.stderr);
        }
    }
}

#[test]
fn a_log_is_no_transcript_and_no_format_is_offered() {
    let log = "{\"type\":\"event\",\"sessionId\":\"s\",\"level\":\"info\"}\n{\"type\":\"metric\",\"sessionId\":\"s\"}\n";
    let ran = run_on(&["audit"], "log.jsonl", log);
    let said = format!("recompact: log.jsonl: not a transcript in a known format ({})\n", known());
    assert!(ran.code == 2 && ran.stderr.contains(&said), "{}", ran.stderr);
}

#[test]
fn a_format_is_offered_if_it_reads_the_file() {
    // The first twenty-one records are bookkeeping of an unknown program.
    let chat = "{\"role\":\"user\",\"content\":\"Hello?\"}\n{\"role\":\"assistant\",\"content\":\"Yes.\"}\n";
    let text = format!("{}{}", "{\"role\":\"assistant\",\"text\":\"\"}\n".repeat(21), chat);
    let ran = run_on(&["inspect"], "a.jsonl", &text);
    assert!(ran.stderr.ends_with(&format!("({}); --format openai-chat reads it anyway\n", known())), "{}", ran.stderr);
    assert_eq!(run_on(&["inspect", "--format", "openai-chat"], "a.jsonl", &text).code, 0);
}

#[test]
fn a_file_of_which_every_message_was_skipped_is_not_read() {
    let skipped = "{\"role\":\"user\",\"content\":7}\n{\"role\":\"assistant\",\"content\":null}\n";
    for command in [&["inspect", "--format", "messages"][..], &["audit", "--format", "messages"]] {
        let ran = run_on(command, "a.jsonl", skipped);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("no conversation found in it, read as messages (line 1: "), "{}", ran.stderr);
    }
}

#[test]
fn files_with_one_request_each_are_one_transcript() {
    let folder = TempDir::new().expect("a temporary folder");
    let write = |name: &str, messages: &str, response: &str| {
        let text = format!("{{\"messages\":[{messages}],\"response\":{{\"choices\":[{{\"message\":{response}}}]}}}}");
        fs::write(folder.path().join(name), text).expect("a file in it");
    };
    let (go, yes) = (r#"{"role":"user","content":"go"}"#, r#"{"role":"assistant","content":"yes"}"#);
    write("1.json", go, yes);
    write("2.json", &[go, yes, r#"{"role":"user","content":"more"}"#].join(","), r#"{"role":"assistant","content":"done"}"#);
    let ran = run_in(folder.path(), ["inspect", ".", "-o", "json", "--strict"], b"");
    let found = ran.json()["conversations"].clone();
    let counts: Vec<_> =
        found.as_array().expect("conversations").iter().map(|one| (one["transcript"].as_str(), one["calls"].as_u64())).collect();
    assert_eq!(counts, [(Some("2.json"), Some(2))]);
}

#[test]
fn formats_of_a_folder_are_known_before_it_is_read() {
    let folder = TempDir::new().expect("a temporary folder");
    let fixture = |name: &str| fs::read(fixtures().join(name)).expect("a fixture");
    let mut zip = GzEncoder::new(Vec::new(), Compression::fast());
    zip.write_all(&fixture("codex/repair.jsonl")).expect("written to memory");
    // A document that is longer than what is looked at.
    let mut long = serde_json::from_slice::<Value>(&fixture("opencode/kettle.json")).expect("JSON");
    long["messages"][0]["parts"][0]["text"] = "kettle ".repeat(20_000).into();
    for (name, bytes) in [
        ("pi.jsonl", fixture("pi/kettle.jsonl")),
        ("codex.jsonl.gz", zip.finish().expect("written to memory")),
        ("opencode.json", long.to_string().into_bytes()),
        ("package.json", b"{\"name\": \"kettle\"}".to_vec()),
    ] {
        fs::write(folder.path().join(name), bytes).expect("a file in it");
    }
    let corpus = FileCorpus::at(folder.path());
    assert_eq!(corpus.formats(), ["codex", "pi", "opencode"]);
    let usual = run(["replay", &folder.path().display().to_string(), "-q", "-o", "csv"]).printed();
    assert!(["pi", "opencode"].iter().all(|preset| usual.contains(&format!(",{preset},"))), "{}", usual.lines().count());
}
