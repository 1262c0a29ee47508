//! `--prices`: token prices, for the commands that report costs.

use clap::Args;
use recompact::analysis::spec::{LoadedPrices, load_prices};

use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::resources::CommandResources;

#[derive(Args)]
pub struct PricingArgs {
    /// Model whose prices every call has, or a file of prices [default: each call's model and date]
    ///
    /// `recompact catalog prices` lists the models. A file goes before the built-in prices: TOML, or LiteLLM's JSON table.
    #[arg(long = "prices", value_name = "MODEL|FILE")]
    prices: Option<String>,
}

impl PricingArgs {
    /// Adds the list of prices to the files that the command reads.
    pub fn add_to(&self, uses: &mut FileUses) {
        self.prices.iter().for_each(|given| uses.read("--prices", given));
    }

    /// Returns what was given.
    pub fn given(&self) -> Option<&str> {
        self.prices.as_deref()
    }

    /// Returns the prices, for a command without a study.
    pub fn load(&self) -> Result<LoadedPrices, Failure> {
        Ok(load_prices(self.given(), &CommandResources::default())?)
    }
}
