//! Which programs are started, and what they get.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::write;
use crate::support::program::{Ran, command, fixtures, run_command, run_in};

/// Leaves a trace and ends.
const TRACE: &str = "touch trace; exit 1";

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    fs::copy(fixtures().join("claude-code/kept-tail.jsonl"), folder.path().join("s.jsonl")).expect("a fixture");
    write(folder.path(), "trace.sh", TRACE);
    folder
}

fn has_trace(folder: &Path) -> bool {
    let trace = folder.join("trace");
    let exists = trace.exists();
    let _ = fs::remove_file(trace);
    exists
}

fn policy_file() -> String {
    "name = \"mine\"\n[[layer]]\nid = \"program\"\ndo = \"program\"\ncommand = \"sh trace.sh\"\n".to_owned()
}

#[test]
fn typed_program_is_started_and_one_from_a_file_only_if_allowed() {
    let folder = folder();
    write(folder.path(), "mine.toml", &policy_file());
    let replay = |arguments: &[&str]| run_in(folder.path(), ["replay", "s.jsonl"].iter().chain(arguments), b"");
    assert_eq!(replay(&["-p", "mine=command:sh trace.sh"]).code, 2);
    assert!(has_trace(folder.path()));
    let refused = replay(&["-p", "mine.toml"]);
    let why = "recompact: the policy `mine` starts the program `sh trace.sh`; if you trust it, add --allow-programs\n";
    assert_eq!((refused.code, refused.stderr.as_str(), has_trace(folder.path())), (2, why, false));
    assert_eq!((replay(&["-p", "mine.toml", "--allow-programs"]).code, has_trace(folder.path())), (2, true));
    // A baseline is a policy too, and `--set` cannot name another program than the one that was typed.
    assert_eq!((replay(&["-p", "lcc-s06", "--baseline", "mine.toml"]).code, has_trace(folder.path())), (2, false));
    let other = replay(&["-p", "mine=command:true", "--set", "program.command=sh trace.sh"]);
    assert_eq!((other.code, has_trace(folder.path())), (2, false), "{}", other.stderr);
}

#[test]
fn suite_starts_programs_only_if_allowed() {
    let folder = folder();
    write(folder.path(), "mine.toml", &policy_file());
    for policy in ["mine=command:sh trace.sh", "mine.toml"] {
        let suite = format!(
            "[[suite]]\nname = \"s\"\ntranscripts = [\"s.jsonl\"]\npolicies = [\"{policy}\"]\nlimits = [\"calls > 0\"]\n"
        );
        write(folder.path(), "recompact.toml", &suite);
        let refused = run_in(folder.path(), ["check"], b"");
        assert_eq!((refused.code, has_trace(folder.path())), (2, false));
        assert!(refused.stderr.contains("if you trust it, add --allow-programs"), "{}", refused.stderr);
        let allowed = run_in(folder.path(), ["check", "--allow-programs"], b"");
        assert_eq!((allowed.code, has_trace(folder.path())), (2, true), "{}", allowed.stderr);
        assert!(allowed.stderr.contains("call 1: the policy mine: it ended (exit status: 1)"), "{}", allowed.stderr);
    }
}

#[test]
fn file_of_defaults_names_no_program() {
    let folder = folder();
    for (line, what) in [
        ("policy = \"mine=command:sh trace.sh\"", "a policy that is a program has to be typed each time"),
        ("baseline = \"mine=command:sh trace.sh\"", "a policy that is a program has to be typed each time"),
        ("allow-programs = true", "has to be typed each time"),
        ("env = \"HOME\"", "has to be typed each time"),
    ] {
        write(folder.path(), "config.toml", &format!("[defaults]\n{line}\n"));
        let mut command = command(folder.path());
        command.env("RECOMPACT_CONFIG", folder.path().join("config.toml")).args(["replay", "s.jsonl", "-p", "lcc-s06"]);
        let ran = run_command(command, b"");
        assert_eq!((ran.code, has_trace(folder.path())), (2, false), "{line}");
        assert!(ran.stderr.contains(what), "{}", ran.stderr);
    }
}

#[test]
fn commands_that_start_no_program_say_so() {
    let folder = folder();
    write(folder.path(), "mine.toml", &policy_file());
    let ran = |arguments: &[&str]| run_in(folder.path(), arguments, b"");
    for arguments in [
        &["sweep", "s.jsonl", "-p", "mine=command:sh trace.sh", "--set", "program.timeout=1,2"][..],
        &["policy", "check", "mine.toml", "--on", "s.jsonl"],
    ] {
        let Ran { code, stderr, .. } = ran(arguments);
        assert_eq!((code, has_trace(folder.path())), (2, false), "{arguments:?}");
        assert!(stderr.contains("is a program, and this command starts none"), "{stderr}");
    }
    assert_eq!(ran(&["policy", "check", "mine.toml"]).code, 0, "a file can be checked without its program");
    let missing = ran(&["replay", "s.jsonl", "-p", "mine=command:no-such-program-here x"]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.starts_with("recompact: the policy `mine`: `no-such-program-here x` cannot be started: "));
    let shown = ran(&["show", "s.jsonl", "-p", "mine=command:sh trace.sh"]);
    assert!(shown.code == 2 && shown.stderr.contains("the policy mine: it ended"), "{}", shown.stderr);
}

#[test]
fn program_gets_no_environment_but_what_is_named() {
    let folder = folder();
    write(folder.path(), "env.sh", "env > environment; exit 1");
    let names = |arguments: &[&str]| {
        let mut command = command(folder.path());
        command.env("OPENAI_API_KEY", "sk-secret").env("SHOWN", "1").args(["replay", "s.jsonl", "-p", "e=command:sh env.sh"]);
        command.args(arguments);
        assert_eq!(run_command(command, b"").code, 2);
        let text = fs::read_to_string(folder.path().join("environment")).expect("what the program wrote");
        // The shell adds the others itself.
        let names = text.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name.to_owned());
        let mut names: Vec<String> = names.filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str())).collect();
        names.sort();
        names
    };
    assert_eq!(names(&[]), ["PATH", "RECOMPACT_GROUP"]);
    assert_eq!(names(&["--env", "SHOWN"]), ["PATH", "RECOMPACT_GROUP", "SHOWN"]);
    let unknown = run_in(folder.path(), ["replay", "s.jsonl", "--env", "NO_SUCH_VARIABLE_HERE"], b"");
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("the environment has no variable `NO_SUCH_VARIABLE_HERE`"), "{}", unknown.stderr);
}

/// Answers; the second answer of a session depends on `PATH_OF_FILE`.
fn counting(path: &str) -> String {
    format!(
        "while IFS= read -r line; do call=${{line#*\\\"call\\\":}}; call=${{call%%,*}}\n\
         case $line in *'\"type\":\"start\"'*) echo '{{\"protocol\":1,\"shape\":\"openai\"}}';;\n\
         *) echo \"{{\\\"call\\\":$call,\\\"files\\\":[{{\\\"path\\\":\\\"{path}\\\",\\\"text\\\":\\\"\\\"}}]}}\";; esac; done\n"
    )
}

#[test]
fn twice_finds_programs_that_are_not_deterministic() {
    let folder = folder();
    let replay = |script: &str| {
        write(folder.path(), "p.sh", script);
        run_in(folder.path(), ["replay", "s.jsonl", "-p", "p=command:sh p.sh", "--twice", "-o", "csv"], b"")
    };
    let same = replay(&counting("a"));
    assert_eq!(same.code, 0, "{}", same.stderr);
    assert_eq!(same.stderr, "recompact: `sh p.sh` is deterministic in 1 session: 23 answers were the same twice\n");
    let other = replay(&counting("$$"));
    assert_eq!(other.code, 2);
    let why = "call 1: the policy p: it is not deterministic: started again and asked the same, its answer differs from byte";
    assert!(other.stderr.contains(why), "{}", other.stderr);
}
