//! Transcripts that are not in the results: every command says how many, which and why.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::program::{fixtures, run_in};

/// A folder with two transcripts, an empty one, one that is none, and one that is cut off.
fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("a file in it");
    write("a.jsonl", &fs::read(fixtures().join("messages/repair.blocks.jsonl")).expect("a fixture"));
    write("b.jsonl", b"{\"role\": \"user\", \"content\": \"Hello?\"}\n{\"role\": \"assistant\", \"content\": \"Yes.\"}\n");
    write("empty.jsonl", b"");
    write("garbage.json", b"{\"name\": \"x\"}");
    write("question.jsonl", b"{\"role\": \"user\", \"content\": \"Hello?\"}\n");
    folder
}

const REASONS: [(&str, &str); 3] = [
    ("r/empty.jsonl", "the file is empty"),
    ("r/garbage.json", "skipped, not a transcript in a known format"),
    ("r/question.jsonl", "no conversation in it holds a model call"),
];

fn in_folder(arguments: &[&str]) -> crate::support::program::Ran {
    let folder = folder();
    let above = TempDir::new().expect("a temporary folder");
    let below = above.path().join("r");
    fs::create_dir(&below).expect("a folder in it");
    for file in fs::read_dir(folder.path()).expect("a folder") {
        let path = file.expect("a file").path();
        fs::copy(&path, below.join(path.file_name().expect("a name"))).expect("a copy");
    }
    run_in(above.path(), arguments, b"")
}

fn left_out(results: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let left = results["coverage"]["left_out"].as_array().into_iter().flatten();
    left.map(|left| (text(&left["path"]), text(&left["why"]))).collect()
}

#[test]
fn results_list_what_was_left_out() {
    let expected = REASONS.map(|(path, why)| (path.to_owned(), why.to_owned()));
    for command in [&["replay", "r", "-p", "lcc-s06"][..], &["sweep", "r", "-p", "lcc-s06", "--set", "micro.keep_recent=1,9"]] {
        let results = in_folder(&[command, &["-o", "json", "--tokenizer", "chars/4", "--quiet"]].concat()).json();
        assert_eq!(left_out(&results), expected, "{command:?}");
        assert_eq!(results["coverage"]["found"], 4, "one of five files is no transcript");
        let foreign = |left: &Value| left["foreign"] == true;
        assert_eq!(
            results["coverage"]["left_out"].as_array().expect("a list").iter().map(foreign).collect::<Vec<_>>(),
            [false, true, false]
        );
    }
    // An audit and an inspection need no call.
    assert_eq!(left_out(&in_folder(&["audit", "r", "-o", "json", "--quiet"]).json()), expected[..2]);
}

#[test]
fn last_line_counts_the_transcripts() {
    for (command, count) in [(&["replay", "-p", "lcc-s06"][..], 2), (&["inspect"], 3), (&["audit"], 3)] {
        let ran = in_folder(&[command, &["r", "--tokenizer", "chars/4", "--full"]].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let last = format!("{count} of 4 transcripts are in these results");
        assert_eq!(ran.stdout.lines().last(), Some(&*last), "{command:?}");
        assert!(ran.stderr.ends_with("3 of 4 transcripts were read\n"), "{}", ran.stderr);
    }
}

#[test]
fn strict_run_fails_if_a_transcript_was_left_out() {
    let ran = in_folder(&["inspect", "r", "--strict", "--quiet"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.ends_with("recompact: --strict: 2 files could not be read\n"), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("r/empty.jsonl: the file is empty\n"), "{}", ran.stderr);
}

/// A checkout has hundreds of JSON files beside a session: each kind is one line, and none of them is called a transcript.
#[test]
fn files_of_something_else_are_one_line_and_no_transcripts() {
    let folder = TempDir::new().expect("a temporary folder");
    let write = |name: &str, bytes: &str| fs::write(folder.path().join(name), bytes).expect("a file in it");
    fs::copy(fixtures().join("pi/kettle.jsonl"), folder.path().join("session.jsonl")).expect("a copy");
    (0..40)
        .for_each(|n| write(&format!("package-{n:02}.json"), &format!("{{\"name\": \"kettle-{n}\", \"version\": \"1.0.0\"}}")));
    (0..3).for_each(|n| write(&format!("notes-{n}.jsonl"), "Dear diary,\n"));
    write("empty-1.jsonl", "");
    let ran = run_in(folder.path(), ["inspect", "."], b"");
    let said = "empty-1.jsonl: the file is empty\n43 files such as notes-0.jsonl: skipped, not a transcript in a known format\n\
                1 of 5 transcripts was read\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (0, said));
    fs::remove_file(folder.path().join("empty-1.jsonl")).expect("it is there");
    (0..3).for_each(|n| fs::remove_file(folder.path().join(format!("notes-{n}.jsonl"))).expect("it is there"));
    let ran = run_in(folder.path(), ["inspect", "."], b"");
    assert_eq!(ran.stderr, "40 files such as package-00.json: skipped, not a transcript in a known format\n");
    assert!(!ran.stdout.contains("left-out"), "{}", ran.stdout);
    fs::remove_file(folder.path().join("session.jsonl")).expect("it is there");
    let ran = run_in(folder.path(), ["inspect", "."], b"");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}

#[test]
fn unreadable_transcript_in_a_folder_is_left_out_by_name() {
    let folder = folder();
    // A folder named like a transcript of another folder cannot be made unreadable for root, but a damaged gzip is unreadable for all.
    fs::write(folder.path().join("c.jsonl.gz"), b"\x1f\x8bnot gzip").expect("a file in it");
    for arguments in [&["inspect", "."][..], &["replay", ".", "-p", "lcc-s06", "--tokenizer", "chars/4"]] {
        let ran = run_in(folder.path(), arguments, b"");
        assert_eq!(ran.code, 0, "{arguments:?}");
        assert!(ran.stdout.contains("[--show left-out]"), "the rest is reported, and so is what is missing");
        assert!(ran.stderr.contains("left out: c.jsonl.gz: cannot be decompressed"), "{}", ran.stderr);
        let strict = run_in(folder.path(), [arguments, &["--strict"]].concat(), b"");
        assert_eq!((strict.code, strict.stderr.contains("recompact: c.jsonl.gz: cannot be decompressed")), (2, true));
    }
}

#[test]
fn gate_fails_if_a_transcript_of_its_baseline_is_gone() {
    let project = TempDir::new().expect("a temporary folder");
    let write = |name: &str, text: &str| fs::write(project.path().join(name), text).expect("a file in it");
    fs::create_dir(project.path().join("runs")).expect("a folder in it");
    for name in ["one", "two"] {
        let copy = project.path().join(format!("runs/{name}.jsonl"));
        let text = fs::read_to_string(fixtures().join("messages/repair.blocks.jsonl")).expect("a fixture");
        fs::write(copy, text.replace("stockbook", name)).expect("a file in it");
    }
    write(
        "recompact.toml",
        "baseline = \"b.json\"\n[[suite]]\nname = \"s\"\ntranscripts = [\"runs\"]\npolicies = [\"lcc-s06\"]\n\
         tokenizer = \"chars/4\"\nlimits = [\"broken.requests == 0\"]\n",
    );
    let check = |arguments: &[&str]| run_in(project.path(), [&["check", "--quiet"], arguments].concat(), b"");
    assert_eq!(check(&["--update"]).code, 0);
    assert_eq!(check(&[]).code, 0);
    let two = project.path().join("runs/two.jsonl");
    let refused = |why: &str| {
        let ran = check(&[]);
        let said =
            format!("runs/two.jsonl is in the baseline, but was not analysed: {why}; if it is gone on purpose, `--update`");
        assert!(ran.code == 2 && ran.stderr.contains(&said), "{} {}", ran.code, ran.stderr);
    };
    fs::write(&two, "").expect("emptied");
    refused("the file is empty");
    fs::remove_file(&two).expect("gone");
    refused("it was not found");
    assert_eq!(check(&["--update"]).code, 0);
    assert_eq!(check(&[]).code, 0);
}
