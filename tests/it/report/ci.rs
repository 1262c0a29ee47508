//! Reports of findings for continuous integration.

use std::collections::BTreeSet;

use quick_xml::Reader;
use quick_xml::events::Event;
use recompact::findings::{Case, FINDINGS, Finding, Level};
use recompact::report::{Format, REPORTS, by_name};
use serde_json::{Value, json};

use crate::support::program::{Ran, fixtures, run, run_in};

/// A policy that cuts anywhere.
const SNIP: &str =
    "name = \"snip\"\n[[layer]]\nid = \"snip\"\ndo = \"drop\"\nmax_messages = 4\nkeep_first = 1\ncut = \"anywhere\"\n";

fn finding(id: &str, level: Level, path: &str, line: Option<u32>, message: &str) -> Finding {
    Finding {
        id: id.to_owned(),
        level,
        path: path.to_owned(),
        line,
        call: line.map(|line| line as usize / 2),
        message: message.to_owned(),
        data: serde_json::Map::new(),
        conversation: Some("main".to_owned()),
        policy: Some("snip".to_owned()),
    }
}

fn case(group: &str, name: &str, findings: Vec<Finding>) -> Case {
    Case { group: group.to_owned(), name: name.to_owned(), findings }
}

/// Plain texts, and texts that an attacker would write into a transcript.
fn invented() -> Vec<Case> {
    let plain = finding("pairs", Level::Error, "runs/a.jsonl", Some(12), "orphan tool_result (Read 7) in message 3");
    let plain = Finding { data: json!({ "message": 3 }).as_object().cloned().unwrap_or_default(), ..plain };
    let record = Finding { policy: None, ..finding("overwrite", Level::Warning, "runs/a.jsonl", None, "twice the same name") };
    let hostile =
        "</failure>]]><x a=\"'&\n::error::no %0A\r\u{0}\u{1b}[2J\u{fffe} cod\u{202e}nosj [here](https://example.org) {0}";
    let mut tool = finding("pairs", Level::Error, "a b,c:d%20\n\u{fffd}\u{202e}.jsonl", Some(1), hostile);
    tool.data.insert(hostile.to_owned(), hostile.into());
    tool.conversation = Some(hostile.to_owned());
    tool.policy = Some("x,y:z".to_owned());
    let note = finding("overwrite", Level::Note, "/tmp/größe.jsonl", Some(3), "something to know: \u{10d83d} ]]>");
    let limit = Finding {
        policy: None,
        conversation: None,
        ..finding("limit", Level::Error, "recompact.toml", Some(9), "kept.hit is 0.7")
    };
    vec![
        case("runs/a.jsonl", "snip: pairs", vec![plain.clone(), Finding { message: "another there".to_owned(), ..plain }]),
        case("runs/a.jsonl", "recorded: overwrite", vec![record]),
        case("runs/a.jsonl", "snip: overwrite", Vec::new()),
        case("</testsuite>\u{1}", "\"&<a>", vec![note, tool]),
        case("", "limits", vec![limit]),
    ]
}

fn text(report: &str, cases: &[Case]) -> String {
    let Format::Cases(write) = by_name(report).expect("a report").format else { panic!("{report} shows no cases") };
    String::from_utf8(write(cases)).expect("UTF-8")
}

/// The rules are the pages of the findings, which have other tests.
fn without_rules(sarif: &str) -> String {
    let mut log: Value = serde_json::from_str(sarif).expect("JSON");
    log["runs"][0]["tool"]["driver"]["rules"]
        .as_array_mut()
        .expect("rules")
        .retain(|rule| FINDINGS.iter().all(|kind| rule["id"] != kind.id));
    for result in log["runs"][0]["results"].as_array_mut().expect("results") {
        result["ruleIndex"] = Value::Null;
    }
    format!("{log:#}")
}

#[test]
fn hostile_texts_are_escaped_in_ci_reports() {
    let cases = invented();
    insta::assert_snapshot!("ci_junit", text("junit", &cases));
    insta::assert_snapshot!("ci_github", text("github", &cases));
    insta::assert_snapshot!("ci_sarif", without_rules(&text("sarif", &cases)));
    for report in REPORTS.iter().filter(|report| report.shows_cases()).map(|report| report.name) {
        let unseen = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c) || c == '\u{fffe}');
        assert!(!text(report, &cases).contains(unseen), "{report}");
    }
}

#[test]
fn sarif_results_have_a_rule_and_a_unique_fingerprint() {
    let log: Value = serde_json::from_str(&text("sarif", &invented())).expect("JSON");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let ids: Vec<_> = FINDINGS.iter().map(|kind| kind.id).chain(["limit"]).collect();
    assert_eq!(rules.iter().map(|rule| rule["id"].as_str().expect("an id")).collect::<Vec<_>>(), ids);
    let results = run["results"].as_array().expect("results");
    let mut prints = Vec::new();
    for result in results {
        assert_eq!(rules[result["ruleIndex"].as_u64().expect("an index") as usize]["id"], result["ruleId"]);
        prints.push(result["partialFingerprints"]["findingPlace/v1"].as_str().expect("a fingerprint"));
    }
    // The message may change from run to run; two findings at one place have different fingerprints.
    assert_eq!(prints[0].strip_suffix(":1"), prints[1].strip_suffix(":2"));
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), results.len());
    for kind in FINDINGS {
        assert!(kind.about().len() > 20 && kind.page().contains(&kind.about()[..10]), "{}", kind.id);
    }
}

#[test]
fn github_report_counts_findings_beyond_its_limit() {
    let many =
        |level, count: usize| (0..count).map(move |line| finding("pairs", level, "a.jsonl", Some(line as u32 + 2), "what"));
    let findings = many(Level::Note, 3).chain(many(Level::Warning, 12)).chain(many(Level::Error, 11)).collect();
    let lines = text("github", &[case("a.jsonl", "pairs", findings)]);
    let begin = |prefix: &str| lines.lines().position(|line| line.starts_with(prefix));
    assert_eq!((begin("::error "), begin("::warning "), begin("::notice ")), (Some(0), Some(11), Some(23)));
    assert_eq!(
        lines.lines().last(),
        Some("GitHub shows 10 findings of each level per step: 3 more findings are only in this log.")
    );
    assert_eq!(text("github", &[case("a.jsonl", "pairs", Vec::new())]), "No findings in 1 case.\n");
}

/// Returns the number of elements of each name in well-formed XML.
fn elements(xml: &str, name: &str) -> usize {
    let mut reader = Reader::from_str(xml);
    let mut count = 0;
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Eof => return count,
            Event::Start(element) | Event::Empty(element) if element.name().as_ref() == name => count += 1,
            _ => {}
        }
    }
}

/// Returns the report of a study in which a policy breaks requests.
fn study(options: &[&str]) -> Ran {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = folder.path().join("snip.toml");
    std::fs::write(&policy, SNIP).expect("a policy");
    let policy = policy.to_str().expect("UTF-8");
    run([&["replay", "claude-code", "-p", policy, "--quiet"], options].concat())
}

#[test]
fn ci_reports_hold_the_same_findings() {
    let saved: Value = serde_json::from_str(&study(&["--findings", "-o", "json"]).printed()).expect("JSON");
    let findings = saved["findings"].as_array().expect("findings");
    assert!(findings.len() > 3, "{findings:?}");
    let replayed = FINDINGS.iter().filter(|kind| kind.detect.is_some()).count();
    assert_eq!(saved["checked_findings"].as_array().map(Vec::len), Some(replayed));

    let sarif: Value = serde_json::from_str(&study(&["--findings", "-o", "sarif"]).printed()).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), findings.len());
    for (result, finding) in results.iter().zip(findings) {
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!((&place["artifactLocation"]["uri"], &place["region"]["startLine"]), (&finding["path"], &finding["line"]));
    }

    let junit = study(&["--findings", "-o", "junit"]).printed();
    let rows = saved["rows"].as_array().expect("rows");
    let transcripts = rows.iter().map(|row| row["transcript"].to_string()).collect::<BTreeSet<_>>().len();
    assert_eq!(elements(&junit, "testsuite"), transcripts);
    assert_eq!(elements(&junit, "testcase"), transcripts * replayed);
    let failed = |finding: &Value| (finding["path"].to_string(), finding["id"].to_string());
    let failed: BTreeSet<_> = findings.iter().filter(|finding| finding["level"] != "note").map(failed).collect();
    assert_eq!(elements(&junit, "failure"), failed.len());

    let github = study(&["--findings", "-o", "github"]).printed();
    assert_eq!(github.lines().filter(|line| line.starts_with("::")).count(), findings.len());
}

#[test]
fn unchecked_findings_are_not_reported_as_passed() {
    let results = study(&["-o", "json"]).printed();
    for report in REPORTS.iter().filter(|report| report.shows_cases()).map(|report| report.name) {
        let refused = |ran: Ran| {
            let what = format!("recompact: -o {report} shows findings, but none were checked; `replay --findings` checks them\n");
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (2, "", what.as_str()));
        };
        refused(study(&["-o", report]));
        refused(run_in(&fixtures(), ["report", "-", "-o", report], results.as_bytes()));
        refused(run(["sweep", "claude-code", "-p", "lcc-s08", "--set", "micro.keep_recent=1,2", "-o", report]));
        let inspected = run(["inspect", "claude-code", "-o", report]);
        assert!(
            inspected.code == 2 && inspected.stderr.contains(&format!("inspect has no {report} report")),
            "{}",
            inspected.stderr
        );
    }
    let saved = study(&["--findings", "-o", "json"]).printed();
    let again = run_in(&fixtures(), ["report", "-", "-o", "sarif"], saved.as_bytes()).printed();
    assert_eq!(again, study(&["--findings", "-o", "sarif"]).printed());
}

#[test]
fn fail_on_sets_the_level_of_junit_failures() {
    let failed = study(&["--findings", "--fail-on", "error"]);
    assert_eq!(failed.code, 1, "{}", failed.stderr);
    assert!(
        failed.stdout.contains("snip") && failed.stderr.contains(" error") && failed.stderr.ends_with(" found\n"),
        "{}",
        failed.stderr
    );
    assert_eq!(study(&["--findings"]).code, 0);
    let clean = run(["replay", "claude-code", "-p", "keep-all", "--findings", "--fail-on", "note", "--quiet"]);
    assert_eq!((clean.code, clean.stderr.as_str()), (0, ""));
    let unasked = study(&["--fail-on", "error"]);
    assert_eq!((unasked.code, unasked.stderr.as_str()), (2, "recompact: --fail-on needs findings: add --findings\n"));
    assert!(study(&["--findings", "--fail-on", "bad"]).stderr.contains("(known: error, warning, note)"));
}
