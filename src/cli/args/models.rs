//! Models that are asked over the network, or a program: how, how much of it, and where their answers are kept.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::Args;
use recompact::llm::client::{Address, Cassette, Connection, FIRST_WAIT, Limits, Mode, Model, Setup};
use recompact::metrics::prices::Prices;
use serde_json::{Map, Value};

use crate::cli::error::Failure;
use crate::cli::input::at_least_one;
use crate::cli::interrupt;

/// The heading of these options in `--help`. It is said at each: said once, it would be that of all options behind them, too.
const HEADING: &str = "Models";

#[derive(Args)]
pub struct ModelArgs {
    /// Where the model is asked, for all that do not say it themselves (openai:MODEL@URL) [default: its maker's own]
    #[arg(help_heading = HEADING, long, value_name = "URL")]
    base_url: Option<String>,
    /// The variable of the environment that holds the key [default: OPENAI_API_KEY, ANTHROPIC_API_KEY]
    #[arg(help_heading = HEADING, long, value_name = "VARIABLE")]
    key_env: Option<String>,
    /// A field of every request beside the question, as JSON or as text: --param temperature=0
    #[arg(help_heading = HEADING, long = "param", value_name = "FIELD=VALUE", value_parser = param)]
    params: Vec<(String, Value)>,
    /// How many seconds one attempt may take
    #[arg(help_heading = HEADING, long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// How often a failed attempt is tried again
    #[arg(help_heading = HEADING, long, value_name = "N", default_value_t = 5)]
    retries: usize,
    /// How many calls are made at a time
    #[arg(help_heading = HEADING, long, value_name = "N", default_value_t = 4, value_parser = at_least_one)]
    concurrency: usize,
    /// Keep the answers of models in this folder, and take from it those it has
    #[arg(help_heading = HEADING, long, value_name = "DIR")]
    cassette: Option<PathBuf>,
    /// What the cassette is used for
    #[arg(help_heading = HEADING, long, value_enum, default_value_t = Mode::Auto, requires = "cassette")]
    cassette_mode: Mode,
    /// Make no more calls than this; what needs one is left out
    #[arg(help_heading = HEADING, long, value_name = "N")]
    max_calls: Option<u64>,
    /// Make no call that could bring the cost over this
    #[arg(help_heading = HEADING, long, value_name = "USD")]
    max_cost: Option<f64>,
    #[arg(skip)]
    limits: OnceLock<Arc<Limits>>,
}

fn param(written: &str) -> Result<(String, Value), String> {
    let (field, value) = written.split_once('=').ok_or_else(|| format!("`{written}`: write FIELD=VALUE"))?;
    Ok((field.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| Value::from(value))))
}

/// What all models of one run share.
pub struct Shared<'a> {
    models: &'a ModelArgs,
    prices: &'a Prices,
    cassette: Arc<Cassette>,
    limits: Arc<Limits>,
}

impl ModelArgs {
    pub fn shared<'a>(&'a self, prices: &'a Prices) -> Shared<'a> {
        Shared {
            models: self,
            prices,
            cassette: Arc::new(Cassette::new(self.cassette.clone(), self.cassette_mode)),
            limits: self.limits(),
        }
    }

    /// Of all models of this run together.
    pub fn limits(&self) -> Arc<Limits> {
        let limits = || Arc::new(Limits::new(self.max_calls, self.max_cost, self.concurrency));
        Arc::clone(self.limits.get_or_init(limits))
    }

    /// In one order, for they are a part of what a question is known by.
    pub fn params(&self) -> Map<String, Value> {
        let mut params = self.params.clone();
        params.sort_by(|(a, _), (b, _)| a.cmp(b));
        params.into_iter().collect()
    }
}

impl Shared<'_> {
    /// The model at an address.
    pub fn model(&self, address: &Address, replicate: u32) -> Result<Model, Failure> {
        let ModelArgs { timeout, retries, cassette_mode, max_cost, .. } = self.models;
        let price = self.prices.of_answers(&address.name());
        if price.is_none() && max_cost.is_some() {
            let what = format!(
                "--max-cost: the price of {} is not known; --prices FILE tells it, --max-calls limits calls",
                address.name()
            );
            return Err(Failure::Usage(what));
        }
        let connect = || address.connect(&self.connection(address, Duration::from_secs(*timeout))?).map_err(Failure::Usage);
        let provider = (*cassette_mode != Mode::Replay).then(connect).transpose()?;
        Ok(Model::new(Setup { provider, price, retries: *retries, ..self.setup(address, replicate) }))
    }

    /// One of which only the cassette is asked.
    pub fn unasked(&self, address: &Address, replicate: u32) -> Model {
        Model::new(self.setup(address, replicate))
    }

    fn setup(&self, address: &Address, replicate: u32) -> Setup {
        Setup {
            name: address.name(),
            params: self.models.params(),
            replicate,
            provider: None,
            cassette: Arc::clone(&self.cassette),
            limits: Arc::clone(&self.limits),
            price: None,
            retries: 0,
            first_wait: FIRST_WAIT,
            stopped: interrupt::requested,
        }
    }

    fn connection(&self, address: &Address, timeout: Duration) -> Result<Connection, Failure> {
        let base_url = address.base_url.clone().or_else(|| self.models.base_url.clone());
        let variable = self.models.key_env.as_deref().unwrap_or(address.protocol.key_variable);
        let key = std::env::var(variable).ok().map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        if key.is_none() && base_url.is_none() && !variable.is_empty() {
            return Err(Failure::Usage(format!(
                "{}: no key: {variable} is not set; --base-url asks another server",
                address.name()
            )));
        }
        let base_url = base_url.unwrap_or_else(|| address.protocol.base_url.to_owned());
        Ok(Connection { base_url, key, key_variable: variable.to_owned(), timeout, params: self.models.params() })
    }
}
