use super::harness::can_be_set;
use super::*;
use crate::engine::policy::{DecidedBy, preset};
use crate::metrics::metric::columns;
use crate::results::saved::{ColumnId, Dates, Intervals, LayerRow, PolicyText, Recording, Row, summarise};
use crate::results::stats::{Resamples, halves};

/// One policy of 1,000 requests.
struct Case {
    policy: &'static str,
    ratio: f64,
    /// The upper end of the interval of the ratio.
    high: Option<f64>,
    hit: f64,
    lost: f64,
    malformed: f64,
    overflows: f64,
}

/// A policy that costs `ratio` of the baseline for sure, keeps `hit` of the facts, and loses 1% for good.
const fn case(policy: &'static str, ratio: f64, hit: f64) -> Case {
    Case { policy, ratio, high: Some(ratio + 0.05), hit, lost: 0.01, malformed: 0.0, overflows: 0.0 }
}

fn results(cases: &[Case]) -> Results {
    results_of_recordings(cases, 0.0)
}

/// `malformed` requests are so as they were recorded.
fn results_of_recordings(cases: &[Case], malformed: f64) -> Results {
    let summary = |case: &Case| {
        let values = [
            (tokens::CALLS, 1_000.0),
            (cost::RATIO, case.ratio),
            (retention::HIT, case.hit),
            (retention::HARD, case.lost),
            (broken::REQUESTS, case.malformed),
            (overflow::FAILED_CALLS, case.overflows),
        ];
        let intervals = case.high.map(|high| (cost::RATIO, [case.ratio - 0.05, high]));
        Summary {
            policy: case.policy.to_owned(),
            bound_of: None,
            transcripts: 1,
            values: values.into_iter().map(|(id, value)| (ColumnId::Borrowed(id), Some(value))).collect(),
            intervals: intervals.map_or_else(Intervals::default, |interval| Intervals::from_iter([interval])),
            predictions: Intervals::default(),
        }
    };
    let baseline = Case { lost: 0.0, malformed, ..case("keep-all", 1.0, 1.0) };
    let bound = Case { lost: 0.7, ..case("drop-all", 0.3, 0.0) };
    let all = [&baseline].into_iter().chain(cases).chain([&bound]);
    Results { summary: all.map(summary).collect(), ..Results::default() }
}

/// The answer, and the policies in their order.
fn judged(cases: &[Case]) -> (Choice, Vec<String>) {
    let results = results(cases);
    let verdict = verdict(&results).expect("results");
    (verdict.choice, verdict.standings.iter().map(|standing| standing.policy().to_owned()).collect())
}

fn flaws(case: Case) -> Vec<Flaw> {
    let results = results(&[case]);
    verdict(&results).expect("results").standings[0].flaws.clone()
}

/// Ranges with the baseline: cost .5 to 1, facts .6 to 1. Largest shortfalls: a 1, b .4 (cost .7), c .8.
#[test]
fn compromise_between_cost_and_facts_is_shipped() {
    let cases = [case("a", 0.5, 0.6), case("b", 0.7, 0.9), case("c", 0.9, 0.98)];
    assert_eq!(judged(&cases), (Choice::Ship, ["b", "a", "c", "keep-all"].map(str::to_owned).to_vec()));
}

#[test]
fn one_in_twenty_facts_may_be_lost_and_one_in_two_hundred_requests_refused() {
    let fit = || case("p", 0.8, 0.9);
    assert_eq!(flaws(Case { lost: 0.05, malformed: 5.0, overflows: 5.0, ..fit() }), []);
    assert_eq!(flaws(Case { lost: 0.0501, ..fit() }), [Flaw::LosesFacts]);
    assert_eq!(flaws(Case { malformed: 6.0, ..fit() }), [Flaw::Malformed]);
    assert_eq!(flaws(Case { overflows: 6.0, ..fit() }), [Flaw::Overflows]);
    assert_eq!(flaws(case("p", 1.0, 0.9)), [Flaw::CostsMore]);
    assert_eq!(
        flaws(Case { lost: 0.2, malformed: 9.0, ..case("p", 2.0, 0.5) }),
        [Flaw::Malformed, Flaw::CostsMore, Flaw::LosesFacts]
    );
}

#[test]
fn a_policy_that_cuts_an_instruction_is_not_fit() {
    let mut results = results(&[case("p", 0.8, 0.9)]);
    let flaws = |results: &Results| verdict(results).expect("results").standings[0].flaws.clone();
    results.summary[1].values.set(retention::RULES_CUT, Some(0.0));
    assert_eq!(flaws(&results), []);
    results.summary[1].values.set(retention::RULES_CUT, Some(1.0));
    assert_eq!(flaws(&results), [Flaw::CutsInstructions]);
}

#[test]
fn policies_are_not_blamed_for_requests_that_were_recorded_malformed() {
    let flaws_of = |malformed: f64| {
        let results = results_of_recordings(&[Case { malformed, ..case("p", 0.8, 0.9) }], 9.0);
        let standing = &verdict(&results).expect("results").standings[0];
        (standing.malformed_by_policy(), standing.flaws.clone())
    };
    assert_eq!(flaws_of(14.0), (5, vec![]));
    assert_eq!(flaws_of(15.0), (6, vec![Flaw::Malformed]));
    // A policy may drop what was malformed.
    assert_eq!(flaws_of(0.0), (0, vec![]));
}

/// `b` is the better compromise, but may save nothing.
#[test]
fn proven_saving_comes_before_a_better_compromise() {
    let cases = [case("a", 0.7, 0.8), Case { high: Some(1.01), ..case("b", 0.9, 0.99) }];
    assert_eq!(judged(&cases).1[0], "a");
    let unproven = cases.map(|case| Case { high: None, ..case });
    assert_eq!(judged(&unproven), (Choice::Unproven, ["b", "a", "keep-all"].map(str::to_owned).to_vec()));
}

#[test]
fn unfit_policies_come_after_fit_ones_and_before_references() {
    let cases = [
        case("recorded", 0.7, 1.0),
        case("dear", 1.4, 0.9),
        Case { malformed: 100.0, ..case("broken", 0.2, 0.9) },
        case("fit", 0.9, 0.9),
    ];
    let order = ["fit", "broken", "dear", "recorded", "keep-all"].map(str::to_owned).to_vec();
    assert_eq!(judged(&cases), (Choice::Ship, order));
    assert_eq!(judged(&cases[..3]).0, Choice::NoneFit);
    assert_eq!(judged(&cases[..1]).0, Choice::NothingToChoose);
    assert_eq!(verdict(&Results::default()), None);
}

#[test]
fn policy_without_a_cost_is_not_fit() {
    let mut results = results(&[case("p", 0.8, 0.9)]);
    results.summary[1].values.set(cost::RATIO, None);
    let verdict = verdict(&results).expect("results");
    assert_eq!((verdict.choice, &verdict.standings[0].flaws[..]), (Choice::NoneFit, &[Flaw::NoCost][..]));
}

/// Another baseline is a reference, and the bounds are no candidates.
#[test]
fn baseline_may_be_any_policy() {
    let mut results = results(&[case("own", 1.0, 0.9), case("new", 0.8, 0.9)]);
    let spec = serde_json::Map::from_iter([("baseline".to_owned(), "own".into())]);
    results.study = Some(crate::results::saved::StudyRecord { spec, ..Default::default() });
    let verdict = verdict(&results).expect("results");
    assert_eq!(verdict.yardstick.policy, Some("own"));
    let names: Vec<&str> = verdict.standings.iter().map(Standing::policy).collect();
    assert_eq!(names, ["new", "own"]);
}

/// `recorded` compacted.
fn with_recorded_compactions(results: Results) -> Results {
    let row = |policy: &str, fired| LayerRow { policy: policy.to_owned(), fired, ..LayerRow::default() };
    Results { layers: vec![row("fit", 9), row("recorded", 1)], ..results }
}

fn roles(results: &Results) -> (Choice, Option<&str>, Vec<(&str, Role)>) {
    let verdict = verdict(results).expect("results");
    let rows = verdict.standings.iter().map(|standing| (standing.policy(), standing.role)).collect();
    (verdict.choice, verdict.yardstick.policy, rows)
}

/// With compactions in the record its runs are the yardstick, whether no compaction fits or not; without any, no compaction is, if
/// all of its requests fit.
#[test]
fn yardstick_is_what_the_person_has() {
    let results_of = |overflows: f64| {
        let mut results = results(&[case("fit", 0.5, 0.9), case("recorded", 0.8, 1.0)]);
        results.summary[0].values.set(overflow::FAILED_CALLS, Some(overflows));
        results
    };
    let (fit, recorded) = (("fit", Role::Candidate), ("recorded", Role::Recorded));
    let compacted = with_recorded_compactions(results_of(1.0));
    let rows = vec![fit, ("recorded", Role::Baseline), ("keep-all", Role::KeepAll)];
    assert_eq!(roles(&compacted), (Choice::Unproven, Some("recorded"), rows));
    let compacted_early = with_recorded_compactions(results_of(0.0));
    let rows = vec![fit, ("keep-all", Role::Candidate), ("recorded", Role::Baseline)];
    assert_eq!(roles(&compacted_early), (Choice::Unproven, Some("recorded"), rows));
    let rows = vec![fit, recorded, ("keep-all", Role::Baseline)];
    assert_eq!(roles(&results_of(0.0)), (Choice::Ship, Some("keep-all"), rows));
    let rows = vec![fit, recorded, ("keep-all", Role::KeepAll)];
    assert_eq!(roles(&results_of(1.0)), (Choice::NoYardstick, None, rows));
}

/// `dear` costs less than no compaction, .9, and more than the recorded runs, .8; `fit` costs .5 ÷ .8.
#[test]
fn costs_are_shares_of_the_yardstick() {
    let cases = [case("fit", 0.5, 0.9), case("dear", 0.9, 0.9), case("recorded", 0.8, 1.0)];
    let mut results = with_recorded_compactions(results(&cases));
    results.summary[0].values.set(overflow::FAILED_CALLS, Some(1.0));
    let verdict = verdict(&results).expect("results");
    let row = |policy: &str| verdict.standing(policy).expect(policy);
    assert_eq!((row("fit").cost_ratio(), &row("fit").flaws[..]), (Some(0.625), &[][..]));
    assert_eq!((row("dear").cost_ratio(), &row("dear").flaws[..]), (Some(1.125), &[Flaw::CostsMore][..]));
    assert_eq!(row("recorded").cost_ratio(), Some(1.0));
    // The intervals of the results are against no compaction, and there are no sessions to compute others from.
    assert_eq!((row("fit").interval, row("fit").is_proven()), (None, false));
}

#[test]
fn policy_that_its_user_cannot_switch_on_never_wins() {
    let mut results = results(&[case("guess", 0.3, 0.99), case("fit", 0.9, 0.9)]);
    let text = |name: &str, decided_by| PolicyText { name: name.to_owned(), decided_by, ..PolicyText::default() };
    results.policies = vec![text("guess", Some(DecidedBy::Provider)), text("fit", None)];
    let judged = verdict(&results).expect("results");
    assert_eq!((judged.standings[0].policy(), &judged.standings[1].flaws[..]), ("fit", &[Flaw::NotYours][..]));
    results.policies[0].decided_by = None;
    assert_eq!(verdict(&results).expect("results").standings[0].policy(), "guess");
}

/// Ten sessions that cost 1 without compaction and .8 as recorded. `odd` costs .3 in odd sessions and .7 in even ones, `even` the
/// other way round, and in the last session `even` costs .1 more: so `odd` wins by a hair.
fn two_that_differ() -> Results {
    let row = |session: usize, policy: &str, cost: f64| {
        let values = [
            (tokens::CALLS, 100.0),
            ("cost.nominal", cost),
            ("cost.baseline_nominal", 1.0),
            ("kept.weight", 10.0),
            (retention::HIT, 0.9),
            (retention::HARD, 0.01),
            (broken::REQUESTS, 0.0),
            (overflow::FAILED_CALLS, if policy == "keep-all" { 1.0 } else { 0.0 }),
        ];
        Row {
            transcript: format!("{session}.jsonl").into(),
            conversation: "main".into(),
            recording: Default::default(),
            policy: policy.into(),
            bound_of: None,
            values: values.into_iter().map(|(id, value)| (ColumnId::Borrowed(id), Some(value))).collect(),
        }
    };
    let rows = |session: usize| {
        let [odd, even] = if session % 2 == 1 { [0.3, 0.7] } else { [0.7, 0.3] };
        let even = if session == 9 { even + 0.1 } else { even };
        [("keep-all", 1.0), ("odd", odd), ("even", even), ("recorded", 0.8)].map(|(policy, cost)| row(session, policy, cost))
    };
    let rows: Vec<Row> = (0..10).flat_map(rows).collect();
    with_recorded_compactions(Results { summary: summarise(&columns(), &rows), columns: columns(), rows, ..Results::default() })
}

/// The halves have five sessions, too few for intervals: each is judged as if it were all sessions.
#[test]
fn winners_of_halves_are_those_of_their_own_verdicts() {
    let results = two_that_differ();
    let whole = verdict(&results).expect("results");
    assert_eq!((whole.choice, whole.standings[0].policy()), (Choice::Ship, "odd"));
    let slow = halves(10, 5, 1).into_iter().filter(|half| {
        let is_in = |row: &&Row| half[row.transcript.trim_end_matches(".jsonl").parse::<usize>().expect("a number")];
        let rows: Vec<Row> = results.rows.iter().filter(is_in).cloned().collect();
        let part = Results { summary: summarise(&columns(), &rows), rows, ..results.clone() };
        verdict(&part).expect("results").standings[0].policy() == "even"
    });
    let ties = ties(&results, &whole).expect("ten sessions");
    assert_eq!((ties.halves, ties.resamples, ties.others.len()), (10, 100, 1));
    // Ten of ten sessions are like these with a probability of .05 if .7411 of all are.
    assert!((ties.unlike - 0.2589).abs() < 1e-4, "{}", ties.unlike);
    let even = &ties.others[0];
    assert_eq!((even.policy.as_deref(), even.halves), (Some("even"), slow.count()));
    // Halves with more odd sessions are as many as those with more even ones.
    assert_eq!(even.halves, 5);
    // In a resample with as many odd sessions as even ones, `even` costs no more only if the last session is not in it.
    let drawn = Resamples::new(10, 100, 1);
    let excess = |at: usize| (0..10).map(|session| drawn.counts(session)[at] * [1.0, -1.0][session % 2]).sum::<f32>();
    let more_even = (0..100).filter(|at| excess(*at) > 0.0).count();
    let as_many = (0..100).filter(|at| excess(*at) == 0.0 && drawn.counts(9)[*at] == 0.0).count();
    assert!((more_even..=more_even + as_many).contains(&even.resamples), "{more_even} {as_many} {}", even.resamples);
}

/// The interval is of Σ cost ÷ Σ recorded cost, by session: 5 ÷ 8.
#[test]
fn intervals_are_paired_with_the_recorded_runs() {
    let results = two_that_differ();
    let whole = verdict(&results).expect("results");
    let odd = whole.standing("odd").expect("a row");
    assert!(odd.cost_ratio().is_some_and(|ratio| (ratio - 0.625).abs() < 1e-12));
    let [low, high] = odd.interval.expect("ten sessions");
    // Shares of .375 and .875 by turns: the standard error is .25 ÷ √9, and t of 9 degrees of freedom 2.262.
    let half = 2.262_157 * 0.25 / 3.0;
    assert!(low <= 0.625 - half + 1e-5 && high >= 0.625 + half - 1e-5 && low > 0.3 && high < 1.0, "{low} {high}");
    assert_eq!(whole.standing("recorded").expect("a row").interval, Some([1.0, 1.0]));
}

/// Ten sessions as above, t of 8 degrees of freedom: √2 · 2.306 · .25 ÷ √9 on either side. Every session keeps .9 of its facts, so none says how far others are.
#[test]
fn promise_is_of_as_many_sessions_against_the_yardstick() {
    let results = two_that_differ();
    let whole = verdict(&results).expect("results");
    let odd = whole.standing("odd").expect("a row");
    let promised = promise(&results, &whole, odd);
    let ([low, high], [least, most]) = (promised.cost.expect("ten sessions"), odd.interval.expect("ten sessions"));
    let half = std::f64::consts::SQRT_2 * 2.306_004 * 0.25 / 3.0;
    assert!(low <= 0.625 - half + 1e-5 && high >= 0.625 + half - 1e-5, "{low} {high}");
    assert!(low < least && high > most && low > 0.1 && high < 1.2, "{low} {high}");
    assert_eq!((promised.sessions, promised.facts, promised.usd_a_month), (10, None, None));
    // Three sessions predict, and prove nothing; two do neither.
    let of_first = |sessions: &str| {
        let rows: Vec<Row> = results.rows.iter().filter(|row| *row.transcript < *sessions).cloned().collect();
        let part = Results { summary: summarise(&columns(), &rows), rows, ..results.clone() };
        let whole = verdict(&part).expect("results");
        let odd = whole.standing("odd").expect("a row");
        let promise = promise(&part, &whole, odd);
        (promise.sessions, promise.cost.is_some(), odd.interval.is_some())
    };
    assert_eq!([of_first("3"), of_first("2")], [(3, true, false), (2, false, false)]);
}

/// $80 as recorded and $50 with the policy in ten days: $30 ÷ 10 · 30.4375 a month.
#[test]
fn saving_of_a_month_needs_a_week_and_a_date_of_every_session() {
    let mut results = two_that_differ();
    for summary in &mut results.summary {
        let usd = [("recorded", 80.0), ("odd", 50.0)].into_iter().find(|(policy, _)| *policy == summary.policy);
        summary.values.set(cost::USD, usd.map(|(_, usd)| usd));
    }
    let month = |results: &Results| {
        let whole = verdict(results).expect("results");
        promise(results, &whole, whole.standing("odd").expect("a row")).usd_a_month
    };
    let dates = |last: &str| {
        let recordings = ["2026-01-01T00:00:00Z", last].map(str::to_owned);
        Some(Dates { recordings: Some(recordings), prices: None })
    };
    assert_eq!(month(&results), None);
    results.dates = dates("2026-01-11T00:00:00Z");
    assert_eq!(month(&results), Some(91.3125));
    results.dates = dates("2026-01-07T23:59:59Z");
    assert_eq!(month(&results), None, "less than a week");
    results.dates = dates("2026-01-11T00:00:00Z");
    let row = results.rows.iter_mut().find(|row| &*row.policy == "odd").expect("a row");
    row.values.set(cost::USD, Some(5.0));
    assert_eq!(month(&results), None, "it has a cost and no date");
}

#[test]
fn few_sessions_have_no_ties() {
    let mut results = two_that_differ();
    results.rows.retain(|row| &*row.transcript < "5");
    let whole = verdict(&results).expect("results");
    assert_eq!(ties(&results, &whole), None);
}

/// The odd sessions are of one harness, the even ones of another: `odd` costs .3 in the first, `even` .3 in the second.
#[test]
fn each_harness_has_its_own_verdict() {
    let mut results = two_that_differ();
    assert_eq!(by_harness(&results), []);
    for row in &mut results.rows {
        let is_odd = row.transcript.trim_end_matches(".jsonl").ends_with(['1', '3', '5', '7', '9']);
        let format = if is_odd { "codex" } else { "claude-code" }.into();
        row.recording = Recording { format, ..Recording::default() }.into();
    }
    let parts = by_harness(&results);
    let answer = |HarnessVerdict { part, verdict }: &HarnessVerdict| {
        (
            part.format.clone(),
            part.sessions,
            verdict.standings[0].policy().to_owned(),
            verdict.yardstick.policy.map(str::to_owned),
        )
    };
    let expected = [("claude-code", "even"), ("codex", "odd")].map(|(format, best)| {
        // No row says what was saved, so the record of a part does not show a compaction.
        (format.to_owned(), 5, best.to_owned(), None)
    });
    assert_eq!(harness_verdicts(&parts).iter().map(answer).collect::<Vec<_>>(), expected);
    assert_eq!((formats(&results), formats(&parts[0].results)), (vec!["claude-code", "codex"], vec!["claude-code"]));
    results.rows[0].recording = Recording::default().into();
    assert_eq!((formats(&results), by_harness(&results)), (vec![], vec![]), "one format is unknown");
}

#[test]
fn settings_of_a_harness_express_its_own_policies() {
    let text = |name: &str, settings: &[&str]| {
        let settings: Vec<_> = settings.iter().map(|written| written.parse().expect("a setting")).collect();
        let policy = preset(name).expect(name).policy(&settings).expect(name);
        PolicyText { name: name.to_owned(), toml: policy.to_toml(), ..PolicyText::default() }
    };
    let mut results = Results { policies: vec![text("codex-cli", &[]), text("observation-mask", &[])], ..Results::default() };
    assert_eq!(can_be_set(&results, "codex", "codex-cli"), Some(true));
    assert_eq!(can_be_set(&results, "codex", "observation-mask"), Some(false));
    assert_eq!(way(&results, "openai-chat", "observation-mask", [].into_iter()), Way::Settings, "no harness is known");
    assert_eq!(way(&results, "codex", "observation-mask", [].into_iter()), Way::Code { best: None });
    assert_eq!(can_be_set(&results, "codex", "other"), None, "no text is known");
    results.policies[1].toml = results.policies[0].toml.replace("codex-cli", "observation-mask");
    assert_eq!(can_be_set(&results, "codex", "observation-mask"), Some(true), "another name changes nothing");
}
