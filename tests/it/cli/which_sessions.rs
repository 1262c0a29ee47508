//! Which sessions a command works on: those of the usual folders if no path is named, and those of some days, projects and models.

use std::fs;
use std::process::Command;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::stores::opencode;
use crate::support::program::{Ran, command, fixtures, run, run_command};

/// A machine of a user: the home folder, and in it the current folder `work`.
struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(TempDir::new().expect("a temporary folder"));
        fs::create_dir(machine.0.path().join("work")).expect("a folder in it");
        machine
    }

    fn save(&self, fixture: &str, path: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder in it");
        fs::copy(fixtures().join(fixture), path).expect("a copy");
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = command(&self.0.path().join("work"));
        command.env("HOME", self.0.path()).env("USERPROFILE", self.0.path());
        ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"].iter().for_each(|variable| _ = command.env_remove(variable));
        command.args(arguments.split_whitespace());
        command
    }

    fn run(&self, arguments: &str) -> Ran {
        run_command(self.command(arguments), b"")
    }
}

#[test]
fn without_arguments_the_sessions_of_this_machine_are_replayed() {
    let machine = Machine::new();
    machine.save("claude-code/repair.jsonl", ".claude/projects/-srv-depot/1.jsonl");
    machine.save("codex/repair.jsonl", ".codex/sessions/2026/01/02/rollout-1.jsonl");
    let ran = machine.run("");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "no path was named: reading ~/.claude/projects, ~/.codex/sessions\n"));
    assert!(ran.stdout.starts_with("2 sessions, 186 calls; 8 policies replayed offline\n"), "{}", ran.stdout);
    for said in ["your recorded runs", "no compaction", "  recompact sweep -p "] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    assert_eq!(ran.stdout, machine.run("replay").stdout);
    assert!(machine.run("inspect -q").stdout.starts_with("2 conversations of 2 transcripts, 186 calls"));
}

#[test]
fn databases_are_found_and_their_sessions_by_their_ids() {
    let machine = Machine::new();
    opencode(&machine.0.path().join(".local/share/opencode/opencode-beta.db"));
    let ran = machine.run("inspect");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "no path was named: reading ~/.local/share/opencode/opencode-beta.db\n"));
    assert!(ran.stdout.starts_with("2 conversations of 2 transcripts (1 session), 1 of them of sub-agents"), "{}", ran.stdout);
    let shown = machine.run("show ses_child");
    assert!(shown.code == 0 && shown.stdout.contains("Boil the kettle of ses_child."), "{}", shown.stderr);
    assert!(machine.run("inspect --limit 1 -q").stdout.starts_with("2 conversations"), "a session and its sub-agents");
}

#[test]
fn variables_of_the_harnesses_name_other_folders() {
    let machine = Machine::new();
    machine.save("claude-code/repair.jsonl", "elsewhere/projects/1.jsonl");
    let mut command = machine.command("inspect");
    command.env("CLAUDE_CONFIG_DIR", machine.0.path().join("elsewhere"));
    let ran = run_command(command, b"");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "no path was named: reading ~/elsewhere/projects\n"));
}

#[test]
fn machine_without_sessions_says_where_it_looked() {
    let ran = Machine::new().run("");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    let folders = [
        "~/.claude/projects",
        "~/.config/claude/projects",
        "~/.codex/sessions",
        "~/.codex/archived_sessions",
        ".transcripts",
        "~/.openclaw/agents/*/sessions",
        "~/.local/share/opencode/opencode*.db",
    ];
    for said in folders.into_iter().chain(["recompact demo"]) {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
}

/// Names of the transcripts that `inspect` reads.
fn names(arguments: &[&str]) -> Vec<String> {
    let listed =
        run([&["inspect", "claude-code", "codex", "--tokenizer", "chars/4", "-o", "json", "-q"], arguments].concat()).json();
    let name = |conversation: &serde_json::Value| conversation["transcript"].as_str().expect("a name").to_owned();
    listed["conversations"].as_array().expect("a list").iter().map(name).collect()
}

#[test]
fn sessions_are_chosen_by_day_project_and_model() {
    let [codex, kept_tail] = ["codex/repair.jsonl", "claude-code/kept-tail.jsonl"];
    assert_eq!(names(&["--model", "GPT"]), [codex]);
    assert_eq!(names(&["--since", "2026-03-10"]), [kept_tail, codex]);
    assert_eq!(names(&["--since", "2026-03-10", "--until", "2026-03-10"]), [codex]);
    assert_eq!((names(&["--project", "Dev/stockbook"]).len(), names(&[]).len()), (4, 4));
}

/// A folder has three sessions of Claude Code and one of Codex. A named file is read as it was asked.
#[test]
fn files_of_other_formats_are_left_out_of_a_folder() {
    let ran = run(["inspect", "claude-code", "codex", "--format", "codex"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "3 transcripts are not of the wanted days, project, model or format\n"));
    assert!(ran.stdout.starts_with("1 conversation of 1 transcript, "), "{}", ran.stdout);
    let named = run(["inspect", "claude-code/kept-tail.jsonl", "--format", "codex"]);
    assert!(named.code == 2 && named.stderr.contains("read as codex"), "{}", named.stderr);
}

#[test]
fn nothing_chosen_is_an_error() {
    let ran = run(["replay", "claude-code", "-p", "lcc-s06", "--since", "2999-01-01"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    let said = "recompact: nothing could be analysed: of 3 transcripts, no conversation is of the wanted days, project, model and format (--since, \
                --until, --project, --model, --format)\n";
    assert!(ran.stderr.ends_with(said), "{}", ran.stderr);
    let wrong = run(["inspect", "claude-code", "--since", "yesterday"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("`yesterday` is not a day: write one such as 2026-10-01, 7d or 2w"));
}

/// Three sessions of three days; the newest has a sub-agent whose file is the oldest.
#[test]
fn limit_takes_the_newest_sessions_with_their_sub_agents() {
    let machine = Machine::new();
    let age = |path: &str, days: u64| {
        machine.save("claude-code/kept-tail.jsonl", path);
        let time = SystemTime::now() - Duration::from_secs(86_400 * days);
        fs::File::options()
            .append(true)
            .open(machine.0.path().join(path))
            .and_then(|file| file.set_modified(time))
            .expect("its time");
    };
    age("work/old.jsonl", 3);
    age("work/new.jsonl", 1);
    age("work/new/subagents/agent-1.jsonl", 9);
    age("work/middle.jsonl", 2);
    let names = |limit: &str| {
        let listed = machine.run(&format!("inspect . -q -o json --limit {limit}")).json();
        listed["conversations"].as_array().expect("a list").iter().map(|one| one["transcript"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names("1"), ["\"new/subagents/agent-1.jsonl\"", "\"new.jsonl\""]);
    assert_eq!(names("2").len(), 3);
    assert_eq!(names("9").len(), 4);
}

#[test]
fn a_session_is_shown_by_its_id_as_it_was_sent() {
    let machine = Machine::new();
    let file = ".claude/projects/depot/0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0.jsonl";
    machine.save("claude-code/kept-tail.jsonl", file);
    let by_path = machine.run(&format!("show ../{file} --call 2 -p recorded")).printed();
    assert_eq!(machine.run("show 0f1e2d3c --call 2").printed(), by_path);
    assert_eq!(machine.run("show 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0 --call 2").printed(), by_path);
    for unknown in ["0f1e2d3", "0f1e2d3d"] {
        let refused = machine.run(&format!("show {unknown}"));
        assert_eq!(refused.code, 2, "{unknown}");
        assert!(refused.stderr.contains(&format!("recompact: {unknown}: no such file or folder")), "{}", refused.stderr);
    }
    machine.save("claude-code/kept-tail.jsonl", ".claude/projects/depot/0f1e2d3c-ffff.jsonl");
    assert_eq!(machine.run("show 0f1e2d3c --call 2").code, 2, "two sessions begin so");
}
