//! The first screen of a replay: its sentences for each answer, its columns by width, and its length.

use recompact::engine::policy::DecidedBy;
use recompact::report::{Layout, Style, View, by_name};
use recompact::results::saved::{
    CheckRow, ColumnId, Dates, Intervals, LayerRow, LeftOut, MissRow, PolicyText, Recording, ResultNote, Results, Row,
    Statistics, Summary, VERSION, Values,
};

/// A policy: its cost in dollars and as a share of the baseline's, with an interval; the shares of facts in context and lost for good;
/// malformed and overflowing requests of 1,000.
pub struct Policy {
    name: String,
    ratio: f64,
    interval: Option<[f64; 2]>,
    hit: f64,
    lost: f64,
    malformed: f64,
    overflows: f64,
}

pub fn policy(name: &str, ratio: f64, interval: Option<[f64; 2]>, hit: f64, lost: f64) -> Policy {
    Policy { name: name.to_owned(), ratio, interval, hit, lost, malformed: 0.0, overflows: 0.0 }
}

/// Results of `sessions` equal sessions under these policies and no compaction, which fits.
pub fn results(sessions: usize, policies: &[Policy]) -> Results {
    let baseline = policy("keep-all", 1.0, Some([1.0, 1.0]), 1.0, 0.0);
    let all: Vec<&Policy> = [&baseline].into_iter().chain(policies).collect();
    let values = |policy: &Policy| -> Values {
        let values = [
            ("calls", 1_000.0),
            ("cost.usd", 100.0 * policy.ratio),
            ("cost.baseline_usd", 100.0),
            ("cost.ratio", policy.ratio),
            ("cost.nominal", policy.ratio),
            ("cost.baseline_nominal", 1.0),
            ("kept.weight", 10.0),
            ("cost.best_breakpoints", policy.ratio * 0.9),
            ("cost.rereads", 2.5 * (1.0 - policy.hit)),
            ("tokens.saved", 1.0 - policy.ratio),
            ("kept.hit", policy.hit),
            ("kept.soft", 1.0 - policy.hit - policy.lost),
            ("kept.hard", policy.lost),
            ("kept.chance", 0.01),
            ("broken.requests", policy.malformed),
            ("failed_calls", policy.overflows),
        ];
        values.into_iter().map(|(id, value)| (ColumnId::Borrowed(id), Some(value))).collect()
    };
    let summary = |policy: &&Policy| Summary {
        policy: policy.name.clone(),
        bound_of: None,
        transcripts: sessions,
        values: values(policy),
        intervals: policy.interval.map_or_else(Intervals::default, |ends| Intervals::from_iter([("cost.ratio", ends)])),
        predictions: Intervals::default(),
    };
    let rows = (0..sessions).flat_map(|session| {
        all.iter().map(move |policy| Row {
            transcript: format!("runs/{session}.jsonl").into(),
            conversation: "main".into(),
            recording: Default::default(),
            policy: policy.name.as_str().into(),
            bound_of: None,
            values: values(policy),
        })
    });
    let check = CheckRow { in_usd: true, recorded_cost: 90.0, priced: true, ..CheckRow::default() };
    Results {
        version: VERSION,
        columns: recompact::metrics::metric::columns(),
        rows: rows.collect(),
        summary: all.iter().map(summary).collect(),
        statistics: (sessions > 5).then_some(Statistics { sessions, resamples: 2_000, level: 0.95, seed: 1 }),
        checks: vec![check.clone(), CheckRow { priced: false, recorded_cost: 10.0, ..check }],
        ..Results::default()
    }
}

/// Two fit policies, one whose saving is not proven, and one for each flaw.
fn many() -> Vec<Policy> {
    vec![
        policy("cheap", 0.6, Some([0.5, 0.7]), 0.7, 0.03),
        policy("careful", 0.75, Some([0.6, 0.9]), 0.96, 0.004),
        policy("doubtful", 0.95, Some([0.8, 1.1]), 0.99, 0.001),
        Policy { malformed: 400.0, ..policy("broken", 0.4, Some([0.3, 0.5]), 0.5, 0.2) },
        Policy { overflows: 30.0, ..policy("overflowing", 0.9, Some([0.8, 0.95]), 0.9, 0.01) },
        policy("dear", 2.4, Some([1.5, 3.0]), 0.8, 0.02),
        policy("forgetful", 0.5, Some([0.4, 0.6]), 0.4, 0.31),
        policy("recorded", 0.7, Some([0.6, 0.8]), 1.0, 0.0),
    ]
}

/// The recorded agent compacted, and `overflows` of 1,000 requests of no compaction do not fit.
fn compacted(mut results: Results, overflows: f64) -> Results {
    results.layers = vec![LayerRow { policy: "recorded".to_owned(), fired: 3, ..LayerRow::default() }];
    let of_keep_all = results.rows.iter_mut().filter(|row| &*row.policy == "keep-all").map(|row| &mut row.values);
    of_keep_all.chain([&mut results.summary[0].values]).for_each(|values| values.set("failed_calls", Some(overflows)));
    results
}

/// Lets every second session cost more under this policy by this share of the baseline's cost, and the others less.
fn vary(results: &mut Results, policy: &str, by: f64) {
    for (at, row) in results.rows.iter_mut().filter(|row| *row.policy == *policy).enumerate() {
        let cost = row.values.get("cost.nominal").expect("a cost");
        row.values.set("cost.nominal", Some(if at % 2 == 0 { cost + by } else { cost - by }));
    }
}

pub fn shown(report: &str, results: &Results, layout: &Layout) -> String {
    let bytes = by_name(report).and_then(|report| report.render(results, layout)).expect("results have every report");
    String::from_utf8(bytes).expect("UTF-8")
}

pub fn layout(width: usize) -> Layout {
    let mut layout = Layout::default();
    layout.style = Style { width, color: false };
    layout.invocation.paths = "~/runs".to_owned();
    layout
}

fn answer(results: &Results) -> String {
    let screen = shown("table", results, &layout(1_000));
    screen.split("\n\n").nth(1).expect("an answer").to_owned()
}

#[test]
fn screen_fits_every_width() {
    for width in [80, 100, 140] {
        let screen = shown("table", &results(20, &many()), &layout(width));
        let wide = screen.lines().find(|line| line.chars().count() > width);
        assert_eq!(wide, None, "{width}");
        insta::assert_snapshot!(format!("screen-{width}"), screen);
    }
    insta::assert_snapshot!("screen-markdown", shown("markdown", &results(20, &many()), &layout(100)));
}

#[test]
fn answer_says_what_is_not_proven() {
    let doubtful = || policy("doubtful", 0.95, Some([0.8, 1.1]), 0.99, 0.001);
    let one = answer(&results(20, &[doubtful()]));
    let begin = "It is not proven that `doubtful` saves money: it costs 5% less than no compaction ($95, not $100; 95% interval 10% \
                 more to 20% less). The saving may be chance: the interval also holds costs that are not lower.\n";
    assert!(one.starts_with(begin), "{one}");
    let few = answer(&results(3, &[policy("a", 0.7, None, 0.9, 0.0), policy("b", 0.6, None, 0.8, 0.0)]));
    let begin = "Nothing is proven. The best of these, `a`, costs 30% less than no compaction ($70, not $100). 3 sessions cannot prove \
                 a saving: at least 6 are needed.\n";
    assert!(few.starts_with(begin), "{few}");
}

/// The recorded runs cost 70, `careful` 75 and `cheap` 60. That no compaction costs 100 is no reason to ship `careful`, because half of
/// its requests do not fit.
#[test]
fn answer_compares_with_the_recorded_runs() {
    let screen = shown("table", &compacted(results(20, &many()), 500.0), &layout(100));
    insta::assert_snapshot!("screen-recorded", screen);
    let lead = |ratio: f64, by: f64| {
        let mut results =
            compacted(results(20, &[policy("p", ratio, None, 0.9, 0.01), policy("recorded", 0.7, None, 1.0, 0.0)]), 500.0);
        vary(&mut results, "p", by);
        answer(&results).lines().next().expect("a sentence").to_owned()
    };
    assert_eq!(lead(0.63, 0.0), "Ship `p`: it costs 10% less than your recorded runs ($63, not $70; 95% interval 10% less).");
    let unproven = "It is not proven that `p` saves money: it costs as much as your recorded runs ($69.80, not $70.00; 95% interval \
                    2% more to 2% less; 3% more to 3% less for your next 20 sessions). The saving may be chance: the interval also holds costs that are not lower.";
    assert_eq!(lead(0.698, 0.03), unproven);
    let same = "It is not proven that `p` saves money: it costs as much as your recorded runs (both $70; its interval is too wide to \
                say how much; anything for your next 20 sessions). The saving may be chance: the interval also holds costs that are not lower.";
    assert_eq!(lead(0.69999, 2.0), same);
    assert_eq!(
        lead(0.701, 0.001),
        "Do not ship `p`: it costs as much as your recorded runs ($70.10, not $70.00; 95% interval less than 0.5% away)."
    );
    let none = answer(&compacted(results(20, &many()[5..]), 500.0));
    assert!(none.starts_with("Keep what you have: ship none of these 2 policies.\n"), "{none}");
}

/// If everything fits, not to compact is one of the answers.
#[test]
fn answer_may_be_not_to_compact() {
    let own = || [policy("dear", 1.2, None, 0.9, 0.0), policy("recorded", 1.1, None, 0.97, 0.0)];
    let fits = answer(&compacted(results(20, &own()), 0.0));
    assert!(fits.starts_with("Ship no compaction: it costs 9% less than your recorded runs ($100, not $110; "), "{fits}");
    let overflowing = answer(&compacted(results(20, &own()), 1.0));
    assert!(overflowing.starts_with("Do not ship `dear`: it costs 9% more than your recorded runs"), "{overflowing}");
}

/// Nothing was recorded to compare with, and no compaction cannot be sent.
#[test]
fn answer_without_a_yardstick_names_the_best_and_no_saving() {
    let mut results = compacted(results(20, &many()), 500.0);
    results.layers.clear();
    let screen = shown("table", &results, &layout(100));
    insta::assert_snapshot!("screen-no-yardstick", screen);
    assert!(!screen.contains("Ship "), "{screen}");
}

#[test]
fn answer_names_no_policy_that_the_provider_decides() {
    let mut results = results(20, &many()[..2]);
    let text = |name: &str| PolicyText { name: name.to_owned(), decided_by: Some(DecidedBy::Provider), ..PolicyText::default() };
    results.policies = vec![text("careful")];
    let screen = shown("table", &results, &layout(100));
    assert!(screen.contains("Ship `cheap`"), "{screen}");
    let row = screen.lines().find(|line| line.starts_with("x") && line.contains("careful")).expect("a row");
    assert!(row.ends_with("not yours") && screen.contains("not yours: if the provider did this;"), "{row}");
    results.policies.push(text("cheap"));
    let why = answer(&results);
    assert!(why.contains("Why not: the provider decides: 2."), "{why}");
}

/// `a` costs .5 or .7 by turns, and `b` the other way round: in each half one of them wins.
#[test]
fn answer_says_how_often_another_policy_wins() {
    let both = [policy("a", 0.598, Some([0.5, 0.7]), 0.9, 0.0), policy("b", 0.6, Some([0.5, 0.7]), 0.9, 0.0)];
    let mut results = results(20, &both);
    vary(&mut results, "a", 0.1);
    vary(&mut results, "b", -0.1);
    let ties = answer(&results);
    let said = ties.lines().nth(1).expect("more sentences").split('.').next().expect("a sentence");
    let halves: usize = said.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a number");
    assert!(said.starts_with("In ") && (1..=9).contains(&halves), "{said}");
    assert!(
        said.contains(" of 10 halves of the sessions `b` wins; ") && said.ends_with(" of 100 resamples have another winner"),
        "{said}"
    );
    let few = answer(&super::screens::results(5, &both));
    assert!(!few.contains("halves"), "{few}");
    let none = answer(&super::screens::results(5, &[policy("dear", 2.4, None, 0.8, 0.0)]));
    assert!(none.ends_with(" No request would be refused. Too few sessions to be sure."), "{none}");
}

/// $100 and $70 in 30.4375 days, which is a month.
#[test]
fn answer_says_what_a_month_saves() {
    let mut results = results(20, &[policy("p", 0.7, Some([0.6, 0.8]), 0.9, 0.0)]);
    let recordings = Some(["2026-01-01T00:00:00Z", "2026-01-31T10:30:00Z"].map(str::to_owned));
    results.dates = Some(Dates { recordings, prices: None });
    assert!(!answer(&results).contains("a month"), "no session has a date");
    let started = Some("2026-01-01T00:00:00Z".to_owned());
    let recording = std::sync::Arc::new(Recording { started, ..Recording::default() });
    results.rows.iter_mut().for_each(|row| row.recording = recording.clone());
    let month = answer(&results);
    assert!(month.contains("20 to 40% less; saves an estimated $30 a month at this rate)."), "{month}");
}

#[test]
fn answer_says_why_nothing_is_shipped() {
    let dear = || policy("dear", 2.4, Some([1.5, 3.0]), 0.8, 0.081);
    let one = answer(&results(20, &[dear()]));
    let begin = "Do not ship `dear`: it costs 2.4 times as much as no compaction ($240, not $100; 95% interval 50 to 200% more), and it \
                 loses 8.1% of the facts that the agent used again for good, more than 5.0%.\n";
    assert!(one.starts_with(begin), "{one}");
    let [_, _, _, broken, overflowing, dear, ..] = &many()[..] else { panic!("eight policies") };
    let copied = |policy: &Policy| Policy { name: policy.name.clone(), ..*policy };
    let several = answer(&results(20, &[copied(broken), copied(overflowing), copied(dear)]));
    let expected = "Ship none of these 3 policies.\nWhy not: malformed requests: 1; requests that do not fit the window: 1; not \
                    cheaper: 1. All 10 halves of the sessions and all 100 resamples agree; but up to 14% of the next may be unlike these.";
    assert_eq!(several, expected);
    let nothing = answer(&results(20, &[policy("recorded", 0.7, None, 1.0, 0.0)]));
    assert!(
        nothing.starts_with("Nothing to choose from: only no compaction and the recorded session were replayed."),
        "{nothing}"
    );
}

#[test]
fn answer_says_when_no_fact_was_used_again() {
    let mut results = results(20, &[policy("p", 0.7, Some([0.6, 0.8]), 0.9, 0.0)]);
    ["kept.hit", "kept.hard"].into_iter().for_each(|id| results.summary[1].values.set(ColumnId::Borrowed(id), None));
    let answer = answer(&results);
    assert!(
        answer.ends_with("No fact was used again, so it is not known what it loses. No request would be refused."),
        "{answer}"
    );
}

/// Forty lines at 100 columns, whatever the results are.
#[test]
fn screen_has_at_most_forty_lines() {
    let policies = (0..60).map(|number| policy(&format!("policy-{number}"), 0.5 + 0.01 * f64::from(number), None, 0.9, 0.0));
    let mut results = results(25, &policies.collect::<Vec<_>>());
    results.coverage.found = 90;
    results.coverage.leave_out("a.jsonl", "b");
    results.notes = vec![ResultNote { path: "runs/1.jsonl".into(), line: Some(1), what: "x ".repeat(300) }; 9];
    results.misses = vec![MissRow { policy: "policy-0".into(), ..MissRow::default() }];
    let screen = shown("table", &results, &layout(100));
    assert!(screen.lines().count() <= 40, "{screen}");
    assert!(screen.contains("more rows: --show policies\n"), "{screen}");
    let first: Vec<&str> = screen.lines().take(5).collect();
    assert!(first.join(" ").contains("The best of these, `policy-0`, costs 50% less"), "{screen}");
}

/// What a policy could not do may be the harder part.
#[test]
fn sessions_that_a_policy_did_not_answer_are_a_remark() {
    let mut results = results(20, &many());
    results.coverage.found = 23;
    let left_out = |path: &str, unanswered| LeftOut {
        path: path.into(),
        why: "call 3: the policy p: it ended".into(),
        foreign: false,
        unanswered,
    };
    results.coverage.left_out = vec![left_out("a.jsonl", true), left_out("b.jsonl", true), left_out("c.jsonl", false)];
    let screen = shown("table", &results, &layout(200));
    let remark = "only 20 of 23 transcripts are in these results; 2 are left out for every policy because one gave no answer, and the \
                  rest may be easier";
    assert!(screen.split_whitespace().collect::<Vec<_>>().join(" ").contains(remark), "{screen}");
}

#[test]
fn columns_and_order_can_be_chosen() {
    let mut layout = layout(100);
    layout.columns = ["cost.ratio", "kept.hit"].map(ColumnId::Borrowed).to_vec();
    layout.sort = Some(ColumnId::Borrowed("kept.hit"));
    let results = results(20, &many());
    let screen = shown("table", &results, &layout);
    let rows: Vec<&str> = screen.lines().skip_while(|line| !line.starts_with("policy")).collect();
    assert!(rows.iter().take(2).any(|head| head.contains("~cost.")) && rows[1].contains("ratio"), "{screen}");
    let names: Vec<&str> =
        rows.iter().skip(3).take(4).filter_map(|row| row.split([' ', ' ']).find(|word| !word.is_empty())).collect();
    assert_eq!(names, ["your", "no", "doubtful", ">"], "the best first; `>` is the chosen one");
    layout.view = View::Sections(vec!["policies".to_owned()]);
    let table = shown("table", &results, &layout);
    assert!(table.starts_with("Summary: ") && !table.contains("tokens.sent"), "{table}");
}

/// Only a terminal gets colours: the chosen policy is green, unfit ones are red.
#[test]
fn rows_have_the_colour_of_their_meaning() {
    let mut colored = layout(100);
    colored.style.color = true;
    let screen = shown("table", &results(20, &many()), &colored);
    let row = |name: &str| screen.lines().find(|line| line.contains(name) && line.contains('%')).expect("a row").to_owned();
    assert!(row(" careful").contains("\u{1b}[38;5;10m"), "{:?}", row(" careful"));
    assert!(row(" broken").contains("\u{1b}[38;5;9m"), "{:?}", row(" broken"));
    assert!(!shown("table", &results(20, &many()), &layout(100)).contains('\u{1b}'));
}

#[test]
fn screens_escape_hostile_names() {
    let hostile = policy("a\u{202e}b`|\u{1b}[31m", 0.7, Some([0.6, 0.8]), 0.9, 0.0);
    let results = results(20, &[hostile]);
    for report in ["table", "markdown"] {
        let screen = shown(report, &results, &layout(100));
        assert!(!screen.contains(['\u{202e}', '\u{1b}']), "{screen}");
        insta::assert_snapshot!(format!("screen-hostile-{report}"), screen);
    }
}
