//! Tokens and cost of model calls.

use crate::results::saved::{Results, SpendingRow, Unit};

use super::super::number_format;
use super::{ColumnHeader, TableModel};

/// One row per model that was called.
pub fn spending(results: &Results) -> TableModel {
    let row = |row: &SpendingRow| {
        let count = |number: u64| number_format::grouped(number as f64, 0);
        let usage = &row.usage;
        vec![
            row.model.clone(),
            count(row.answers),
            count(usage.input),
            count(usage.cache_read),
            count(usage.cache_write),
            count(usage.output),
            number_format::grouped(row.seconds, 1),
            number_format::value(Unit::Usd, row.usd),
        ]
    };
    let mut headers = vec![ColumnHeader::names("model")];
    headers
        .extend(["answers", "tokens in", "cache read", "cache write", "tokens out", "seconds", "usd"].map(ColumnHeader::numbers));
    let rows = results.spending.iter().map(row).collect();
    let footnotes = vec![
        "tokens as the provider counted them at the time of the call; answers replayed from a cassette cost nothing now"
            .to_owned(),
    ];
    TableModel { title: "Model calls".to_owned(), subject: String::new(), headers, rows, footnotes }
}
