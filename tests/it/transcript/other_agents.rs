//! Recorded sessions of other agents, with independent counts and with the requests that their programs sent.

use std::path::{Path, PathBuf};

use recompact::transcript::conversation::{Call, Conversation, Origin};
use recompact::transcript::format::{self, ReadOptions, Reading};
use serde_json::{Value, json};

use crate::support::transcripts;
use crate::support::trial::{Trial, preset_with};

/// The folder of these recordings is beside the first folder of recordings.
fn root() -> PathBuf {
    let root = transcripts::folder("").with_file_name("transcripts-formats");
    let root = if root.is_dir() { root } else { transcripts::folder("").join("../transcripts-formats") };
    assert!(root.is_dir(), "this test needs recordings of other agents, and {} is not a folder", root.display());
    root
}

/// Folders, and the format that their files are in.
const FOLDERS: &[(&str, &str)] = &[
    ("qwen-code", "qwen-code"),
    ("pi", "pi"),
    ("opencode", "opencode"),
    ("copilot-cli", "copilot-cli"),
    ("gemini-cli", "gemini-cli"),
    ("atif", "atif"),
    ("swe-agent", "swe-agent"),
    ("mini-swe-agent", "openai-chat"),
    ("cline-cli", "cline"),
    ("openhands-events", "openhands"),
    ("requests", "requests"),
];

fn read(path: &Path, format: &str) -> Reading {
    transcripts::read(path, format)
}

/// Returns the typed messages, calls, tool calls, results and compactions.
fn counts(reading: &Reading) -> [u64; 5] {
    let sum = |count: &dyn Fn(&Conversation) -> usize| reading.conversations.iter().map(count).sum::<usize>() as u64;
    let typed = |conversation: &Conversation| {
        let blocks = conversation.messages.iter().flat_map(|message| &message.blocks);
        let mut lines: Vec<_> = blocks
            .map(|block| conversation.block(*block))
            .filter(|block| matches!(block.origin, Origin::User | Origin::Compaction))
            .collect();
        // The summary with which a file begins was sent as the user's.
        lines.dedup_by_key(|block| block.line);
        lines.len()
    };
    let folds = |conversation: &Conversation| {
        conversation.compactions.iter().filter(|compaction| !compaction.edit.messages().is_empty()).count()
    };
    [
        sum(&typed),
        sum(&|conversation| conversation.calls.len() + conversation.other_branches.len()),
        sum(&Conversation::tool_uses),
        sum(&Conversation::tool_results),
        sum(&folds),
    ]
}

/// Returns how many requests of a log are none of the agent.
fn left_out(reading: &Reading) -> u64 {
    let notes = reading.notes.iter().filter(|note| note.what.starts_with("a request for a summary"));
    let times =
        notes.map(|note| note.what.rsplit_once('(').and_then(|(_, times)| times.split(' ').next()?.parse().ok()).unwrap_or(1));
    times.sum()
}

/// Adds up one number of the usage of all calls.
fn tokens(reading: &Reading, of: impl Fn(&recompact::transcript::conversation::Usage) -> u64) -> u64 {
    let calls = |conversation: &Conversation| -> Vec<Call> {
        conversation.calls.iter().chain(&conversation.other_branches).cloned().collect()
    };
    reading.conversations.iter().flat_map(calls).filter_map(|call| call.usage).map(|usage| of(&usage)).sum()
}

/// Returns the input, cached and output tokens of a count, whatever its keys are called; `None` if it has no usage of calls.
fn expected_tokens(usage: &Value, format: &str) -> Option<[u64; 3]> {
    let number = |keys: &[&str]| keys.iter().find_map(|key| usage[key].as_u64());
    let output: u64 = ["output", "thoughts", "reasoning", "completion"].iter().filter_map(|key| usage[*key].as_u64()).sum();
    let all = number(&["input", "prompt"]).or(usage.get("output").map(|_| 0))?;
    let is_inclusive = usage.get("cached").is_some() || format == "cline";
    let cached = number(&["cached", "cache_read"]).unwrap_or(0);
    Some([if is_inclusive { all - cached } else { all }, cached, output])
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn sessions_of_other_agents_have_known_counts() {
    let mut different = Vec::new();
    for (folder, format) in FOLDERS {
        let folder = root().join(folder);
        let counted: Value =
            serde_json::from_slice(&std::fs::read(folder.join("counts.json")).expect("counts")).expect("counts in JSON");
        for (file, expected) in counted.as_object().expect("a count for each file") {
            if !expected.is_object() || file.ends_with(".db") {
                continue;
            }
            let reading = read(&folder.join(file), format);
            reading.conversations.iter().for_each(transcripts::assert_api_valid);
            let keys = ["user_messages", "assistant_calls", "tool_calls", "tool_results", "compactions"];
            let mut found = counts(&reading);
            // Its tokens are no usage, so an empty response is only in a note.
            let empty = reading.notes.iter().filter(|note| note.what.starts_with("a response without text")).count() as u64;
            found[1] += if *format == "copilot-cli" { empty } else { 0 };
            // The count of a log is of all its requests.
            found[1] += if *format == "requests" { left_out(&reading) } else { 0 };
            // A result whose call is not in the file is a text.
            let stray = reading.notes.iter().filter(|note| note.what.contains("has no open call")).count() as u64;
            found[3] += if *format == "openhands" { stray } else { 0 };
            for (key, found) in keys.iter().zip(found).filter(|(key, _)| !expected[**key].is_null()) {
                if expected[key].as_u64() != Some(found) {
                    different.push(format!("{file}: {key} {found}, counted {}", expected[key]));
                }
            }
            let mut sums = [tokens(&reading, |u| u.input), tokens(&reading, |u| u.cache_read), tokens(&reading, |u| u.output)];
            // This count has the bill of the summaries, too.
            let summaries = reading.conversations.iter().flat_map(|conversation| &conversation.compactions);
            for usage in summaries.filter_map(|compaction| compaction.summary_usage).filter(|_| *format == "opencode") {
                sums = [sums[0] + usage.input, sums[1] + usage.cache_read, sums[2] + usage.output];
            }
            let wanted = expected_tokens(&expected["usage"], format).filter(|_| !["copilot-cli", "openhands"].contains(format));
            println!("{file}: {found:?}, tokens {sums:?}, notes {:?}", reading.notes);
            if wanted.is_some_and(|wanted| wanted != sums) {
                different.push(format!("{file}: tokens {sums:?}, counted {wanted:?}"));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// Returns what a request of the chat API says, one item for each text, call and result; without its system prompt.
fn sent(body: &Value) -> Vec<Value> {
    let mut items = Vec::new();
    for message in body["messages"].as_array().expect("messages") {
        let role = message["role"].as_str().expect("a role");
        let texts = match &message["content"] {
            Value::Array(parts) => parts.iter().map(|part| part.get("text").unwrap_or(part).clone()).collect(),
            Value::Null => Vec::new(),
            text => vec![text.clone()],
        };
        match role {
            "system" => {}
            "tool" => {
                let text: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
                items.push(json!(["result", message["tool_call_id"], text.join("\n")]));
            }
            role => items.extend(texts.into_iter().filter(|text| *text != "").map(|text| json!([role, text]))),
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let input: Value = serde_json::from_str(call["function"]["arguments"].as_str().expect("arguments")).expect("JSON");
            items.push(json!(["call", call["id"], call["function"]["name"], input]));
        }
    }
    items
}

/// Returns the same of a replayed request.
fn rebuilt(messages: &Value) -> Vec<Value> {
    let mut items = Vec::new();
    for message in messages.as_array().expect("messages") {
        let role = &message["role"];
        let blocks = match &message["content"] {
            Value::Array(blocks) => blocks.clone(),
            text => vec![json!({"type": "text", "text": text})],
        };
        for block in blocks {
            match block["type"].as_str().expect("a type") {
                "text" => items.push(json!([role, block["text"]])),
                "tool_use" => items.push(json!(["call", block["id"], block["name"], block["input"]])),
                "tool_result" => {
                    let text = match &block["content"] {
                        Value::Array(parts) => {
                            json!(parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"))
                        }
                        text => text.clone(),
                    };
                    items.push(json!(["result", block["tool_use_id"], text]));
                }
                "thinking" => {}
                other => items.push(json!([role, other])),
            }
        }
    }
    items
}

/// File, requests of the same run.
const LIVE: &[(&str, &str, &str)] = &[
    ("qwen-code", "live-0.24.4.jsonl", "qwen-0.24.4-requests.jsonl"),
    ("pi", "live-0.87.1-v3.jsonl", "pi-0.87.1-requests.jsonl"),
    ("opencode", "live-1.18.33-ses_de75e9e11ffemJP9Ty17cvFnVx.json", "opencode-1.18.33-requests.jsonl"),
];

/// The law of a reader: the requests that `recorded` replays are the requests that were sent.
#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn requests_rebuilt_from_a_session_are_those_that_were_sent() {
    for (format, file, requests) in LIVE {
        let reading = read(&root().join(format).join(file), format);
        let [conversation] = reading.conversations.as_slice() else { panic!("{file}: one conversation") };
        let replayed = Trial::new(preset_with("recorded", &[])).requests(conversation);
        let requests = std::fs::read_to_string(root().join("requests").join(requests)).expect("the requests");
        let requests = requests.lines().map(|line| serde_json::from_str::<Value>(line).expect("a request"));
        // A request for a summary is not one of the agent.
        let requests: Vec<Vec<Value>> = requests
            .filter(|request| request["summary"] == false)
            .map(|request| sent(&request["body"]).into_iter().filter(|item| !is_unrecorded(item)).collect())
            .collect();
        let equal = replayed.iter().zip(&requests).filter(|(replayed, sent)| rebuilt(replayed) == **sent).count();
        for (number, (replayed, sent)) in replayed.iter().zip(&requests).enumerate() {
            let replayed = rebuilt(replayed);
            let at = replayed.iter().zip(sent).position(|(a, b)| a != b).unwrap_or(replayed.len().min(sent.len()));
            assert!(
                replayed == *sent,
                "{file}: {equal} of {} requests are equal; request {number} has {} items, sent {}, and differs at {at}:\n{:.300}\n{:.300}",
                requests.len(),
                replayed.len(),
                sent.len(),
                replayed.get(at).map(Value::to_string).unwrap_or_default(),
                sent.get(at).map(Value::to_string).unwrap_or_default(),
            );
        }
        println!("{file}: {equal} of {} requests are equal", requests.len());
        assert_eq!((replayed.len(), equal), (requests.len(), requests.len()), "{file}");
    }
}

/// The law of logs: `recorded` replays each request of the agent as the log has it, and there are as many as the session has.
#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn requests_of_a_log_are_replayed_as_they_were_sent() {
    for (format, session, log) in LIVE {
        let path = root().join("requests").join(log);
        let reading = read(&path, "requests");
        let [conversation] = reading.conversations.as_slice() else { panic!("{log}: one conversation: {:?}", reading.notes) };
        transcripts::assert_api_valid(conversation);
        let replayed = Trial::new(preset_with("recorded", &[])).requests(conversation);
        let requests = std::fs::read_to_string(&path).expect("the requests");
        let requests: Vec<Value> = requests.lines().map(|line| serde_json::from_str(line).expect("a request")).collect();
        let asides = requests.iter().filter(|request| request["summary"] == true).count();
        let requests: Vec<Vec<Value>> =
            requests.iter().filter(|request| request["summary"] == false).map(|request| sent(&request["body"])).collect();
        for (number, (replayed, sent)) in replayed.iter().zip(&requests).enumerate() {
            assert_eq!(rebuilt(replayed), *sent, "{log}: request {number}");
        }
        println!("{log}: {} requests are equal, {asides} are none of the agent; {:?}", replayed.len(), reading.notes);
        assert_eq!(replayed.len(), requests.len(), "{log}");
        let noted = reading.notes.iter().filter(|note| note.what.starts_with("a request for a summary")).count();
        assert_eq!((noted, reading.notes.len()), (1, 1), "{log}: {:?}", reading.notes);
        let recorded = read(&root().join(format).join(session), format);
        assert_eq!(recorded.conversations[0].calls.len(), conversation.calls.len(), "{log}");
    }
}

/// The reminders with which Qwen Code begins a session (date, folders, skills) are in no record.
fn is_unrecorded(item: &Value) -> bool {
    item[0] == "user" && item[1].as_str().is_some_and(|text| text.starts_with("<system-reminder>\n"))
}

/// A file is recognised by its beginning, wherever it breaks off.
#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn the_first_bytes_of_a_session_show_its_format() {
    for (folder, format) in FOLDERS {
        for file in transcripts::files(&root().join(folder), "") {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if ["README.md", "counts.json"].contains(&name) || name.ends_with(".db") {
                continue;
            }
            let bytes = std::fs::read(&file).expect("a readable file");
            let found = format::sniff(&bytes[..bytes.len().min(4_096)]).map(|format| format.name);
            assert_eq!(found, Some(*format), "{name}");
            let cut = (format::by_name(format).expect("a format").read)(&bytes[..bytes.len() / 2], &ReadOptions::default());
            cut.conversations.iter().for_each(transcripts::assert_api_valid);
        }
    }
}
