//! `--summarizer`: what writes the summaries.

use std::sync::Arc;

use clap::Args;
use recompact::analysis::study::NamedSummarizer;
use recompact::engine::summarizer::{self, DryRun, ModelSummarizer, PlannedCall, PlannedCalls};
use recompact::llm::client::{Address, Limits, Usage};
use recompact::metrics::prices::Prices;
use recompact::util::text::plural;

use crate::cli::args::models::ModelArgs;
use crate::cli::error::Failure;
use crate::cli::resume::Fingerprint;

#[derive(Args)]
pub struct SummarizerArgs {
    /// Summarizer: extract, stub:TOKENS, fixed:TEXT, failing, anthropic:MODEL, openai:MODEL, command:PROGRAM (see
    /// `recompact catalog summarizers`); repeat to compare several [default: extract]
    #[arg(long = "summarizer", value_name = "NAME[:ARGUMENT]")]
    summarizers: Vec<String>,
    /// Samples per summary: ask each model this often, to see how much its summaries vary
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    replicates: u32,
    #[command(flatten)]
    models: ModelArgs,
    /// Disables comparison: a model gets no reference summarizers beside it.
    #[arg(skip)]
    pub no_comparison: bool,
}

/// Reference summarizers that models are compared with: the default, and one whose summaries have a usual size but say
/// nothing.
const REFERENCES: [&str; 2] = ["extract", "stub:500"];

/// The calls that each model would get in a dry run, by model name.
#[derive(Default)]
pub struct DryRunPlan(Vec<(String, Arc<PlannedCalls>)>);

impl SummarizerArgs {
    /// Returns the summarizers. If models are compared, the reference summarizers are added: one that needs no model
    /// and one that keeps nothing. With a plan, no model is called; its calls are recorded in the plan.
    pub fn all(&self, prices: &Prices, mut plan: Option<&mut DryRunPlan>) -> Result<Vec<NamedSummarizer>, Failure> {
        let factory = self.models.factory(prices);
        let mut writers: Vec<NamedSummarizer> = Vec::new();
        for written in &self.summarizers {
            let Some(address) = Address::parse(written) else {
                writers.push(without_model(written)?);
                continue;
            };
            let address = address.map_err(Failure::Usage)?;
            for replicate in 1..=self.replicates {
                let writer = match &mut plan {
                    None => NamedSummarizer::new(&address.name(), ModelSummarizer { model: factory.model(&address, replicate)? }),
                    Some(plan) => {
                        let model = factory.offline_model(&address, replicate);
                        NamedSummarizer::new(&address.name(), DryRun { model, planned: plan.calls_of(&address.name()) })
                    }
                };
                writers.push(NamedSummarizer { replicate: (self.replicates > 1).then_some(replicate), ..writer });
            }
        }
        let is_twice =
            |(index, writer): (usize, &NamedSummarizer)| writers[..index].iter().any(|other| other.is_called_as(writer));
        if let Some((_, twice)) = writers.iter().enumerate().find(|pair| is_twice(*pair)) {
            return Err(Failure::Usage(format!("the summarizer `{}` is named twice", twice.name)));
        }
        let references = if self.compares() { &REFERENCES[..] } else { &REFERENCES[..usize::from(writers.is_empty())] };
        for reference in references {
            if !writers.iter().any(|writer| writer.name == *reference) {
                writers.push(without_model(reference)?);
            }
        }
        Ok(writers)
    }

    /// Whether summarizers are compared: there are several, or there are models.
    pub fn compares(&self) -> bool {
        !self.no_comparison && (self.summarizers.len() > 1 || self.uses_models())
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

    /// The part of the fingerprint that these options decide. The URL of a model is not included.
    pub fn fingerprint(&self) -> Fingerprint {
        let options = [
            ("--summarizer", self.names().join(", ")),
            ("--replicates", self.replicates.to_string()),
            ("--param", serde_json::Value::Object(self.models.params()).to_string()),
        ];
        options.into_iter().map(|(option, value)| (option.to_owned(), value)).collect()
    }

    fn names(&self) -> Vec<String> {
        let name = |written: &String| match Address::parse(written) {
            Some(Ok(address)) => address.name(),
            _ => written.clone(),
        };
        self.summarizers.iter().map(name).collect()
    }
}

/// Returns a summarizer that calls no model.
fn without_model(written: &str) -> Result<NamedSummarizer, Failure> {
    let summarizer = summarizer::by_name(written).map_err(Failure::Usage)?;
    Ok(NamedSummarizer { name: written.to_owned(), replicate: None, summarizer })
}

impl DryRunPlan {
    fn calls_of(&mut self, name: &str) -> Arc<PlannedCalls> {
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
