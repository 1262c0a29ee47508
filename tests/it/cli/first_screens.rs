//! The first screen of each command: what a user sees who types no option, at two widths.

use crate::support::program::run;

/// A sweep replays its session for each configuration.
const LONG: &str = "claude-code/repair.jsonl";
const SHORT: &str = "claude-code/kept-tail.jsonl";

/// Each command that prints a screen, with a name for its snapshots.
const SCREENS: &[(&str, &[&str])] = &[
    ("inspect", &["inspect", "claude-code", "codex"]),
    ("replay", &["replay", "claude-code", "codex"]),
    ("sweep", &["sweep", LONG, "-p", "lcc-s08-late", "--set", "micro.keep_recent=1,8", "--set", "auto.threshold=20k,60k"]),
    ("sweep-two", &["sweep", SHORT, "-p", "lcc-s06,anthropic-clear", "--set", "micro.keep_recent=1..8"]),
    ("audit", &["audit", "claude-code", "codex"]),
    ("check", &["check", "../gate/recompact.toml"]),
];

#[test]
fn first_screens_have_at_most_40_lines() {
    for (name, arguments) in SCREENS {
        for width in ["80", "100"] {
            let screen = run([arguments, &["--quiet", "--width", width][..]].concat()).printed();
            let lines = screen.lines().count();
            assert!(lines <= 40, "{name}: {lines} lines at {width} columns\n{screen}");
            let widest = screen.lines().map(|line| line.chars().count()).max();
            assert!(widest <= width.parse().ok(), "{name}: {widest:?} characters at {width} columns\n{screen}");
            insta::assert_snapshot!(format!("{name}-{width}"), screen);
        }
    }
}

/// All 90 requests of no compaction are larger than the window, and nothing else was recorded.
#[test]
fn a_sweep_compares_no_cost_with_requests_that_do_not_fit() {
    let sweep = |session: &str| {
        let values = ["-p", "observation-mask", "--set", "mask.keep_recent_results=1,2", "--window", "1500", "-q"];
        run([&["sweep", session], &values[..]].concat()).printed()
    };
    let cells = |screen: &str, row: &str| -> Vec<String> {
        let line = screen.lines().find_map(|line| line.split_once(row)).expect("a row").1;
        line.split_whitespace().map(str::to_owned).collect()
    };
    let none = sweep("messages");
    assert_eq!(cells(&none, "no compaction")[1], "–", "{none}");
    assert_eq!(cells(&none, "as it is")[1], "–", "{none}");
    assert!(none.contains("change: not known, because nothing that fits the window is"), "{none}");
    let compacted = sweep(SHORT);
    assert_eq!(cells(&compacted, "no compaction")[1], "–", "{compacted}");
    assert_eq!(cells(&compacted, "as it is")[1], "+36%", "{compacted}");
}

/// Codex has no setting that clears results, and one that says when it summarises.
#[test]
fn a_sweep_says_what_needs_new_code() {
    let answer = |policies: &[&str]| {
        let common = ["sweep", "codex", "-q", "--where", "kept.hard <= 50%"];
        run([&common[..], policies].concat()).printed().replace('\n', " ")
    };
    let cleared = answer(&["-p", "anthropic-clear,codex-cli", "--set", "clear.threshold=20k,60k"]);
    let said =
        "With the settings of `codex`: keep what you have. With one change of its code: `anthropic-clear clear.threshold=60k`.";
    assert!(cleared.contains(said), "{cleared}");
    let summarised = answer(&["-p", "codex-cli", "--set", "auto.threshold=0.1*window,0.2*window", "--maximize", "tokens.saved"]);
    assert!(
        summarised.contains("The best on these sessions is `auto.threshold=") && !summarised.contains("With the settings"),
        "{summarised}"
    );
}

/// The screen recommends `--show findings`; only a replay can look for them.
#[test]
fn findings_that_are_shown_are_looked_for() {
    let replay = ["replay", SHORT, "-p", "lcc-s08", "-q", "--show", "findings"];
    let shown = run(replay).printed();
    assert!(shown.contains("Findings") && shown == run([&replay[..], &["--findings"]].concat()).printed(), "{shown}");
    let clean = run(["replay", "messages", "-p", "recorded", "-q", "--show", "findings"]);
    let said = "no findings: none of the known mistakes is in these replays\n";
    assert_eq!((clean.code, clean.stdout.as_str(), clean.stderr.as_str()), (0, "", said));
    let sweep = run(["sweep", SHORT, "-p", "lcc-s08", "-q", "--show", "findings"]);
    let said = "recompact: --show findings shows findings, but none were checked; `replay --findings` checks them\n";
    assert_eq!((sweep.code, sweep.stderr.as_str()), (2, said));
}

/// Over all sessions the policy costs more than the recorded runs; of the session of Codex alone it is the best.
#[test]
fn the_page_has_the_answers_of_the_screen() {
    let replay = ["replay", "claude-code", "codex", "-p", "anthropic-clear", "--set", "clear.threshold=60k", "-q"];
    let screen = run(replay).printed();
    assert!(screen.contains("`codex`, 1 session: ") && screen.contains("`claude-code`, 2 sessions: "), "{screen}");
    assert!(screen.lines().any(|line| line.starts_with("> anthropic-clear")), "{screen}");
    let page = run([&replay[..], &["-o", "html"]].concat()).printed();
    assert!(page.contains("<h1>One answer for each of 2 harnesses</h1>"));
    // Of several policies that are not fit, none is better than the others: the other harness has no numbers.
    assert_eq!(page.matches("<dl class=\"tiles\">").count(), 1);
    assert!(page.contains("<small>best, but not proven for codex</small>"));
    assert!(page.contains("The points are of the sessions of all harnesses together."));
}
