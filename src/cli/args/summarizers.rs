//! `--summarizer`: what writes the summaries.

use std::sync::Arc;

use clap::Args;
use recompact::analysis::spec::StudySpec;
use recompact::engine::summarizer::{PlannedCall, PlannedCalls};
use recompact::llm::client::{Address, Limits, Usage};
use recompact::metrics::prices::Prices;
use recompact::util::text::plural;

use crate::cli::args::models::ModelArgs;
use crate::cli::help::MODELS;

#[derive(Args)]
pub struct SummarizerArgs {
    /// Who writes the summaries (see `recompact catalog summarizers`); repeatable [default: extract]
    ///
    /// extract, stub:TOKENS, fixed:TEXT, failing, anthropic:MODEL, openai:MODEL, command:PROGRAM. Several are compared.
    #[arg(long = "summarizer", value_name = "NAME[:ARGUMENT]")]
    summarizers: Vec<String>,
    /// Samples per summary: ask each model this often, to see how much its summaries vary
    #[arg(help_heading = MODELS, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    replicates: u32,
    #[command(flatten)]
    models: ModelArgs,
}

/// The calls that each model would get in a dry run, by model name.
#[derive(Default)]
pub struct DryRunPlan(Vec<(String, Arc<PlannedCalls>)>);

impl SummarizerArgs {
    /// Writes these options into the description of a study.
    pub fn describe(&self, spec: &mut StudySpec) {
        spec.summarizer.clone_from(&self.summarizers);
        spec.replicates = self.replicates;
        spec.references = self.compares();
        spec.param = self.models.params();
    }

    /// Whether summarizers are compared: there are several, or there are models.
    pub fn compares(&self) -> bool {
        self.summarizers.len() > 1 || self.uses_models()
    }

    pub fn uses_models(&self) -> bool {
        self.summarizers.iter().any(|written| Address::parse(written).is_some())
    }

    /// The limits of model calls, if models are called.
    pub fn limits(&self) -> Option<Arc<Limits>> {
        self.uses_models().then(|| self.models.limits())
    }

    /// The options for calling models; `probe` uses them for its own model.
    pub fn models(&self) -> &ModelArgs {
        &self.models
    }
}

impl DryRunPlan {
    /// Returns the calls of a model, of which there may be none yet.
    pub fn calls_of(&mut self, name: &str) -> Arc<PlannedCalls> {
        if let Some((_, planned)) = self.0.iter().find(|(known, _)| known == name) {
            return Arc::clone(planned);
        }
        let planned = Arc::default();
        self.0.push((name.to_owned(), Arc::clone(&planned)));
        planned
    }

    /// Returns one line per model: the calls that would be made, and their maximum cost.
    pub fn page(&self, prices: &Prices) -> String {
        let mut page = "No model was called. Calls that would be made, and their maximum cost:\n".to_owned();
        for (name, planned) in &self.0 {
            let calls = planned.calls();
            let (known, new): (Vec<&PlannedCall>, Vec<&PlannedCall>) = calls.iter().partition(|call| call.is_known);
            let sum = |tokens: fn(&Usage) -> u64| new.iter().map(|call| tokens(&call.at_most)).sum::<u64>();
            let price = prices.of_answers(name);
            let cost = price.map_or("unknown price".to_owned(), |price| {
                format!("${:.2}", new.iter().map(|call| price(&call.at_most)).sum::<f64>())
            });
            page += &format!(
                "  {name}: {}, {} on the cassette; ~{} tokens in, at most {} out: {cost}\n",
                plural(new.len(), "new call"),
                known.len(),
                sum(|usage| usage.input),
                sum(|usage| usage.output),
            );
        }
        page += "Later prompts contain earlier answers. Unknown answers were replaced by what `extract` writes,\n\
                 so the number of calls is an estimate. Retries of failed attempts come on top.\n";
        page
    }
}
