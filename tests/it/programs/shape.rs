//! The form of the messages: the policy names it, or the program in its first answer. A program that gets another one does nothing.
#![cfg(unix)]

use tempfile::TempDir;

use super::write;
use crate::support::program::{Ran, fixtures, run_in};

/// A program that answers the start with this, and every request with no change.
fn script(started: &str) -> String {
    format!(
        "while IFS= read -r line; do call=${{line#*\\\"call\\\":}}; call=${{call%%,*}}\n\
         case $line in *'\"type\":\"start\"'*) echo '{started}';;\n*) echo \"{{\\\"call\\\":$call}}\";; esac; done\n"
    )
}

fn replay(started: &str, arguments: &[&str]) -> Ran {
    let folder = TempDir::new().expect("a temporary folder");
    write(folder.path(), "p.sh", &script(started));
    let session = fixtures().join("claude-code/kept-tail.jsonl").display().to_string();
    let typed = ["replay", session.as_str(), "-p", "p=command:sh p.sh"];
    run_in(folder.path(), typed.iter().chain(arguments), b"")
}

#[test]
fn the_first_answer_or_the_policy_names_the_shape() {
    let named = "{\"protocol\":1,\"shape\":\"openai\"}";
    let set = ["--set", "program.shape=openai"];
    assert_eq!(replay(named, &[]).code, 0);
    assert_eq!(replay(named, &set).code, 0);
    assert_eq!(replay("{\"protocol\":1}", &set).code, 0);
    let neither = replay("{\"protocol\":1}", &[]);
    assert_eq!(neither.code, 2);
    let why = "let it answer the start with {\"protocol\": 1, \"shape\": \"openai\"}, or name the form with --set program.shape=openai\n";
    assert!(neither.stderr.ends_with(why), "{}", neither.stderr);
    let both = replay(named, &["--set", "program.shape=anthropic"]);
    assert_eq!(both.code, 2);
    let why = "it reads messages in the form `openai`, and its policy has shape = \"anthropic\": change one of the two\n";
    assert!(both.stderr.ends_with(why), "{}", both.stderr);
}

/// The session has 22 calls.
#[test]
fn a_program_that_changes_nothing_is_a_point_to_check() {
    let words = |ran: Ran| ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let named = words(replay("{\"protocol\":1}", &["--set", "program.shape=anthropic"]));
    let what = "- `p` changed nothing in 22 calls: is shape = \"anthropic\" the form of messages that its program reads?";
    assert!(named.contains(what), "{named}");
    let own = words(replay("{\"protocol\":1,\"shape\":\"openai\"}", &[]));
    assert!(own.contains("- `p` changed nothing in 22 calls: is the shape right that its program names"), "{own}");
}

#[test]
fn a_gate_notes_a_program_that_changes_nothing() {
    let folder = TempDir::new().expect("a temporary folder");
    std::fs::copy(fixtures().join("claude-code/kept-tail.jsonl"), folder.path().join("s.jsonl")).expect("a fixture");
    write(folder.path(), "p.sh", &script("{\"protocol\":1,\"shape\":\"openai\"}"));
    let suite =
        "[[suite]]\nname = \"s\"\ntranscripts = [\"s.jsonl\"]\npolicies = [\"p=command:sh p.sh\"]\nlimits = [\"calls > 0\"]\n";
    write(folder.path(), "recompact.toml", suite);
    let ran = run_in(folder.path(), ["check", "--allow-programs"], b"").printed();
    let ran = ran.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(ran.contains("suite s: p changed nothing in 22 calls: "), "{ran}");
}
