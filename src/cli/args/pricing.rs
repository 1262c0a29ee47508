//! `--prices`: what tokens cost, for the commands that speak of money.

use clap::Args;
use recompact::metrics::prices::Prices;
use recompact::util::text::did_you_mean;

use crate::cli::error::Failure;
use crate::cli::source::hash_of;

#[derive(Args)]
pub struct PricingArgs {
    /// What tokens cost: a model, to price every conversation as that one (see `recompact catalog prices`), or a TOML file in
    /// place of the built-in list [default: each call by its model and date]
    #[arg(long = "prices", value_name = "MODEL|FILE")]
    prices: Option<String>,
}

impl PricingArgs {
    /// The list, and the model that everything is priced as.
    pub fn load(&self) -> Result<(Prices, Option<String>), Failure> {
        let built_in = Prices::built_in();
        let Some(given) = &self.prices else { return Ok((built_in, None)) };
        if built_in.quote(Some(given), None).entry.is_some() {
            return Ok((built_in, Some(given.clone())));
        }
        let text = std::fs::read_to_string(given).map_err(|error| {
            let known = did_you_mean(given, &built_in.names());
            let what = format!("neither a model whose price is known nor a TOML file that can be read ({error}){known}");
            Failure::Usage(format!("--prices {given}: {what}"))
        })?;
        Ok((Prices::parse(&text, given)?, None))
    }

    /// What decides prices, for a study that is gone on with: a file may have been changed since.
    pub fn question(&self) -> (String, String) {
        let given = self.prices.as_deref().unwrap_or_default();
        let written = std::fs::read(given).map_or(String::new(), |bytes| format!(" ({})", hash_of(&bytes)));
        ("--prices".to_owned(), format!("{given:?}{written}"))
    }
}
