//! Tokens that the provider billed, and their cost.

use std::collections::BTreeMap;

use super::{ColumnHeader, Inspection, TableModel, number, tokens};
use crate::metrics::column::Unit;
use crate::metrics::prices::Bill;
use crate::report::{escape, number_format};
use crate::util::text::plural;

/// Maximum number of files that a footnote names.
const NAMED: usize = 3;

/// One row per model, and their sum.
pub fn usage(inspections: &[Inspection]) -> TableModel {
    let mut bills: BTreeMap<Option<&str>, Bill> = BTreeMap::new();
    for usage in inspections.iter().flat_map(|inspection| &inspection.recorded_usage.by_model) {
        bills.entry(usage.model.as_deref()).or_default().add(&usage.bill);
    }
    let is_counted = bills.values().any(|bill| bill.output_counted > bill.output || bill.usd_counted > bill.usd);
    let row = |name: &str, bill: &Bill| {
        let mut cells = vec![name.to_owned(), number(bill.calls)];
        cells.extend([bill.input, bill.cache_read, bill.cache_write_5m, bill.cache_write_1h, bill.output].map(tokens));
        cells.push(number_format::value(Unit::Usd, bill.usd));
        if is_counted {
            cells.extend([tokens(bill.output_counted), number_format::value(Unit::Usd, bill.usd_counted)]);
        }
        cells
    };
    let mut rows: Vec<_> = bills.iter().map(|(model, bill)| row(model.unwrap_or(number_format::MISSING), bill)).collect();
    if rows.len() > 1 {
        rows.push(row("all", &Bill::sum(bills.values())));
    }
    let mut headers = vec![ColumnHeader::names("model")];
    headers.extend(["calls", "input", "cache read", "write 5 min", "write 1 h", "output", "USD"].map(ColumnHeader::numbers));
    let mut footnotes =
        vec!["tokens as recorded, at list prices; input: tokens neither read from the cache nor written to it".to_owned()];
    if is_counted {
        headers.extend(["output, counted", "USD, counted"].map(ColumnHeader::numbers));
        footnotes
            .push("counted: with the output of responses of which the record has only the first tokens of a stream, and with writes to the \
                 prompt cache that the record calls input".to_owned());
    }
    if bills.values().any(|bill| bill.usd.is_none()) {
        footnotes.push(format!("{}: no known price; set one with --prices (a model or a price list)", number_format::MISSING));
    }
    footnotes.extend(repeated(inspections));
    TableModel { title: "Recorded usage".to_owned(), subject: String::new(), headers, rows, footnotes }
}

/// Names the files whose calls are in an earlier file too.
fn repeated(inspections: &[Inspection]) -> Option<String> {
    let repeated: Vec<_> = inspections.iter().filter(|inspection| inspection.recorded_usage.repeated_calls > 0).collect();
    let calls: usize = repeated.iter().map(|inspection| inspection.recorded_usage.repeated_calls).sum();
    let name = |inspection: &&Inspection| {
        let (calls, of) = (inspection.recorded_usage.repeated_calls, inspection.calls);
        format!("{} ({calls} of {of})", escape::terminal(&inspection.transcript))
    };
    let mut names: Vec<_> = repeated.iter().take(NAMED).map(name).collect();
    if repeated.len() > NAMED {
        names.push(format!("{} more", repeated.len() - NAMED));
    }
    (calls > 0).then(|| format!("counted once: {} of an earlier conversation, in {}", plural(calls, "call"), names.join(", ")))
}
