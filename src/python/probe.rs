//! Probes: what a model says about the facts in the requests of policies.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;

use super::documents::Document;
use super::error::{raise, raise_message};
use super::resources::PythonResources;
use super::settings::{from_settings, study_spec};
use super::study::Policies;
use super::watch::{Skipped, Watch, corpus, strict};
use crate::analysis::corpus::{Analysed, Source, for_each};
use crate::analysis::probe::questions::Questions;
use crate::analysis::probe::surprise::Surprise;
use crate::analysis::probe::{About, Cases, Plan, SampledUses, Scorer, ask, forecast, sample};
use crate::analysis::spec::{Loaded, ModelRequest, StudySpec};
use crate::cli::args::models::ModelArgs;
use crate::engine::policy::Policy;
use crate::llm::client::{Address, CassetteMode, Purpose};
use crate::report::probe::DryRun;
use crate::transcript::format::Reading;

/// How a model is asked, and what may be spent. What is not given is as for the program.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Asking {
    model: String,
    by: By,
    questions: usize,
    max_context: Option<u64>,
    dry_run: bool,
    base_url: Option<String>,
    key_env: Option<String>,
    timeout: Option<NonZeroU64>,
    retries: Option<usize>,
    concurrency: Option<NonZeroUsize>,
    cassette: Option<PathBuf>,
    cassette_mode: Mode,
    max_calls: Option<u64>,
    max_cost: Option<f64>,
}

/// The names of the settings above.
const ASKING: [&str; 14] = [
    "model",
    "by",
    "questions",
    "max_context",
    "dry_run",
    "base_url",
    "key_env",
    "timeout",
    "retries",
    "concurrency",
    "cassette",
    "cassette_mode",
    "max_calls",
    "max_cost",
];

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum By {
    #[default]
    Questions,
    Surprise,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Auto,
    Replay,
    Record,
}

/// Asks a model about facts in the requests of policies, or says what would be asked.
#[pyfunction]
pub fn probe(
    py: Python,
    paths: Vec<PathBuf>,
    policies: Policies,
    settings: &Bound<PyDict>,
    asking: &Bound<PyDict>,
    watch: Watch,
) -> PyResult<(Document, Skipped)> {
    let asking: Asking = from_settings(asking, &ASKING.map(str::to_owned))?;
    let spec = StudySpec { bounds: false, ..study_spec(&policies.0, settings)? };
    match asking.by {
        By::Questions => probe_by::<Questions>(py, &paths, (policies, spec), &asking, watch),
        By::Surprise => probe_by::<Surprise>(py, &paths, (policies, spec), &asking, watch),
    }
}

fn probe_by<S: Scorer<Results: crate::report::Document + Send + Sync>>(
    py: Python,
    paths: &[PathBuf],
    (policies, spec): (Policies, StudySpec),
    asking: &Asking,
    watch: Watch,
) -> PyResult<(Document, Skipped)> {
    let Policies(_, functions, trusts_files, skips) = policies;
    let (models, address) = (asking.models()?, asking.address(S::PURPOSE)?);
    let resources = PythonResources::new(&functions, trusts_files, skips)?;
    let functions = resources.functions();
    let calls = functions.calls();
    let stopped = calls.stopped();
    let factory = || {
        let stopped = stopped.clone();
        models.factory().stopped_by(move || stopped.load(Ordering::Relaxed))
    };
    let resources = resources.asking(factory(), asking.dry_run);
    let Loaded { study, policies, .. } = spec.load(&resources).map_err(raise)?;
    let policies: Vec<&Policy> = policies.iter().collect();
    let request = ModelRequest {
        address: &address,
        replicate: 1,
        params: &spec.param.clone().into_iter().collect(),
        prices: &study.prices,
    };
    let model = (!asking.dry_run).then(|| factory().model(&request)).transpose().map_err(raise_message)?;
    let plan = Plan { questions: asking.questions, max_context: asking.max_context.unwrap_or(S::MAX_CONTEXT), seed: study.seed };
    let corpus = corpus(paths, &spec.read)?;
    let watch = watch.for_questions(models.concurrency);

    let draw = |source: Source, reading: &Reading| {
        let sampled = sample::<S>(&study, &policies, &plan, source.name, reading);
        source.replayed(reading, policies.len());
        sampled
    };
    let (processed, notes) =
        watch.run_calling(py, &corpus, calls, |corpus, pulse| for_each(corpus, &functions.until_raised(pulse), draw))?;
    functions.check(py, &spec.read, processed.results.iter().map(SampledUses::unanswered))?;
    let skipped = Skipped::new(&processed, notes);
    let processed = strict(&spec.read, processed)?.without(SampledUses::unanswered);
    let Analysed { results: samples, coverage, end } = processed.analysed().map_err(raise)?;
    let skipped = skipped.with_end(&spec.read, end)?;
    let (chosen, _) = watch.run_calling(py, &corpus, calls, |corpus, pulse| {
        Cases::<S>::choose((&study, &policies), &plan, samples, corpus, &functions.until_raised(pulse))
    })?;
    let Cases { cases, left_out } = chosen.map_err(raise)?;
    let Some(model) = model else {
        let forecasts = py.detach(|| forecast(&cases)).map_err(|why| raise_message(why.to_string()))?;
        return Ok((Document::new(DryRun { forecasts, coverage }), skipped));
    };
    let (scored, _) = watch.run_calling(py, &corpus, calls, |_, _| ask(&model, &cases, &|| {}))?;
    let scored = scored.map_err(|why| raise_message(why.to_string()))?;
    let names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
    let about = About { coverage, ..About::new(model.name(), plan) };
    Ok((Document::new(S::results(about, left_out, &names, scored)), skipped))
}

impl Asking {
    fn models(&self) -> PyResult<ModelArgs> {
        let mut models = ModelArgs::default();
        models.base_url.clone_from(&self.base_url);
        models.key_env.clone_from(&self.key_env);
        models.cassette.clone_from(&self.cassette);
        models.timeout = self.timeout.map_or(models.timeout, NonZeroU64::get);
        models.retries = self.retries.unwrap_or(models.retries);
        models.concurrency = self.concurrency.map_or(models.concurrency, NonZeroUsize::get);
        models.cassette_mode = match self.cassette_mode {
            Mode::Auto => CassetteMode::Auto,
            Mode::Replay => CassetteMode::Replay,
            Mode::Record => CassetteMode::Record,
        };
        models.max_calls = self.max_calls;
        models.with_max_cost(self.max_cost).map_err(raise_message)
    }

    fn address(&self, purpose: Purpose) -> PyResult<Address> {
        let unknown = || raise_message(format!("model: name one, such as {}, not '{}'", purpose.forms(), self.model));
        let named = Address::parse_for(&self.model, purpose).ok_or_else(unknown)?;
        named.map_err(|why| raise_message(format!("model {}: {why}", self.model)))
    }
}
