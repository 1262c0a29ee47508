//! How tokens were counted where a model's tokenizer is not public, one row a model.

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
        let middle = |value: fn(&CalibrationRow) -> f64| median(&mut rows.iter().map(|row| value(row)).collect::<Vec<_>>());
        let number = |value: Option<f64>, digits| {
            value.map_or(number_format::MISSING.to_owned(), |value| number_format::grouped(value, digits))
        };
        let model = if model.is_empty() { number_format::MISSING } else { model };
        let mut cells = vec![model.to_owned(), counter.to_owned(), number(Some(rows.len() as f64), 0)];
        cells.push(number(Some(rows.iter().map(|row| row.deltas).sum::<usize>() as f64), 0));
        let classes: [fn(&CalibrationRow) -> f64; 4] = [|r| r.result, |r| r.tool_use, |r| r.text, |r| r.thinking];
        cells.extend(classes.map(|class| number(middle(class).map(|rate| rate * 1e3), 0)));
        cells.push(number(middle(|row| f64::from(row.per_call)), 0));
        cells.push(number_format::value(crate::metrics::column::Unit::Share, middle(|row| row.error)));
        cells.push(format!("{}–{}", number(middle(|row| row.p10), 2), number(middle(|row| row.p90), 2)));
        cells
    });
    let rows = rows.collect();
    let mut heads = vec![ColumnHeader::names("model"), ColumnHeader::names("rates of")];
    let numbers =
        ["conversations", "deltas", "tool result", "tool use", "text", "thinking", "per call", "median error", "p10–p90"];
    heads.extend(numbers.map(ColumnHeader::numbers));
    let below = "~ estimated: tokens by 1,000 characters of each kind, and by call, as recorded usage tells them (recorded: that of \
                 the session itself); medians over conversations. Error, and recorded ÷ estimate, are of calls that the rates \
                 were not fitted to";
    TableModel {
        title: "Tokens by recorded usage".to_owned(),
        measure: String::new(),
        heads,
        rows,
        below: vec![below.to_owned()],
    }
}
