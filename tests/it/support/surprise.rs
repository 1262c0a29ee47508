//! The measured surprise of two models, from `fixtures/surprise`: numbers of uses in recordings that are not in the repository.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use recompact::analysis::probe::surprise::{LearnedElsewhere, NEEDS, ScoredUse, SurpriseResults};
use recompact::analysis::probe::{About, Outcome, Plan};
use recompact::facts::extract::FactKind;
use recompact::facts::references::Provenance;

/// The models, by the name of their file. The weights of the program were learned from the first.
pub const MODELS: [&str; 2] = ["qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"];

/// The results of both models, computed once for all tests. No use is at a call that fetches again.
pub static RESULTS: LazyLock<[SurpriseResults; 2]> = LazyLock::new(|| MODELS.map(|model| results(model, model, 640)));

/// The models that were asked later, also about what calls fetch again: the first again, and one of another family.
const MODELS_OF_NEEDS: [&str; 2] = [MODELS[0], "gemma-3-270m"];

/// Their results.
pub static RESULTS_OF_NEEDS: LazyLock<[SurpriseResults; 2]> =
    LazyLock::new(|| MODELS_OF_NEEDS.map(|model| results(&format!("needs-{model}"), model, 240)));

/// Returns the results of a model, with weights that were learned on other repositories: those of the program were learned on these.
fn results(file: &str, model: &str, questions: usize) -> SurpriseResults {
    let mut uses = uses(file);
    let weights: Vec<f64> = {
        let learned = LearnedElsewhere::new(&uses);
        uses.iter().map(|used| learned.weight(used)).collect()
    };
    uses.iter_mut().zip(weights).for_each(|(used, weight)| used.weight = weight);
    let mut policies: Vec<String> = uses.iter().map(|used| used.policy.clone()).collect();
    let mut seen = std::collections::BTreeSet::new();
    policies.retain(|policy| seen.insert(policy.clone()));
    let policies: Vec<&str> = policies.iter().map(String::as_str).collect();
    SurpriseResults::new(About::new(model, Plan { questions, max_context: 512, seed: 1 }), 0, &policies, uses)
}

fn uses(file: &str) -> Vec<ScoredUse> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/surprise/{file}.csv"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    lines.map(|line| used(&header, &line.split(',').collect::<Vec<_>>())).collect()
}

fn used(header: &[&str], cells: &[&str]) -> ScoredUse {
    let cell = |name: &str| cells[header.iter().position(|column| *column == name).expect(name)];
    let number = |name: &str| cell(name).parse::<f64>().unwrap_or_else(|error| panic!("{name}: {error}"));
    let optional = |name: &str| (!cell(name).is_empty()).then(|| number(name));
    let known = |names: &[&'static str], name: &str| *names.iter().find(|known| **known == cell(name)).expect(name);
    ScoredUse {
        policy: cell("policy").to_owned(),
        transcript: cell("session").to_owned(),
        session: cell("session").to_owned(),
        project: Some(cell("repository").to_owned()),
        format: cell("format").to_owned(),
        recorded_model: Some(cell("recorded_model").to_owned()),
        kind: known(&FactKind::ALL.map(FactKind::name), "kind"),
        gap: number("gap") as u32,
        need: known(&NEEDS, "need"),
        provenance: known(&Provenance::ALL.map(Provenance::name), "provenance"),
        outcome: *Outcome::ALL.iter().find(|outcome| outcome.name() == cell("outcome")).expect("an outcome"),
        rarity: number("rarity"),
        shared: optional("shared"),
        bytes: number("bytes") as usize,
        tokens: number("tokens") as usize,
        full: number("full"),
        compacted: number("compacted"),
        lost: number("lost"),
        other_block: optional("other_block"),
        other_fact_full: optional("other_fact_full"),
        other_fact: optional("other_fact"),
        prompt_tokens: number("prompt_tokens") as u64,
        request_tokens: number("request_tokens") as u64,
        ..ScoredUse::default()
    }
}
