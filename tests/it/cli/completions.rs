//! Shell completions and man pages: they come from the definition of `--help`, so they name all that it names.

use std::fs;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::support::program::run;

/// The subcommands, as `--help` lists them.
fn subcommands() -> Vec<String> {
    let help = run(["--help"]).printed();
    let listed = help.split("Commands:\n").nth(1).expect("a list of commands");
    let lines = listed.lines().take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let names = lines.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    let names: Vec<_> = names.map(str::to_owned).collect();
    assert!(names.len() >= 8, "{names:?}");
    names
}

#[test]
fn completions_name_every_subcommand() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(["completions", shell]).printed();
        for name in subcommands() {
            assert!(script.contains(&name), "{shell}: {name}");
        }
        // The scripts of PowerShell and Elvish complete no values.
        let complete_values = ["bash", "zsh", "fish"].contains(&shell);
        for word in
            ["claude-code-cached-mc", "markdown", "summarizers", "observation-mask", "micro.keep_recent_results", "kept.hit"]
                .iter()
                .filter(|_| complete_values)
        {
            assert!(script.contains(word), "{shell}: {word}");
        }
        assert!(script.contains("findings") && script == run(["completions", shell]).printed(), "{shell}");
    }
    assert_eq!(run(["completions", "tcsh"]).code, 2);
}

#[test]
fn bash_can_read_its_completions() {
    let bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut bash = bash.expect("bash, which checks its completions");
    let script = run(["completions", "bash"]).printed();
    std::io::Write::write_all(&mut bash.stdin.take().expect("a pipe"), script.as_bytes()).expect("bash reads");
    let ran = bash.wait_with_output().expect("bash ends");
    assert!(ran.status.success() && ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn man_pages_cover_every_subcommand_and_are_reproducible() {
    let folder = TempDir::new().expect("a temporary folder");
    let pages = folder.path().join("new/man1");
    let out = pages.to_str().expect("a plain path");
    assert_eq!(run(["man", "--out", out]).printed(), "");
    fs::write(pages.join("other.1"), "mine").expect("a folder to write to");
    let read = |name: &str| fs::read_to_string(pages.join(name)).expect(name);
    let first: Vec<String> = subcommands().iter().map(|name| read(&format!("recompact-{name}.1"))).collect();
    assert_eq!(run(["man"]).printed(), read("recompact.1"));
    run(["man", "--out", out]).printed();
    for (name, page) in subcommands().iter().zip(&first) {
        assert!(page.contains(".SH OPTIONS") && page.replace(r"\-", "-").contains(&format!("recompact {name}")), "{name}");
        assert!(!page.contains(env!("CARGO_MANIFEST_DIR")) && !page.contains(out), "{name}");
        assert_eq!(*page, read(&format!("recompact-{name}.1")), "{name}");
        let title = page.lines().find(|line| line.starts_with(".TH")).expect("a title");
        assert_eq!(title, format!(".TH recompact-{name} 1  \"recompact {}\" recompact", env!("CARGO_PKG_VERSION")));
    }
    assert_eq!(read("other.1"), "mine");
    let nested = ["recompact-policy-new.1", "recompact-policy-check.1", "recompact-policy-convert.1"];
    assert!(nested.iter().all(|name| read(name).contains(".SH OPTIONS")));
    assert_eq!(fs::read_dir(&pages).expect("a folder").count(), subcommands().len() + nested.len() + 2);
}

#[test]
fn man_refuses_a_file_as_output_folder() {
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join("man");
    fs::write(&file, "mine").expect("a folder to write to");
    let ran = run(["man", "--out", file.to_str().expect("a plain path")]);
    assert!(ran.code == 2 && ran.stderr.contains("man: cannot be written"), "{}", ran.stderr);
}
