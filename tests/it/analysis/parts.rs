//! Parts of a study merge into the whole study, to the byte, however the transcripts are divided.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use proptest::prelude::*;
use recompact::analysis::corpus::{FileCorpus, NoMonitor, ReadSpec};
use recompact::analysis::part::{Part, PartError};
use recompact::analysis::spec::{Files, Loaded, StudySpec, SweepSpec};
use recompact::analysis::sweep::{Continuation, LoadedSweep, SweepEnd, SweepOfParts, SweepRun, measure};
use recompact::util::spill::Spill;
use serde_json::{Value, json};

use crate::support::effort;
use crate::support::program::fixtures;

const FROM_FIXTURES: [(&str, &str); 5] = [
    ("codex/a.jsonl", "codex/repair.jsonl"),
    ("codex/copy.jsonl", "codex/repair.jsonl"),
    ("messages.jsonl", "messages/repair.blocks.jsonl"),
    ("tasks.json", "openai-chat/tasks.json"),
    ("agents/s.jsonl", "claude-code/repair.jsonl"),
];

/// A sub-agent that the session reports has a file of its own, and each file of the log holds one request of a conversation: what they
/// give must not depend on which files a task has.
fn write_transcripts(folder: &Path) -> Vec<PathBuf> {
    let said = |messages: &[&str], response: &str| {
        let role = |at: usize| if at.is_multiple_of(2) { "user" } else { "assistant" };
        let messages: Vec<Value> =
            messages.iter().enumerate().map(|(at, text)| json!({"role": role(at), "content": text})).collect();
        json!({"messages": messages, "response": {"role": "assistant", "content": response}}).to_string()
    };
    let record = |kind: &str, more: Value| {
        let mut record = json!({"type": kind, "sessionId": "s", "timestamp": "2026-05-01T10:00:00Z", "version": "2.1.0"});
        record.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        format!("{record}\n")
    };
    let answer = |id: &str| {
        let content = json!([{"type": "text", "text": format!("found src/{id}.rs")}]);
        json!({"id": id, "role": "assistant", "model": "claude-haiku-4-5", "content": content})
    };
    let reported = json!({"type": "assistant", "uuid": "x", "timestamp": "2026-05-01T10:00:00Z", "message": answer("m2")});
    let data = json!({"type": "agent_progress", "agentId": "a1", "prompt": "look", "message": reported});
    let asked = json!({"role": "user", "content": "look"});
    let session = [
        record("user", json!({"uuid": "u1", "parentUuid": null, "message": {"role": "user", "content": "go"}})),
        record("assistant", json!({"uuid": "r1", "parentUuid": "u1", "message": answer("m1")})),
        record("progress", json!({"uuid": "p1", "parentUuid": "r1", "data": data})),
    ];
    let agent = [
        record("user", json!({"uuid": "u2", "parentUuid": null, "isSidechain": true, "agentId": "a1", "message": asked})),
        record(
            "assistant",
            json!({"uuid": "r2", "parentUuid": "u2", "isSidechain": true, "agentId": "a1", "message": answer("m2")}),
        ),
    ];
    let written = [
        ("log/1.json", said(&["read a.rs"], "so")),
        ("log/2.json", said(&["read a.rs", "so", "and b.rs"], "so too")),
        ("log/3.json", said(&["read a.rs", "so", "and b.rs", "so too", "now c.rs"], "done")),
        ("agents/t.jsonl", session.concat()),
        ("agents/t/subagents/agent-a1.jsonl", agent.concat()),
        ("empty.jsonl", String::new()),
        ("other.json", "{\"name\": \"no transcript\"}".to_owned()),
    ];
    let copied = FROM_FIXTURES.map(|(name, from)| {
        (name, fs::read_to_string(fixtures().join(from)).expect("a fixture").lines().take(90).collect::<Vec<_>>().join("\n"))
    });
    // A list of conversations is one document.
    let whole = |(name, text): (&'static str, String)| match name {
        "tasks.json" => (name, fs::read_to_string(fixtures().join("openai-chat/tasks.json")).expect("a fixture")),
        _ => (name, text),
    };
    let files = copied.into_iter().map(whole).chain(written);
    let write = |(name, text): (&str, String)| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, text).expect("a folder to write to");
        PathBuf::from(name)
    };
    files.map(write).chain([PathBuf::from("gone.jsonl")]).collect()
}

fn study(policy: &str) -> Loaded {
    StudySpec::new(policy).policy("claude-code").findings().window(20_000).load(&Files::default()).expect("presets")
}

fn part(study: &Loaded, folder: &Path, files: &[PathBuf]) -> Part {
    let corpus = FileCorpus::listed(folder, &[], files, &ReadSpec::default()).expect("a valid description");
    study.part(study.outcomes(&corpus, &NoMonitor, None)).expect("nothing stopped it")
}

/// What a machine writes and another one reads.
fn sent(part: &Part) -> Part {
    Part::read(part.to_bytes().as_slice(), &Spill::after(0)).expect("a part")
}

fn finished(study: &Loaded, part: Part) -> String {
    let (results, _) = study.results(study.merged(part).expect("a part of the study")).expect("results");
    serde_json::to_string(&results).expect("JSON")
}

#[test]
fn a_study_of_parts_is_the_whole_study() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = write_transcripts(folder.path());
    let study = study("lcc-s08");
    let corpus = FileCorpus::listed(folder.path(), &[], &files, &ReadSpec::default()).expect("a valid description");
    let (whole, _) = study.results(study.replay(&corpus, &NoMonitor, Default::default())).expect("results");
    let conversations: Vec<&str> =
        whole.rows.iter().filter(|row| &*row.policy == "keep-all").map(|row| &*row.transcript).collect();
    // The copy counts once, and so does the sub-agent; the three requests are one conversation.
    let expected = ["agents/s.jsonl", "agents/t.jsonl", "agents/t/subagents/agent-a1.jsonl", "codex/a.jsonl", "log/3.json"];
    assert!(expected.iter().all(|name| conversations.contains(name)), "{conversations:?}");
    assert!(!conversations.iter().any(|name| ["codex/copy.jsonl", "log/1.json", "log/2.json"].contains(name)));
    let left_out: Vec<&Path> = whole.coverage.left_out.iter().map(|left_out| Path::new(&left_out.path)).collect();
    assert_eq!(left_out, [&folder.path().join("gone.jsonl"), Path::new("empty.jsonl"), Path::new("other.json")]);

    let whole = serde_json::to_string(&whole).expect("JSON");
    effort::check(3, prop::collection::vec(0..4_usize, files.len()), |task_of, _| {
        let task = |nth: usize| -> Vec<PathBuf> {
            let mut task: Vec<PathBuf> =
                files.iter().zip(&task_of).filter(|(_, of)| **of == nth).map(|(file, _)| file.clone()).collect();
            task.reverse();
            task
        };
        let parts = (0..4).map(|nth| sent(&part(&study, folder.path(), &task(nth))));
        let merged = Part::merge(parts).expect("parts of one study");
        assert_eq!(finished(&study, merged), whole);
    });
}

#[test]
fn the_order_of_merging_and_repeated_tasks_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = write_transcripts(folder.path());
    let study = study("lcc-s08");
    let single: Vec<Part> = files.iter().map(|file| part(&study, folder.path(), std::slice::from_ref(file))).collect();
    let all = Part::merge(single.iter().map(sent)).expect("parts of one study");
    assert_eq!(all.rows(), files.len());
    let all = all.to_bytes();
    let order = Just((0..single.len()).collect::<Vec<usize>>()).prop_shuffle();
    let repeated = prop::collection::vec(0..single.len(), 0..6);
    effort::check(20, (order, repeated, 1..single.len()), |(order, repeated, cut), _| {
        let merged = |of: &[usize]| Part::merge(of.iter().map(|at| sent(&single[*at]))).expect("parts of one study");
        let [first, second] = [&order[..cut], &order[cut..]].map(merged);
        let more = if repeated.is_empty() { sent(&first) } else { merged(&repeated) };
        let merged = Part::merge([second, more, first]).expect("parts of one study");
        assert_eq!(merged.to_bytes(), all);
    });
}

fn sweep() -> LoadedSweep {
    let search = SweepSpec::new(Some(12), Vec::new(), Default::default(), Some(0.3));
    let spec = StudySpec::new("lcc-s06").set("micro.keep_recent_results=1..20").sweep(search);
    LoadedSweep::new(&spec, &Files::default()).expect("a sweep of a preset")
}

/// The stages of a sweep, each divided anew: its first one, three rounds on more and more sessions, and those on the held-out ones.
#[test]
fn a_sweep_of_parts_is_the_whole_sweep() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = write_transcripts(folder.path());
    let corpus = |files: &[PathBuf]| FileCorpus::listed(folder.path(), &[], files, &ReadSpec::default()).expect("a corpus");
    let (loaded, all) = (sweep(), corpus(&files));
    let measured = measure(&loaded.study, &all, &NoMonitor).analysed().expect("transcripts");
    let run = SweepRun::new(loaded, &measured).expect("enough sessions");
    let SweepEnd::Finished(whole) = run.run(&all, &NoMonitor, &Continuation::default()).expect("a sweep") else {
        panic!("nothing stopped it")
    };
    let whole = serde_json::to_string(&whole).expect("JSON");

    effort::check(2, prop::collection::vec(0..3_usize, files.len() * 8), |tasks, _| {
        let mut stages = tasks.chunks(files.len()).map(|of| {
            let task = |nth: usize| files.iter().zip(of).filter(move |(_, of)| **of == nth).map(|(file, _)| file.clone());
            (0..3).map(|nth| corpus(&task(nth).collect::<Vec<_>>())).collect::<Vec<_>>()
        });
        let first = stages.next().expect("a division of the first stage");
        let of = |task: &FileCorpus| sweep().first_part(sweep().sizes(task, &NoMonitor)).expect("nothing stopped it");
        let mut merged = Part::merge(first.iter().map(of)).expect("parts of one sweep");
        let mut seen = Vec::new();
        for tasks in stages {
            let sizes = merged.sizes().expect("sizes");
            match sweep().merged(sent(&merged), sizes).expect("a part of the sweep") {
                SweepOfParts::Finished(results, _) => {
                    assert_eq!(serde_json::to_string(&results).expect("JSON"), whole);
                    assert!(seen.len() == 5 && sweep().next_part(merged, &tasks[0], &NoMonitor).is_err(), "{seen:?}");
                    return;
                }
                SweepOfParts::Unfinished(next) => seen.push(next),
            }
            let of = |task: &FileCorpus| sent(&sweep().next_part(sent(&merged), task, &NoMonitor).expect("its transcripts"));
            let parts: Vec<Part> = tasks.iter().map(of).collect();
            // A stage is not complete without the parts of all tasks, and a repeated one changes nothing.
            merged = Part::merge(parts.into_iter().chain([sent(&merged), of(&tasks[0])])).expect("parts of one sweep");
        }
        panic!("it has no more than eight stages: {seen:?}");
    });
}

#[test]
fn what_is_no_part_of_the_study_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = write_transcripts(folder.path());
    let loaded = study("lcc-s08");
    let file = files[0].clone();
    let of = |study: &Loaded| part(study, folder.path(), std::slice::from_ref(&file));
    let error = |result: Result<Part, PartError>| result.expect_err("it is refused").to_string();
    assert_eq!(error(Part::merge([])), "there is no part to merge");
    let other = error(Part::merge([of(&loaded), of(&study("lcc-s06"))]));
    assert!(other.starts_with("the parts are of several studies: one has policies ["), "{other}");
    let other = study("lcc-s06").merged(of(&loaded)).err().expect("another study").to_string();
    assert!(other.starts_with("the part was made with policies [\"lcc-s08\""), "{other}");

    let before = of(&loaded);
    let mut written = String::new();
    MultiGzDecoder::new(&*before.to_bytes()).read_to_string(&mut written).expect("gzip of UTF-8");
    let lines: Vec<&str> = written.lines().collect();
    let [header, row] = &lines[..] else { panic!("a header and a row") };
    assert_eq!(
        error(Part::read(format!("{header}\n").as_bytes(), &Spill::default())),
        "it has 0 of 1 rows: the file is cut off; replay its transcripts again"
    );
    let cut = error(Part::read(format!("{header}\n{}", &row[..row.len() / 2]).as_bytes(), &Spill::default()));
    assert!(cut.starts_with("line 2: not a row of a part: EOF"), "{cut}");
    for none in ["", "{}", "{\"version\": 2}\n", "not JSON"] {
        assert!(error(Part::read(none.as_bytes(), &Spill::default())).starts_with("not a part: the first line has no"));
    }
    let newer = header.replacen("\"recompact_part\":5", "\"recompact_part\":7", 1);
    assert_eq!(error(Part::read(newer.as_bytes(), &Spill::default())), "a part of version 7; this program reads version 5");
    let other = header.replacen(env!("CARGO_PKG_VERSION"), "0.0.1", 1);
    assert!(
        error(Part::read(other.as_bytes(), &Spill::default()))
            .starts_with("it was written by recompact 0.0.1, which may count otherwise")
    );

    let path = folder.path().join(&file);
    let text = fs::read_to_string(&path).expect("a transcript");
    fs::write(&path, text.lines().take(60).collect::<Vec<_>>().join("\n")).expect("a folder to write to");
    assert_eq!(
        error(Part::merge([before, of(&loaded)])),
        "codex/a.jsonl: two parts have different bytes of it: it was changed between their runs; replay it again"
    );
}
