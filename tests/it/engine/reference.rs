//! Compares the seed presets with the reference implementation, call by call.

use std::path::Path;
use std::process::{Command, Stdio};

use recompact::engine::context::Context;
use recompact::engine::journal::Request;
use recompact::engine::policy::preset;
use recompact::engine::replay::{Observer, ReplaySetup, UNLIMITED, replay};
use recompact::engine::replay_cache::ReplayCache;
use recompact::engine::summarizer::Fixed;
use recompact::tokens::block_sizes::BlockSizes;
use recompact::tokens::meter::{Meter, SizeUnit};
use recompact::transcript::conversation::Conversation;
use recompact::transcript::format::{self, ReadOptions};
use serde_json::Value;

use crate::support::transcripts;

struct Requests(Vec<(u64, Value)>);

impl Observer for Requests {
    fn request(&mut self, request: &Request, context: &Context) {
        let messages = context.messages().iter().map(|sent| context.wire(sent)).collect();
        self.0.push((request.estimate, Value::Array(messages)));
    }
}

fn ours(conversation: &Conversation, policy: &str, settings: &[&str]) -> Vec<(u64, Value)> {
    let settings: Vec<_> = settings.iter().map(|s| s.parse().expect(s)).collect();
    let policy = preset(policy).expect("a preset").policy(&settings).expect("a policy");
    let counter = Meter::from_unit(SizeUnit::Chars);
    let sizes = BlockSizes::new(conversation, policy.units().into_iter().chain([counter.unit]));
    let (shared, summarizer) = (ReplayCache::new(conversation), Fixed { text: "SUMMARY".to_owned() });
    let setup = ReplaySetup::new(conversation, &sizes, &policy, counter, &shared);
    let mut requests = Requests(Vec::new());
    replay(&ReplaySetup { window: UNLIMITED, summarizer: &summarizer, ..setup }, &mut requests);
    requests.0
}

pub fn theirs(oracle: &Path, policy: &str, file: &Path, window: &str) -> Vec<(u64, Value)> {
    let mut command = Command::new("python3");
    // The newest version is ours; it runs in the frame of the others.
    let newest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracles/lcc_s08_fit.py");
    let script = if policy == NEWEST { &newest } else { oracle };
    command.arg(script).arg(policy).arg(file).args(["--window-chars", window]);
    command.env("REFERENCE", oracle.parent().expect("the folder of the reference"));
    let output = command.stderr(Stdio::inherit()).output().expect("python3");
    assert!(output.status.success(), "the oracle failed on {}", file.display());
    let lines = output.stdout.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    let record = |line: &[u8]| {
        let record: Value = serde_json::from_slice(line).expect("a line of the oracle");
        (record["estimate"].as_u64().expect("an estimate"), record["context"].clone())
    };
    lines.map(record).collect()
}

const NEWEST: &str = "s08-182c658";

pub const POLICIES: [(&str, &str); 5] = [
    ("lcc-s06", "s06-c6a27ef"),
    ("lcc-s06-preserve", "s06-c171f8a"),
    ("lcc-s08", "s08-1baf1ac"),
    ("lcc-s08-late", "s08-b6b5f33"),
    ("lcc-s08-fit", NEWEST),
];

/// The reference refuses requests over this number of characters; as a trigger, this is a threshold of the layer.
pub fn refused_over(window: u64) -> [String; 2] {
    ["reactive.when=always".to_owned(), format!("reactive.threshold={window}")]
}

/// Compares each request of a transcript with that of the reference; returns their number.
fn compare(file: &Path, (preset, version): (&str, &str), window: u64) -> usize {
    let oracle = transcripts::folder("anthropic-messages-derived").join("../../reference/lcc.py");
    let bytes = std::fs::read(file).expect("a transcript");
    let reading = (format::by_name("messages").expect("the format").read)(&bytes, &ReadOptions::default());
    let settings = refused_over(window);
    let settings: Vec<&str> = settings.iter().map(String::as_str).filter(|_| window > 0).collect();
    let place = format!("{preset}, {}, window {window}", file.display());
    let theirs = theirs(&oracle, version, file, &window.to_string());
    let ours = ours(&reading.conversations[0], preset, &settings);
    assert_eq!(ours.len(), theirs.len(), "{place}: calls");
    for (call, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(ours.1, theirs.1, "{place}: the messages of call {call}");
        assert_eq!(ours.0, theirs.0, "{place}: the estimate of call {call}");
    }
    ours.len()
}

/// The model calls the compact tool between two others. Only s08 folds before the results enter, answers in its own words, and does not
/// run the last call.
const COMPACT_TOOL: &str = r#"{"role": "user", "content": "Go"}
{"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}]}
{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a b"}]}
{"role": "assistant", "content": [{"type": "text", "text": "Enough."}, {"type": "tool_use", "id": "t2", "name": "bash", "input": {"command": "pwd"}}, {"type": "tool_use", "id": "t3", "name": "compact", "input": {}}, {"type": "tool_use", "id": "t4", "name": "bash", "input": {"command": "id"}}]}
{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": "/"}, {"type": "tool_result", "tool_use_id": "t3", "content": "ok"}, {"type": "tool_result", "tool_use_id": "t4", "content": "me"}]}
{"role": "assistant", "content": [{"type": "text", "text": "On."}]}
{"role": "user", "content": "More"}
{"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
"#;

#[test]
#[ignore = "needs the reference implementation beside recordings, and python3: RECOMPACT_TRANSCRIPTS"]
fn the_compact_tool_equals_the_reference_implementation() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("compact.jsonl");
    std::fs::write(&file, COMPACT_TOOL).expect("our own folder");
    let compared: usize = POLICIES.iter().map(|policy| compare(&file, *policy, 0)).sum();
    assert_eq!(compared, 4 * POLICIES.len());
}

#[test]
#[ignore = "needs recordings, the reference implementation beside them, and python3: RECOMPACT_TRANSCRIPTS"]
fn requests_of_recordings_equal_the_reference_implementation() {
    let mut compared = 0;
    for file in transcripts::files(&transcripts::folder("anthropic-messages-derived"), ".blocks.jsonl") {
        for policy in POLICIES {
            let windows: &[u64] = if policy.0.starts_with("lcc-s08") { &[0, 8_000, 20_000, 45_000] } else { &[0] };
            compared += windows.iter().map(|window| compare(&file, policy, *window)).sum::<usize>();
        }
    }
    println!("{compared} requests equal those of the oracle");
    assert!(compared > 1_000);
}
