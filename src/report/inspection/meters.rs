//! What meters estimate, held against recorded usage: the calls of all conversations together.

use super::number;
use crate::column::Unit;
use crate::inspect::{Inspection, MeterCheck};
use crate::report::sheet::{Head, Sheet};
use crate::report::shown;

pub fn meters(inspections: &[Inspection]) -> Sheet {
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
            shown::grouped(check.ratio, 2),
            shown::value(Unit::Share, Some(check.error)),
            format!("{}–{}", shown::grouped(check.p10, 2), shown::grouped(check.p90, 2)),
        ]
    });
    let mut heads = vec![Head::names("meter")];
    heads.extend(["deltas", "estimate ÷ usage", "median error", "usage ÷ estimate, p10–p90"].map(Head::numbers));
    let below = "over calls whose recorded request grew by what entered and nothing else; recorded: fitted to the other half of \
                 each session";
    let (title, rows) = ("Meters against recorded usage".to_owned(), rows.collect());
    Sheet { title, measure: String::new(), heads, rows, below: vec![below.to_owned()] }
}
