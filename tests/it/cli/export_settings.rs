//! `recompact export-settings`: configurations of harnesses, from presets and from what a sweep saved.

use std::fs;

use recompact::analysis::export::{Syntax, TARGETS};
use recompact::engine::policy::preset;
use tempfile::TempDir;

use crate::support::program::{Ran, run, run_in};

fn export(arguments: &[&str]) -> Ran {
    run([&["export-settings"], arguments].concat())
}

#[test]
fn every_form_is_listed_with_its_page() {
    let list = export(&[]).printed();
    assert!(list.lines().all(|line| line.chars().count() <= 100), "{list}");
    for file in TARGETS {
        let target = file.target();
        let is_listed = list.lines().any(|line| line.split_whitespace().next() == Some(file.name));
        assert_eq!(is_listed, target.unavailable.is_none(), "{}", file.name);
    }
    let page = run(["catalog", "harnesses", "openhands"]).printed();
    assert!(page.contains("\n  max_size    condense.threshold + 1\n"), "{page}");
}

#[test]
fn every_preset_with_a_form_is_written_in_its_language() {
    for file in TARGETS {
        let target = file.target();
        if preset(file.name).is_none() || target.unavailable.is_some() {
            continue;
        }
        let ran = export(&["--for", file.name]);
        assert_eq!(ran.code, 0, "{}: {}", file.name, ran.stderr);
        let said = "Not tuned: the numbers of the preset.";
        // Where the parser takes no comments, they are on standard error.
        let (comment, other) = match target.syntax {
            Syntax::Json => (&ran.stderr, &ran.stdout),
            _ => (&ran.stdout, &ran.stderr),
        };
        assert!(comment.contains(said) && !other.contains(said), "{}", file.name);
    }
}

#[test]
fn settings_match_snapshots() {
    insta::assert_snapshot!(
        "export-langchain-clear",
        export(&["--for", "langchain-clear", "--set", "clear.threshold=50k"]).printed()
    );
    insta::assert_snapshot!(
        "export-anthropic",
        export(&["--for", "anthropic-clear", "--set", "clear.clear_at_least=10k"]).stdout
    );
    insta::assert_snapshot!("export-page", run(["catalog", "harnesses", "claude-code"]).printed());
}

#[test]
fn what_a_sweep_saved_is_exported_with_the_number_of_its_sessions() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path().join("best.toml");
    let best = path.to_str().expect("a plain path");
    let sweep =
        ["sweep", "openai-chat", "-p", "swe-agent", "--set", "mask.keep_recent_results=1,2", "--tokenizer", "chars/4", "-q"];
    assert_eq!(run([&sweep[..], &["--save", best, "--maximize", "tokens.saved"]].concat()).code, 0);
    let saved = fs::read_to_string(&path).expect("a policy");
    assert!(saved.contains("[tuned]\nof = \"swe-agent\"\nsessions = "), "{saved}");
    let exported = export(&["--for", "swe-agent", "-p", best]).printed();
    let words = exported.replace("\n# ", " ");
    assert!(words.contains(" configurations in a sweep of `swe-agent`; ") && words.contains("Chosen on "), "{exported}");
    // A value that is set by hand was not chosen.
    let changed = export(&["--for", "swe-agent", "-p", best, "--set", "mask.keep_recent_results=9"]).printed();
    assert!(changed.contains("      n: 9\n") && changed.contains("Changed by hand since"), "{changed}");
}

/// Its window is 258,400 tokens in the record. What is kept as it is has no settings, unless the user sets one.
#[test]
fn what_a_sweep_saved_is_for_the_window_of_its_sessions() {
    let folder = TempDir::new().expect("a temporary folder");
    let saved = |name: &str, arguments: &[&str]| {
        let file = folder.path().join(name).to_str().expect("a plain path").to_owned();
        let sweep = ["sweep", "codex", "-p", "codex-cli", "-q", "--where", "cost.ratio <= 9", "--where", "kept.hard <= 100%"];
        assert_eq!(run([&sweep[..], arguments, &["--save", &file]].concat()).code, 0);
        file
    };
    let taken = saved("taken.toml", &["--maximize", "tokens.saved", "--set", "auto.threshold=0.1*window,0.2*window"]);
    let exported = export(&["--for", "codex", "-p", &taken]).printed();
    assert!(exported.ends_with("\nmodel_auto_compact_token_limit = 25840\n"), "{exported}");
    assert!(exported.contains("# For a context window of 258400 tokens, which 1 session had;"), "{exported}");
    let kept = saved("kept.toml", &["--set", "auto.threshold=0.5*window,0.8*window"]);
    let exported = export(&["--for", "codex", "-p", &kept]).printed();
    assert!(exported.lines().all(|line| line.starts_with("# ")), "{exported}");
    assert!(
        exported.contains("# Keep what you have: a sweep tried 3 configurations on 1 session, and none was better"),
        "{exported}"
    );
    let changed = export(&["--for", "codex", "-p", &kept, "--set", "auto.threshold=0.8*window"]).printed();
    assert!(changed.ends_with("\nmodel_auto_compact_token_limit = 206720\n"), "{changed}");
}

/// The session of Codex has a window of 258,400 tokens, of which nine tenths are 232,560; those of Claude Code have another one.
#[test]
fn saved_results_are_exported_for_the_sessions_of_the_harness() {
    let folder = TempDir::new().expect("a temporary folder");
    let saved = |name: &str, arguments: &[&str]| {
        let file = folder.path().join(name).to_str().expect("a plain path").to_owned();
        assert_eq!(run([arguments, &["-q", "-o", "json", "--out", &file]].concat()).code, 0);
        file
    };
    let replayed =
        saved("two.json", &["replay", "claude-code", "codex", "-p", "anthropic-clear,codex-cli", "--set", "clear.threshold=60k"]);
    let from = |arguments: &[&str]| export(&[arguments, &["--from", &replayed]].concat());
    let named = from(&["--for", "codex", "-p", "codex-cli"]).printed();
    assert!(named.ends_with("\nmodel_auto_compact_token_limit = 232560\n"), "{named}");
    assert!(named.contains("# For a context window of 258400 tokens, which 1 session had;"), "{named}");
    let best = from(&["--for", "codex"]).printed().replace("\n# ", " ");
    assert!(
        best.contains("`anthropic-clear` is the best, and it needs a change of code.\n") && !best.contains("\nmodel_"),
        "{best}"
    );
    let none = from(&["--for", "claude-code"]);
    assert_eq!((none.code, none.stdout.as_str()), (0, "{}\n"));
    assert!(none.stderr.contains("Keep what you have: of the policies replayed on 2 sessions, none is fit"), "{}", none.stderr);
    let other = from(&["--for", "anthropic"]);
    assert!(other.code == 2 && other.stderr.contains("several harnesses (claude-code, codex), and none of them is `anthropic`"));
    let unknown = from(&["--for", "codex", "-p", "codex-cl"]);
    assert!(
        unknown.code == 2 && unknown.stderr.contains("no policy `codex-cl`; did you mean `codex-cli`?"),
        "{}",
        unknown.stderr
    );
    let swept = saved(
        "swept.json",
        &[
            "sweep",
            "codex",
            "-p",
            "codex-cli",
            "--set",
            "auto.threshold=0.1*window,0.2*window",
            "--maximize",
            "tokens.saved",
            "--where",
            "cost.ratio <= 9",
            "--where",
            "kept.hard <= 100%",
        ],
    );
    let swept = export(&["--for", "codex", "--from", &swept]).printed();
    assert!(swept.ends_with("\nmodel_auto_compact_token_limit = 25840\n"), "{swept}");
}

#[test]
fn a_file_is_written_and_none_is_replaced() {
    let folder = TempDir::new().expect("a temporary folder");
    let write = |out: &str| run_in(folder.path(), ["export-settings", "--for", "strands-window", "--out", out], b"");
    assert_eq!(write("manager.py").printed(), "");
    let text = fs::read_to_string(folder.path().join("manager.py")).expect("a file");
    assert!(text.ends_with("window_size=40, per_turn=False)\n"), "{text}");
    let again = write("manager.py");
    assert_eq!(again.code, 2);
    assert_eq!(again.stderr, "recompact: manager.py: exists already, and is not replaced; name another file\n");
}

#[test]
fn errors_say_what_to_do() {
    for (arguments, said) in [
        (
            &["--for", "langchain"][..],
            "it has several forms: name one (langchain-clear, langchain-summarize, langchain-trim), or the policy",
        ),
        (&["--for", "cdoex"], "--for cdoex: there is no such harness; did you mean `codex`?"),
        (&["--for", "mini-swe-agent"], "its limits are no settings: they are numbers in the text of `observation_template`"),
        (&["--for", "swe-agent", "--set", "mask.keep=5"], "--set mask.keep=5: layer `mask`: `clear` has no setting `keep`"),
        (&["--for", "swe-agent", "-p", "none.toml"], "none.toml"),
        (&["--partial"], "--for <HARNESS>"),
    ] {
        let ran = export(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    let refused = export(&["--for", "openhands", "--set", "condense.keep_recent_messages=25"]);
    assert!(refused.code == 2 && refused.stderr.ends_with("--partial writes the rest, and lists this in the comment\n"));
    let partial = export(&["--for", "openhands", "--set", "condense.keep_recent_messages=25", "--partial"]).printed();
    assert!(partial.contains("# - condense.keep_recent_messages = 25: there it is 35"), "{partial}");
}
