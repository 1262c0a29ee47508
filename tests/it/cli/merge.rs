//! `recompact replay --part`, `recompact merge` and `--paths-from`.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::program::{Ran, fixtures, run_in};

const POLICIES: [&str; 6] = ["-p", "lcc-s08", "-p", "sliding-window", "--tokenizer", "chars/4"];

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, from) in [("a.jsonl", "codex/repair.jsonl"), ("b.jsonl", "messages/repair.blocks.jsonl")] {
        let text = fs::read_to_string(fixtures().join(from)).expect("a fixture");
        let beginning: String = text.split_inclusive('\n').take(60).collect();
        fs::write(folder.path().join(name), beginning).expect("a folder to write to");
    }
    fs::write(folder.path().join("notes.json"), "{}").expect("a folder to write to");
    fs::write(folder.path().join("all.txt"), "a.jsonl\nb.jsonl\n\nnotes.json\n").expect("a folder to write to");
    folder
}

fn replay(folder: &Path, more: &[&str]) -> Ran {
    run_in(folder, [&["replay"], more, &POLICIES].concat(), b"")
}

#[test]
fn parts_merge_into_what_one_machine_prints() {
    let folder = folder();
    let at = folder.path();
    let whole = replay(at, &["--paths-from", "all.txt", "-o", "json"]);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    assert!(whole.stderr.contains("notes.json: skipped, not a transcript in a known format"), "{}", whole.stderr);
    let whole = whole.stdout;
    for (paths, part) in [("a.jsonl\n", "1.part"), ("notes.json\nb.jsonl", "2.part")] {
        let ran = run_in(at, [&["replay", "--paths-from", "-", "--part", part], &POLICIES[..]].concat(), paths.as_bytes());
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    }
    let merged = run_in(at, ["merge", "2.part", "1.part", "-o", "json"], b"");
    assert_eq!((merged.code, merged.stdout.as_str()), (0, whole.as_str()), "{}", merged.stderr);
    assert!(merged.stderr.contains("2 of 3 transcripts were read"), "{}", merged.stderr);
    // A part of parts, and patterns.
    assert_eq!(run_in(at, ["merge", "?.part", "--part", "both"], b"").code, 0);
    assert_eq!(run_in(at, ["merge", "both", "1.part", "-o", "json"], b"").stdout, whole);
    let screen = run_in(at, ["merge", "both"], b"");
    assert!(screen.code == 0 && screen.stdout.contains("lcc-s08"), "{}", screen.stderr);
    assert!(!screen.stdout.contains("recompact sweep"), "no command reads parts as transcripts: {}", screen.stdout);
}

#[test]
fn stages_of_a_sweep_merge_into_what_one_machine_prints() {
    let folder = folder();
    let at = folder.path();
    let sweep = |more: &[&str]| {
        let search = ["--set", "micro.keep_recent_results=1,3", "--holdout", "0", "-q"];
        run_in(at, [&["sweep", "-p", "lcc-s06"], &search[..], more].concat(), b"")
    };
    let whole = sweep(&["--paths-from", "all.txt", "-o", "json"]).stdout;
    // Sizes, the only round, and the replays of what was found.
    for (stage, after) in [("1", None), ("2", Some("1.merged")), ("3", Some("2.merged"))] {
        let of = |list: &str| {
            fs::write(at.join("list"), list).expect("a folder to write to");
            let (part, list) = (format!("{stage}.{}.part", &list[..1]), ["--paths-from", "list"]);
            let after: Vec<&str> = after.into_iter().flat_map(|after| ["--after", after]).collect();
            let ran = sweep(&[&list[..], &after, &["--part", &part]].concat());
            assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
        };
        of("a.jsonl");
        of("b.jsonl\nnotes.json");
        let merged = format!("{stage}.merged");
        assert_eq!(run_in(at, ["merge", "?.?.part", "--part", &merged], b"").code, 0);
        let ran = run_in(at, ["merge", &merged, "-o", "json"], b"");
        if stage == "3" {
            assert_eq!((ran.code, ran.stdout.as_str()), (0, whole.as_str()), "{}", ran.stderr);
            continue;
        }
        let left = "configurations on 2 sessions; 2 of 2 transcripts are left: merge these parts into one";
        assert!(
            ran.code == 2 && ran.stderr.contains("the sweep has a further stage") && ran.stderr.contains(left),
            "{}",
            ran.stderr
        );
    }
    let refused: [(&[&str], &str); 4] = [
        (&["--after", "3.merged", "--part", "x", "a.jsonl"], "the sweep is complete: `recompact merge` prints its results"),
        (&["--after", "1.merged", "a.jsonl"], "required arguments were not provided"),
        (&["--after", "1.merged", "--part", "x", "--seed", "2", "a.jsonl"], "the part was made with seed 1, not 2"),
        (&["--part", "x", "-o", "json", "a.jsonl"], "cannot be used with '--output <REPORT>'"),
    ];
    for (arguments, said) in refused {
        let ran = sweep(arguments);
        assert!(ran.code == 2 && ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn a_part_that_cannot_be_merged_is_refused() {
    let folder = folder();
    let at = folder.path();
    assert_eq!(replay(at, &["a.jsonl", "--part", "a.part"]).code, 0);
    assert_eq!(run_in(at, ["replay", "b.jsonl", "-p", "lcc-s06", "--part", "b.part"], b"").code, 0);
    fs::write(at.join("policy.toml"), "name = \"mine\"\n[[layer]]\nid = \"x\"\ndo = \"clear\"\nkeep_recent_results = 2\n")
        .expect("a folder to write to");
    assert_eq!(run_in(at, ["replay", "a.jsonl", "-p", "policy.toml", "--part", "mine.part"], b"").code, 0);
    fs::write(at.join("policy.toml"), "name = \"mine\"\n[[layer]]\nid = \"x\"\ndo = \"clear\"\nkeep_recent_results = 3\n")
        .expect("a folder to write to");
    let refused: [(&[&str], &str); 8] = [
        (&["merge", "a.part", "b.part"], "the parts are of several studies: one has policies ["),
        (&["merge", "mine.part"], "the part was made with other texts of its policies or prices"),
        (&["merge", "a.jsonl"], "a.jsonl: not a part: the first line has no \"recompact_part\""),
        (&["merge", "gone.part"], "gone.part: "),
        (&["merge", "a.part", "--part", "a.part"], "PART reads this file, so it cannot be written too"),
        (&["replay", "a.jsonl", "--part", "x.part"], "what is replayed by default depends on all transcripts"),
        (&["replay", "a.jsonl", "-p", "lcc-s08", "--part", "x.part", "--limit", "1"], "cannot be used with '--limit <N>'"),
        (&["replay", "--paths-from", "gone.txt", "-p", "lcc-s08"], "--paths-from gone.txt: no such file or folder"),
    ];
    for (arguments, said) in refused {
        let ran = run_in(at, arguments, b"");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
    }
    assert!(!at.join("x.part").exists());
}
