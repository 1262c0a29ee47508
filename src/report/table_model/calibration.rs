//! Calibration: how tokens were counted for models whose tokenizer is not public; one row per model.

use std::collections::BTreeMap;

use super::{ColumnHeader, TableModel};
use crate::report::number_format;
use crate::results::saved::{CalibrationRow, Results};
use crate::tokens::calibration::median;

pub fn calibrations(results: &Results) -> TableModel {
    let mut models: BTreeMap<(&str, &str), Vec<&CalibrationRow>> = BTreeMap::new();
    for row in &results.calibrations {
        models.entry((&row.model, &row.counter)).or_default().push(row);
    }
    let rows = models.into_iter().map(|((model, counter), rows)| {
        let median_of = |value: fn(&CalibrationRow) -> f64| median(&mut rows.iter().map(|row| value(row)).collect::<Vec<_>>());
        let number = |value: Option<f64>, digits| {
            value.map_or(number_format::MISSING.to_owned(), |value| number_format::grouped(value, digits))
        };
        let model = if model.is_empty() { number_format::MISSING } else { model };
        let mut cells = vec![model.to_owned(), counter.to_owned(), number(Some(rows.len() as f64), 0)];
        cells.push(number(Some(rows.iter().map(|row| row.compared_calls).sum::<usize>() as f64), 0));
        let classes: [fn(&CalibrationRow) -> f64; 4] = [|r| r.result, |r| r.tool_use, |r| r.text, |r| r.thinking];
        cells.extend(classes.map(|class| number(median_of(class).map(|rate| rate * 1e3), 0)));
        cells.push(number(median_of(|row| f64::from(row.per_call)), 0));
        cells.push(number_format::value(crate::metrics::column::Unit::Share, median_of(|row| row.error)));
        cells.push(format!("{}–{}", number(median_of(|row| row.p10), 2), number(median_of(|row| row.p90), 2)));
        cells
    });
    let rows = rows.collect();
    let mut headers = vec![ColumnHeader::names("model"), ColumnHeader::names("calibrated on")];
    let numbers =
        ["conversations", "calls compared", "tool result", "tool use", "text", "thinking", "per call", "median error", "p10–p90"];
    headers.extend(numbers.map(ColumnHeader::numbers));
    let footnotes = "~ estimated: tokens per 1,000 characters of each kind, and tokens per call, fitted to recorded usage (recorded: that of \
                 the session itself); medians over conversations. The median error and p10–p90 (recorded ÷ estimate) are of calls that \
                 the rates were not fitted to";
    TableModel {
        title: "Token counts calibrated on recorded usage".to_owned(),
        subject: String::new(),
        headers,
        rows,
        footnotes: vec![footnotes.to_owned()],
    }
}
