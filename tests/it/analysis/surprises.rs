//! Checks `recompact probe --by surprise` with a model that knows only what its prompt has: a fact that is in the prompt costs it nothing,
//! another costs a bit for each byte. Then every gone fact loses as many bits as it has bytes, and all else loses nothing.

use std::f64::consts::LN_2;
use std::path::Path;
use std::sync::LazyLock;

use recompact::analysis::probe::surprise::{Control, Grouping, Prompts, ScoredUse, Surprise};
use recompact::analysis::probe::{About, Case, Outcome, Plan, Scorer, ask, forecast};
use recompact::llm::client::{Answer, Model, Provider, Question, Rejection, Usage};
use recompact::tokens::meter::SizeUnit;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::effort;
use crate::support::probe::{self, POLICIES};
use crate::support::program::run;

const PLAN: Plan = Plan { questions: 80, max_context: 700, seed: 1 };

/// Gives each byte of a text that is not in the prompt the probability ½.
struct OnlyReads;

impl Provider for OnlyReads {
    fn ask(&self, question: &Question) -> Result<Answer, Rejection> {
        let text = question.continuation.clone().expect("a text to score");
        let of_byte = if question.user.contains(text.trim()) { 0.0 } else { -LN_2 };
        let logprobs = text.trim().bytes().map(|_| of_byte).collect();
        Ok(Answer { text, cut_off: false, usage: Usage::default(), seconds: 0.0, logprobs })
    }

    fn read(&self, _: &[u8]) -> Result<Answer, Rejection> {
        unreachable!("nothing is sent")
    }
}

fn model(cassette: Option<&Path>) -> Model {
    probe::model("llama-server:reader", OnlyReads, cassette)
}

static CASES: LazyLock<Vec<Case<Surprise>>> = LazyLock::new(|| probe::cases(&POLICIES, &PLAN));

fn scored(cases: &[Case<Surprise>]) -> Vec<ScoredUse> {
    ask(&model(None), cases, &|| {}).expect("an answer to everything")
}

#[test]
fn a_model_that_only_reads_loses_what_is_gone() {
    let uses = scored(&CASES);
    let gone = uses.iter().filter(|used| used.outcome.is_gone()).count();
    assert!(gone >= 20 && uses.len() - gone >= 10, "{gone} of {}", uses.len());
    // The metric and this model differ on a name that is part of another one: `report` in `report.py`.
    let is_read = |case: &Case<Surprise>| case.shown.policy.contains(&case.shown.fact);
    let differs = CASES.iter().filter(|case| case.used.outcome.is_gone() == is_read(case)).count();
    assert!(differs * 5 <= gone, "{differs} of {gone}");
    for (used, case) in uses.iter().zip(&*CASES) {
        let lost = if is_read(case) { 0.0 } else { used.fact.len() as f64 };
        assert_eq!((used.full, used.lost), (0.0, lost), "{used:?}");
        assert_eq!(used.other_block.unwrap_or(0.0), 0.0, "{used:?}");
        assert_eq!(used.other_fact.unwrap_or(0.0), 0.0, "{used:?}");
    }
    assert!(uses.iter().any(|used| used.other_block.is_some()) && uses.iter().any(|used| used.other_fact.is_some()));
    let results = Surprise::results(About::new("reader", PLAN), 0, &POLICIES, uses);
    let all = results.all().expect("uses");
    assert!(all.auc.value >= Some(0.9) && all.auc_against_control.value >= Some(0.9), "{all:?}");
    assert_eq!(results.predicts(), Some(true));
    let outcomes: Vec<&str> = results.by(Grouping::Outcome).map(|group| group.name.as_str()).collect();
    assert_eq!(outcomes[0], Outcome::InContext.name());
}

/// A policy that changes nothing sends the same request, so the model is asked the same.
#[test]
fn without_compaction_both_prompts_are_equal() {
    let cases = probe::cases::<Surprise>(&["keep-all"], &PLAN);
    assert!(cases.len() >= 10);
    for Case { used, shown } in &cases {
        assert_eq!(shown.full, shown.policy);
        assert_eq!(used.outcome, Outcome::InContext);
    }
}

#[test]
fn prompts_fit_and_hold_the_fact() {
    for plan in [PLAN, Plan { max_context: 250, questions: 30, ..PLAN }] {
        for Case { shown: Prompts { full, policy, fact, control, .. }, .. } in probe::cases::<Surprise>(&POLICIES, &plan) {
            let sizes = [&full, &policy].map(|prompt| SizeUnit::O200k.text(prompt));
            // The lines that name speakers come on top; they are short.
            assert!(sizes.iter().all(|tokens| *tokens <= plan.max_context + 60), "{sizes:?}\n{full}");
            assert!(full.contains(fact.trim()), "{fact} is not in\n{full}");
            match control {
                Control::OtherBlock(without) => assert!(without.len() < full.len() && without.contains(fact.trim())),
                Control::OtherFact(other) => assert!(!full.contains(other.trim()) && !policy.contains(other.trim())),
                Control::None => {}
            }
        }
    }
}

#[test]
fn uses_come_from_all_outcomes_and_policies_alike() {
    let asked = |policy: &str, outcome: Outcome| {
        CASES.iter().filter(|case| case.used.policy == policy && case.used.outcome == outcome).count()
    };
    let of = POLICIES.map(|policy| Outcome::ALL.map(|outcome| asked(policy, outcome)));
    assert_eq!(of.map(|outcomes| outcomes.iter().sum::<usize>()), [40, 40], "{of:?}");
    // `drop-all` has nothing in the context, so the others get its room.
    assert!(of[0].iter().filter(|count| **count >= 4).count() >= 3 && of[1][0] == 0, "{of:?}");
    let forecast = forecast(&CASES).expect("questions");
    assert_eq!(forecast[0].of, "full context");
    assert!(forecast.iter().map(|one| one.questions).sum::<usize>() >= CASES.len());
}

/// Runs the command on the same transcripts with the answers of a cassette.
fn command<'a>(cassette: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let options = ["--by", "surprise", "--questions", "80", "--max-context", "700", "--model", "llama-server:reader"];
    probe::command(&options, cassette, more)
}

#[test]
fn surprise_gives_the_same_bytes_for_any_number_of_threads() {
    let folder = TempDir::new().expect("a temporary folder");
    let cassette = folder.path().to_str().expect("a plain path");
    ask(&model(Some(folder.path())), &CASES, &|| {}).expect("an answer to everything");
    for output in ["table", "csv", "json"] {
        let of_jobs = |jobs: &str| run(command(cassette, &["-o", output, "--jobs", jobs])).printed();
        let one = of_jobs("1");
        assert!(effort::of(output != "json", false) || one == of_jobs("8"), "{output}");
        match output {
            "json" => {
                let found: Value = serde_json::from_str(&one).expect("JSON");
                assert_eq!(found["uses"].as_array().map(Vec::len), Some(CASES.len()));
            }
            "csv" => {
                assert_eq!(one.lines().count(), CASES.len() + 1);
                assert!(!one.lines().next().expect("a header").contains(",fact,"), "the table has no texts");
            }
            _ => insta::assert_snapshot!("surprise", one),
        }
    }
    insta::assert_snapshot!("surprise-full", run(command(cassette, &["--full"])).printed());
    insta::assert_snapshot!("surprise-dry-run", run(command(cassette, &["--dry-run"])).printed());
}

#[test]
fn surprise_refuses_wrong_use() {
    let cases: [(&[&str], &str); 3] = [
        (&["messages", "-p", "lcc-s08", "--model", "openai:a"], "llama-server"),
        (&["messages", "-p", "lcc-s08", "--model", "reader"], "llama-server"),
        (&["messages", "-p", "lcc-s08", "--model", "llama-server:a", "-o", "html"], "probe has no html report"),
    ];
    for (arguments, what) in cases {
        let ran = run(["probe", "--by", "surprise"].iter().chain(arguments));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(what), "{arguments:?}: {}", ran.stderr);
    }
    let ran = run(["probe", "messages", "-p", "lcc-s08", "--model", "llama-server:a"]);
    assert!(ran.code == 2 && ran.stderr.contains("openai"), "{}", ran.stderr);
}

/// Call 49 reads `cli.py` again, which a summary had dropped, and call 55 writes `add_parser` into it: how probable is the name, had the
/// agent gone on without reading?
#[test]
fn what_is_fetched_again_is_asked_of_the_call_that_names_it() {
    let needs: Vec<_> = CASES.iter().filter(|case| case.used.hint != case.used.call).collect();
    let named = |fact: &str| {
        let case = needs.iter().find(|case| case.used.policy == "lcc-s08" && case.used.fact.text == fact).expect("a need");
        (case.used.call + 1, case.used.hint + 1)
    };
    assert_eq!([named("add_parser"), named("import argparse"), named("bolt-m4")], [(49, 55), (49, 57), (82, 83)]);
    let add_parser = needs.iter().find(|case| case.used.fact.text == "add_parser").expect("a need");
    for prompt in [&add_parser.shown.full, &add_parser.shown.policy] {
        assert!(prompt.ends_with(r#""new_string":"    aging = commands."#), "{prompt}");
    }
    assert!(add_parser.shown.full.contains("command = commands.add_parser(") && !add_parser.shown.policy.contains("add_parser"));
}
