//! Checks the comparison of summarizers: the facts that each kept and made up, and the spread of replicates.

use recompact::analysis::study::{NamedSummarizer, Study, expand_variants};
use recompact::engine::policy::Policy;
use recompact::engine::summarizer::{Failing, Fixed, Stub};
use recompact::report::{Layout, REPORTS, Style};
use recompact::results::saved::{Results, Spread, SummarizerRow};
use recompact::transcript::format::Reading;

use crate::report::html_reader::opened;
use crate::support::notation;
use crate::support::trial::preset_with;

/// Result 1 names three vanes and a rule was given; before call 4 all of it becomes a summary. Calls 4 and 6 use two of the vanes.
/// Call 6 uses the third from result 5, so call 5, which fetches it again, needs it. The recorded agent's harness made its own summary at the same
/// place.
const CONVERSATION: &str = "
user: Never push to main. Fix it
assistant: I look [Bash#1 ls]
result#1: b_vane c_vane d_vane
assistant: I wait [Bash#2 make]
result#2: made
assistant: I wait [Bash#3 make]
result#3: made
fold: Call b_vane, then c_vane; x_vane is done.
user: Go on
assistant: I call b_vane [Bash#4 make]
result#4: made
assistant: I look again [Bash#5 ls]
result#5: d_vane
assistant: I call c_vane and d_vane
";

const POLICY: &str = r#"
name = "auto"

[[layer]]
id = "auto"
do = "summarize"
when = { calls = 3 }
max_tokens = 40
"#;

fn fixed(name: &str, replicate: u32, text: &str) -> NamedSummarizer {
    NamedSummarizer { replicate: Some(replicate), ..NamedSummarizer::new(name, Fixed { text: text.to_owned() }) }
}

fn compared(writers: Vec<NamedSummarizer>) -> Results {
    let auto = Policy::parse(POLICY, "auto", &[]).unwrap_or_else(|error| panic!("{error}"));
    let policies = vec![preset_with("keep-all", &[]), auto, preset_with("recorded", &[])];
    let study = Study { policies: expand_variants(policies, &writers), summarizers: writers, ..Study::new(vec![]) };
    let conversation = notation::parse(CONVERSATION).unwrap_or_else(|what| panic!("{what}"));
    let reading = Reading { conversations: vec![conversation], notes: vec![] };
    study.results(vec![study.transcript("a.jsonl", &reading, None)])
}

fn all() -> Results {
    compared(vec![
        fixed("model", 1, "Never push to main. Call b_vane and made_up"),
        fixed("model", 2, "Call b_vane and c_vane"),
        NamedSummarizer::new("stub:4", Stub { tokens: 4 }),
        NamedSummarizer::new("failing", Failing),
    ])
}

/// Shares in hundredths, for people.
fn percent(Spread { all, ends }: Spread) -> Option<(f64, Option<[f64; 2]>)> {
    let of = |share: f64| (share * 1000.0).round() / 10.0;
    all.map(|all| (of(all), ends.map(|ends| ends.map(of))))
}

#[test]
fn summarizers_are_compared_by_facts_held_and_made_up() {
    let rows = all().summarizers;
    let names: Vec<_> =
        rows.iter().map(|row| (&*row.policy, &*row.summarizer, row.replicates, row.summaries, row.failed)).collect();
    let expected = [
        ("auto", "model", 2, 2, 0),
        ("auto", "stub:4", 1, 1, 0),
        ("auto", "failing", 1, 0, 1),
        ("recorded", "recorded", 1, 1, 0),
    ];
    assert_eq!(names, expected);
    let [model, stub, failing, recorded]: [SummarizerRow; 4] = rows.try_into().expect("four rows");

    // The first replicate keeps one of the three needed vanes and the rule, and makes up one of two names; the second keeps
    // two and nothing else.
    assert_eq!(percent(model.needed), Some((50.0, Some([33.3, 66.7]))));
    assert_eq!(percent(model.constraints), Some((50.0, Some([0.0, 100.0]))));
    assert_eq!(percent(model.false_share), Some((25.0, Some([0.0, 50.0]))));
    assert_eq!((model.facts, model.false_facts, model.sessions), (4, 1, 1));

    assert_eq!((percent(stub.needed), percent(stub.constraints)), (Some((0.0, None)), Some((0.0, None))));
    assert_eq!((stub.false_share.all, stub.tokens.all, percent(stub.fill)), (None, Some(4.0), Some((10.0, None))));

    assert_eq!((failing.needed.all, failing.tokens.all, failing.fill.all), (None, None, None));

    // b_vane and c_vane were in the summary, d_vane was looked up again; x_vane was in no message.
    assert_eq!((percent(recorded.needed), percent(recorded.false_share)), (Some((66.7, None)), Some((33.3, None))));
    assert_eq!((recorded.facts, recorded.fill.all, percent(recorded.constraints)), (3, None, Some((0.0, None))));
}

#[test]
fn recorded_summaries_are_not_counted_as_asked() {
    let results = all();
    let recorded = results.summary.iter().find(|summary| summary.policy == "recorded").expect("the policy");
    let value = |id: &str| recorded.values.get(id);
    assert_eq!(["summaries", "summary.tokens_out", "summary.recorded"].map(value), [Some(0.0), Some(0.0), Some(1.0)]);
    let keep_all = results.summary.iter().find(|summary| summary.policy == "keep-all").expect("the policy");
    let ids = ["summary.needed", "summary.false", "summary.constraints", "summary.fill"];
    assert_eq!(ids.map(|id| keep_all.values.get(id)), [None; 4]);
    assert_eq!(["summary.facts", "summary.recorded", "summary.rules"].map(|id| keep_all.values.get(id)), [Some(0.0); 3]);
}

#[test]
fn one_summarizer_gives_no_comparison() {
    assert!(compared(vec![NamedSummarizer::new("stub:4", Stub { tokens: 4 })]).summarizers.is_empty());
}

#[test]
fn summarizer_table_is_in_reports_for_people() {
    let results = all();
    let shown = |name: &str| {
        let report = REPORTS.iter().find(|report| report.name == name).expect(name);
        let style = Style { width: 160, ..Style::default() };
        String::from_utf8(report.render(&results, &Layout::full(style)).expect("results have every report")).expect("UTF-8")
    };
    let markdown = shown("markdown");
    let from = markdown.find("Summarizers").expect("the table");
    let table = &markdown[from..];
    insta::assert_snapshot!(table[..table.find("\n#").unwrap_or(table.len())].trim_end());
    for name in ["table", "html"] {
        assert!(shown(name).contains("Summarizers"), "{name}");
    }
    assert!(opened(&shown("html")).contains("a fact in a summary may still be misunderstood"));
}
