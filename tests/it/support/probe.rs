//! A probe of some fixtures, with any scorer: through the library, and with the command.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use recompact::analysis::probe::{Case, Plan, SampledUse, Scorer, choose, sample, show};
use recompact::analysis::study::Study;
use recompact::engine::policy::{Policy, preset};
use recompact::llm::client::{Cassette, CassetteMode, FIRST_WAIT, Limits, Model, ModelConfig, Provider};
use recompact::transcript::format::{self, ReadOptions, Reading};

use super::program::fixtures;

pub const TRANSCRIPTS: [&str; 3] = ["claude-code/repair.jsonl", "messages/repair.blocks.jsonl", "openai-chat/tasks.json"];
pub const POLICIES: [&str; 2] = ["lcc-s08", "drop-all"];

fn readings() -> Vec<(&'static str, Reading)> {
    let read = |name: &'static str| {
        let bytes = fs::read(fixtures().join(name)).expect("a fixture");
        let format = format::sniff(&bytes).expect("a known format");
        (name, (format.read)(&bytes, &ReadOptions::default()))
    };
    TRANSCRIPTS.map(read).into()
}

/// Returns what a plan shows under some policies.
pub fn cases<S: Scorer>(policies: &[&str], plan: &Plan) -> Vec<Case<S>> {
    let policy = |name: &str| preset(name).expect("a preset").policy(&[]).expect("valid");
    let study = Study::new(policies.iter().map(|name| policy(name)).chain([Policy::keep_all()]).collect());
    let policies: Vec<&Policy> = study.policies[..policies.len()].iter().collect();
    let readings = readings();
    let drawn = readings.iter().flat_map(|(name, reading)| sample::<S>(&study, &policies, plan, name, reading).uses);
    let uses = choose::<S>(drawn.collect(), plan);
    let of = |(name, reading): &(&str, Reading)| {
        let here: Vec<&SampledUse<S::Hint>> = uses.iter().filter(|used| used.transcript == *name).collect();
        show::<S>(&study, &policies, plan, &here, reading)
    };
    readings.iter().flat_map(of).collect()
}

/// Returns a model that is not asked over a network.
pub fn model(name: &str, provider: impl Provider + 'static, cassette: Option<&Path>) -> Model {
    Model::new(ModelConfig {
        name: name.to_owned(),
        params: serde_json::Map::new(),
        replicate: 1,
        provider: Some(Box::new(provider)),
        cassette: Arc::new(Cassette::new(cassette.map(Path::to_owned), CassetteMode::Auto)),
        limits: Arc::new(Limits::new(None, None, 4)),
        price: None,
        retries: 0,
        first_wait: FIRST_WAIT,
        stopped: Arc::new(|| false),
    })
}

/// Returns the command for the same transcripts, with the answers of a cassette.
pub fn command<'a>(options: &[&'a str], cassette: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let policies = POLICIES.iter().flat_map(|policy| ["-p", policy]);
    let cassette = ["--cassette", cassette, "--cassette-mode", "replay"];
    let options = options.iter().copied().chain(cassette).chain(more.iter().copied());
    ["probe"].into_iter().chain(TRANSCRIPTS).chain(policies).chain(options).collect()
}
