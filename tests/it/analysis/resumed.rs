//! A study that is resumed replays a transcript again if one of the files that it is read with has changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use recompact::analysis::ReplayHooks;
use recompact::analysis::corpus::{Corpus, FileCorpus, Monitor, ReadSpec};
use recompact::analysis::resume::Resumed;
use recompact::analysis::spec::{Files, StudySpec};
use recompact::results::saved::Results;
use serde_json::{Value, json};

/// Stops a run behind a transcript, and counts the calls that are replayed.
#[derive(Default)]
struct Watch {
    behind: Option<usize>,
    is_behind: AtomicBool,
    replayed: AtomicU64,
}

impl Monitor for Watch {
    fn is_stopped(&self) -> bool {
        self.is_behind.load(Ordering::Relaxed)
    }

    fn transcript_done(&self, at: usize) {
        if self.behind == Some(at) {
            self.is_behind.store(true, Ordering::Relaxed);
        }
    }

    fn replayed(&self, policy_calls: u64) {
        self.replayed.fetch_add(policy_calls, Ordering::Relaxed);
    }
}

/// Replays transcripts one after the other. Returns the results, and how many calls were replayed.
fn run(corpus: &FileCorpus, behind: Option<usize>, results: Option<Results>) -> (Results, u64) {
    let loaded = StudySpec::new("lcc-s08").load(&Files::default()).expect("a study");
    let resumed = results.map(|results| Resumed::new(results, &loaded.record).expect("results to resume"));
    let watch = Watch { behind, ..Watch::default() };
    let hooks = ReplayHooks { earlier: resumed.as_ref().map(|resumed| resumed as _), ..ReplayHooks::default() };
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let (results, _) = one.install(|| loaded.results(loaded.replay(corpus, &watch, hooks))).expect("results");
    (results, watch.replayed.into_inner())
}

/// A transcript, and the file that is changed.
struct Case {
    files: Vec<(&'static str, String)>,
    /// What is named: the transcript, or the folder that has it.
    named: &'static str,
    /// The name of the transcript.
    transcript: &'static str,
    changed: &'static str,
    /// A text in that file, and what it becomes.
    from: &'static str,
    to: &'static str,
}

/// A request with its response, in a file of its own.
fn request(said: &[&str], response: &str) -> String {
    let role = |at: usize| if at.is_multiple_of(2) { "user" } else { "assistant" };
    let messages: Vec<Value> = said.iter().enumerate().map(|(at, text)| json!({"role": role(at), "content": text})).collect();
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 7});
    json!({"model": "m", "messages": messages, "response": {"role": "assistant", "content": response, "usage": usage}})
        .to_string()
}

fn rollout(first: u64, header: &Value, typed: &str) -> String {
    let record = |ordinal: u64, kind: &str, payload: &Value| {
        json!({"timestamp": "2026-10-05T08:00:00Z", "ordinal": ordinal, "type": kind, "payload": payload}).to_string() + "\n"
    };
    let said =
        |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    record(first, "session_meta", header)
        + &record(first + 1, "response_item", &said("user", "input_text", typed))
        + &record(first + 2, "response_item", &said("assistant", "output_text", "Done."))
}

fn sub_agent() -> String {
    let record = |id: &str, parent: Value, kind: &str, message: Value| {
        json!({"uuid": id, "parentUuid": parent, "sessionId": "s", "agentId": "1", "isSidechain": true, "type": kind,
            "timestamp": "2026-10-05T08:00:00Z", "version": "0.24.4", "message": message})
        .to_string()
            + "\n"
    };
    record("a", json!(null), "user", json!({"role": "user", "parts": [{"text": "Is it warm?"}]}))
        + &record("b", json!("a"), "assistant", json!({"role": "model", "parts": [{"text": "It is."}]}))
}

fn cases() -> [Case; 3] {
    let base = json!({"id": "aa-2", "forked_from_id": "aa-1", "history_base": {"thread_id": "aa-1", "end_ordinal_exclusive": 3}});
    [
        Case {
            files: vec![
                ("f/rollout-aa-1.jsonl", rollout(0, &json!({"id": "aa-1"}), "Boil it.")),
                ("f/rollout-aa-2.jsonl", rollout(3, &base, "Pour it.")),
            ],
            named: "f/rollout-aa-2.jsonl",
            transcript: "f/rollout-aa-2.jsonl",
            changed: "f/rollout-aa-1.jsonl",
            from: "Boil it.",
            to: "Boil them.",
        },
        Case {
            files: vec![
                ("r/1.json", request(&["Boil it."], "It boils.")),
                ("r/2.json", request(&["Boil it.", "It boils.", "Pour it."], "Done.")),
            ],
            named: "r",
            transcript: "r/2.json",
            changed: "r/1.json",
            from: "100",
            to: "101",
        },
        Case {
            files: vec![
                ("q/subagents/s/agent-1.jsonl", sub_agent()),
                ("q/subagents/s/agent-1.meta.json", json!({"agentId": "1", "model": "qwen3-coder-plus"}).to_string()),
            ],
            named: "q",
            transcript: "q/subagents/s/agent-1.jsonl",
            changed: "q/subagents/s/agent-1.meta.json",
            from: "qwen3-coder-plus",
            to: "qwen3-coder-flash",
        },
    ]
}

fn corpus(folder: &Path, case: &Case) -> FileCorpus {
    let paths = [case.named, "z.json"].map(PathBuf::from);
    FileCorpus::new(folder, &paths, &ReadSpec::default()).expect("a corpus")
}

fn written(case: &Case) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let alone = request(&["Dry it.", "It is dry.", "Put it away."], "It is away.");
    for (path, text) in case.files.iter().chain([&("z.json", alone)]) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

#[test]
fn a_changed_file_that_a_transcript_is_read_with_is_replayed_again() {
    for case in cases() {
        let folder = written(&case);
        let corpus = corpus(folder.path(), &case);
        let at = corpus.names().iter().position(|name| *name == case.transcript).expect("a transcript");
        let stopped = || run(&corpus, Some(at), None);
        let (results, done) = stopped();
        let (_, left) = run(&corpus, None, Some(results));
        assert!(done > 0 && left > 0, "{}: {done} done, {left} left", case.transcript);
        let (results, _) = stopped();
        let changed = folder.path().join(case.changed);
        let text = fs::read_to_string(&changed).expect("it is there");
        assert!(text.contains(case.from), "{}", case.changed);
        fs::write(&changed, text.replace(case.from, case.to)).expect("a file");
        assert_eq!(run(&corpus, None, Some(results)).1, done + left, "{}", case.transcript);
    }
}

/// What is beside a transcript is neither a transcript nor a file that is no transcript.
#[test]
fn a_file_beside_a_sub_agent_of_qwen_code_names_its_model() {
    let [.., case] = cases();
    let folder = written(&case);
    let corpus = corpus(folder.path(), &case);
    let (results, _) = run(&corpus, None, None);
    assert_eq!((results.coverage.found, results.coverage.left_out.len()), (2, 0));
    let models = |corpus: &FileCorpus| {
        let reading = corpus.read(0).expect("a transcript");
        let models = reading.conversations[0].calls.iter().map(|call| call.model.clone()).collect::<Vec<_>>();
        (models, reading.notes.len())
    };
    assert_eq!(models(&corpus), (vec![Some("qwen3-coder-plus".to_owned())], 0));
    fs::write(folder.path().join(case.changed), "{").expect("a file");
    assert_eq!(models(&corpus), (vec![None], 1));
    // One that is named must be a transcript, and one that lies alone is no part of any.
    fs::remove_file(folder.path().join(case.transcript)).expect("it is there");
    let alone = self::corpus(folder.path(), &case);
    assert!(alone.read(0).is_err_and(|why| why.to_string().contains("not a transcript")));
}
