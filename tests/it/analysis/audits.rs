//! Checks `recompact audit`: what it reports about saved transcripts, and that it does not change them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::program::{files, fixtures, rows, run_in};

fn saved() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/audit")
}

/// A copy of the clean tree that may be damaged.
fn copied() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, bytes) in files(&saved().join("clean")) {
        let to = folder.path().join("s").join(path.strip_prefix(saved().join("clean")).expect("below"));
        fs::create_dir_all(to.parent().expect("a folder")).expect("a new folder");
        fs::write(to, bytes).expect("a copy");
    }
    folder
}

fn archive(folder: &tempfile::TempDir, number: usize) -> PathBuf {
    folder.path().join(format!("s/.transcripts/transcript_{number}.jsonl"))
}

fn output(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("s/.task_outputs/tool-results/call_2.txt")
}

fn audited(folder: &tempfile::TempDir) -> Value {
    let ran = run_in(folder.path(), ["audit", "s", "--tokenizer", "chars/4", "-q", "-o", "json"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

/// What is found in files: `spilled error transcript_1.jsonl:5`, and the notes' ends.
fn lines_of(audit: &Value) -> Vec<String> {
    let name = |path: &Value| path.as_str().and_then(|path| path.rsplit('/').next()).unwrap_or_default().to_owned();
    let finding = |found: &Value| {
        let text = |key: &str| found[key].as_str().unwrap_or_default();
        format!("{} {} {}:{}", text("id"), text("level"), name(&found["path"]), found["line"])
    };
    let note = |note: &Value| format!("note {}: {}", name(&note["path"]), note["what"].as_str().unwrap_or_default());
    let left_out = |left: &Value| format!("left out {}: {}", name(&left["path"]), left["why"].as_str().unwrap_or_default());
    let left: Vec<String> = audit["coverage"]["left_out"].as_array().into_iter().flatten().map(left_out).collect();
    let list = |key: &str| audit[key].as_array().cloned().unwrap_or_default();
    let in_files = list("findings").into_iter().filter(|found| found["conversation"].is_null());
    in_files.map(|found| finding(&found)).chain(list("notes").iter().map(note)).chain(left).collect()
}

#[test]
fn audit_reports_of_three_trees_match_snapshots() {
    for name in ["clean", "damaged", "forgetful"] {
        for report in ["table", "json", "markdown", "csv"] {
            let ran = run_in(&saved(), ["audit", name, "-o", report, "--full"], b"");
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{name} {report}");
            insta::assert_snapshot!(format!("audit-{name}-{report}"), ran.stdout);
        }
        insta::assert_snapshot!(format!("audit-{name}"), run_in(&saved(), ["audit", name], b"").printed());
    }
}

const UNTOLD: &str = "it begins with the summary of a history that no archive holds: what that compaction lost is unknown";

#[test]
fn audit_reports_every_damage() {
    type Damage = fn(&tempfile::TempDir);
    let damages: [(&str, Damage, &[&str]); 7] = [
        ("nothing", |_| {}, &[]),
        (
            "an archive is deleted",
            |f| fs::remove_file(archive(f, 2)).expect("gone"),
            &["gap error transcript_3.jsonl:1", "note transcript_3.jsonl: UNTOLD"],
        ),
        (
            "an archive is written over by the next",
            |f| assert!(fs::copy(archive(f, 2), archive(f, 1)).expect("copied") > 0),
            &["overwrite error transcript_1.jsonl:1", "note transcript_1.jsonl: UNTOLD"],
        ),
        (
            "an output is cut off",
            |f| fs::write(output(f), "2026-03-01").expect("written"),
            &["spilled warning transcript_1.jsonl:5"],
        ),
        (
            "an output is changed",
            |f| fs::write(output(f), "x".repeat(1_792)).expect("written"),
            &["spilled error transcript_1.jsonl:5"],
        ),
        ("an output is deleted", |f| fs::remove_file(output(f)).expect("gone"), &["spilled error transcript_1.jsonl:5"]),
        (
            "a transcript is no transcript",
            |f| fs::write(archive(f, 9), "{}\n").expect("written"),
            &["left out transcript_9.jsonl: skipped, not a transcript in a known format"],
        ),
    ];
    for (what, damage, expected) in damages {
        let folder = copied();
        damage(&folder);
        let lines: Vec<String> = lines_of(&audited(&folder)).iter().map(|line| line.replace(UNTOLD, "UNTOLD")).collect();
        assert_eq!(lines, expected, "{what}");
    }
}

#[test]
fn fail_on_level_sets_the_exit_code() {
    let code = |arguments: &[&str]| run_in(&saved(), arguments, b"").code;
    assert_eq!(code(&["audit", "damaged"]), 0);
    assert_eq!(code(&["audit", "damaged", "--fail-on", "error"]), 1);
    assert_eq!(code(&["audit", "clean", "--fail-on", "warning"]), 0);
    assert_eq!(code(&["audit", "forgetful", "--fail-on", "warning"]), 1);
    assert_eq!(code(&["audit", "nowhere"]), 2);
    assert_eq!(code(&["audit", "clean/.task_outputs"]), 2, "nothing could be analysed");
    assert_eq!(code(&["audit", "-"]), 2);
    assert_eq!(code(&["audit", "clean", "--fail-on", "worse"]), 2);
}

#[test]
fn audit_reports_hold_no_secret() {
    for report in ["table", "json", "csv", "markdown", "github"] {
        let ran = run_in(&saved(), ["audit", "damaged", "-o", report, "--full"], b"");
        assert!(ran.stdout.contains("password in a URL"), "{report}");
        assert!(!ran.stdout.contains("vene7"), "{report}");
    }
}

#[test]
fn audit_changes_no_file() {
    let folder = copied();
    let before = files(folder.path());
    audited(&folder);
    let written_over = ["audit", "s", "--out", "s/.task_outputs/tool-results/call_2.txt"];
    assert_eq!(run_in(folder.path(), written_over, b"").code, 2);
    assert_eq!(files(folder.path()), before);
}

#[cfg(unix)]
#[test]
fn audit_notes_links_pipes_sockets_and_unreadable_files() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    let folder = copied();
    let beside = |name: &str| folder.path().join("s/.transcripts").join(name);
    fs::remove_file(output(&folder)).expect("gone");
    symlink("/etc/passwd", output(&folder)).expect("a link");
    symlink("/etc/passwd", beside("link.jsonl")).expect("a link");
    let made = std::process::Command::new("mkfifo").arg(beside("pipe.jsonl")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    let _socket = UnixListener::bind(beside("socket.jsonl")).expect("a socket");
    let expected = [
        "spilled error transcript_1.jsonl:5",
        "note call_2.txt: a symbolic link; it was not followed",
        "note pipe.jsonl: a pipe, a socket or a device; it was not opened",
        "note socket.jsonl: a pipe, a socket or a device; it was not opened",
        "left out link.jsonl: a link out of the searched folders, which is not followed; name it or its target to read it",
    ];
    let audit = audited(&folder);
    assert_eq!(lines_of(&audit), expected);
    assert_eq!(audit["findings"][0]["data"]["state"], "no-file");
    // A pipe that is named directly is not opened either.
    let ran = run_in(folder.path(), ["audit", "s/.transcripts/pipe.jsonl"], b"");
    assert!(ran.code == 2 && ran.stderr.contains("not a file"), "{}", ran.stderr);

    fs::write(beside("closed.jsonl"), "{}").expect("written");
    fs::set_permissions(beside("closed.jsonl"), fs::Permissions::from_mode(0o0)).expect("closed");
    // Permissions do not bind root.
    let note = match fs::read(beside("closed.jsonl")) {
        Ok(_) => "left out closed.jsonl: skipped, not a transcript in a known format",
        Err(_) => "left out closed.jsonl: no permission to read it",
    };
    assert!(lines_of(&audited(&folder)).contains(&note.to_owned()));
}

/// Audits the files of replays: one compaction for each summary except the last, after which nothing was archived.
#[test]
fn audit_reconstructs_archives_of_replays() {
    for (policy, setting) in
        [("lcc-s06", "auto.threshold=4000"), ("lcc-s08", "auto.threshold=20000"), ("lcc-s08-late", "auto.threshold=20000")]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let transcript = fixtures().join("messages/repair.blocks.jsonl");
        let transcript = transcript.to_str().expect("a plain path");
        let arguments = ["replay", transcript, "-p", policy, "--set", setting, "--materialize", "s", "-q", "-o", "json"];
        let results = run_in(folder.path(), arguments, b"").json();
        let (.., values) = rows(&results).find(|(_, name, _)| *name == policy).expect("a row");
        let summaries = values["summaries"].as_u64().expect("a number");
        let audit = audited(&folder);
        assert_eq!(lines_of(&audit), Vec::<String>::new(), "{policy}");
        let transcripts = audit["transcripts"].as_array().expect("transcripts");
        let compactions: Vec<&Value> =
            transcripts.iter().flat_map(|transcript| transcript["compactions"].as_array().into_iter().flatten()).collect();
        assert!(summaries > 3, "{policy}: {summaries}");
        assert_eq!(compactions.len() as u64 + 1, summaries, "{policy}");
        let sum = |key: &str| compactions.iter().filter_map(|one| one["lost"][key].as_u64()).sum::<u64>();
        let whence = ["in_summary", "fetched_again", "own_words", "user", "nowhere"];
        assert_eq!(whence.into_iter().map(sum).sum::<u64>(), sum("needed"), "{policy}");
        assert!(sum("needed") > 0 && sum("in_summary") > 0 && sum("nowhere") > 0, "{policy}");
        // Only the first s08 does not say where its archives are.
        let irrecoverable = audit["findings"].as_array().is_some_and(|all| all.iter().any(|one| one["id"] == "irrecoverable"));
        assert_eq!(irrecoverable, policy == "lcc-s08", "{policy}");
        assert!(compactions.iter().all(|one| one["line"] == 1 && one["tokens_before"].as_u64() > one["tokens_after"].as_u64()));
    }
}
