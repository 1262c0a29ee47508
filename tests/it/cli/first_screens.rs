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
