//! Checks `recompact probe` with a perfect reader: it knows every fact, and names it if the context that it is shown
//! contains it. Then its answers must agree with `kept.hit`.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

use recompact::analysis::probe::{Plan, ProbeResults, SampledQuestions, Shown, ask, choose, forecast, sample, show};
use recompact::analysis::study::Study;
use recompact::engine::policy::{Policy, preset};
use recompact::facts::extract::{self, FactKind};
use recompact::llm::client::{Answer, Cassette, CassetteMode, Limits, Model, ModelConfig, Provider, Question, Rejection, Usage};
use recompact::transcript::format::{self, ReadOptions, Reading};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::effort;
use crate::support::program::{fixtures, run};

const TRANSCRIPTS: [&str; 3] = ["claude-code/repair.jsonl", "messages/repair.blocks.jsonl", "openai-chat/tasks.json"];
const POLICIES: [&str; 2] = ["lcc-s08", "drop-all"];
const PLAN: Plan = Plan { questions: 60, max_context: 16_000, seed: 1 };

/// Names a fact if the context has it, by the cloze of the question.
struct Reader {
    asked: HashMap<String, (FactKind, String)>,
    /// Facts of each context.
    read: Mutex<HashMap<String, HashSet<(FactKind, String)>>>,
}

impl Reader {
    fn new(shown: &[Shown]) -> Self {
        let questions = shown.iter().flat_map(|shown| &shown.spot.questions);
        let asked = questions.map(|question| (question.cloze.line.clone(), (question.kind, question.fact.clone()))).collect();
        Self { asked, read: Mutex::default() }
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

fn readings() -> Vec<(&'static str, Reading)> {
    let read = |name: &'static str| {
        let bytes = fs::read(fixtures().join(name)).expect("a fixture");
        let format = format::sniff(&bytes).expect("a known format");
        (name, (format.read)(&bytes, &ReadOptions::default()))
    };
    TRANSCRIPTS.map(read).into()
}

fn study() -> Study {
    let policies = POLICIES.iter().chain(&["keep-all"]).map(|name| preset(name).expect("a preset").policy(&[]).expect("valid"));
    Study::new(policies.collect())
}

/// Returns what the default plan shows.
static SHOWN: LazyLock<Vec<Shown>> = LazyLock::new(|| shown(&PLAN));

fn shown(plan: &Plan) -> Vec<Shown> {
    let (study, readings) = (study(), readings());
    let policies: Vec<&Policy> = study.policies[..POLICIES.len()].iter().collect();
    let drawn = readings.iter().map(|(name, reading)| sample(&study, &policies, plan, name, reading));
    let spots = choose(drawn.flat_map(|SampledQuestions { spots, .. }| spots).collect(), plan);
    let of = |(name, reading): &(&str, Reading)| {
        let here: Vec<_> = spots.iter().filter(|spot| spot.transcript == *name).cloned().collect();
        show(&study, &policies, plan, &here, reading)
    };
    readings.iter().flat_map(of).collect()
}

fn model(shown: &[Shown], cassette: Option<&Path>) -> Model {
    Model::new(ModelConfig {
        name: "openai:reader".to_owned(),
        params: serde_json::Map::new(),
        replicate: 1,
        provider: Some(Box::new(Reader::new(shown))),
        cassette: Arc::new(Cassette::new(cassette.map(Path::to_owned), CassetteMode::Auto)),
        limits: Arc::new(Limits::new(None, None, 4)),
        price: None,
        retries: 0,
        first_wait: recompact::llm::client::FIRST_WAIT,
        stopped: || false,
    })
}

#[test]
fn perfect_reader_answers_hits_and_fails_misses() {
    let shown = &*SHOWN;
    let asked = ask(&model(shown, None), shown, &|| {}).expect("an answer to everything");
    let found = ProbeResults::new("reader", PLAN, 0, &POLICIES, shown, asked);
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
    let plans = [Plan { questions: 7, ..PLAN }, Plan { max_context: 900, ..PLAN }].map(|plan| (plan, shown(&plan)));
    for (plan, shown) in plans.iter().map(|(plan, shown)| (plan, shown)).chain([(&PLAN, &*SHOWN)]) {
        let questions = || shown.iter().flat_map(|shown| &shown.spot.questions);
        assert!(questions().count() <= plan.questions && questions().count() > 0, "{plan:?}");
        for forecast in forecast(shown) {
            assert!(forecast.tokens >= forecast.new_tokens && forecast.questions >= forecast.contexts, "{forecast:?}");
        }
        for question in questions() {
            assert!(question.cloze.line.contains("____") && !question.cloze.line.contains(&question.fact), "{question:?}");
        }
    }
    assert_ne!(*SHOWN, shown(&Plan { seed: 2, ..PLAN }));
}

/// Runs the command on the same transcripts with the answers of a cassette.
fn probe<'a>(cassette: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let policies = POLICIES.iter().flat_map(|policy| ["-p", policy]);
    let plan = ["--questions", "60", "--max-context", "16000", "--model", "openai:reader"];
    let cassette = ["--cassette", cassette, "--cassette-mode", "replay"];
    ["probe"].into_iter().chain(TRANSCRIPTS).chain(policies).chain(plan).chain(cassette).chain(more.iter().copied()).collect()
}

#[test]
fn probe_gives_the_same_bytes_for_any_number_of_threads() {
    let folder = TempDir::new().expect("a temporary folder");
    let cassette = folder.path().to_str().expect("a plain path");
    let shown = &*SHOWN;
    ask(&model(shown, Some(folder.path())), shown, &|| {}).expect("an answer to everything");
    for output in ["table", "markdown", "json"] {
        let of_jobs = |jobs: &str| run(probe(cassette, &["-o", output, "--full", "--jobs", jobs])).printed();
        let one = of_jobs("1");
        assert!(effort::of(output != "json", false) || one == of_jobs("8"), "{output}");
        match output {
            "json" => {
                let found: Value = serde_json::from_str(&one).expect("JSON");
                let asked = found["asked"].as_array().expect("every question");
                assert_eq!(asked.len(), shown.iter().map(|shown| shown.spot.questions.len()).sum::<usize>());
                let agrees = |asked: &Value| (asked["outcome"] == "hit") == (asked["context"]["right"] == true);
                assert!(asked.iter().all(agrees), "{one}");
            }
            output => insta::assert_snapshot!(format!("probe-{output}"), one),
        }
    }
    insta::assert_snapshot!("probe", run(probe(cassette, &[])).printed());
    insta::assert_snapshot!("probe-dry-run", run(probe(cassette, &["--dry-run"])).printed());
}

#[test]
fn probe_names_a_question_without_an_answer() {
    let folder = TempDir::new().expect("a temporary folder");
    let cassette = folder.path().to_str().expect("a plain path");
    let ran = run(probe(cassette, &[]));
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
