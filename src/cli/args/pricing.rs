//! `--prices`: token prices, for the commands that report costs.

use std::path::Path;

use clap::Args;
use recompact::metrics::prices::Prices;
use recompact::util::text::did_you_mean;

use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::source::{hash_of, read_settings};

#[derive(Args)]
pub struct PricingArgs {
    /// Prices: a model to price every conversation as (see `recompact catalog prices`), or a file whose prices go before the
    /// built-in ones: TOML, or LiteLLM's JSON table [default: each call by its model and date]
    #[arg(long = "prices", value_name = "MODEL|FILE")]
    prices: Option<String>,
}

impl PricingArgs {
    /// Adds the list of prices to the files that the command reads.
    pub fn add_to(&self, uses: &mut FileUses) {
        self.prices.iter().for_each(|given| uses.read("--prices", given));
    }

    /// Returns the price list, and the model that everything is priced as, if one was given.
    pub fn load(&self) -> Result<(Prices, Option<String>), Failure> {
        let built_in = Prices::built_in();
        let Some(given) = &self.prices else { return Ok((built_in, None)) };
        if built_in.quote(Some(given), None).entry.is_some() {
            return Ok((built_in, Some(given.clone())));
        }
        let text = read_settings(Path::new(given)).map_err(|error| {
            let known = did_you_mean(given, &built_in.names());
            let message = format!("neither a model with a known price nor a readable file ({error}){known}");
            Failure::Usage(format!("--prices {given}: {message}"))
        })?;
        Ok((Prices::parse(&text, given)?.or_built_in(), None))
    }

    /// The prices' part of a study's fingerprint. It includes a hash of the price file, which may have changed since.
    pub fn fingerprint(&self) -> (String, String) {
        let given = self.prices.as_deref().unwrap_or_default();
        let hash = read_settings(Path::new(given)).map_or(String::new(), |text| format!(" ({})", hash_of(text.as_bytes())));
        ("--prices".to_owned(), format!("{given:?}{hash}"))
    }
}
