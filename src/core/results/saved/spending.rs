//! Tokens, time and money that answers of models took.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::summarizer::AnswerCost;
use crate::llm::client::{CassetteEntry, Usage};
use crate::metrics::prices::Prices;

/// The answers of one model that a study used, each counted once. An answer from a cassette counts like a new one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpendingRow {
    /// Protocol and model.
    pub model: String,
    /// Number of answers.
    pub answers: u64,
    /// Tokens as the provider counted them; 0 if it did not report them.
    pub usage: Usage,
    pub seconds: f64,
    /// Cost in USD at current list prices; `None` if the price of the model is unknown.
    pub usd: Option<f64>,
}

/// Returns one row for each model, sorted by name. `answers` must always come in the same order, because sums of seconds depend on it.
fn by_model<'a>(answers: impl Iterator<Item = (&'a str, Usage, f64)>, prices: &Prices) -> Vec<SpendingRow> {
    let mut rows: BTreeMap<&str, SpendingRow> = BTreeMap::new();
    for (model, usage, seconds) in answers {
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

/// Sums up answers by model.
pub fn answer_spending(paid: &BTreeMap<String, AnswerCost>, prices: &Prices) -> Vec<SpendingRow> {
    by_model(paid.values().map(|paid| (paid.model.as_str(), paid.usage, paid.seconds)), prices)
}

/// Sums up all answers on a cassette by model.
pub fn cassette_spending(entries: &[CassetteEntry], prices: &Prices) -> Vec<SpendingRow> {
    by_model(entries.iter().map(|entry| (entry.model.as_str(), entry.usage, entry.seconds)), prices)
}
