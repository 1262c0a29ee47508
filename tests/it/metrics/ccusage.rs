//! Compares the cost of recorded Claude Code sessions with ccusage: tokens of every kind, and dollars to a millionth.
//!
//! The figures of ccusage for the sessions of this repository and for other recordings are in `ccusage_figures.jsonl`
//! (ccusage 20.0.24, offline). An ignored test runs the program that `RECOMPACT_CCUSAGE` names and compares again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use recompact::metrics::prices::{Bill, Ledger, Prices, call_bills};
use recompact::transcript::format::{Branches, ReadOptions};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::program::fixtures;
use crate::support::transcripts;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Figures {
    /// Without its ending; sessions of this repository begin with `fixtures/`.
    file: String,
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
    usd: f64,
}

impl Figures {
    fn of(file: &str, bill: &Bill) -> Self {
        let Bill { input, cache_read, cache_write_5m, cache_write_1h, output, usd, .. } = *bill;
        let (cache_write, usd) = (cache_write_5m + cache_write_1h, usd.expect("a known model"));
        Self { file: file.to_owned(), input, cache_read, cache_write, output, usd }
    }

    #[track_caller]
    fn assert_equal(&self, other: &Self) {
        assert!((self.usd - other.usd).abs() < 1e-6, "{self:?} {other:?}");
        assert_eq!(*self, Self { usd: self.usd, ..other.clone() });
    }
}

/// The sessions of this repository with their recorded figures.
fn fixture_sessions() -> Vec<(PathBuf, Figures)> {
    let place = |figures: Figures| {
        let name = figures.file.strip_prefix("fixtures/")?;
        Some((fixtures().join("claude-code").join(format!("{name}.jsonl")), figures))
    };
    figures().filter_map(place).collect()
}

/// The recorded sessions outside this repository with their recorded figures.
fn recorded_sessions() -> Vec<(PathBuf, Figures)> {
    let folders = transcripts::folders("claude-code");
    let place = |figures: Figures| {
        let places = folders.iter().map(|folder| folder.join(format!("{}.jsonl", figures.file)));
        Some((places.into_iter().find(|path| path.is_file())?, figures))
    };
    figures().filter(|figures| !figures.file.starts_with("fixtures/")).filter_map(place).collect()
}

fn figures() -> impl Iterator<Item = Figures> {
    include_str!("ccusage_figures.jsonl").lines().map(|line| serde_json::from_str(line).expect("figures"))
}

/// A session that asked an advisor: ccusage leaves out what the last part of such a request wrote to the cache.
const ADVISED: &str = "ectx-238MD50T-0";

/// Counts every call of every branch once, without the sub-agents that are only in `progress` records: ccusage does not count those.
fn ours(path: &Path, file: &str) -> Figures {
    let bytes = fs::read(path).expect("a session of the table");
    let format = recompact::transcript::format::sniff(&bytes).expect("a known format");
    let options = ReadOptions { branches: Branches::All, ..ReadOptions::default() };
    // Reports of a sub-agent are not read if it has a file of its own; so each is said to have one.
    let all = (format.read)(&bytes, &options).conversations;
    let own_files = vec![Arc::new(all.into_iter().map(|conversation| conversation.name).collect())];
    let reading = (format.read)(&bytes, &ReadOptions { own_files, ..options });
    let prices = Prices::built_in();
    let mut ledger = Ledger::default();
    let mut sum = Bill::default();
    for conversation in &reading.conversations {
        ledger.add(&call_bills(conversation, &prices, None, &[])).0.values().for_each(|bill| sum.add(bill));
    }
    Figures::of(file, &sum)
}

/// Each session is in its own folder, because ccusage skips repeated messages across the sessions of one folder.
fn theirs(program: &str, path: &Path, file: &str) -> Figures {
    let folder = TempDir::new().expect("a temporary folder");
    let project = folder.path().join("projects/p");
    fs::create_dir_all(&project).expect("a folder in it");
    fs::copy(path, project.join("session.jsonl")).expect("a copy of the session");
    let mut command = Command::new(program);
    command.args(["claude", "session", "--offline", "--json"]).env("CLAUDE_CONFIG_DIR", folder.path());
    let output = command.output().expect("ccusage starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let totals = &said["totals"];
    let number = |key: &str| totals[key].as_u64().unwrap_or_else(|| panic!("{file}: no {key} in {totals}"));
    Figures {
        file: file.to_owned(),
        input: number("inputTokens"),
        cache_read: number("cacheReadTokens"),
        cache_write: number("cacheCreationTokens"),
        output: number("outputTokens"),
        usd: totals["totalCost"].as_f64().expect("a cost"),
    }
}

#[test]
fn fixtures_cost_what_ccusage_says() {
    let sessions = fixture_sessions();
    assert!(sessions.len() >= 2, "{sessions:?}");
    for (path, figures) in sessions {
        ours(&path, &figures.file).assert_equal(&figures);
    }
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn recorded_sessions_cost_what_ccusage_says() {
    for (path, figures) in recorded_sessions() {
        let ours = ours(&path, &figures.file);
        if figures.file == ADVISED {
            assert_eq!((ours.input, ours.cache_read, ours.output), (figures.input, figures.cache_read, figures.output));
            assert!(ours.cache_write > figures.cache_write && ours.usd > figures.usd, "{ours:?}");
        } else {
            ours.assert_equal(&figures);
        }
    }
}

#[test]
#[ignore = "needs recordings and ccusage: RECOMPACT_TRANSCRIPTS, RECOMPACT_CCUSAGE"]
fn installed_ccusage_gives_the_kept_figures() {
    let program = std::env::var("RECOMPACT_CCUSAGE").expect("RECOMPACT_CCUSAGE must name the program ccusage");
    let sessions = [fixture_sessions(), recorded_sessions()].concat();
    for (path, figures) in &sessions {
        let theirs = theirs(&program, path, &figures.file);
        println!("{}", serde_json::to_string(&theirs).expect("JSON"));
        theirs.assert_equal(figures);
    }
    println!("{} sessions: equal to the token and to a millionth of a dollar", sessions.len());
}

/// Every recording is in the table.
#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn every_recorded_session_has_figures() {
    let listed: Vec<PathBuf> = recorded_sessions().into_iter().map(|(path, _)| path).collect();
    let folders = transcripts::folders("claude-code");
    for path in folders.iter().flat_map(|folder| transcripts::files(folder, ".jsonl")) {
        assert!(listed.contains(&path), "{}", path.display());
    }
}
