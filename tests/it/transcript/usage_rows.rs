//! Logs of usage without texts: their sizes are replayed, and every screen says what they cannot say.

use recompact::transcript::format::WITHOUT_TEXTS;
use serde_json::Value;

use crate::support::program::{rows, run};

const LOG: &str = "usage-rows/week.jsonl";

#[test]
fn a_table_and_lines_are_the_same_log() {
    let values = |log: &str| {
        let results = run(["replay", log, "-p", "recorded,claude-code", "-q", "-o", "json"]).json();
        rows(&results).map(|(_, policy, values)| (policy.to_owned(), values.clone())).collect::<Vec<_>>()
    };
    let lines = values(LOG);
    assert_eq!(lines.len(), 2 * 4, "two sessions; the policies and their bounds");
    assert_eq!(values("usage-rows/week.csv"), lines);
}

/// The 17 rows add up to 232 tokens of input, 562,824 of cache reads and 228,004 of writes.
#[test]
fn sizes_are_those_of_the_rows_and_facts_have_no_value() {
    let results = run(["replay", LOG, "-p", "recorded,claude-code,sliding-window", "-q", "-o", "json"]).json();
    let of = |wanted: &str, column: &str| -> Vec<Value> {
        let wanted = rows(&results).filter(|(_, policy, _)| *policy == wanted);
        wanted.map(|(.., values)| values[column].clone()).collect()
    };
    let sent: f64 = of("recorded", "tokens.sent").iter().filter_map(Value::as_f64).sum();
    assert_eq!(sent, 791_060.0);
    assert!(of("keep-all", "tokens.sent")[0].as_f64() > of("recorded", "tokens.sent")[0].as_f64());
    for policy in ["recorded", "claude-code", "sliding-window", "keep-all"] {
        for column in ["kept.hit", "kept.soft", "kept.hard", "kept.constraints"] {
            assert_eq!(of(policy, column), [Value::Null, Value::Null], "{policy} {column}");
        }
    }
}

#[test]
fn every_screen_says_what_sizes_cannot_say() {
    for command in [&["inspect"][..], &["replay", "-p", "recorded"], &["audit"]] {
        let ran = run([command, &[LOG, "-q", "--width", "250"]].concat());
        assert_eq!(ran.stdout.matches(WITHOUT_TEXTS).count(), 1, "{command:?}\n{}", ran.stdout);
    }
}

#[test]
fn a_log_whose_input_is_unclear_is_refused_by_the_name_of_its_column() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = folder.path().join("log.csv");
    std::fs::write(&log, "session,time,model,input,cache_read,cache_write,output\ns,1700000000,m,1,2,3,4\n").expect("a file");
    let ran = run(["inspect", log.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("the column `input` does not say whether the cached tokens are in it"), "{}", ran.stderr);
}
