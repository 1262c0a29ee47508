//! What meters estimate, held against recorded usage: the calls of all conversations together.

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
    let rows = meters.into_iter().filter_map(|(meter, pairs)| MeterCheck::of(meter.to_owned(), pairs)).map(|check| {
        vec![
            check.meter,
            number(check.deltas),
            number_format::grouped(check.ratio, 2),
            number_format::value(Unit::Share, Some(check.error)),
            format!("{}–{}", number_format::grouped(check.p10, 2), number_format::grouped(check.p90, 2)),
        ]
    });
    let mut heads = vec![ColumnHeader::names("meter")];
    heads.extend(["deltas", "estimate ÷ usage", "median error", "usage ÷ estimate, p10–p90"].map(ColumnHeader::numbers));
    let below = "over calls whose recorded request grew by what entered and nothing else; recorded: fitted to the other half of \
                 each session";
    let (title, rows) = ("Meters against recorded usage".to_owned(), rows.collect());
    TableModel { title, measure: String::new(), heads, rows, below: vec![below.to_owned()] }
}
