//! `--summarizer`: who writes the summaries.

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
    /// Who writes the summaries: extract, stub:TOKENS, fixed:TEXT, failing, anthropic:MODEL, openai:MODEL, command:PROGRAM (see
    /// `recompact catalog summarizers`); several are compared [default: extract]
    #[arg(long = "summarizer", value_name = "NAME[:ARGUMENT]")]
    summarizers: Vec<String>,
    /// Ask each model so many times for every summary, to see how far its summaries differ
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    replicates: u32,
    #[command(flatten)]
    models: ModelArgs,
    /// Whether a model stands for itself, without the bounds of what it may be worth.
    #[arg(skip)]
    pub is_alone: bool,
}

/// The default, which is also what models are held against; and a summary of a usual size that says nothing.
const BOUNDS: [&str; 2] = ["extract", "stub:500"];

/// What models would be asked in a dry run, by their names.
#[derive(Default)]
pub struct Plan(Vec<(String, Arc<PlannedCalls>)>);

impl SummarizerArgs {
    /// Those who write. Beside a model stand what needs none and what keeps nothing: the bounds of what it may be worth. With a plan,
    /// no model is asked, and what it would be asked is noted there.
    pub fn all(&self, prices: &Prices, mut plan: Option<&mut Plan>) -> Result<Vec<NamedSummarizer>, Failure> {
        let shared = self.models.shared(prices);
        let mut writers: Vec<NamedSummarizer> = Vec::new();
        for written in &self.summarizers {
            let Some(address) = Address::parse(written) else {
                writers.push(plain(written)?);
                continue;
            };
            let address = address.map_err(Failure::Usage)?;
            for replicate in 1..=self.replicates {
                let writer = match &mut plan {
                    None => NamedSummarizer::new(&address.name(), ModelSummarizer { model: shared.model(&address, replicate)? }),
                    Some(plan) => {
                        let model = shared.unasked(&address, replicate);
                        NamedSummarizer::new(&address.name(), DryRun { model, planned: plan.of(&address.name()) })
                    }
                };
                writers.push(NamedSummarizer { replicate: (self.replicates > 1).then_some(replicate), ..writer });
            }
        }
        let is_twice = |(at, writer): (usize, &NamedSummarizer)| writers[..at].iter().any(|other| other.is_called_as(writer));
        if let Some((_, twice)) = writers.iter().enumerate().find(|one| is_twice(*one)) {
            return Err(Failure::Usage(format!("the summarizer `{}` is named twice", twice.name)));
        }
        let bounds = if self.compares() { &BOUNDS[..] } else { &BOUNDS[..usize::from(writers.is_empty())] };
        for bound in bounds {
            if !writers.iter().any(|writer| writer.name == *bound) {
                writers.push(plain(bound)?);
            }
        }
        Ok(writers)
    }

    /// Whether summarizers are compared: there are several, or models.
    pub fn compares(&self) -> bool {
        !self.is_alone && (self.summarizers.len() > 1 || self.asks_models())
    }

    pub fn asks_models(&self) -> bool {
        self.summarizers.iter().any(|written| Address::parse(written).is_some())
    }

    /// The limits of the models that are asked, if any are.
    pub fn limits(&self) -> Option<Arc<Limits>> {
        self.asks_models().then(|| self.models.limits())
    }

    /// How models are asked, for those who ask them something else.
    pub fn models(&self) -> &ModelArgs {
        &self.models
    }

    /// What decides the results. Where a model is asked is not among it.
    pub fn question(&self) -> Fingerprint {
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

/// A summarizer that asks no model.
fn plain(written: &str) -> Result<NamedSummarizer, Failure> {
    let summarizer = summarizer::by_name(written).map_err(Failure::Usage)?;
    Ok(NamedSummarizer { name: written.to_owned(), replicate: None, summarizer })
}

impl Plan {
    fn of(&mut self, name: &str) -> Arc<PlannedCalls> {
        if let Some((_, planned)) = self.0.iter().find(|(known, _)| known == name) {
            return Arc::clone(planned);
        }
        let planned = Arc::default();
        self.0.push((name.to_owned(), Arc::clone(&planned)));
        planned
    }

    /// A line a model: what would be asked, and what that would cost at most.
    pub fn page(&self, prices: &Prices) -> String {
        let mut page = "Nothing was asked. What the models would be asked, and would cost at most:\n".to_owned();
        for (name, planned) in &self.0 {
            let calls = planned.calls();
            let (known, new): (Vec<&PlannedCall>, Vec<&PlannedCall>) = calls.iter().partition(|call| call.is_known);
            let sum = |of: fn(&Usage) -> u64| new.iter().map(|call| of(&call.at_most)).sum::<u64>();
            let price = prices.of_answers(name);
            let cost = price.map_or("the price is not known".to_owned(), |price| {
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
        page += "A question that comes later holds earlier answers; those that are not known yet were taken as `extract` writes them,\n\
                 so the number of calls is an estimate. Attempts that fail and are tried again come on top.\n";
        page
    }
}
