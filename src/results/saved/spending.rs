//! What the answers of models took.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::summarizer::AnswerCost;
use crate::llm::client::{Entry, Usage};
use crate::metrics::prices::Prices;

/// The answers of one model that a study used, each once: asked now, or taken from a cassette, they took the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SpendingRow {
    /// Protocol and model.
    pub model: String,
    pub answers: u64,
    /// As the provider counted them; 0 where it did not say.
    pub usage: Usage,
    pub seconds: f64,
    /// At the prices of its list today; `None`: the price of the model is not known.
    pub usd: Option<f64>,
}

/// One row a model, by name. `paid` must come in one order, for seconds are added.
fn spending<'a>(paid: impl Iterator<Item = (&'a str, Usage, f64)>, prices: &Prices) -> Vec<SpendingRow> {
    let mut rows: BTreeMap<&str, SpendingRow> = BTreeMap::new();
    for (model, usage, seconds) in paid {
        let row = rows.entry(model).or_default();
        row.answers += 1;
        row.usage.add(&usage);
        row.seconds += seconds;
        if let Some(price) = prices.of_answers(model) {
            *row.usd.get_or_insert(0.0) += price(&usage);
        }
    }
    rows.into_iter().map(|(model, row)| SpendingRow { model: model.to_owned(), ..row }).collect()
}

/// What was paid for, in the order of the keys.
pub fn of_answers(paid: &BTreeMap<String, AnswerCost>, prices: &Prices) -> Vec<SpendingRow> {
    spending(paid.values().map(|paid| (paid.model.as_str(), paid.usage, paid.seconds)), prices)
}

/// Everything that is on a cassette.
pub fn of_cassette(entries: &[Entry], prices: &Prices) -> Vec<SpendingRow> {
    spending(entries.iter().map(|entry| (entry.model.as_str(), entry.usage, entry.seconds)), prices)
}
