//! Options for calling models over the network or as a program: how, how much, and where answers are saved.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::Args;
use recompact::analysis::spec::ModelRequest;
use recompact::llm::client::{Cassette, CassetteMode, Connection, FIRST_WAIT, Limits, Model, ModelConfig};
use serde_json::Value;

use crate::cli::file_uses::FileUses;
use crate::cli::help::MODELS;
use crate::cli::input::at_least_one;
use crate::cli::interrupt;

// The defaults of the program and of the Python package.
const TIMEOUT_SECONDS: u64 = 600;
const RETRIES: usize = 5;
const CALLS_AT_A_TIME: usize = 4;

#[derive(Args)]
pub struct ModelArgs {
    /// Base URL for models that do not name one (openai:MODEL@URL) [default: the provider's]
    #[arg(help_heading = MODELS, long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Environment variable that holds the API key [default: OPENAI_API_KEY, ANTHROPIC_API_KEY]
    #[arg(help_heading = MODELS, long, value_name = "VARIABLE")]
    pub key_env: Option<String>,
    /// Extra field of every request, as JSON or text: --param temperature=0
    #[arg(help_heading = MODELS, long = "param", value_name = "FIELD=VALUE", value_parser = param)]
    pub params: Vec<(String, Value)>,
    /// Timeout of one attempt in seconds
    #[arg(help_heading = MODELS, long, value_name = "SECONDS", default_value_t = TIMEOUT_SECONDS, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
    /// Retries after a failed attempt
    #[arg(help_heading = MODELS, long, value_name = "N", default_value_t = RETRIES)]
    pub retries: usize,
    /// Maximum number of calls at a time
    #[arg(help_heading = MODELS, long, value_name = "N", default_value_t = CALLS_AT_A_TIME, value_parser = at_least_one)]
    pub concurrency: usize,
    /// Save the answers of models in this folder, and reuse the answers it already holds
    #[arg(help_heading = MODELS, long, value_name = "DIR")]
    pub cassette: Option<PathBuf>,
    /// How to use the cassette
    #[arg(help_heading = MODELS, long, value_enum, default_value_t = CassetteMode::Auto, requires = "cassette")]
    pub cassette_mode: CassetteMode,
    /// Maximum number of calls; summaries and answers that need more are left out
    #[arg(help_heading = MODELS, long, value_name = "N")]
    pub max_calls: Option<u64>,
    /// Maximum cost in USD; calls that could exceed it are not made
    #[arg(help_heading = MODELS, long, value_name = "USD", value_parser = amount)]
    pub max_cost: Option<f64>,
    #[arg(skip)]
    limits: OnceLock<Arc<Limits>>,
}

fn param(written: &str) -> Result<(String, Value), String> {
    let (field, value) = written.split_once('=').ok_or_else(|| format!("`{written}`: write FIELD=VALUE"))?;
    Ok((field.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| Value::from(value))))
}

/// The form of a limit of costs.
const AMOUNT: &str = "write an amount in USD, such as 2.50";

fn amount(written: &str) -> Result<f64, String> {
    written.parse().ok().and_then(checked_amount).ok_or_else(|| AMOUNT.to_owned())
}

/// Returns a limit of costs in USD. `nan` would be no limit.
fn checked_amount(usd: f64) -> Option<f64> {
    Some(usd).filter(|usd| *usd >= 0.0)
}

/// Creates models that share the cassette and the limits of one run.
pub struct ModelFactory<'a> {
    models: &'a ModelArgs,
    cassette: Arc<Cassette>,
    limits: Arc<Limits>,
    /// Whether nothing may be asked any more.
    stopped: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Default for ModelArgs {
    /// The options of a command that names none.
    fn default() -> Self {
        Self {
            base_url: None,
            key_env: None,
            params: Vec::new(),
            timeout: TIMEOUT_SECONDS,
            retries: RETRIES,
            concurrency: CALLS_AT_A_TIME,
            cassette: None,
            cassette_mode: CassetteMode::Auto,
            max_calls: None,
            max_cost: None,
            limits: OnceLock::new(),
        }
    }
}

impl ModelArgs {
    /// Options that only replay the answers in a folder, and never call a model.
    pub fn replaying(cassette: PathBuf) -> Self {
        let (cassette, cassette_mode) = (Some(cassette), CassetteMode::Replay);
        Self { cassette, cassette_mode, timeout: 1, retries: 0, concurrency: 1, ..Self::default() }
    }

    /// Sets the maximum cost in USD.
    ///
    /// # Errors
    ///
    /// Fails if it is negative or no number.
    #[cfg(feature = "python")]
    pub fn with_max_cost(self, usd: Option<f64>) -> Result<Self, String> {
        let checked = |usd| checked_amount(usd).ok_or_else(|| format!("--max-cost: {AMOUNT}, not {usd}"));
        Ok(Self { max_cost: usd.map(checked).transpose()?, ..self })
    }

    /// Adds the cassette to what the command reads.
    pub fn add_to(&self, uses: &mut FileUses) {
        self.cassette.iter().for_each(|folder| uses.read("--cassette", folder));
    }

    pub fn factory(&self) -> ModelFactory<'_> {
        ModelFactory {
            models: self,
            cassette: Arc::new(Cassette::new(self.cassette.clone(), self.cassette_mode)),
            limits: self.limits(),
            stopped: Arc::new(interrupt::requested),
        }
    }

    /// Returns the limits of all models of this run together.
    pub fn limits(&self) -> Arc<Limits> {
        let limits = || Arc::new(Limits::new(self.max_calls, self.max_cost, self.concurrency));
        Arc::clone(self.limits.get_or_init(limits))
    }

    /// Returns the extra request fields, sorted by name, because they are part of a request's cache key.
    pub fn params(&self) -> BTreeMap<String, Value> {
        self.params.iter().cloned().collect()
    }
}

impl ModelFactory<'_> {
    /// Lets something else than a signal end the questions.
    #[cfg(feature = "python")]
    pub fn stopped_by(self, stopped: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { stopped: Arc::new(stopped), ..self }
    }

    /// Returns the model of a request.
    pub fn model(&self, request: &ModelRequest) -> Result<Model, String> {
        let ModelArgs { retries, cassette_mode, max_cost, .. } = self.models;
        let name = request.address.name();
        let price = request.prices.of_answers(&name);
        if price.is_none() && max_cost.is_some() {
            return Err(format!("--max-cost: the price of {name} is not known; --prices FILE sets it, --max-calls limits calls"));
        }
        let connect = || Ok::<_, String>(request.address.connect(&self.connection(request)?)?);
        let provider = (*cassette_mode != CassetteMode::Replay).then(connect).transpose()?;
        Ok(Model::new(ModelConfig { provider, price, retries: *retries, ..self.setup(request) }))
    }

    /// Returns a model that never makes a call and only reads the cassette.
    pub fn offline_model(&self, request: &ModelRequest) -> Model {
        Model::new(self.setup(request))
    }

    fn setup(&self, request: &ModelRequest) -> ModelConfig {
        ModelConfig {
            name: request.address.name(),
            params: request.params.clone(),
            replicate: request.replicate,
            provider: None,
            cassette: Arc::clone(&self.cassette),
            limits: Arc::clone(&self.limits),
            price: None,
            retries: 0,
            first_wait: FIRST_WAIT,
            stopped: Arc::clone(&self.stopped),
        }
    }

    fn connection(&self, request: &ModelRequest) -> Result<Connection, String> {
        let ModelRequest { address, params, .. } = request;
        let base_url = address.base_url.clone().or_else(|| self.models.base_url.clone());
        let variable = self.models.key_env.as_deref().unwrap_or(address.protocol.key_variable);
        let key = std::env::var(variable).ok().map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        if key.is_none() && base_url.is_none() && !variable.is_empty() {
            return Err(format!("{}: no API key: {variable} is not set; --base-url uses another server", address.name()));
        }
        let base_url = base_url.unwrap_or_else(|| address.protocol.base_url.to_owned());
        let timeout = Duration::from_secs(self.models.timeout);
        Ok(Connection { base_url, key, key_variable: variable.to_owned(), timeout, params: (*params).clone() })
    }
}
