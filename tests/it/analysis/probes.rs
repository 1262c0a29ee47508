//! Checks `recompact probe` with a perfect reader: it knows every fact, and names it if the context that it is shown
//! contains it. Then its answers must agree with `kept.hit`.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{LazyLock, Mutex};

use recompact::analysis::probe::questions::Questions;
use recompact::analysis::probe::{About, Case, Plan, Scorer, ask, forecast};
use recompact::facts::extract::{self, FactKind};
use recompact::llm::client::{Answer, Model, Provider, Question, Rejection, Usage};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::effort;
use crate::support::probe::{self, POLICIES, TRANSCRIPTS};
use crate::support::program::run;

const PLAN: Plan = Plan { questions: 60, max_context: 16_000, seed: 1 };

/// Names a fact if the context has it, by the cloze of the question.
struct Reader {
    asked: HashMap<String, (FactKind, String)>,
    /// Facts of each context.
    read: Mutex<HashMap<String, HashSet<(FactKind, String)>>>,
}

impl Reader {
    fn new(cases: &[Case<Questions>]) -> Self {
        let uses = cases.iter().map(|case| &case.used);
        let asked = uses.map(|used| (used.hint.cloze.line.clone(), (used.fact.kind, used.fact.text.clone())));
        Self { asked: asked.collect(), read: Mutex::default() }
    }
}

impl Provider for Reader {
    fn ask(&self, question: &Question) -> Result<Answer, Rejection> {
        let (context, asked) = question.user.rsplit_once("</conversation>").expect("a conversation between marks");
        let line = asked.split_once("\n`").and_then(|(_, rest)| rest.split_once("`\nWhat")).expect("a line between backticks").0;
        let asked = &self.asked[line];
        let mut read = self.read.lock().expect("no reader panics");
        let facts = read.entry(context.to_owned()).or_insert_with(|| {
            let mut facts = HashSet::new();
            extract::in_text(context, &mut |seen| {
                facts.insert((seen.kind, seen.text.to_owned()));
            });
            facts
        });
        let fact = &asked.1;
        let text = if facts.contains(asked) { format!("`{fact}`.\nI looked it up.") } else { "UNKNOWN".to_owned() };
        self.read(text.as_bytes())
    }

    fn read(&self, answer: &[u8]) -> Result<Answer, Rejection> {
        let text = String::from_utf8_lossy(answer).into_owned();
        Ok(Answer { text, logprobs: Vec::new(), cut_off: false, usage: Usage::default(), seconds: 0.0 })
    }
}

/// What the default plan shows.
static CASES: LazyLock<Vec<Case<Questions>>> = LazyLock::new(|| cases(&PLAN));

fn cases(plan: &Plan) -> Vec<Case<Questions>> {
    probe::cases(&POLICIES, plan)
}

fn model(cassette: Option<&Path>) -> Model {
    probe::model("openai:reader", Reader::new(&CASES), cassette)
}

#[test]
fn perfect_reader_answers_hits_and_fails_misses() {
    let asked = ask(&model(None), &CASES, &|| {}).expect("an answer to everything");
    let found = Questions::results(About::new("reader", PLAN), 0, &POLICIES, asked);
    for of in &found.policies {
        let answers = &of.answers;
        println!("{}: {answers:?} {:?}", of.policy, of.agreement);
        assert_eq!(answers.nothing.right, 0, "{}", of.policy);
        assert_eq!(answers.everything.right, answers.everything.asked, "{}", of.policy);
        assert_eq!(answers.hits.right, answers.hits.asked, "{}: hits", of.policy);
        assert_eq!(answers.misses().right, 0, "{}: misses", of.policy);
    }
    let s08 = &found.policies[0];
    assert!(s08.answers.hits.asked >= 5 && s08.answers.soft.asked >= 5, "{:?}", s08.answers);
    assert_eq!([s08.agreement.share.value, s08.agreement.phi.value, s08.agreement.kappa.value], [Some(1.0); 3]);
    assert!(found.policies.iter().all(|of| of.answers.everything.asked > 0), "both controls are asked");
}

#[test]
fn probe_questions_respect_the_plan() {
    let plans = [Plan { questions: 7, ..PLAN }, Plan { max_context: 900, ..PLAN }].map(|plan| (plan, cases(&plan)));
    for (plan, cases) in plans.iter().map(|(plan, cases)| (plan, cases)).chain([(&PLAN, &*CASES)]) {
        assert!(cases.len() <= plan.questions && !cases.is_empty(), "{plan:?}");
        for forecast in forecast(cases).expect("questions") {
            let (contexts, new_tokens) = forecast.contexts.zip(forecast.new_tokens).expect("shared beginnings");
            assert!(forecast.tokens >= new_tokens && forecast.questions >= contexts, "{forecast:?}");
        }
        for Case { used, .. } in cases {
            assert!(used.hint.cloze.line.contains("____") && !used.hint.cloze.line.contains(&used.fact.text), "{used:?}");
        }
    }
    let uses = |cases: &[Case<Questions>]| cases.iter().map(|case| case.used.clone()).collect::<Vec<_>>();
    assert_ne!(uses(&CASES), uses(&cases(&Plan { seed: 2, ..PLAN })));
}

/// Runs the command on the same transcripts with the answers of a cassette.
fn command<'a>(cassette: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let options = ["--questions", "60", "--max-context", "16000", "--model", "openai:reader"];
    probe::command(&options, cassette, more)
}

#[test]
fn probe_gives_the_same_bytes_for_any_number_of_threads() {
    let folder = TempDir::new().expect("a temporary folder");
    let cassette = folder.path().to_str().expect("a plain path");
    ask(&model(Some(folder.path())), &CASES, &|| {}).expect("an answer to everything");
    for output in ["table", "markdown", "json"] {
        let of_jobs = |jobs: &str| run(command(cassette, &["-o", output, "--full", "--jobs", jobs])).printed();
        let one = of_jobs("1");
        assert!(effort::of(output != "json", false) || one == of_jobs("8"), "{output}");
        match output {
            "json" => {
                let found: Value = serde_json::from_str(&one).expect("JSON");
                let asked = found["asked"].as_array().expect("every question");
                assert_eq!(asked.len(), CASES.len());
                let agrees = |asked: &Value| (asked["outcome"] == "hit") == (asked["context"]["right"] == true);
                assert!(asked.iter().all(agrees), "{one}");
            }
            output => insta::assert_snapshot!(format!("probe-{output}"), one),
        }
    }
    insta::assert_snapshot!("probe", run(command(cassette, &[])).printed());
    insta::assert_snapshot!("probe-dry-run", run(command(cassette, &["--dry-run"])).printed());
}

#[test]
fn probe_names_a_question_without_an_answer() {
    let folder = TempDir::new().expect("a temporary folder");
    let cassette = folder.path().to_str().expect("a plain path");
    let ran = run(command(cassette, &[]));
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    let named = TRANSCRIPTS.iter().any(|name| ran.stderr.starts_with(&format!("recompact: {name}:")));
    assert!(named && ran.stderr.contains("has no answer") && ran.stderr.contains("holds no answer"), "{}", ran.stderr);
}

#[test]
fn probe_refuses_wrong_use() {
    let cases: [(&[&str], &str); 6] = [
        (&["messages", "-p", "lcc-s08", "--model", "reader"], "such as anthropic:MODEL[@BASE-URL], openai:MODEL"),
        (&["messages", "-p", "lcc-s08", "--model", "openai:"], "write openai:MODEL"),
        (&["messages", "-p", "lcc-s08", "--model", "openai:a", "-o", "html"], "probe has no html report"),
        (&["messages", "-p", "lcc-s08", "-p", "lcc-s08", "--model", "openai:a"], "named twice"),
        (&["-", "-p", "lcc-s08", "--model", "openai:a"], "standard input can be read only once"),
        (&["messages", "-p", "lcc-s08", "--model", "openai:a", "--dry-run", "--max-context", "10"], "no question could be drawn"),
    ];
    for (arguments, what) in cases {
        let ran = run(["probe"].iter().chain(arguments));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(what), "{arguments:?}: {}", ran.stderr);
    }
}
