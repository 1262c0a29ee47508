use super::*;
use crate::results::saved::{ColumnId, Intervals};

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
    assert_eq!(verdict.baseline, "own");
    let names: Vec<&str> = verdict.standings.iter().map(Standing::policy).collect();
    assert_eq!(names, ["new", "own"]);
}
