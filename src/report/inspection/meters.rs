//! Token estimators compared with recorded usage, over the calls of all conversations.

use super::number;
use crate::analysis::inspect::{Inspection, MeterCheck};
use crate::metrics::column::Unit;
use crate::report::number_format;
use crate::report::table_model::{ColumnHeader, TableModel};

pub fn meters(inspections: &[Inspection]) -> TableModel {
    let mut meters: Vec<(&str, Vec<(f64, u64)>)> = Vec::new();
    for check in inspections.iter().flat_map(|inspection| &inspection.meters) {
        match meters.iter_mut().find(|(meter, _)| *meter == check.meter) {
            Some((_, pairs)) => pairs.extend(&check.pairs),
            None => meters.push((&check.meter, check.pairs.clone())),
        }
    }
    let rows = meters.into_iter().filter_map(|(meter, pairs)| MeterCheck::new(meter.to_owned(), pairs)).map(|check| {
        vec![
            check.meter,
            number(check.deltas),
            number_format::grouped(check.ratio, 2),
            number_format::value(Unit::Share, Some(check.error)),
            format!("{}–{}", number_format::grouped(check.p10, 2), number_format::grouped(check.p90, 2)),
        ]
    });
    let mut headers = vec![ColumnHeader::names("estimator")];
    headers
        .extend(["calls compared", "estimate ÷ usage", "median error", "usage ÷ estimate, p10–p90"].map(ColumnHeader::numbers));
    let footnotes = "over calls whose recorded request grew only by the new messages; recorded: fitted to the other half of \
                 each session";
    let (title, rows) = ("Token estimators compared with recorded usage".to_owned(), rows.collect());
    TableModel { title, subject: String::new(), headers, rows, footnotes: vec![footnotes.to_owned()] }
}
