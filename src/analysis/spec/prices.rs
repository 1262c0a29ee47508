//! The prices of a spec: a model's name, or a file.

use super::load::SpecError;
use super::record::{hash_of_files, record};
use super::{Resources, StudySpec};
use crate::metrics::prices::Prices;
use crate::results::saved::StudyRecord;
use crate::util::text::did_you_mean;

/// A price list, and what names it.
pub struct LoadedPrices {
    pub prices: Prices,
    /// The model that all calls are priced as.
    pub priced_as: Option<String>,
    /// Text of the file, for the record of the study.
    pub(super) text: Option<String>,
}

impl LoadedPrices {
    /// Returns what identifies a study with these prices and no other file.
    pub fn record(&self, spec: &StudySpec) -> StudyRecord {
        record(spec, hash_of_files(self.text.as_deref().into_iter()))
    }
}

/// Returns the built-in prices, with the model or before them the file that was given.
///
/// # Errors
///
/// Fails if it is neither a model with a known price nor a file with prices.
pub fn load_prices(given: Option<&str>, resources: &dyn Resources) -> Result<LoadedPrices, SpecError> {
    let built_in = Prices::built_in();
    let Some(given) = given else { return Ok(LoadedPrices { prices: built_in, priced_as: None, text: None }) };
    if built_in.quote(Some(given), None).entry.is_some() {
        return Ok(LoadedPrices { prices: built_in, priced_as: Some(given.to_owned()), text: None });
    }
    let name = resources.name_of(given);
    let text = resources.read(given).map_err(|error| {
        let known = did_you_mean(given, &built_in.names());
        let message = format!("neither a model with a known price nor a readable file ({error}){known}");
        SpecError::value("prices", format!("--prices {name}: {message}"))
    })?;
    let prices = Prices::parse(&text, &name).map_err(|error| SpecError::file("prices", error))?;
    Ok(LoadedPrices { prices: prices.or_built_in(), priced_as: None, text: Some(text) })
}
