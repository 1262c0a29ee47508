//! Suite files: what is parsed, and the errors for what is rejected.

use super::*;

const WHOLE: &str = r#"baseline = "agreed.json"

[[suite]]
name = "s"
transcripts = ["runs/*.jsonl"]
policies = ["lcc-s08", "own.toml"]
limits = [
    "kept.hit >= 85%",
    "finding.pairs == 0",
]

[suite.tolerance]
"tokens.sent" = "2%"
"kept.hit" = 0.01
"#;

#[test]
fn suite_rules_have_their_lines() {
    let gate = Gate::parse(WHOLE, "s.toml").expect("a suite file");
    let rules: Vec<_> = gate.suites[0].rules.iter().map(|rule| (rule.describe(), rule.line)).collect();
    let expected = [
        ("kept.hit >= 85%", 8),
        ("finding.pairs == 0", 9),
        ("kept.hit at most 0.01 worse", 14),
        ("tokens.sent at most 2% worse", 13),
    ];
    assert_eq!(rules, expected.map(|(written, line)| (written.to_owned(), Some(line))));
    assert_eq!(gate.baseline, "agreed.json");
    let columns: Vec<_> = gate.suites[0].columns().iter().map(|column| column.id.to_string()).collect();
    assert_eq!(columns, ["kept.hit", "finding.pairs", "tokens.sent"]);
}

#[test]
fn suite_errors_have_their_line() {
    for (was, is, expected) in [
        (
            "baseline",
            "basline",
            "s.toml:1: a suite file has no setting `basline`; did you mean `baseline`? (known: baseline, suite, defaults)",
        ),
        ("limits = [", "limit = [", "s.toml:7: suite `s`: a suite has no setting `limit`; did you mean `limits`? (known: name, "),
        (
            "kept.hit >=",
            "kept.hits >=",
            "s.toml:8: suite `s`: there is no column `kept.hits`; did you mean `kept.hit`? (known: calls, ",
        ),
        (
            "finding.pairs",
            "finding.pair",
            "s.toml:9: suite `s`: there is no column `finding.pair`; did you mean `finding.pairs`? (known: ",
        ),
        (">= 85%", "85%", "s.toml:8: suite `s`: `kept.hit 85%`: a condition is written `kept.hard <= 0.02`"),
        (
            "\"2%\"",
            "\"little\"",
            "s.toml:13: suite `s`: `tokens.sent`: `little` is not a tolerance: write \"1%\" of the baseline, or a number of",
        ),
        ("\"2%\"", "-2", "s.toml:13: suite `s`: `tokens.sent`: `-2` is not a tolerance"),
        (
            "\"tokens.sent\"",
            "tokens.sent",
            "s.toml:13: suite `s`: column ids contain a dot, so write them in quotes: \"tokens.…\"",
        ),
        ("\"tokens.sent\"", "calls", "s.toml:13: suite `s`: `calls` has no better direction, so it cannot be worse: use"),
        ("runs/*.jsonl", "/runs/a.jsonl", "s.toml:5: suite `s`: `/runs/a.jsonl` exists on one machine only: write it relative"),
        ("runs/*.jsonl", "-", "s.toml:5: suite `s`: standard input is different every time: name files"),
        (
            "[\"runs/*.jsonl\"]",
            "[]",
            "s.toml:5: suite `s`: `transcripts` is empty, and a gate without transcripts would always pass",
        ),
        ("name = \"s\"", "name = 3", "s.toml:4: suite `?`: `name`: invalid type: integer `3`, expected a string"),
        ("name = \"s\"", "", "s.toml:5: suite `?`: missing field `name`"),
        (
            "name = \"s\"",
            "name = \"s\"\nsummarizer = \"openai:small\"",
            "s.toml:5: suite `s`: a gate never calls a model: set `cassette`",
        ),
        ("name = \"s\"", "name = \"s\"\ncassette = \"answers\"", "s.toml:5: suite `s`: `cassette` has answers of models, but"),
        ("name = \"s\"", "name = \"s\"\ntokenizer = \"byte\"", "s.toml:5: suite `s`: `tokenizer`: "),
        ("name = \"s\"", "name = \"s\"\nset = [\"keep\"]", "s.toml:5: suite `s`: `keep`: write LAYER.FIELD=VALUE"),
    ] {
        let text = WHOLE.replace(was, is);
        let error = Gate::parse(&text, "s.toml").expect_err(is).to_string();
        assert!(error.starts_with(expected), "{is}: {error}");
    }
}

#[test]
fn suite_without_rules_is_refused() {
    let bare = "[[suite]]\nname = \"s\"\ntranscripts = [\"a\"]\npolicies = [\"p\"]\n";
    let error = |text: &str| Gate::parse(text, "s.toml").expect_err("wrong").to_string();
    assert_eq!(error(bare), "s.toml:2: suite `s`: has neither `limits` nor a `tolerance`, so it would always pass");
    let twice = format!("{bare}limits = [\"calls > 0\"]\n").repeat(2);
    assert_eq!(error(&twice), "s.toml:7: there is already a suite named `s`");
    assert_eq!(error("baseline = \"b\"\n"), "s.toml: a suite file has a table `[[suite]]` for each suite");
    assert_eq!(error("suite = []\n"), "s.toml: there is no suite: write `[[suite]]`");
}
