//! Tokens that the provider billed, and their cost.

use std::collections::BTreeMap;

use super::{ColumnHeader, Inspection, TableModel, number, tokens};
use crate::metrics::column::Unit;
use crate::metrics::prices::Bill;
use crate::report::number_format;

/// One row per model, and their sum.
pub fn usage(inspections: &[Inspection]) -> TableModel {
    let mut bills: BTreeMap<Option<&str>, Bill> = BTreeMap::new();
    for usage in inspections.iter().flat_map(|inspection| &inspection.recorded_usage.by_model) {
        bills.entry(usage.model.as_deref()).or_default().add(&usage.bill);
    }
    let row = |name: &str, bill: &Bill| {
        let mut cells = vec![name.to_owned(), number(bill.calls)];
        cells.extend([bill.input, bill.cache_read, bill.cache_write_5m, bill.cache_write_1h, bill.output].map(tokens));
        cells.push(number_format::value(Unit::Usd, bill.usd));
        cells
    };
    let mut rows: Vec<_> = bills.iter().map(|(model, bill)| row(model.unwrap_or(number_format::MISSING), bill)).collect();
    if rows.len() > 1 {
        rows.push(row("all", &Bill::sum(bills.values())));
    }
    let mut headers = vec![ColumnHeader::names("model")];
    headers.extend(["calls", "input", "cache read", "write 5 min", "write 1 h", "output", "USD"].map(ColumnHeader::numbers));
    let mut footnotes =
        vec!["tokens that the provider billed; input: tokens neither read from the cache nor written to it".to_owned()];
    if bills.values().any(|bill| bill.usd.is_none()) {
        footnotes.push(format!("{}: no known price; set one with --prices (a model or a price list)", number_format::MISSING));
    }
    TableModel { title: "Recorded usage".to_owned(), subject: String::new(), headers, rows, footnotes }
}
