//! What the program does with wrong input and arguments: an exit code, a reason with its place, no panic, and
//! nothing changed.

use std::fs;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use crate::support::effort;
use crate::support::program::{Ran, files, fixtures, run, run_in};

/// Runs in a folder with these files, and checks that the run changes none of them and adds none.
#[track_caller]
fn run_with(given: &[(&str, &[u8])], arguments: &[&str]) -> Ran {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, bytes) in given {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("in the folder")).expect("a folder in it");
        fs::write(path, bytes).expect("a file in it");
    }
    run_unchanged(folder.path(), arguments)
}

#[track_caller]
fn run_unchanged(folder: &Path, arguments: &[&str]) -> Ran {
    let before = files(folder);
    let ran = run_in(folder, arguments, b"");
    assert!(files(folder) == before, "the folder has changed");
    ran
}

/// Checks that a run fails with exit code 2, prints nothing, and gives this message.
#[track_caller]
fn assert_refused(ran: &Ran, said: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

const GOOD: &[u8] = b"{\"role\": \"user\", \"content\": \"Hello?\"}\n{\"role\": \"assistant\", \"content\": \"Yes.\"}\n";

#[test]
fn files_without_a_conversation_are_refused() {
    let refused: [(&str, &[u8], &str); 6] = [
        ("a.jsonl", b"", "recompact: a.jsonl: the file is empty\n"),
        ("a.jsonl", b" \n\r\n\t", "recompact: a.jsonl: the file is empty\n"),
        ("a.jsonl", b"\xff\xfe{\x00", "recompact: a.jsonl: text in UTF-16; save it as UTF-8\n"),
        (
            "a.bin",
            b"\x00\x01\xff\xfe",
            "recompact: a.bin: a binary file, not a transcript in a known format (qwen-code, claude-code,",
        ),
        ("a.txt", b"Dear diary,\n", "recompact: a.txt: not a transcript in a known format (qwen-code, claude-code,"),
        ("a.jsonl.gz", b"\x1f\x8bno", "recompact: a.jsonl.gz: cannot be decompressed: "),
    ];
    for command in [&["inspect"][..], &["replay", "-p", "lcc-s08"]] {
        for (name, bytes, said) in refused {
            assert_refused(&run_with(&[(name, bytes)], &[command, &[name]].concat()), said);
        }
    }
    let forced = run_with(&[("a.txt", b"Dear diary,\n")], &["inspect", "a.txt", "--format", "codex"]);
    assert_refused(&forced, "recompact: a.txt: no conversation found in it, read as codex (line 1: not valid JSON at column 1: ");
}

#[test]
fn awkward_fixtures_are_read_as_far_as_possible() {
    let cut = "awkward/cut-off.jsonl:4: the line ends in the middle of a JSON value (cut off?); the line was skipped\n";
    let unknown = "awkward/unknown-types.jsonl:8: the message has no content; it was skipped\n\
        awkward/unknown-types.jsonl:12: not a record of this format: invalid type: integer `17`, expected an object; the line was \
        skipped\n\
        awkward/unknown-types.jsonl:13: not a record of this format: invalid type: null, expected an object; the line was skipped\n\
        awkward/unknown-types.jsonl:14: not a record of this format: invalid type: string \"a string\", expected an object; the line \
        was skipped\n";
    let orphans = "awkward/orphans.jsonl:22: the message has no \"content\"; it was skipped\n\
        awkward/orphans.jsonl:23: \"content\" is neither a string nor a list of blocks; the message was skipped\n";
    // Number of calls, and the messages about skipped lines.
    let expected = [
        ("awkward/cut-off.jsonl", 1, cut),
        ("awkward/glued.jsonl", 3, ""),
        ("awkward/surrogates.jsonl", 3, ""),
        ("awkward/unknown-types.jsonl", 2, unknown),
        ("awkward/orphans.jsonl", 9, orphans),
        ("awkward/ansi.jsonl", 3, ""),
        ("awkward/hostile-ids.jsonl", 3, ""),
    ];
    for (file, calls, said) in expected {
        let inspected = run_unchanged(&fixtures(), &["inspect", file, "-o", "json", "--tokenizer", "chars/4"]);
        assert_eq!((inspected.code, inspected.stderr.as_str()), (0, said));
        let inspected: serde_json::Value = serde_json::from_str(&inspected.stdout).expect("JSON");
        assert_eq!(inspected["conversations"][0]["calls"], calls, "{file}");
        let replayed = run(["replay", file, "-p", "lcc-s08", "-p", "lcc-s08-late", "-o", "csv", "--tokenizer", "chars/4"]);
        assert_eq!((replayed.code, replayed.stderr.as_str(), replayed.stdout.lines().count()), (0, said, 9), "{file}");
        let strict = run(["replay", file, "-p", "lcc-s08", "--tokenizer", "chars/4", "--strict"]);
        assert_eq!((strict.code, strict.stdout.is_empty()), if said.is_empty() { (0, false) } else { (2, true) }, "{file}");
        assert!(strict.stderr.starts_with(said), "{}", strict.stderr);
    }
}

#[test]
fn strict_run_fails_on_unreadable_lines() {
    let ran = run(["inspect", "awkward/cut-off.jsonl", "messages", "--strict", "--quiet"]);
    assert_refused(&ran, "awkward/cut-off.jsonl:4: ");
    assert!(ran.stderr.ends_with("\nrecompact: --strict: 1 line could not be read\n"), "{}", ran.stderr);
}

#[test]
fn quiet_hides_skipped_lines_but_not_failures() {
    let ran = run(["inspect", "awkward/cut-off.jsonl", "--quiet"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let ran = run(["inspect", "awkward/cut-off.jsonl", "awkward/empty.jsonl", "--quiet"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "left out: awkward/empty.jsonl: the file is empty\n"));
}

/// One message of 50 megabytes, and one line of the same length that is not JSON.
#[test]
fn line_of_fifty_megabytes_is_read() {
    let long = "all work and no play ".repeat(effort::of(250_000, 2_500_000));
    let text = format!(
        "{{\"role\": \"user\", \"content\": \"{long}\"}}\n{}{long}\n",
        "{\"role\": \"assistant\", \"content\": \"Indeed.\"}\n"
    );
    let ran = run_with(&[("long.jsonl", text.as_bytes())], &["inspect", "long.jsonl", "-o", "json", "--tokenizer", "chars/4"]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (0, 1));
    assert!(ran.stderr.starts_with("long.jsonl:3: not valid JSON at column 1: "), "{}", ran.stderr);
    let inspected: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(inspected["conversations"][0]["tokens"]["typed"], long.len() / 4);
}

#[test]
fn lone_surrogates_round_trip_through_contexts() {
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join("contexts.jsonl");
    let file = file.to_str().expect("a plain path");
    let escapes = |text: &str| text.match_indices("\\u").map(|(at, _)| text[at..at + 6].to_owned()).collect::<Vec<_>>();
    run(["replay", "awkward/surrogates.jsonl", "-p", "lcc-s08", "-p", "claude-code", "--contexts", file]).printed();
    let contexts = fs::read_to_string(file).expect("the contexts");
    for request in contexts.lines().filter(|line| line.contains("\"call\":3")) {
        let said = [
            r#""content":"\ud83d""#,
            r#""text":"\ude00\ud83d""#,
            r#""a\udc00z""#,
            r#""text":"😀 and \ud83d""#,
            r#""\\ud83d is no escape""#,
        ];
        assert!(said.iter().all(|said| request.contains(said)), "{request}");
        assert_eq!(escapes(request), ["\\ud83d", "\\ude00", "\\ud83d", "\\udc00", "\\ud83d", "\\ud83d"]);
    }
    // Ids are the one text of a transcript that an inspection shows.
    let id = r#"toolu_\ud83d"#;
    let call =
        format!(r#"{{"role": "assistant", "content": [{{"type": "tool_use", "id": "{id}", "name": "ls", "input": {{}}}}]}}"#);
    let result = format!(r#"{{"role": "user", "content": [{{"type": "tool_result", "tool_use_id": "{id}", "content": "x"}}]}}"#);
    let text = format!("{}{call}\n{result}\n{call}\n", "{\"role\": \"user\", \"content\": \"Hello?\"}\n");
    let ran = run_with(&[("a.jsonl", text.as_bytes())], &["inspect", "a.jsonl", "-o", "json"]).printed();
    assert!(ran.contains(&format!("\"{id}\"")), "{ran}");
}

#[test]
fn missing_paths_are_refused() {
    let good = ("a.jsonl", GOOD);
    assert_refused(&run_with(&[("docs/read.me", b"-")], &["inspect", "docs"]), "recompact: docs: no transcripts (*.jsonl, ");
    assert_refused(&run_with(&[good], &["inspect", "b.jsonl"]), "recompact: b.jsonl: no such file or folder; ");
    assert_refused(&run_with(&[good], &["inspect", "a"]), "recompact: a: no such file or folder; did you mean a.jsonl?\n");
    assert_refused(&run_with(&[good], &["inspect", "*.csv"]), "recompact: *.csv: no file matches");
    assert_refused(&run_with(&[("logs/a.json", b"{}")], &["inspect", "logs"]), "logs/a.json: skipped, not a transcript");
    // The rest is still printed.
    for paths in [["a.jsonl", "b.jsonl"], ["b.jsonl", "a.jsonl"]] {
        let ran = run_with(&[good], &["inspect", paths[0], paths[1], "-o", "csv"]);
        assert_eq!((ran.code, ran.stdout.lines().count()), (0, 2));
        let said = "1 of 2 transcripts was read\nleft out: b.jsonl: no such file or folder; ";
        assert!(ran.stderr.starts_with(said), "{}", ran.stderr);
        let ran = run_with(&[good], &["replay", paths[0], paths[1], "-p", "lcc-s08", "-o", "csv"]);
        assert_eq!((ran.code, ran.stdout.lines().count()), (0, 7));
        let ran = run_with(&[good], &["inspect", paths[0], paths[1], "-o", "csv", "--strict"]);
        assert_eq!((ran.code, ran.stdout.lines().count()), (2, 2));
        assert!(ran.stderr.contains("recompact: b.jsonl: no such file or folder; "), "{}", ran.stderr);
    }
}

#[cfg(unix)]
#[test]
fn unreadable_file_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join("a.jsonl");
    fs::write(&file, GOOD).expect("a file in it");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).expect("our own file");
    let ran = run_in(folder.path(), ["inspect", "a.jsonl"], b"");
    // Permissions do not bind root.
    match fs::read(&file) {
        Ok(_) => assert!(ran.printed().contains("a.jsonl")),
        Err(_) => assert_refused(&ran, "recompact: a.jsonl: no permission to read it\n"),
    }
}

#[test]
fn inspect_reads_standard_input() {
    let inspected = run_in(&fixtures(), ["inspect", "-", "-o", "json"], GOOD).json()["conversations"].clone();
    assert_eq!((&inspected[0]["transcript"], &inspected[0]["calls"]), (&json!("-"), &json!(1)));
    assert_refused(&run_in(&fixtures(), ["inspect", "-"], b""), "recompact: -: the file is empty\n");
}

#[test]
fn invalid_policies_and_settings_are_refused() {
    let misspelt = b"name = \"mine\"\n\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\nkeep_recnt_results = 5\n";
    let broken = b"name = \"mine\"\nmeter =\n";
    let zero = b"name = \"mine\"\nwindow = 0\n";
    let idle = b"name = \"mine\"\n\n[[layer]]\nid = \"a\"\ndo = \"clear\"\nwhen = { idle-minutes = -5 }\n";
    let given: [(&str, &[u8]); 5] =
        [("a.jsonl", GOOD), ("mine.toml", misspelt), ("broken.toml", broken), ("zero.toml", zero), ("idle.toml", idle)];
    let refused: [(&[&str], &str); 18] = [
        (&["-p", "zero.toml"], "recompact: zero.toml:2: a context window of 0 tokens holds no request\n"),
        (&["-p", "idle.toml"], "recompact: idle.toml:6: layer `a`: `idle-minutes` must be at least 0\n"),
        (
            &["-p", "mine.toml"],
            "recompact: mine.toml:6: layer `micro`: `clear` has no setting `keep_recnt_results`; did you mean `keep_recent_results`?",
        ),
        (&["-p", "none.toml"], "recompact: none.toml: this policy file cannot be read: No such file or directory (os error 2); "),
        (&["-p", "broken.toml"], "recompact: broken.toml:2: "),
        (
            &["-p", "lcc-s8"],
            "recompact: lcc-s8: there is no preset and no file of this name; did you mean `lcc-s08`? `recompact catalog policies` lists",
        ),
        (&["-p", "lcc-s08", "-p", "lcc-s08"], "recompact: the policy `lcc-s08` is named twice\n"),
        (
            &["-p", "lcc-s08", "--baseline", "best"],
            "recompact: best: there is no preset and no file of this name; `recompact catalog policies` lists the presets\n",
        ),
        (
            &["-p", "lcc-s08", "--set", "mikro.keep_recent=5"],
            "recompact: --set mikro.keep_recent=5: no policy here has a layer `mikro`; did you mean `micro`?",
        ),
        (
            &["-p", "keep-all", "--set", "micro.keep_recent=5"],
            "recompact: --set micro.keep_recent=5: no policy here has a layer `micro`\n",
        ),
        (
            &["-p", "lcc-s08", "--set", "micro.keep_rcent_results=5"],
            "recompact: --set micro.keep_rcent_results=5: layer `micro`: `clear` has no setting `keep_rcent_results`; did you mean `keep_recent_results`?",
        ),
        (
            &["-p", "lcc-s08", "--set", "micro.keep_recent=many"],
            "recompact: --set micro.keep_recent=many: layer `micro`: invalid type: string \"many\", expected a whole number, 0 or more\n",
        ),
        (
            &["-p", "lcc-s08", "--set", "auto.threshold=0.9 * windoe"],
            "recompact: --set auto.threshold=0.9 * windoe: layer `auto`: ",
        ),
        (
            &["-p", "lcc-s08", "--set", "windo=9"],
            "recompact: --set windo=9: a policy has no setting `windo`; did you mean `window`?",
        ),
        (&["-p", "lcc-s08", "--set", "micro"], "`micro`: write LAYER.FIELD=VALUE"),
        (
            &["-p", "lcc-s08", "--set", "micro.clear_at_least=much"],
            "recompact: --set micro.clear_at_least=much: layer `micro`: `much` is not a size: ",
        ),
        (
            &["-p", "lcc-s08", "--set", "snip.scope=server"],
            "recompact: --set snip.scope=server: layer `snip`: a provider can edit its cache only in place: \
             `scope = \"server\"` is for `clear`, `truncate` and `dedupe`\n",
        ),
        (
            &["-p", "lcc-s08", "--set", "auto.rides_prefix=true"],
            "recompact: --set auto.rides_prefix=true: layer `auto`: a summarizer that reads the cached prefix (`input.rides_prefix`) \
             reads all of it: remove `input.chars`\n",
        ),
    ];
    for (arguments, said) in refused {
        assert_refused(&run_with(&given, &[&["replay", "a.jsonl"], arguments].concat()), said);
    }
}

#[test]
fn invalid_option_values_are_refused() {
    let refused: [(&[&str], &str); 12] = [
        (&["--jobs", "0"], "invalid value '0' for '--jobs <N>': write a number, at least 1"),
        (&["--jobs=-3"], "invalid value '-3' for '--jobs <N>': write a number, at least 1"),
        (&["--format", "claude"], "unknown format (known: qwen-code, claude-code, codex, "),
        (&["--output", "pdf"], "unknown report (known: table, json, csv, markdown, html, sarif, junit, github)"),
        (&["--summarizer", "gpt"], "recompact: there is no summarizer `gpt` (known: extract, stub, fixed, failing, "),
        (&["--summarizer", "stub:few"], "a number of tokens, not `few`\n"),
        (&["--max-residual", "nan"], "invalid value 'nan' for '--max-residual <SHARE>': write a share, such as 0.15 for 15 %"),
        (&["--overhead", "18446744073709551615"], "18446744073709551615 is not in 0..=4294967295"),
        (&["--tokenizer", "words"], "unknown meter `words`; a meter is one of chars, bytes, "),
        (&["--tokenizer", "recorded+chars/4"], "'--tokenizer <NAME>': needs a meter that counts by itself, without `recorded+`"),
        (&["--window", "80%"], "`80%` is not a number of tokens: write one such as 200000 or 200k"),
        (&["--thinking", "hard"], "[possible values: turn, all, none]"),
    ];
    for (arguments, said) in refused {
        assert_refused(&run_with(&[("a.jsonl", GOOD)], &[&["replay", "a.jsonl", "-p", "lcc-s08"], arguments].concat()), said);
    }
    assert_refused(&run(["catalog", "colours"]), "recompact: the catalog has no `colours` (known: policies, ");
    assert_refused(&run(["catalog", "layers", "mop"]), "recompact: no `mop` among the layers (known: clear, ");
    let refused = "recompact: inspect has no html report (it has: table, json, csv, markdown); replay and report have one\n";
    assert_refused(&run_with(&[("a.jsonl", GOOD)], &["inspect", "a.jsonl", "-o", "html"]), refused);
    let many = run_with(&[("a.jsonl", GOOD)], &["inspect", "a.jsonl", "-o", "csv", "--jobs", "100000000"]);
    many.printed();
}

#[test]
fn unwritable_outputs_are_refused() {
    let given: [(&str, &[u8]); 2] = [("a.jsonl", GOOD), ("full/mine.txt", b"mine")];
    let refused: [(&[&str], &str); 9] = [
        (&["--out", "no/r.csv"], "recompact: no/r.csv: the folder no does not exist\n"),
        (&["--out", "full"], "recompact: full: is a folder; name a file in it\n"),
        (&["--out", "./full/../a.jsonl"], "a.jsonl: is read, so it cannot be written too; name another file\n"),
        (&["--contexts", "no/c.jsonl"], "recompact: no/c.jsonl: the folder no does not exist\n"),
        (&["--contexts", "full"], "recompact: full: is a folder; name a file in it\n"),
        (&["--contexts", "a.jsonl"], "recompact: a.jsonl: is read, so it cannot be written too; name another file\n"),
        (
            &["--materialize", "full"],
            "recompact: --materialize full: the folder is not empty; name a new one, so that nothing in it is overwritten\n",
        ),
        (&["--materialize", "a.jsonl"], "recompact: --materialize a.jsonl: is a file; name a new folder\n"),
        (&["--materialize", "a.jsonl/b"], "recompact: --materialize a.jsonl/b: "),
    ];
    for (arguments, said) in refused {
        assert_refused(&run_with(&given, &[&["replay", "a.jsonl", "-p", "lcc-s08"], arguments].concat()), said);
    }
}

#[test]
fn invalid_saved_results_are_refused() {
    let other = json!({"version": 3}).to_string();
    let refused: [(&str, &[u8], &str); 5] = [
        ("r.json", b"garbage", "recompact: r.json: not JSON: expected value at line 1 column 1\n"),
        ("r.json", b"", "recompact: r.json: not JSON: EOF"),
        ("r.json", b"\xff\xfe", "recompact: r.json: not UTF-8 text\n"),
        ("r.json", b"{}", "recompact: r.json: saved results begin with a \"version\"; this has none"),
        ("r.json", other.as_bytes(), "recompact: r.json: saved results of version 3; this program reads versions 1 to 2\n"),
    ];
    for (name, bytes, said) in refused {
        assert_refused(&run_with(&[(name, bytes)], &["report", name]), said);
    }
    assert_refused(&run_with(&[], &["report", "r.json"]), "recompact: r.json: no such file or folder");
    assert_refused(
        &run_with(&[("r.json", b"{}")], &["report", "r.json", "--out", "r.json"]),
        "--out r.json: RESULTS.json reads this file, so it cannot be written too",
    );
}

#[test]
fn impossible_token_counts_are_read_safely() {
    let most = u64::MAX;
    let usage = json!({
        "input_tokens": most, "cache_read_input_tokens": most, "cache_creation_input_tokens": most, "output_tokens": most
    });
    let line = |id: usize, role: &str, message: serde_json::Value| {
        let parent = id.checked_sub(1).map(|parent| parent.to_string());
        let time = format!("2026-01-01T00:0{id}:00Z");
        let line = json!({"type": role, "uuid": id.to_string(), "parentUuid": parent, "sessionId": "s", "timestamp": time, "message": message});
        format!("{line}\n")
    };
    let asked = |id| line(id, "user", json!({"role": "user", "content": "Once more?"}));
    let answered = |id: usize| {
        let content = json!([{"type": "text", "text": "Yes."}]);
        let id_of = format!("m{id}");
        line(
            id,
            "assistant",
            json!({"id": id_of, "role": "assistant", "model": "claude-opus-4-5", "content": content, "usage": usage}),
        )
    };
    let session: String = (0..6).map(|id| if id % 2 == 0 { asked(id) } else { answered(id) }).collect();
    for command in [
        &["inspect"][..],
        &["replay", "-p", "lcc-s08", "-p", "recorded"],
        &["replay", "-p", "claude-code", "--tokenizer", "o200k"],
    ] {
        let ran = run_with(&[("a.jsonl", session.as_bytes())], &[command, &["a.jsonl"]].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
}
