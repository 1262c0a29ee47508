//! Defaults of options in `recompact.toml` and in the user's own file.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::program::{Ran, command, fixtures, run, run_command};

/// Runs the program in a folder with these two files; an empty text is no file.
fn run_with(project: &str, user: &str, arguments: &[&str]) -> Ran {
    let folder = TempDir::new().expect("a temporary folder");
    let write = |path: &Path, text: &str| fs::write(path, text).expect("our own folder");
    let user_file = folder.path().join("config.toml");
    if !project.is_empty() {
        write(&folder.path().join("recompact.toml"), project);
    }
    let mut command = command(folder.path());
    if !user.is_empty() {
        write(&user_file, user);
        command.env("RECOMPACT_CONFIG", &user_file);
    }
    fs::copy(fixtures().join("claude-code/kept-tail.jsonl"), folder.path().join("a.jsonl")).expect("a copy");
    command.args(arguments);
    let mut ran = run_command(command, b"");
    ran.stderr = ran.stderr.replace(&format!("{}/", folder.path().display()), "");
    ran
}

#[test]
fn options_have_the_defaults_of_the_files_unless_they_are_typed() {
    let project = "[defaults]\npaths = [\"a.jsonl\"]\npolicy = \"lcc-s06\"\nset = [\"micro.keep_recent=1\"]\nquiet = true\n";
    let typed = ["replay", "a.jsonl", "-p", "lcc-s06", "--set", "micro.keep_recent=1", "-o", "json"];
    let by_options = run_with("", "", &typed).printed();
    assert_eq!(run_with(project, "", &["replay", "-o", "json"]).printed(), by_options);
    assert_eq!(run_with("", project, &["replay", "-o", "json"]).printed(), by_options);
    // A typed option wins, then the project's file, and in a file a command's own table.
    let window = |project: &str, user: &str, more: &[&str]| {
        let ran = run_with(project, user, &[&["replay", "a.jsonl", "-p", "lcc-s06", "-o", "json"], more].concat());
        (
            ran.clone().stderr,
            serde_json::from_str::<serde_json::Value>(&ran.stdout).expect("JSON")["study"]["spec"]["window"].clone(),
        )
    };
    let (project, user) =
        ("[defaults]\nwindow = \"100k\"\n[defaults.replay]\nwindow = 90_000\n", "[defaults]\nwindow = 80_000\n");
    assert_eq!(window("", user, &[]), ("defaults of config.toml: window = 80000\n".to_owned(), 80_000.into()));
    assert_eq!(window(project, user, &[]), ("defaults of recompact.toml: window = 90000\n".to_owned(), 90_000.into()));
    assert_eq!(window(project, user, &["--window", "70k"]), (String::new(), 70_000.into()));
    assert_eq!(window(project, user, &["--quiet"]).0, "");
}

#[test]
fn wrong_defaults_are_reported_at_their_line() {
    for (text, error) in [
        ("[defaults]\nwindow = \"8x\"\n", "recompact.toml:2: `window`: invalid value '8x' for '--window <TOKENS>'"),
        ("[defaults]\nwindow = [1, 2]\n", "recompact.toml:2: `window`: write one value"),
        ("[defaults]\nquiet = \"yes\"\n", "recompact.toml:2: `quiet`: write true or false"),
        ("[defaults]\n\nwidnow = 3\n", "recompact.toml:3: there is no option `widnow`; did you mean `window`?"),
        (
            "[defaults.export-settings]\nwindow = 3\n",
            "recompact.toml:2: the options of `export-settings` have to be typed each time",
        ),
        ("[defaults.swep]\nwindow = 3\n", "recompact.toml:2: there is no command `swep`; did you mean `sweep`?"),
        ("[defaults.inspect]\nholdout = 0.2\n", "recompact.toml:2: there is no option `holdout` of `inspect`"),
        ("[defaults\n", "recompact.toml:1: "),
    ] {
        let ran = run_with(text, "", &["inspect", "a.jsonl"]);
        assert!(ran.code == 2 && ran.stderr.starts_with(&format!("recompact: {error}")), "{text}: {}", ran.stderr);
    }
}

#[test]
fn no_file_starts_programs_asks_models_or_writes_files() {
    let help = run(["replay", "--help-all"]).printed();
    for option in ["summarizer", "base-url", "key-env", "param", "cassette", "out", "contexts", "materialize", "resume"] {
        assert!(help.contains(&format!("--{option}")), "{option}");
        let ran = run_with(&format!("[defaults]\n{option} = \"x\"\n"), "", &["replay", "a.jsonl", "-p", "lcc-s06"]);
        assert!(ran.code == 2 && ran.stderr.contains(&format!("`{option}` has to be typed each time")), "{}", ran.stderr);
    }
}

#[test]
fn suites_and_defaults_share_a_file() {
    let suite = "[defaults]\nwindow = \"80k\"\n[[suite]]\nname = \"s\"\ntranscripts = [\"a.jsonl\"]\npolicies = [\"lcc-s06\"]\n\
                 limits = [\"calls > 0\"]\n";
    assert_eq!(run_with(suite, "", &["check", "--quiet"]).code, 0);
    let ran = run_with("[defaults]\nwindow = \"80k\"\n", "", &["check"]);
    assert!(ran.code == 2 && ran.stderr.contains("[[suite]]"), "{}", ran.stderr);
}

#[test]
fn a_file_of_the_user_that_is_missing_is_an_error() {
    let mut command = command(&fixtures());
    command.env("RECOMPACT_CONFIG", "none.toml").args(["inspect", "claude-code/kept-tail.jsonl"]);
    let ran = run_command(command, b"");
    let error =
        "recompact: none.toml: there is no such file, which RECOMPACT_CONFIG names; set it to an empty text to use no defaults\n";
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (2, "", error));
}
